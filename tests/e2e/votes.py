"""Scores that tell a disturbed program from one that nobody disturbs, on a machine that has other things to do as well."""

import contextlib
import math
import os
import pathlib
import statistics
from collections.abc import Callable

from harness import Case, Others

TIMES = 2  # what a disturbed program's score is at least, in terms of its control's
LEAST = 0.2  # … and by itself: noise alone may be twice as loud in one run as in another
FEWEST, MOST = 3, 15
RANKED = 10  # tries from which on ranks count as well: where the host is loud a control never comes down to half
COSTS = 1.5  # how many times as long a disturbed program takes by its own clock where the disturbance counts
HIGHER = 0.9  # the share of all pairs in which the disturbed program's score is higher; by chance 0.5 ± 0.13


def before_others():
    """What else runs makes undisturbed programs lose as well. As a preexec_fn; where it is not allowed nothing changes."""
    os.setsid()  # niceness counts within a session only, but for the session's own
    with contextlib.suppress(OSError):
        pathlib.Path("/proc/self/autogroup").write_text("-20")
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, -20)


def higher(scores: list[float], controls: list[float]) -> float:
    """The share of all pairs in which the score is higher than the control (Mann and Whitney's U over its most)."""
    return statistics.mean(score > control for score in scores for control in controls)


def check_apart(case: Case, disturbed: Callable[[], float], control: Callable[[], float],
                costs: Callable[[], float] = lambda: math.inf):
    """Runs both in turns until their scores are apart. Noise only adds to a control's, whose least one counts; it may take from the other.

    costs: how many times as long the disturbed program takes by its own clock. Where the machine lets the disturbance cost nothing, as it
    may from one moment to the next under a hypervisor, scores that are not apart are right, and the test is skipped. So it is where others want
    the processors all the time: threads that never run at once do not disturb one another."""
    scores, controls, ratios = [], [], []
    others = Others()
    while len(scores) < MOST:
        ratios.append(costs())
        scores.append(round(disturbed(), 3))
        controls.append(round(control(), 3))
        score = statistics.median(scores)
        if len(scores) >= FEWEST and score >= max(LEAST, TIMES * min(controls)):
            return
        if len(scores) >= RANKED and score >= LEAST and higher(scores, controls) >= HIGHER:
            return
    if statistics.median(ratios) < COSTS:
        case.skipTest("the disturbance costs little on this machine, disturbed / undisturbed by the program's own clock: "
                      + ", ".join(f"{ratio:.2f}" for ratio in ratios))
    case.skip_if_busy(others)
    case.fail(f"disturbed programs and their controls: {list(zip(scores, controls, strict=True))}, by their own clocks: {ratios}")
