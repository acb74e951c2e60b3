#!/usr/bin/python3
"""What rdam reports of programs that measure themselves is what they measured."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

RDAM = os.environ["RDAM"]
LIBRDAM = os.environ["LIBRDAM"]
KNOWN_LOSS = os.environ["KNOWN_LOSS"]

SCORE = 0.01  # the distance from the truth that a score may have


class Run:
    """One recorded run: what the program knows, and what rdam says."""

    def __init__(self, variant: str, functions: str, *options: str, by_command: bool = False):
        self.by_command = by_command  # `rdam record` instead of the library alone
        with tempfile.TemporaryDirectory(prefix="rdam-truth-") as folder:
            self.trace = pathlib.Path(folder) / "trace.bin"
            program = self.record([KNOWN_LOSS, variant, *options], functions)
            self.truth = json.loads(program)
            self.report = json.loads(self.analyze("--json", "--sequences"))
        self.threads = {thread["tid"]: thread for thread in self.report["threads"]}
        self.functions = {function["name"]: function for function in self.report["functions"]}

    def record(self, command: list[str], functions: str) -> str:
        # The program knows the time that has passed, and not which of its threads had the processors.
        if self.by_command:
            recorder = [RDAM, "record", "--switches", "off", "-f", functions, "-o", str(self.trace), "--"]
            return subprocess.run([*recorder, *command], check=True, text=True, stdout=subprocess.PIPE).stdout
        env = {**os.environ, "LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": functions, "RDAM_OUTPUT": str(self.trace), "RDAM_SWITCHES": "off"}
        return subprocess.run(command, env=env, check=True, text=True, stdout=subprocess.PIPE).stdout

    def analyze(self, *options: str) -> str:
        return subprocess.run([RDAM, "analyze", *options, str(self.trace)], check=True, text=True,
                              stdout=subprocess.PIPE).stdout


class GroundTruth(unittest.TestCase):
    maxDiff = None

    def tolerance(self, run: Run) -> float:
        """SCORE, and what nobody can settle: a thread that loses its processor between the program's reading of the
        clock and the recorder's, and, where recorded calls contain others, what the recorder spent on itself inside
        them: rdam takes it out, the program cannot."""
        nested = any(name in run.functions for name in ("outer", "descend"))
        paused = run.report["trace"]["paused_ns"] if nested else 0
        doubts = [sum(function["unsettled_ns"] for function in thread["functions"].values()) / thread["duration_ns"]
                  for thread in run.truth["threads"]]
        lives = [thread["duration_ns"] for thread in run.truth["threads"] if thread["functions"]]
        # A thread that waits for a processor before or after it reads the clock lives longer than it knows.
        longer = max(run.threads[thread["tid"]]["duration_ns"] / thread["duration_ns"] - 1 for thread in run.truth["threads"] if thread["functions"])
        return SCORE + max(doubts) + paused / min(lives) + max(longer, 0)

    def check_threads(self, run: Run) -> None:
        self.assertEqual(set(run.threads), {thread["tid"] for thread in run.truth["threads"]})
        for thread in run.truth["threads"]:
            with self.subTest(tid=thread["tid"]):
                duration = run.threads[thread["tid"]]["duration_ns"]
                self.assertAlmostEqual(duration, thread["duration_ns"], delta=0.03 * thread["duration_ns"] + thread["waited_ns"])
                calls = sum(function["calls"] for function in thread["functions"].values())
                self.assertGreaterEqual(run.threads[thread["tid"]]["events"], 2 * calls)

    def check_shares(self, run: Run) -> None:
        for thread in run.truth["threads"]:
            for name, truth in thread["functions"].items():
                with self.subTest(tid=thread["tid"], function=name):
                    shares = [share for share in run.functions[name]["threads"] if share["tid"] == thread["tid"]]
                    self.assertEqual(len(shares), 1)
                    self.assertEqual(shares[0]["occurrences"], truth["calls"])
                    self.assertAlmostEqual(shares[0]["rdam"], truth["rdam"], delta=self.tolerance(run))
                    self.assertAlmostEqual(shares[0]["lost_ns"], truth["lost_ns"],
                                           delta=self.tolerance(run) * thread["duration_ns"])

    def check_functions(self, run: Run) -> None:
        self.assertEqual(set(run.functions), set(run.truth["functions"]))
        life = sum(thread["duration_ns"] for thread in run.truth["threads"])
        for name, truth in run.truth["functions"].items():
            with self.subTest(function=name):
                row = run.functions[name]
                self.assertEqual(row["occurrences"], truth["calls"])
                for score in ("rdam", "rdam_all", "rdam_self", "rdam_flat"):
                    self.assertAlmostEqual(row[score], truth[score], delta=self.tolerance(run), msg=score)
                self.assertAlmostEqual(row["lost_ns"], truth["lost_ns"], delta=self.tolerance(run) * life)
                self.assertEqual(row["module"], pathlib.Path(KNOWN_LOSS).name)

    def check_order(self, run: Run) -> None:
        scores = [function["rdam"] for function in run.report["functions"]]
        self.assertEqual(scores, sorted(scores, reverse=True))
        for function in run.report["functions"]:
            self.assertLessEqual(function["rdam"], function["rdam_flat"] + 1e-9)
            self.assertLessEqual(function["min_ns"], function["median_ns"])
            self.assertLessEqual(function["median_ns"], function["p99_ns"])
            self.assertLessEqual(function["p99_ns"], function["max_ns"])

    def check(self, run: Run) -> None:
        self.assertEqual(run.report["trace"]["dropped"], 0)
        self.check_threads(run)
        self.check_shares(run)
        self.check_functions(run)
        self.check_order(run)

    def test_single(self):
        run = Run("single", "work")
        self.check(run)
        self.assertIn("known_loss single", run.report["trace"]["command"])
        [work] = run.report["functions"]
        # One sequence; a call stack for the first call of each thread, from the loop that calls it.
        self.assertEqual([sequence["occurrences"] for sequence in work["sequences"]], [work["occurrences"]])
        self.assertTrue(any("run_single" in frame for stack in work["stacks"] for frame in stack["frames"]))

    def test_callers(self):
        run = Run("callers", "work")
        self.check(run)
        [work] = run.report["functions"]
        truth = run.truth["functions"]["work"]["callers"]
        self.assertEqual(len(work["callers"]), 2)
        for caller in work["callers"]:
            name = next(name for name in truth if any(name in frame for frame in caller["frames"]))
            with self.subTest(caller=name):
                self.assertEqual(caller["count"], truth[name]["calls"])
                life = sum(thread["duration_ns"] for thread in run.truth["threads"])
                self.assertAlmostEqual(caller["lost_ns"], truth[name]["lost_ns"], delta=self.tolerance(run) * life)
                self.assertAlmostEqual(caller["share"], caller["lost_ns"] / work["lost_ns"], places=6)
                self.assertRegex(caller["frames"][0], r"known_loss\.cpp:\d+$")
                # Each thread's first call from there had its stack taken.
                self.assertTrue(caller["stacks"])
                for stack in caller["stacks"]:
                    self.assertEqual(stack["frames"][:len(caller["frames"])], caller["frames"])
                    self.assertTrue(any("run_callers" in frame for frame in stack["frames"]))
        self.assertAlmostEqual(sum(caller["share"] for caller in work["callers"]), 1, places=6)

    def test_one_thread(self):
        self.check(Run("single", "work", "1", "8000", "7"))

    def test_more_threads_than_processors(self):
        self.check(Run("single", "work", "9", "2000", "3"))

    def test_by_command(self):
        self.check(Run("single", "work", by_command=True))

    def test_nested(self):
        run = Run("nested", "outer,inner")
        self.check(run)
        outer, inner = run.functions["outer"], run.functions["inner"]
        # Two inner calls and four are different sequences, equally often.
        counts = [sequence["occurrences"] for sequence in outer["sequences"]]
        self.assertEqual(counts, [outer["occurrences"] // 2] * 2)
        self.assertEqual(inner["occurrences"], 3 * outer["occurrences"])

    def test_nested_with_the_inner_calls_unseen(self):
        run = Run("nested", "outer")
        [outer] = run.report["functions"]
        truth = run.truth["functions"]["outer"]
        # What cannot be seen cannot be told apart: all calls of `outer` are one sequence.
        self.assertAlmostEqual(outer["rdam"], truth["rdam_flat"], delta=self.tolerance(run))
        self.assertEqual(len(outer["sequences"]), 1)

    def test_recursive(self):
        self.check(Run("recursive", "descend"))

    def test_mutex(self):
        self.check(Run("mutex", "take_turn,end_turn", "3", "3000"))

    def test_exceptions(self):
        run = Run("exceptions", "may_throw")
        self.check(run)
        self.assertEqual(run.functions["may_throw"]["outermost"], run.truth["functions"]["may_throw"]["calls"])


if __name__ == "__main__":
    unittest.main()
