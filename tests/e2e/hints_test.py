#!/usr/bin/python3
"""Hints about programs whose answer is known."""

import json
import os
import re
import unittest

from harness import PROGRAMS, Case, Others
from planted_causes import CAUSES, KEYS, Cause, judge, work

ATTEMPTS = 10  # what else runs on the machine disturbs as well
BUSY = 0.1  # where it has the processors for so much of a thread's life, a disturbance may not be the first cause


def taken_by_others(report: dict) -> float:
    return max(thread.get("off_cpu", {}).get("preempted_ns", 0) / thread["duration_ns"] for thread in report["threads"]
               if thread["duration_ns"] > 0)


class Planted(Case):
    def record(self, cause: Cause):
        # What else runs on the machine shall not interfere; where that is not allowed nice goes on all the same.
        self.succeeded(self.run_in_folder("nice", "-n", "-20", os.environ["RDAM"], "record", "-f", cause.functions, "-o", "trace.bin", "--",
                                          PROGRAMS / "planted", cause.name, cause.calls))

    def report(self, *options) -> dict:
        done = self.succeeded(self.rdam("analyze", "--json", *options, "trace.bin"))
        return json.loads(done.stdout)

    def hints(self, cause: Cause) -> tuple[bool, list[str], dict]:
        (self.folder / "trace.bin").unlink(missing_ok=True)
        self.record(cause)
        report = self.report()
        return *judge(cause, report), report

    def check(self, cause: Cause):
        if cause.name in {"sharing", "phase", "counter", "processor"} and len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one processor: threads cannot disturb one another in its cache")
        others = Others()
        for _ in range(ATTEMPTS):
            right, wrong, report = self.hints(cause)
            if right and not wrong:
                break
        if not right or wrong:
            self.skip_if_busy(others)
        row = work(report)
        if cause.name == "lock" and not right:
            # Where there are fewer processors than threads that could run, who waits for the lock waits for one of them too.
            right = row["hints"][0]["kind"] == "preempted" and not re.search(r"\(0 % blocked", row["hints"][0]["text"])
        if not right and (taken := taken_by_others(report)) > BUSY:
            self.skipTest(f"the machine is busy: other programs had the processor for {taken:.0%} of a thread's life")
        self.assertTrue(right, row["hints"])
        self.assertEqual(wrong, [], row["hints"])
        self.assertGreaterEqual(row["rdam"], 0.2)
        if cause.interference:
            kept = work(self.report(*(f"--key=work:{name}" for name in KEYS)))["rdam"]
            self.assertGreater(kept, row["rdam"] * 0.6, "unrelated parameters as keys")
        if cause.first == "parameter" and cause.parameter in KEYS:
            self.check_prediction(cause, row)
        if cause.first == "concurrent":
            self.check_concurrent(report, next(hint for hint in row["hints"] if hint["kind"] == "concurrent"))

    def check_prediction(self, cause: Cause, row: dict):
        """What the hint says of the score with the key is what the key does."""
        hint = next(hint for hint in row["hints"] if hint["kind"] == "parameter")
        before, after = map(float, re.search(r"the score falls from (\d\.\d\d) to (\d\.\d\d)", hint["text"]).groups())
        self.assertAlmostEqual(before, row["rdam"], delta=0.006)
        self.assertAlmostEqual(after, hint["rdam_with_key"], delta=0.006)
        left = work(self.report(f"--key=work:{cause.parameter}"))["rdam"]
        self.assertLess(left, row["rdam"])
        self.assertTrue(abs(left - after) <= 0.1 or after / 2 <= left <= after * 2, f"{hint['text']}: it falls to {left}")

    def check_concurrent(self, report: dict, hint: dict):
        """Both threads are named: who loses calls work() alone, and the other one alone calls the concurrent function."""
        threads = {row["name"]: [part["tid"] for part in row["threads"]] for row in report["functions"]}
        self.assertEqual([hint["thread"]], threads["work"])
        self.assertEqual([hint["concurrent_thread"]], threads[hint["concurrent_function"]])
        self.assertRegex(hint["text"], rf"^for \d+ % of the time lost in work\(\) by thread {hint['thread']} .*, "
                                       rf"thread {hint['concurrent_thread']} .* is inside {hint['concurrent_function']}\(\) ")

    def test_threshold(self):
        self.record(next(cause for cause in CAUSES if cause.name == "parameter"))
        score = work(self.report())["rdam"]
        for threshold, wanted in ((score - 0.01, True), (score + 0.01, False)):
            kinds = [hint["kind"] for hint in work(self.report(f"--threshold={threshold}"))["hints"] if "share" in hint]
            self.assertEqual("parameter" in kinds, wanted, (threshold, score))
            self.assertEqual(bool(kinds), wanted, kinds)
            text = self.rdam("analyze", f"--threshold={threshold}", "trace.bin").stdout.decode()
            self.assertEqual("Possible causes" in text, wanted, text)

    def test_text(self):
        self.record(next(cause for cause in CAUSES if cause.name == "parameter"))
        text = self.rdam("analyze", "trace.bin").stdout.decode()
        self.assertIn("\nPossible causes\n  work\n", text)
        self.assertIn("--key 'work:second'", text)


def add(cause: Cause):
    def test(self):
        self.check(cause)
    setattr(Planted, f"test_{cause.name}", test)


for each in CAUSES:
    add(each)


if __name__ == "__main__":
    unittest.main()
