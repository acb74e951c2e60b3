#!/usr/bin/python3
"""Functions whose calls are sampled in windows of time: marked ones, and what is too hot for a budget."""

import functools
import signal
import subprocess
import unittest

from harness import PROGRAMS, Case

PROGRAM = PROGRAMS / "windowed"
PLUGIN = PROGRAMS / "libplugin.so"


def counts_of(line: bytes) -> dict[str, int]:
    words = line.decode().split()[1:]
    return {name: int(number) for name, number in zip(words[::2], words[1::2], strict=True)}


@functools.cache
def plainly(*arguments: str) -> bytes:
    """What the program prints without the recorder: each of its runs takes seconds."""
    return subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, check=False).stdout


class Windows(Case):
    def record(self, functions, *arguments, options=(), status=0):
        """What the program prints, with and without the recorder the same."""
        done = self.rdam("record", "-o", "trace.bin", "-f", functions, *options, "--", PROGRAM, *arguments)
        self.assertEqual((done.returncode, done.stdout), (status, plainly(*arguments)), done.stderr.decode())
        return done.stdout.splitlines()

    def functions(self, trace="trace.bin", *options):
        report = self.analyze(trace, *options)
        self.assertEqual(report["trace"]["dropped"], 0)
        return {f["name"]: f for f in report["functions"]}

    def check_sampled(self, function, truth):
        """Of a function of which calls are missing, unless the agent was kept waiting. All were counted."""
        self.check_some(function, truth)
        self.assertEqual((function["counted"], function["occurrences"], function["occurrences_error"]), (True, truth, 0))
        self.assertEqual(sum(thread["occurrences"] for thread in function["threads"]), truth)

    def check_some(self, function, truth):
        self.assertTrue(function["sampled"])
        self.assertTrue(function["lower_bound"])
        self.assertIn("windows_cover", function)
        self.assertLessEqual(function["recorded"], truth)
        self.assertLessEqual(function["rdam_low"], function["rdam"])
        self.assertLessEqual(function["rdam"], function["rdam_high"])

    def check_complete(self, function, truth):
        self.assertEqual((function["occurrences"], function["sampled"]), (truth, False))
        self.assertNotIn("windows_cover", function)

    def test_a_marked_function_is_sampled_and_the_others_are_complete(self):
        # Where others have the processors a window may come only every few hundred milliseconds, and five are asked for.
        for options in ((), ("--clock", "rdtsc"), ("--no-args", "--stack-period", "0"), ("--switches", "off")):
            with self.subTest(options):
                line, = self.record("~leaf,slow", "marked", "20000000", "1", options=options)
                truth = counts_of(line)
                found = self.functions()
                self.check_complete(found["slow"], truth["slow"])
                self.check_sampled(found["leaf"], truth["leaf"])
                self.assertLess(found["leaf"]["recorded"], truth["leaf"])
                self.assertFalse(found["leaf"]["few_windows"])
                # A call of it more or less does not tell the slow ones apart.
                self.assertEqual(found["slow"]["scored_sequences"] + found["slow"]["single_sequences"], 1)

    def test_several_threads(self):
        line, = self.record("~leaf,slow", "marked", "8000000", "3")
        truth = counts_of(line)
        found = self.functions()
        self.check_complete(found["slow"], truth["slow"])
        self.check_sampled(found["leaf"], truth["leaf"])
        self.assertEqual(len(found["leaf"]["threads"]), 3)
        # Each has counted for itself.
        self.assertEqual({thread["occurrences"] for thread in found["leaf"]["threads"]}, {truth["leaf"] // 3})

    def test_a_thread_that_ends_by_pthread_exit_and_one_that_outlives_the_program(self):
        for how in ("exits", "stays"):
            with self.subTest(how):
                line, = self.record("~leaf,slow", how, "8000000")
                self.check_sampled(self.functions()["leaf"], counts_of(line)["leaf"])

    def test_what_a_child_calls_on_its_makers_storage_is_not_its_makers(self):
        line, = self.record("~leaf,slow", "vforks", "4000000")
        self.check_sampled(self.functions()["leaf"], counts_of(line)["leaf"])

    def test_of_a_killed_program_the_calls_since_the_last_full_chunk_are_estimated(self):
        line, = self.record("~leaf,slow", "killed", "10000000", status=128 + signal.SIGKILL)
        truth = counts_of(line)["leaf"]
        leaf = self.functions()["leaf"]
        self.check_some(leaf, truth)
        self.assertFalse(leaf["counted"])
        self.assertGreater(leaf["occurrences_error"], 0)
        self.assertLessEqual(abs(leaf["occurrences"] - truth), 6 * leaf["occurrences_error"])
        self.assertIn("Counts and lost times are estimates.", " ".join(self.analyze()["trace"]["notes"]))
        self.assertIn("~", self.rdam("analyze", "trace.bin").stdout.decode())

    def test_one_note_says_so_and_details_are_there_for_who_asks(self):
        line, = self.record("~leaf,slow", "marked", "10000000", "1")
        notes = [note for note in self.analyze()["trace"]["notes"] if "sampled" in note]
        self.assertEqual(len(notes), 1, notes)
        self.assertIn("1 function was sampled in windows that cover ", notes[0])
        short = self.rdam("analyze", "trace.bin").stdout.decode()
        long = self.rdam("analyze", "--verbose", "trace.bin").stdout.decode()
        self.assertTrue(notes[0].endswith("Lost times are estimates; calls were counted."), notes)
        leaves = f"{counts_of(line)['leaf']:,}"
        self.assertIn(f" {leaves} ", short)
        self.assertNotIn(f"~{leaves}", short)
        self.assertNotIn("leaf: sampled in windows", short)
        self.assertIn("leaf: sampled in windows", long)
        self.assertIn("all were counted", long)

    def test_the_windows_are_spread_over_the_run(self):
        self.record("~leaf", "marked", "40000000", "1")  # three seconds: see above
        duration = self.analyze()["trace"]["duration_ns"]
        for part in range(4):
            window = ("--since", f"{duration * part / 4:.0f}ns", "--until", f"{duration * (part + 1) / 4:.0f}ns")
            leaf = self.functions("trace.bin", *window)["leaf"]
            self.assertGreater(leaf["recorded"], 0, window)
            self.assertFalse(leaf["counted"], window)

    def test_without_a_mark_every_call_is_recorded(self):
        line, = self.record("leaf,slow", "marked", "200000", "2")
        truth = counts_of(line)
        found = self.functions()
        self.check_complete(found["slow"], truth["slow"])
        self.check_complete(found["leaf"], truth["leaf"])

    def test_a_fork_child_has_windows_of_its_own(self):
        child_line, = self.record("~leaf,slow", "forks", "8000000")[:1]
        truth = counts_of(child_line)
        child = next(self.folder.glob("trace.*.bin"))
        for trace in ("trace.bin", child):
            found = self.functions(trace)
            self.check_complete(found["slow"], truth["slow"])
            self.check_sampled(found["leaf"], truth["leaf"])

    def test_a_child_records_its_first_call_although_its_parents_gates_may_be_closed(self):
        for _ in range(5):
            self.succeeded(self.rdam("record", "-o", "trace.bin", "-f", "~libplugin.so:inner", "--", PROGRAMS / "loads", PLUGIN, "50", "fork"))
            child = next(self.folder.glob("trace.*.bin"))
            self.assertGreater(self.functions(child)["inner"]["recorded"], 0)
            child.unlink()

    def test_a_marked_function_of_a_library_that_comes_and_goes(self):
        plain = subprocess.run([PROGRAMS / "loads", PLUGIN, "50"], capture_output=True, check=True)
        done = self.rdam("record", "-o", "trace.bin", "-f", "~libplugin.so:inner,libplugin.so:plugin_work", "--",
                         PROGRAMS / "loads", PLUGIN, "50")
        self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr.decode())
        found = self.functions()
        self.check_complete(found["plugin_work"], 50 * 11)
        self.assertTrue(found["inner"]["sampled"])
        self.assertLessEqual(found["inner"]["recorded"], 2 * 50 * 11)
        self.assertTrue(found["inner"]["counted"])
        self.assertEqual(found["inner"]["occurrences"], 50 * 11 * 2)

    def test_with_a_budget_what_is_hot_is_sampled_over_the_rest_of_the_run(self):
        line, = self.record("leaf,other,slow", "changes", "10000000", options=("--max-overhead", "2%"))
        truth = counts_of(line)
        found = self.functions()
        for name in ("leaf", "other"):
            self.assertNotIn("switched_off_ns", found[name])
            self.check_sampled(found[name], truth[name])
        late = self.analyze()["trace"]["duration_ns"] * 0.8
        self.assertGreater(self.functions("trace.bin", "--since", f"{late:.0f}ns")["other"]["recorded"], 0)

    def test_without_rdam_record_and_with_the_monotonic_clock(self):
        done = self.succeeded(self.preload("~leaf,slow", PROGRAM, "marked", "10000000", "1", RDAM_CLOCK="monotonic"))
        truth = counts_of(done.stdout)
        found = self.functions()
        self.check_complete(found["slow"], truth["slow"])
        self.assertLess(found["leaf"]["recorded"], truth["leaf"])
        self.assertTrue(found["leaf"]["sampled"])
        self.assertEqual((found["leaf"]["counted"], found["leaf"]["occurrences"]), (True, truth["leaf"]))


if __name__ == "__main__":
    unittest.main()
