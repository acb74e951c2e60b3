#!/usr/bin/python3
"""A budget for overhead: samples of call trees, estimates, functions that are recorded in windows and counted."""

import json
import os
import subprocess
import unittest

from harness import LIBRDAM, PROGRAMS, Case

FUNCTIONS = ("leaf", "inner", "tree", "thrower", "jumper", "summed", "first", "second", "rare")


class Budget(Case):
    def run_sampled(self, share: str, *options, functions=FUNCTIONS, arguments=("100000",)):
        """The program's own counts, and the report."""
        plain = subprocess.run([PROGRAMS / "sampled", *arguments], capture_output=True, check=True)
        done = self.rdam("record", "-o", "trace.bin", "--max-overhead", share, "-f", ",".join(functions), *options,
                         "--", PROGRAMS / "sampled", *arguments)
        self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr.decode())
        words = plain.stdout.split()[1:]
        return {name.decode(): int(number) for name, number in zip(words[::2], words[1::2], strict=True)}, self.analyze()

    def check_estimates(self, truth: dict[str, int], report: dict):
        self.assertEqual(report["trace"]["dropped"], 0)
        for function in report["functions"]:
            with self.subTest(function["name"]):
                count = truth[function["name"]]
                self.assertLessEqual(function["recorded"], count)
                if "windows_cover" in function:
                    self.assertTrue(function["sampled"])
                    self.assertEqual((function["counted"], function["occurrences"], function["occurrences_error"]), (True, count, 0))
                elif function["sampled"]:
                    self.assertTrue(function["lower_bound"])
                    self.assertGreater(function["occurrences_error"], 0)
                    self.assertLessEqual(abs(function["occurrences"] - count), 6 * function["occurrences_error"])
                else:
                    self.assertEqual((function["occurrences"], function["occurrences_error"]), (count, 0))

    def test_counts_are_estimated_within_their_error(self):
        for options in ((), ("--no-args", "--stack-period", "0"), ("--clock", "rdtsc")):
            with self.subTest(options):
                truth, report = self.run_sampled("100%", *options)
                self.check_estimates(truth, report)
                sampled = {f["name"] for f in report["functions"] if f["sampled"] and "windows_cover" not in f}
                self.assertTrue(sampled)
                rare = next(f for f in report["functions"] if f["name"] == "rare")
                self.assertEqual((rare["recorded"], rare["sampled"]), (truth["rare"], False))

    def test_a_small_budget(self):
        truth, report = self.run_sampled("5%")
        self.check_estimates(truth, report)
        self.assertLess(sum(f["recorded"] for f in report["functions"]), sum(truth.values()) / 10)

    def test_a_callee_is_never_missing_in_a_recorded_caller(self):
        truth, report = self.run_sampled("100%", functions=("inner", "tree", "first", "second"))
        self.check_estimates(truth, report)
        found = {f["name"]: f for f in report["functions"]}
        if all("windows_cover" not in f for f in report["functions"]):
            # tree calls inner 0 to 3 times, always the same for its argument; first always calls second.
            self.assertEqual(found["first"]["recorded"], found["second"]["recorded"])
            self.assertLessEqual(found["tree"]["scored_sequences"] + found["tree"]["single_sequences"], 4)

    def test_what_is_called_in_an_endless_tree_is_recorded_in_windows(self):
        truth, report = self.run_sampled("10%", functions=("endless", "leaf"), arguments=("endless", "20000000"))
        found = {f["name"]: f for f in report["functions"]}
        self.assertIn("windows_cover", found["leaf"])
        self.assertLess(found["leaf"]["recorded"], truth["leaf"])
        self.check_estimates({**truth, "endless": 1}, report)
        self.assertEqual(found["endless"]["recorded"], 1)
        self.assertNotIn("windows_cover", found["endless"])
        self.assertTrue(any("leaf" in note for note in report["trace"]["notes"]), report["trace"]["notes"])

    def test_a_fork_child_has_a_budget_of_its_own(self):
        truth, report = self.run_sampled("5%", functions=("leaf",), arguments=("forks", "20000000"))
        self.assertIn("windows_cover", report["functions"][0])
        self.check_estimates(truth, report)
        child = next(self.folder.glob("trace.*.bin"))
        done = self.rdam("analyze", "--json", child)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual([(f["name"], f["occurrences"]) for f in json.loads(done.stdout)["functions"]], [("leaf", 50)])

    def test_within_the_budget_everything_is_recorded(self):
        done = self.rdam("record", "-o", "trace.bin", "--max-overhead", "100000%", "-f", ",".join(FUNCTIONS), "--",
                         PROGRAMS / "sampled", "2000")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        words = done.stdout.split()[1:]
        self.assertEqual(self.counts(), {n.decode(): int(c) for n, c in zip(words[::2], words[1::2], strict=True)})

    def test_what_is_no_share(self):
        for text in ("much", "-1", "10%%", "0", "1e9", "", "10"):
            with self.subTest(text):
                done = self.rdam("record", "--max-overhead", text, "-f", "leaf", "--", PROGRAMS / "sampled", "1")
                self.assertEqual((done.returncode, done.stdout), (2, b""), done.stderr.decode())
        environment = {**os.environ, "LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": "leaf", "RDAM_MAX_OVERHEAD": "much"}
        done = subprocess.run([PROGRAMS / "sampled", "1"], cwd=self.folder, env=environment, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr, b"rdam: RDAM_MAX_OVERHEAD='much' is not a share like 10% or 0.1 (0.01% to 100000%); "
                                      b"the program continues without being recorded\n")


if __name__ == "__main__":
    unittest.main()
