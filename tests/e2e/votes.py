"""Scores that tell a disturbed program from one that nobody disturbs, on a machine that has other things to do as well."""

import contextlib
import os
import pathlib
import statistics
import unittest
from collections.abc import Callable

TIMES = 2  # what a disturbed program's score is at least, in terms of its control's
LEAST = 0.2  # … and by itself: noise alone may be twice as loud in one run as in another
FEWEST, MOST = 3, 15


def before_others():
    """What else runs makes undisturbed programs lose as well. As a preexec_fn; where it is not allowed nothing changes."""
    os.setsid()  # niceness counts within a session only, but for the session's own
    with contextlib.suppress(OSError):
        pathlib.Path("/proc/self/autogroup").write_text("-20")
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, -20)


def check_apart(case: unittest.TestCase, disturbed: Callable[[], float], control: Callable[[], float]):
    """Runs both in turns until their scores are apart. Noise only adds to a control's, whose least one counts; it may take from the other."""
    tries = []
    while len(tries) < MOST:
        tries.append((round(disturbed(), 3), round(control(), 3)))
        score, alone = statistics.median(one for one, _ in tries), min(one for _, one in tries)
        if len(tries) >= FEWEST and score >= max(LEAST, TIMES * alone):
            return
    case.fail(f"disturbed programs and their controls: {tries}")
