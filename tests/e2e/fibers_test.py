#!/usr/bin/python3
"""Fibers and coroutines: calls last as long as the program measures itself, on whichever stack and in whichever thread."""

import os
import pathlib
import sys
import unittest

from harness import PROGRAMS, Case

SOURCES = pathlib.Path(os.environ["SOURCE_ROOT"]) / "tests/e2e/programs"

GREENLETS = """
import greenlet
def inner(n):
    total = 0
    for i in range(20):
        total += i
        main.switch()
    return n
main = greenlet.getcurrent()
all = [greenlet.greenlet(inner) for _ in range(5)]
for _ in range(21):
    for n, each in enumerate(all):
        each.switch(n) if not each else each.switch()
print("done")
"""


class Fibers(Case):
    def recorded(self, functions: str, *command) -> list[int]:
        """The durations that the program has measured."""
        done = self.rdam("record", "-f", functions, "--", *command)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return sorted(int(line) for line in done.stdout.split())

    def check(self, measured: list[int], rows: int):
        """Each call is scored, on its stack, and lasts as long as the program measures itself: the least and the median."""
        report = self.analyze()
        step = next(f for f in report["functions"] if f["name"] == "step")
        self.assertEqual(step["occurrences"], len(measured))
        self.assertEqual(step["unscored"], 0)
        self.assertEqual(step["outermost"], len(measured))
        self.assertIsInstance(step["rdam"], float)
        # What the recorder and, where there are too few processors, other threads took is in no call's time.
        taken = sum(row["paused_ns"] + row["crowded_ns"] for row in report["threads"])
        # A call lies within what the program measures, which is longer by whatever else got the processor in between: much, on a
        # busy machine. Ends of other calls would give durations of another kind.
        for name, expected in [("min_ns", measured[0]), ("median_ns", measured[len(measured) // 2])]:
            print(f"{self.id()}: {name} {step[name] / expected:.3f} of what the program measures", flush=True)
            self.assertLessEqual(step[name], 1.02 * expected + taken, name)
            self.assertGreaterEqual(step[name] + taken, expected / 3, name)
        fibers = [row for row in report["threads"] if row.get("fiber")]
        self.assertEqual(len(fibers), rows)
        self.assertEqual(len(step["threads"]), rows)
        self.assertTrue(any(f"Calls on {rows} stacks of their own" in note for note in report["trace"]["notes"]), report["trace"]["notes"])
        return report

    def test_swapcontext(self):
        measured = self.recorded("step", PROGRAMS / "fibers", "turns", "1", "4", "30")
        self.check(measured, 4)
        text = self.rdam("analyze", "--threads", "trace.bin").stdout.decode()
        self.assertIn("fibers's fiber ", text)

    def test_a_switch_by_hand(self):
        self.check(self.recorded("step", PROGRAMS / "fibers", "hand", "1", "5", "20"), 5)

    def test_fibers_that_go_from_thread_to_thread(self):
        self.check(self.recorded("step", PROGRAMS / "fibers", "turns", "2", "6", "20"), 6)

    def test_every_output_has_the_rows(self):
        self.recorded("step", PROGRAMS / "fibers", "turns", "2", "4", "5")
        for arguments in (["report", "trace.bin", "-o", "page.html"], ["export", "--columns", "columns", "trace.bin"],
                          ["export", "--format", "perfetto", "trace.bin", "-o", "p.pftrace"],
                          ["export", "--format", "csv", "trace.bin", "-o", "calls.csv"],
                          ["analyze", "--diff", "trace.bin", "trace.bin"], ["analyze", "--patterns", "trace.bin"]):
            done = self.rdam(*arguments)
            self.assertEqual(done.returncode, 0, f"{arguments}: {done.stderr.decode()}")
        self.assertIn("fiber ", (self.folder / "calls.csv").read_text())

    def boost(self, threads: str, fibers: str, calls: str) -> list[int]:
        self.need("g++")
        built = self.run_in_folder("g++", "-std=c++17", "-O2", "-g", "-o", "program", SOURCES / "boost_fibers.cpp",
                                   "-lboost_fiber", "-lboost_context", "-pthread")
        if built.returncode != 0:
            self.skipTest("Boost.Fiber is not installed")
        return self.recorded("step", "./program", threads, fibers, calls)

    def test_boost_fiber(self):
        self.check(self.boost("1", "4", "30"), 4)

    def test_boost_fibers_that_threads_share(self):
        self.check(self.boost("2", "6", "20"), 6)

    def test_stacks_that_are_copied_away(self):
        pythons = [python for python in (sys.executable, "/usr/bin/python3") if os.access(python, os.X_OK)]
        python = next((each for each in pythons if self.run_in_folder(each, "-c", "import greenlet").returncode == 0), None)
        if python is None:
            self.skipTest("greenlet for Python is not installed")
        (self.folder / "program.py").write_text(GREENLETS)
        plain = self.run_in_folder(python, "program.py")
        done = self.rdam("record", "-f", "_PyEval_EvalFrameDefault,write", "--", python, "program.py")
        self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout), done.stderr.decode())
        report = self.analyze()
        frames = next(f for f in report["functions"] if f["name"] == "_PyEval_EvalFrameDefault")
        self.assertIsNone(frames["rdam"])
        self.assertIsNone(frames["lost_ns"])
        self.assertEqual(frames["no_score"], "stacks are copied away")
        self.assertGreater(frames["occurrences"], 0)
        self.assertTrue(any("copied away (greenlet)" in note for note in report["trace"]["notes"]), report["trace"]["notes"])
        text = self.rdam("analyze", "trace.bin").stdout.decode()
        self.assertNotIn("0.000", text.split("_PyEval_EvalFrameDefault")[0].splitlines()[-1])
        for name in ("write",):
            found = [f for f in report["functions"] if f["name"] == name]
            self.assertTrue(all(f["rdam"] is not None for f in found))


class NeverScored(Case):
    def test_a_function_that_never_ends_has_no_score(self):
        source = 'int puts(const char*); void exit(int); __attribute__((noinline)) void last(void) { puts("x"); exit(0); }' \
                 " int main(void) { last(); }"
        (self.folder / "program.c").write_text(source)
        self.need("gcc")
        self.assertEqual(self.run_in_folder("gcc", "-O1", "-g", "-fno-inline", "-o", "program", "program.c").returncode, 0)
        done = self.rdam("record", "-f", "last", "--", "./program")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        report = self.analyze()
        last = next(f for f in report["functions"] if f["name"] == "last")
        self.assertEqual(last["occurrences"], 1)
        self.assertIsNone(last["rdam"])
        self.assertEqual(last["no_score"], "no call was seen to end")
        self.assertTrue(any("the score is unknown: " in note for note in report["trace"]["notes"]), report["trace"]["notes"])
        self.assertNotIn("0.000", self.rdam("analyze", "trace.bin").stdout.decode())


if __name__ == "__main__":
    unittest.main()
