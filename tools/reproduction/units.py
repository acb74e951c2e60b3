"""Numbers as a person reads them."""

UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns"))


def duration(ns: float) -> str:
    """Three digits and the unit: 1.25 µs."""
    size, unit = next(((size, unit) for size, unit in UNITS if ns >= size * 0.9995), UNITS[-1])
    value = ns / size
    return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f} {unit}"


def counted(number_of: int, what: str) -> str:
    return f"{number_of} {what}" if number_of == 1 else f"{number_of} {what}s"
