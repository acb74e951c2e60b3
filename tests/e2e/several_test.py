#!/usr/bin/python3
"""Several traces at once, parts of traces, and two that are compared: of programs that were really recorded."""

import json
import os
import unittest

from harness import PROGRAMS, Case

KNOWN_LOSS = os.environ["KNOWN_LOSS"]
FIRST, IN_CHILD, LAST = 3000, 2000, 1000  # calls of work() in the phases of the program `phases`


class Several(Case):
    def several(self, *arguments, status=0) -> dict:
        done = self.succeeded(self.rdam("analyze", "--json", "--top", "0", *arguments), status)
        return json.loads(done.stdout)

    def record(self, *command, functions="work,step", output="trace.bin", status=0):
        self.succeeded(self.rdam("record", "-f", functions, "-o", output, "--", *command), status)

    def record_phases(self):
        self.record(PROGRAMS / "phases", FIRST, IN_CHILD, LAST)
        self.assertEqual(len(self.traces()), 2, self.traces())
        self.child, = set(self.traces()) - {"trace.bin"}


def function(report: dict, name: str) -> dict:
    return next((f for f in report["functions"] if f["name"] == name), {"occurrences": 0})


class Processes(Several):
    def test_processes_of_one_run(self):
        self.record(PROGRAMS / "children", "fork", "3", functions="work,dup", status=6)
        self.assertEqual(len(self.traces()), 4)
        report = self.several(*self.traces())
        self.assertEqual(report["overall"]["runs"], 1)
        self.assertEqual(report["overall"]["unreadable"], [])
        self.assertEqual([process["file"] for process in report["processes"]], self.traces())
        # Each process has the report that its trace has alone.
        for process in report["processes"]:
            alone = self.analyze(process["file"])
            self.assertEqual({key: process[key] for key in alone}, alone)
        work = function(report, "work")
        self.assertEqual(work["occurrences"], 5 * 3 + 3 * 7)
        self.assertEqual(len(work["processes"]), 4)
        parts = [function(process, "work") for process in report["processes"]]
        self.assertAlmostEqual(work["lost_ns"], sum(part["lost_ns"] for part in parts), delta=1)
        eligible = [part["rdam"] for part, process in zip(parts, report["processes"], strict=True) if not process["short_lived"]]
        self.assertEqual(work["rdam"], max(eligible))
        self.assertEqual([len(function(report, "dup")["processes"]), function(report, "dup")["occurrences"]], [1, 3])

    def test_patterns_and_a_sample(self):
        self.record(PROGRAMS / "phases", "300", "0", "0", output="whole.bin")
        self.succeeded(self.rdam("record", "-f", "~work,step", "-o", "sample.bin", "--", PROGRAMS / "phases", "300", "0", "0"))
        done = self.rdam("analyze", "--json", "--patterns", "whole.bin", "sample.bin")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        whole, sample = json.loads(done.stdout)["processes"]
        self.assertEqual((whole["file"], sample["file"]), ("whole.bin", "sample.bin"))
        self.assertIn("work", json.dumps(whole["patterns"]))
        self.assertNotIn("work", json.dumps(sample["patterns"]))
        self.assertGreater(function(sample, "work")["occurrences"], 0)

    def test_tables(self):
        self.record_phases()
        # The child may be too short-lived to set a score.
        text = self.rdam("analyze", "--top", "0", *self.traces()).stdout.decode()
        self.assertTrue(text.startswith("2 processes of 1 run\n"), text)
        self.assertIn("Score in each process", text)
        self.assertRegex(text, f"  work +{FIRST + IN_CHILD + LAST:,} ")
        for name in self.traces():
            self.assertIn(name, text)
        self.assertNotIn("second-thread", text)
        self.assertIn("second-thread", self.rdam("analyze", "--threads", *self.traces()).stdout.decode())

    def test_titles(self):
        self.record(PROGRAMS / "titles", 2, "x" * 40, functions="work")
        report = self.several(*self.traces())
        titles = [process["trace"]["title"] for process in report["processes"]]
        self.assertEqual(sorted(titles), ["", "titles: writer 0", "titles: writer 1"])
        text = self.rdam("analyze", "--top", "0", *self.traces()).stdout.decode()
        for title in ("titles: writer 0", "titles: writer 1", "titles 2 xxx"):
            self.assertIn(f"  {title}", text)

    def test_ranks(self):
        for rank, calls in (("0", "100"), ("1", "300")):
            self.succeeded(self.preload("work", PROGRAMS / "counts", "1", calls, RDAM_OUTPUT="rank.%r.bin", PMI_RANK=rank), 3)
        report = self.several("rank.0.bin", "rank.1.bin")
        shares = {share["process"]: share["occurrences"] for share in function(report, "work")["processes"]}
        self.assertEqual(shares, {0: 100, 1: 300})
        self.assertTrue(self.rdam("analyze", "rank.0.bin", "rank.1.bin").stdout.startswith(b"2 processes\n"))

    def test_different_runs(self):
        self.record(PROGRAMS / "counts", "1", "100", output="a.bin", status=3)
        self.record(PROGRAMS / "counts", "1", "200", output="b.bin", status=3)
        report = self.several("a.bin", "b.bin", "a.bin", "./a.bin")
        self.assertEqual(report["overall"]["runs"], 2)
        self.assertEqual(function(report, "work")["occurrences"], 300, "each trace counts once")

    def test_bad_trace_among_good_ones(self):
        self.record(PROGRAMS / "counts", "1", "100", output="a.bin", status=3)
        self.record(PROGRAMS / "counts", "1", "200", output="b.bin", status=3)
        (self.folder / "bad.bin").write_bytes(os.urandom(1000))
        for option in ("--json", "--threads"):
            done = self.rdam("analyze", option, "a.bin", "bad.bin", "b.bin")
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr.decode().count("\n"), 1, done.stderr)
            self.assertIn("bad.bin", done.stderr.decode())
            self.assertIn(b"work", done.stdout)
        report = self.several("a.bin", "bad.bin", "b.bin", status=1)
        self.assertEqual([bad["file"] for bad in report["overall"]["unreadable"]], ["bad.bin"])
        self.assertEqual(function(report, "work")["occurrences"], 300)

    def test_no_good_trace(self):
        (self.folder / "bad.bin").touch()
        done = self.rdam("analyze", "bad.bin", "nothing.bin")
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertEqual(done.stderr.decode().count("\n"), 2, done.stderr)

    def test_names_that_one_of_them_lacks(self):
        self.record(PROGRAMS / "counts", "1", "100", output="a.bin", status=3)
        self.record(PROGRAMS / "phases", "1", "2", "3", functions="step,rest", output="b.bin")
        report = self.several("a.bin", "b.bin", "--ignore", "rest", "--key", "work:x")
        self.assertGreater(function(report["processes"][0], "work")["scored_sequences"], 1)
        self.assertEqual(function(report, "rest")["occurrences"], 0)
        self.assert_one_line(self.rdam("analyze", "a.bin", "b.bin", "--ignore", "nosuch"), 1, "nosuch")


