#!/usr/bin/python3
"""rdam-microbench: the interference that is asked for is what a score is made of."""

import dataclasses
import json
import os
import unittest

from harness import Case
from votes import before_others, check_apart

MICROBENCH = os.environ["MICROBENCH"]


@dataclasses.dataclass(frozen=True)
class Program:
    """At a setting at which the threads are in each other's way as much as two processors allow."""

    operation: str
    common: str
    disturbed: str
    control: str


# A lock is held for long against what it takes to fetch its cache line or to wake a thread; so is the work before a barrier.
# One thread alone at the barrier: of two with equal work each waits while another program has the other's processor.
# The neighbour of membw is not here: whoever else is on the host floods the memory as well.
PROGRAMS = {
    "lock": Program("lock_increment", "--delay 15us --iterations 1500 --together --pin --work 25us", "", "--private"),
    "spinlock": Program("spinlock_increment", "--delay 500ns --iterations 10000 --together --pin --work 1us", "", "--private"),
    "falsesharing": Program("shared_increment", "--delay 0ns --iterations 40000 --together --pin --work 1us", "", "--padded"),
    "io": Program("read_block", "--delay 100us --iterations 80", "--threads 32", "--threads 1"),
    "barrier": Program("wait_for_others", "--delay 1ms --iterations 150 --pin", "--threads 2", "--threads 1"),
    "condvar": Program("queue_write", "--delay 5us --iterations 2000 --pin", "--threads 2", "--threads 1"),
}


class Scores(Case):
    def score(self, benchmark: str, options: str) -> float:
        operation = PROGRAMS[benchmark].operation
        (self.folder / "trace.bin").unlink(missing_ok=True)
        self.succeeded(self.rdam("record", "-f", operation, "-o", "trace.bin", "--", MICROBENCH, benchmark, *options.split(),
                                 preexec_fn=before_others))
        row, = self.analyze()["functions"]
        self.assertEqual((row["name"], row["lower_bound"]), (operation, False))
        return row["rdam"]

    def mean_ns(self, options: str) -> float:
        """Of the program itself, by its own clock."""
        done = self.succeeded(self.run_in_folder(MICROBENCH, "falsesharing", "--self-timed", *options.split(), preexec_fn=before_others))
        return json.loads(done.stdout)["mean_ns"]

    def cost_of_sharing(self, program: Program) -> float:
        """Two processors that are halves of one core have one cache, and false sharing costs them little."""
        return self.mean_ns(f"{program.common} {program.disturbed}") / self.mean_ns(f"{program.common} {program.control}")

    def check(self, benchmark: str):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one processor: threads that compute never meet")
        program = PROGRAMS[benchmark]
        costs = {"costs": lambda: self.cost_of_sharing(program)} if benchmark == "falsesharing" else {}
        check_apart(self, lambda: self.score(benchmark, f"{program.common} {program.disturbed}"),
                    lambda: self.score(benchmark, f"{program.common} {program.control}"), **costs)


def add(benchmark: str):
    def test(self):
        self.check(benchmark)
    setattr(Scores, "test_" + benchmark, test)


for each in PROGRAMS:
    add(each)


if __name__ == "__main__":
    unittest.main()
