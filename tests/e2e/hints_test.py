#!/usr/bin/python3
"""Hints about programs whose answer is known."""

import json
import os
import re
import unittest

from harness import PROGRAMS, Case
from planted_causes import CAUSES, KEYS, Cause, judge, work

ATTEMPTS = 6  # what else runs on the machine disturbs as well


class Planted(Case):
    def record(self, cause: Cause):
        # What else runs on the machine shall not interfere; where that is not allowed nice goes on all the same.
        done = self.run_in_folder("nice", "-n", "-20", os.environ["RDAM"], "record", "-f", cause.functions, "-o", "trace.bin", "--",
                                  PROGRAMS / "planted", cause.name, cause.calls)
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def report(self, *options) -> dict:
        done = self.rdam("analyze", "--json", *options, "trace.bin")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return json.loads(done.stdout)

    def hints(self, cause: Cause) -> tuple[bool, list[str], dict]:
        (self.folder / "trace.bin").unlink(missing_ok=True)
        self.record(cause)
        report = self.report()
        return *judge(cause, report), report

    def check(self, cause: Cause):
        if cause.name in {"sharing", "phase", "processor"} and len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one processor: threads cannot disturb one another in its cache")
        for _ in range(ATTEMPTS):
            right, wrong, report = self.hints(cause)
            if right and not wrong:
                break
        row = work(report)
        if cause.name == "lock" and not right:
            # Where there are fewer processors than threads that could run, who waits for the lock waits for one of them too.
            right = row["hints"][0]["kind"] == "preempted" and not re.search(r"\(0 % blocked", row["hints"][0]["text"])
        self.assertTrue(right, row["hints"])
        self.assertEqual(wrong, [], row["hints"])
        self.assertGreaterEqual(row["rdam"], 0.2)
        if cause.interference:
            kept = work(self.report(*(f"--key=work:{name}" for name in KEYS)))["rdam"]
            self.assertGreater(kept, row["rdam"] * 0.6, "unrelated parameters as keys")
        if cause.first == "parameter":
            hint = next(hint for hint in row["hints"] if hint["kind"] == "parameter")
            self.assertAlmostEqual(hint["rdam_with_key"], row["rdam"] * (1 - hint["explains"]))
            left = work(self.report(f"--key=work:{cause.parameter}"))["rdam"]
            self.assertLess(left, row["rdam"])

    def test_text(self):
        self.record(next(cause for cause in CAUSES if cause.name == "parameter"))
        text = self.rdam("analyze", "trace.bin").stdout.decode()
        self.assertIn("\nWhat it may be\n  planted:work\n", text)
        self.assertIn("--key 'work:second'", text)


def add(cause: Cause):
    def test(self):
        self.check(cause)
    setattr(Planted, f"test_{cause.name}", test)


for each in CAUSES:
    add(each)


if __name__ == "__main__":
    unittest.main()