class Parts(Several):
    def pause_after(self, calls: int, *traces) -> float:
        """A time of the run, in nanoseconds, before which `work` was called so often: in one of the pauses."""
        low, high = 0.0, 1e12
        for _ in range(60):
            time = (low + high) / 2
            found = function(self.several(*traces, "--until", f"{time:.0f}ns"), "work")["occurrences"]
            if found == calls:
                return time
            low, high = (time, high) if found < calls else (low, time)
        self.fail(f"there is no time with {calls} calls before it")

    def test_windows_of_known_phases(self):
        self.record_phases()
        traces = self.traces()
        first = self.pause_after(FIRST, *traces)
        second = self.pause_after(FIRST + IN_CHILD, *traces)
        self.assertLess(first, second)
        windows = {(): FIRST + IN_CHILD + LAST,
                   ("--until", first): FIRST,
                   ("--since", first, "--until", second): IN_CHILD,
                   ("--since", second): LAST,
                   ("--since", first): IN_CHILD + LAST}
        for window, calls in windows.items():
            options = [word if isinstance(word, str) else f"{word:.0f}ns" for word in window]
            with self.subTest(window=options):
                report = self.several(*traces, *options)
                self.assertEqual(function(report, "work")["occurrences"], calls)
                self.assertEqual(function(report, "step")["occurrences"], calls)
                # A pause cuts off no call, and every one of them is scored.
                self.assertEqual(sum(process["trace"].get("cut_off", 0) for process in report["processes"]), 0)
                self.assertEqual(sum(function(process, "work").get("outermost", 0) for process in report["processes"]),
                                 calls)
        # Alone the child is the first process of what is looked at.
        alone = self.analyze(self.child, "--until", "1000")
        self.assertEqual(function(alone, "work")["occurrences"], IN_CHILD)

    def test_windows_add_up(self):
        calls, threads = 20000, 2
        self.record(PROGRAMS / "counts", str(threads), str(calls), status=3)
        whole = self.analyze()
        edges = [whole["trace"]["duration_ns"] * part / 7 for part in range(1, 7)]
        parts = [self.analyze("trace.bin", "--since", f"{begin}ns", "--until", f"{end}ns")
                 for begin, end in zip([0, *edges], [*edges, 1e15], strict=True)]
        for name in ("work", "step"):
            found = [function(part, name) for part in parts]
            self.assertEqual(sum(each["occurrences"] for each in found), function(whole, name)["occurrences"])
            self.assertEqual(sum(each.get("outermost", 0) + each.get("unscored", 0) for each in found),
                             function(whole, name)["occurrences"])
        # At most one call of each function is open in a thread, and reaches over an edge from both sides.
        self.assertLessEqual(sum(part["trace"]["cut_off"] for part in parts), 2 * len(edges) * threads * 2)
        lives = [sum(thread["duration_ns"] for thread in report["threads"]) for report in (whole, *parts)]
        self.assertAlmostEqual(lives[0], sum(lives[1:]), delta=lives[0] * 1e-6)

    def test_threads(self):
        self.record_phases()
        child = self.analyze(self.child)
        self.assertEqual(len(child["threads"]), 2)
        for thread in child["threads"]:
            part = self.analyze(self.child, "--thread", str(thread["tid"]))
            self.assertEqual([each["tid"] for each in part["threads"]], [thread["tid"]])
            self.assertEqual(function(part, "work")["occurrences"], IN_CHILD // 2)
        self.assertEqual(function(self.analyze(self.child, "--thread", "second-*"), "work")["occurrences"], IN_CHILD // 2)
        # Of several traces one has it.
        report = self.several(*self.traces(), "--thread", "second-thread")
        self.assertEqual(function(report, "work")["occurrences"], IN_CHILD // 2)
        self.assert_one_line(self.rdam("analyze", self.child, "--thread", "third"), 1, "third", "second-thread")

    def test_functions(self):
        self.record_phases()
        whole, part = self.analyze(), self.analyze("trace.bin", "--function", "phases:w*")
        self.assertEqual([each["name"] for each in part["functions"]], ["work"])
        # What is asked for gets hints, whatever it scores, and with them what they are taken from.
        row = {key: value for key, value in function(whole, "work").items() if key not in ("hints", "outermost")}
        self.assertEqual({key: part["functions"][0][key] for key in row}, row, "the others still distinguish its calls")
        self.assertEqual(part["trace"]["functions_left_out"], 1)
        self.assert_one_line(self.rdam("analyze", "--function", "nosuch"), 1, "nosuch")


class Difference(Several):
    CALLS = 8000  # enough waits for a lock for an interval that is far from 0

    def difference(self, a: str, b: str) -> dict:
        report = self.several("--diff", a, b)
        return {row["name"]: row for row in report["diff"]}

    def record_turns(self, threads: int, output: str):
        self.record(KNOWN_LOSS, "mutex", str(threads), str(self.CALLS), functions="take_turn,end_turn", output=output)

    def test_contention(self):
        self.record_turns(1, "alone.bin")
        self.record_turns(3, "contended.bin")
        worse = self.difference("alone.bin", "contended.bin")["take_turn"]
        self.assertEqual((worse["verdict"], worse["a"]["occurrences"], worse["b"]["occurrences"]), ("worse", self.CALLS, 3 * self.CALLS))
        self.assertAlmostEqual(worse["change"], worse["b"]["rdam"] - worse["a"]["rdam"])
        for side, name in (("a", "alone.bin"), ("b", "contended.bin")):
            alone = function(self.analyze(name), "take_turn")
            for key in ("rdam", "rdam_all", "median_ns", "lost_ns"):
                self.assertEqual(worse[side][key], alone[key])
        better = self.difference("contended.bin", "alone.bin")["take_turn"]
        self.assertEqual((better["verdict"], better["change"]), ("better", -worse["change"]))
        rows = self.rdam("analyze", "--diff", "alone.bin", "contended.bin").stdout.decode()
        self.assertRegex(rows, r"\+0\.\d+ +\+0\.\d+ to \+0\.\d+ +worse, 3\.00 × the calls +take_turn ")

    def test_usage(self):
        for arguments in (("--diff",), ("--diff", "a.bin"), ("--diff", "a.bin", "b.bin", "c.bin"), ("--since", "2x"),
                          ("--until", "-1"), ("--since", "2s", "--until", "2s"), ("--diff", "a.bin", "b.bin", "--patterns"),
                          ("--diff", "a.bin", "b.bin", "--histogram")):
            with self.subTest(arguments):
                self.assert_one_line(self.rdam("analyze", *arguments), 2, arguments[0] if len(arguments) < 4 else "--")
        self.assert_one_line(self.rdam("analyze", "--diff", "a.bin", "b.bin"), 1, "a.bin")


if __name__ == "__main__":
    unittest.main()
