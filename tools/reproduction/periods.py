"""When a run was measured, in words: of its parts, as sweep.sessions() tells them."""

import datetime


def _time(part: dict, which: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(part[which]).astimezone(datetime.UTC)


def seconds(parts: list[dict]) -> float | None:
    """Of all parts together; None where the end of one is not known."""
    if not all("end" in part for part in parts):
        return None
    return sum((_time(part, "end") - _time(part, "start")).total_seconds() for part in parts)


def begun(parts: list[dict]) -> str:
    return f"{_time(parts[0], 'start'):%Y-%m-%d %H:%M}"


def length(parts: list[dict]) -> str:
    taken = seconds(parts)
    if taken is None:
        return "how long is not known"
    hours, minutes = int(taken) // 3600, int(taken) // 60 % 60
    return " ".join([*([f"{hours} h"] if hours else []), *([f"{minutes} min"] if hours or minutes else []), f"{int(taken) % 60} s"])


def _part(part: dict) -> str:
    begun = f"{_time(part, 'start'):%Y-%m-%d %H:%M:%S}"
    if "end" not in part:
        return f"from {begun} until it was interrupted"
    same_day = _time(part, "start").date() == _time(part, "end").date()
    ended = _time(part, "end").strftime("%H:%M:%S" if same_day else "%Y-%m-%d %H:%M:%S")
    return f"from {begun} to {ended}{' (interrupted)' if 'load_end' not in part else ''}"


def spoken(parts: list[dict]) -> str:
    """From when to when, and how long that is."""
    if len(parts) == 1:
        return f"{_part(parts[0])} UTC ({length(parts)})"
    return f"in {len(parts)} parts ({length(parts)}), {', '.join(map(_part, parts))} UTC"
