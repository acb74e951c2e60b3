#!/usr/bin/python3
"""microbench/coverage: it runs each kind of program, and counts. How much is covered it tells of long runs only."""

import os
import pathlib
import re
import unittest

from harness import Case

COVERAGE = pathlib.Path(os.environ["SOURCE_ROOT"]) / "microbench/coverage"
BUILD = pathlib.Path(os.environ["COVERAGE_CALLS"]).parents[1]
KINDS = ["independent", "rare", "heavy", "short_bursts", "bursts", "rare_bursts", "phase", "trend", "lock", "held"]


class Coverage(Case):
    def test_short(self):
        done = self.succeeded(self.run_in_folder(COVERAGE, "--build", BUILD, "--programs", len(KINDS), "--recordings", 2, "--calls", 2000))
        text = done.stdout.decode()
        rows = re.findall(r"^(\w+) +(\d\.\d{3}) +(\d\.\d{3}) +(\d\.\d{3}) +(\d)/2$", text, re.MULTILINE)
        self.assertEqual([row[0] for row in rows], KINDS, text)
        for _, score, interval, _, _ in rows:
            self.assertGreater(float(score), 0, text)
            self.assertGreater(float(interval), 0, text)
        covered = sum(int(row[4]) for row in rows)
        self.assertIn(f"\n{covered} of {2 * len(KINDS)} intervals hold the mean", text)

    def test_usage(self):
        done = self.run_in_folder(COVERAGE, "--recordings", 1)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"2 at least", done.stderr)


if __name__ == "__main__":
    unittest.main()
