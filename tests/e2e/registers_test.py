#!/usr/bin/python3
"""A wrapped function that changes no register changes none: callers may rely on it (-fipa-ra)."""

import unittest

from harness import PROGRAMS, Case

FUNCTIONS = {"untouched": 1000, "untouched_side": 1000}


class Registers(Case):
    def check(self, **variables):
        done = self.unchanged(",".join(FUNCTIONS), PROGRAMS / "registers", env=variables)
        print(done.stdout.decode().strip(), "(0: xmm, 1: ymm, 2: zmm and masks)")
        self.assertEqual(self.counts(), FUNCTIONS)

    def test_straight_path(self):
        self.check()

    def test_with_a_stack_at_every_call(self):
        self.check(RDAM_STACK_PERIOD="1")

    def test_other_clocks(self):
        for clock in ("unfenced", "rdtsc"):
            with self.subTest(clock):
                self.check(RDAM_CLOCK=clock)


if __name__ == "__main__":
    unittest.main()
