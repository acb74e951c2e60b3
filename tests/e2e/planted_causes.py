"""What the hints about the program `planted` must say: for each cause the hint that comes first, and what else is true."""

import dataclasses

# A machine that is busy adds its own: time off the processor is then a right answer too, besides the planted one.
BUSY = {"blocked", "preempted", "migration"}
KEYS = ("first", "second", "third")


@dataclasses.dataclass(frozen=True)
class Cause:
    name: str
    calls: int
    first: str                          # the kind of the hint that must come first …
    or_first: str = ""                  # … or this one, which is as right
    parameter: str = ""                 # … and what it is about
    functions: str = "work"             # what is recorded
    suspect: str = ""                   # the function that another thread is inside when it is slow
    interference: bool = True           # the score stays when unrelated parameters are keys


CAUSES = (
    Cause("parameter", 15000, "parameter", parameter="second", interference=False),
    Cause("global", 15000, "no_parameter"),
    Cause("early", 15000, "early_return", interference=False),
    Cause("lock", 6000, "blocked", or_first="suspect", suspect="work"),
    Cause("holder", 8000, "suspect", functions="work,update", suspect="update"),
    Cause("sharing", 10000, "no_parameter"),
    Cause("read", 5000, "blocked"),
    Cause("preempted", 8000, "preempted"),
    Cause("processor", 15000, "processor"),
    Cause("warm_up", 10000, "warm_up"),
    Cause("phase", 10000, "phase"),
)


def work(report: dict) -> dict:
    return next(row for row in report["functions"] if row["name"] == "work")


def is_about(cause: Cause, hint: dict) -> bool:
    """What the hint names is what was planted."""
    if hint["kind"] == "suspect":
        return f" is inside {cause.suspect}() " in hint["text"]
    return hint["kind"] != "parameter" or hint["parameter"] == cause.parameter


def judge(cause: Cause, report: dict) -> tuple[bool, list[str]]:
    """Whether the right hint comes first, and the kinds of those that are wrong."""
    hints = [hint for hint in work(report)["hints"] if "share" in hint]
    if cause.first not in BUSY:
        told = [hint for hint in hints if hint["kind"] not in BUSY]
    else:
        told = hints
    right = bool(told) and told[0]["kind"] in (cause.first, cause.or_first) and is_about(cause, told[0])
    true = {cause.first, cause.or_first, "no_parameter"} | BUSY
    wrong = [hint["kind"] for hint in hints
             if hint["kind"] not in true or not is_about(cause, hint)]
    return right, wrong


def expected(cause: Cause) -> str:
    return " or ".join(filter(None, (f"{cause.first} {cause.parameter}".strip(), cause.or_first)))
