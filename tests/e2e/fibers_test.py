#!/usr/bin/python3
"""Fibers and coroutines: calls last as long as the program measures itself, on whichever stack and in whichever thread."""

import csv
import json
import math
import os
import pathlib
import sys
import unittest

from exports import FORMATS
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
        done = self.succeeded(self.rdam("record", "-f", functions, "--", *command))
        return sorted(int(line) for line in done.stdout.split())

    def step(self, report: dict) -> dict:
        return next(f for f in report["functions"] if f["name"] == "step")

    def check(self, measured: list[int], fibers_seen: int, rows: int | None = None):
        """Each call is scored, on its stack, and lasts as long as the program measures itself: the least and the median."""
        report = self.analyze()
        step = self.step(report)
        self.assertEqual(step["occurrences"], len(measured))
        self.assertEqual(step["unscored"], 0)
        self.assertEqual(step["outermost"], len(measured))
        self.assertIsInstance(step["rdam"], float)
        # What the recorder and, where there are too few processors, other threads took is in no call's time.
        taken = sum(row["paused_ns"] + row["crowded_ns"] for row in report["threads"])
        # A call lies within what the program measures, which is longer by whatever else got the processor in between: much, on a
        # busy machine. Ends of other calls would give durations of another kind.
        # The fastest one may have been held by the recorder, and is not the least then.
        median = measured[len(measured) // 2]
        for name, expected, most in [("min_ns", measured[0], median), ("median_ns", median, median)]:
            print(f"{self.id()}: {name} {step[name] / expected:.3f} of what the program measures", flush=True)
            self.assertLessEqual(step[name], 1.02 * most + taken, name)
            self.assertGreaterEqual(step[name] + taken, expected / 3, name)
        fibers = [row for row in report["threads"] if row.get("fiber")]
        self.assertEqual(len(fibers), fibers_seen)
        self.assertEqual(len(step["threads"]), fibers_seen if rows is None else rows)
        self.assertTrue(any(f"Calls on {fibers_seen} stacks of their own" in note for note in report["trace"]["notes"]), report["trace"]["notes"])
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

    def kind(self, kind: str, *libraries: str) -> list[int]:
        """The durations that the program measures on the stacks of a coroutine library."""
        self.need("g++")
        built = self.run_in_folder("g++", "-std=c++17", "-O2", "-g", "-U_FORTIFY_SOURCE", f"-D{kind}", "-o", "program",
                                   SOURCES / "coroutine_kinds.cpp", *libraries, "-pthread")
        if built.returncode != 0:
            self.skipTest(f"{kind} cannot be built: {next(line for line in built.stderr.decode().splitlines() if 'error' in line)}")
        return self.recorded("step", "./program")

    def test_state_threads(self):
        self.check(self.kind("ST", "-lst"), 6)

    def test_gnu_pth(self):
        self.check(self.kind("PTH", "-lpth"), 6)

    def test_the_portable_coroutine_library(self):
        self.check(self.kind("PCL", "-lpcl"), 6)

    def test_boost_coroutine2(self):
        self.check(self.kind("COROUTINE2", "-lboost_context"), 6)

    def test_stacks_made_by_signals_and_changed_by_siglongjmp(self):
        self.check(self.kind("SIGALTSTACK"), 6)

    def test_stacks_made_by_makecontext_and_changed_by_siglongjmp(self):
        self.check(self.kind("UCONTEXT"), 6)

    def test_a_switch_that_keeps_the_control_words(self):
        self.check(self.kind("ACO"), 6)

    def test_tasks_that_go_on_on_the_stack_of_another_thread(self):
        measured = self.kind("SUSPEND", "-ltbb")
        report = self.analyze()
        fibers = [row for row in report["threads"] if row.get("fiber")]
        self.check(measured, len(fibers), len(self.step(report)["threads"]))
        self.assertFalse(any("without a recorded" in note for note in report["trace"]["notes"]), report["trace"]["notes"])

    def check_script(self, function: str, *command):
        """In each call of the function on a stack of its own the program measures a little less than the call lasts."""
        self.need(command[0])
        plain = self.run_in_folder(*command)
        if plain.returncode != 0:
            self.skipTest(f"{command[-1]}: {(plain.stderr + plain.stdout).decode().strip().splitlines()[-1]}")
        measured = self.recorded(function, *command)
        self.assertEqual(len(measured), len(plain.stdout.split()))
        self.rdam("export", "--format", "csv", "trace.bin", "-o", "calls.csv")
        with open(self.folder / "calls.csv", newline="") as file:
            calls = [row for row in csv.DictReader(file) if "fiber" in row["thread_name"] and row["duration_ns"]]
        lasted = sorted(float(row["duration_ns"]) for row in calls)
        # What runs a whole fiber is such a call, too, and what the interpreter calls beside is over at once.
        lasted = [each for each in lasted if measured[0] / 2 < each < measured[-1] * 1.5]
        self.assertEqual(len(lasted), len(measured))
        taken = sum(row["paused_ns"] + row["crowded_ns"] for row in self.analyze()["threads"])
        for name, at in (("least", 0), ("median", len(measured) // 2), ("greatest", -1)):
            print(f"{self.id()}: the {name} {lasted[at] / measured[at]:.3f} of what the program measures", flush=True)
            self.assertGreaterEqual(lasted[at] * 1.02 + taken, measured[at], name)
            self.assertLessEqual(lasted[at], measured[at] * 1.5, name)

    def test_fibers_of_php(self):
        self.check_script("zend_call_function", "php", SOURCES / "fibers.php")

    def test_fibers_of_ruby(self):
        self.check_script("rb_yield", "ruby", "--disable-gems", SOURCES / "fibers.rb")

    def test_perl_coro(self):
        self.check_script("Perl_call_sv", "perl", SOURCES / "fibers.pl")

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
        self.assertNotIn("0.000", text[text.index(" 95 %  function"):].split("_PyEval_EvalFrameDefault")[0].splitlines()[-1])
        for name in ("write",):
            found = [f for f in report["functions"] if f["name"] == name]
            self.assertTrue(all(f["rdam"] is not None for f in found))
        self.check_single_calls(frames["occurrences"], sum(f["occurrences"] for f in report["functions"] if f["name"] == "write"))

    def check_single_calls(self, frames: int, writes: int):
        """In no output does a call of which the end is not known last for any time."""
        for name in FORMATS:
            # Calls that have lost nothing have no width where that is what is drawn.
            width = ["--weight", "time"] if name in ("firefox", "folded", "speedscope") else []
            done = self.rdam("export", "--format", name, *width, "trace.bin", "-o", "calls." + name)
            said = done.stderr.decode()
            self.assertEqual(done.returncode, 0, said)
            self.assertIn("copied away (greenlet)", said)
            self.assertIn("calls are left out", said)
            written = (self.folder / ("calls." + name)).read_bytes()
            self.assertIn(b"write", written, name)
            # Others have a table of all names before the calls.
            if name in ("csv", "json"):
                self.assertNotIn(b"_PyEval_EvalFrameDefault", written, name)
            if name == "folded":
                self.assertNotRegex(written, rb"_PyEval_EvalFrameDefault [0-9]")
            if name == "perfetto":
                self.assertIn(f": {writes} call".encode(), done.stderr)
        self.rdam("report", "trace.bin", "-o", "page.html")
        done = self.rdam("export", "--columns", "columns", "trace.bin")
        self.assertIn("calls have no end", done.stderr.decode())
        # An .npy file: a header, as long as its bytes 8 and 9 say, and the elements.
        columns = {}
        for column, kind in (("function", "I"), ("duration", "d"), ("end", "B")):
            content = (self.folder / f"columns/calls/{column}.npy").read_bytes()
            start = 10 + int.from_bytes(content[8:10], "little")
            columns[column] = memoryview(content)[start:].cast(kind).tolist()
        names = [f["name"] for f in json.loads((self.folder / "columns/columns.json").read_text())["functions"]]
        calls = [(names[function], duration, end) for function, duration, end in zip(*columns.values(), strict=True)]
        unknown = [(duration, end) for name, duration, end in calls if name == "_PyEval_EvalFrameDefault"]
        self.assertEqual(len(unknown), frames)
        self.assertTrue(all(math.isnan(duration) and end == 3 for duration, end in unknown))
        self.assertTrue(any(duration >= 0 for name, duration, _ in calls if name == "write"))


class NeverScored(Case):
    def test_a_function_that_never_ends_has_no_score(self):
        source = 'int puts(const char*); void exit(int); __attribute__((noinline)) void last(void) { puts("x"); exit(0); }' \
                 " int main(void) { last(); }"
        (self.folder / "program.c").write_text(source)
        self.need("gcc")
        self.assertEqual(self.run_in_folder("gcc", "-O1", "-g", "-fno-inline", "-o", "program", "program.c").returncode, 0)
        self.succeeded(self.rdam("record", "-f", "last", "--", "./program"))
        report = self.analyze()
        last = next(f for f in report["functions"] if f["name"] == "last")
        self.assertEqual(last["occurrences"], 1)
        self.assertIsNone(last["rdam"])
        self.assertEqual(last["no_score"], "no call was seen to end")
        self.assertTrue(any("the score is unknown: " in note for note in report["trace"]["notes"]), report["trace"]["notes"])
        self.assertNotIn("0.000", self.rdam("analyze", "trace.bin").stdout.decode())


if __name__ == "__main__":
    unittest.main()
