"""What the hints about the program `planted` must say: for each cause the hint that comes first, and what else is true."""

import dataclasses

# Another program may take the processor at any time, and that calls take two times is what was measured of them: true of every program
# of which it is said, and no rival of the planted cause.
ALWAYS = frozenset({"preempted", "two_times"})
KEYS = ("first", "second", "third")


@dataclasses.dataclass(frozen=True)
class Cause:
    name: str
    calls: int
    first: str                          # the kind of the hint that must come first …
    or_first: str = ""                  # … or this one, which is as right
    parameter: str = ""                 # … and what it is about
    functions: str = "work"             # what is recorded
    concurrent: str = ""                # the function that another thread is inside when it is slow
    besides: frozenset[str] = frozenset()  # kinds that are true as well, and may come before it
    unexplained: bool = True            # "no parameter explains it" is true
    interference: bool = True           # the score stays when unrelated parameters are keys


# Who waits for another thread is off the processor, and may be woken up on another one.
WAITS = frozenset({"blocked", "migration"})

CAUSES = (
    # One thread that computes on one processor: it neither waits nor moves, and the parameter explains it all.
    Cause("parameter", 15000, "parameter", parameter="second", unexplained=False, interference=False),
    # Likewise; what it depends on is none of what is recorded.
    Cause("global", 15000, "no_parameter"),
    # Likewise; the return value explains it.
    Cause("early", 15000, "early_return", unexplained=False, interference=False),
    # Each of two threads waits for the other one's work(), and is woken up anywhere.
    Cause("lock", 6000, "blocked", or_first="concurrent", concurrent="work", besides=frozenset({"migration"})),
    # It waits for the lock while another thread is inside update().
    Cause("holder", 8000, "concurrent", functions="work,update", concurrent="update", besides=WAITS),
    # Both threads compute, each on a processor of its own; the pauses of the other one are not those of work().
    Cause("sharing", 10000, "concurrent", functions="work,scribble", concurrent="scribble"),
    # It waits for a thread that is not recorded, and is woken up anywhere.
    Cause("read", 5000, "blocked", besides=frozenset({"migration"})),
    # It computes on one processor: it is never the one to wait.
    Cause("preempted", 8000, "preempted"),
    # It computes, and is moved between calls only.
    Cause("processor", 15000, "processor"),
    # It computes on one processor; to be given memory is no waiting.
    Cause("warm_up", 10000, "warm_up"),
    # As sharing, but nothing of the other thread is recorded.
    Cause("phase", 10000, "phase"),
    # The row explains it all, and so does the time; more threads than processors may be at work.
    Cause("triangle", 1500, "parameter_or_time", parameter="second", functions="work,~element", unexplained=False, interference=False),
    # How far it walks depends on the key and on how many there are already.
    Cause("insert", 4000, "parameter", parameter="second, calls so far", unexplained=False, interference=False),
    # Likewise, and the key is not known.
    Cause("insert_hidden", 4000, "trend"),
    # The counter goes with the phase as well.
    Cause("counter", 10000, "phase", or_first="parameter_or_time", parameter="second", interference=False),
    # What is known of the memory is its address.
    Cause("first_touch", 4000, "first_touch", parameter="third", interference=False),
    # What it depends on is none of what is recorded.
    Cause("addresses", 10000, "no_parameter", interference=False),
    Cause("two_times", 10000, "two_times"),
)


def work(report: dict) -> dict:
    return next(row for row in report["functions"] if row["name"] == "work")


def is_about(cause: Cause, hint: dict) -> bool:
    """What the hint names is what was planted."""
    if hint["kind"] in ("concurrent", "owner"):
        return hint["concurrent_function"] == cause.concurrent
    return hint["kind"] not in ("parameter", "parameter_or_time") or hint["parameter"] == cause.parameter


def judge(cause: Cause, report: dict) -> tuple[bool, list[str]]:
    """Whether the right hint comes first, and the kinds of those that are wrong."""
    hints = [hint for hint in work(report)["hints"] if "share" in hint]
    planted = {cause.first, cause.or_first}
    besides = (ALWAYS | cause.besides) - planted
    rivals = [hint for hint in hints if hint["kind"] not in besides]
    right = bool(rivals) and rivals[0]["kind"] in planted and is_about(cause, rivals[0])
    true = planted | besides | ({"no_parameter"} if cause.unexplained else set())
    wrong = [hint["kind"] for hint in hints if hint["kind"] not in true or not is_about(cause, hint)]
    return right, wrong


def expected(cause: Cause) -> str:
    return " or ".join(filter(None, (cause.first, cause.or_first))) + (f" {cause.parameter}" if cause.parameter else "")
