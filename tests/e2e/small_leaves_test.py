#!/usr/bin/python3
"""Functions that take no longer than the probe: rdam hot marks them, the recorder says which are sampled, and who wants every
call gets it."""

import json
import unittest

from harness import PROGRAMS, Case

PROGRAM = PROGRAMS / "small_leaves"


class SmallLeaves(Case):
    def hot(self, *options, **keywords) -> dict[str, str]:
        """The lines of the list by the name of their function."""
        done = self.rdam("hot", *options, **keywords)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.said = done.stderr.decode()
        lines = done.stdout.decode().splitlines()
        return {line.split()[0].lstrip("~").rpartition(":")[2].partition("@")[0]: line for line in lines}

    def sampled(self, functions: str, *options, text=None) -> str:
        """What is said of the functions that are sampled."""
        keywords = {"input": text.encode(), "stdin": None} if text else {}
        done = self.rdam("record", "-f", functions, *options, "--", PROGRAM, "1", **keywords)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        lines = [line for line in done.stderr.decode().splitlines() if "marked ~" in line]
        self.assertLessEqual(len(lines), 1)
        return lines[0] if lines else ""

    def test_hot_marks_leaves_and_neither_workers_nor_locks(self):
        self.need("perf")
        done = self.run_in_folder("perf", "record", "-q", "-e", "cpu-clock", "-F", "1999", "-g", "-o", "perf.data", "--", PROGRAM, "400")
        if done.returncode != 0:
            self.skipTest("perf cannot sample here: " + done.stderr.decode().strip().splitlines()[-1])
        hot = self.hot("perf.data", "--min-percent", "0.5")
        self.assertRegex(hot["mix"], r"^~small_leaves:mix  # [0-9.]+ %, small leaf \([0-9]+ bytes\)$")
        self.assertRegex(hot["length"], r"^~small_leaves:length  # [0-9.]+ %, small leaf with a short loop \([0-9]+ bytes\)$")
        self.assertRegex(hot["worker"], r"^small_leaves:worker  # [0-9.]+ %$")
        self.assertRegex(hot["take"], r"^small_leaves:take  # [0-9.]+ %$")
        self.assertFalse(hot["pthread_mutex_lock"].startswith("~"), hot)
        marked = sum(line.startswith("~") for line in hot.values())
        self.assertIn(f"rdam hot: {marked} functions are marked ~: recording each call would cost more", self.said)
        # What came through a pipe is judged alike.
        with open(self.folder / "perf.data", "rb") as data:
            self.assertEqual(self.hot("-", "--min-percent", "0.5", stdin=data), hot)
        # The text of a report does not say in which of its instructions a function was: its size decides.
        report = self.run_in_folder("perf", "report", "--stdio", "-i", "perf.data")
        (self.folder / "report.txt").write_bytes(report.stdout)
        told = self.hot("report.txt", "--no-waits", "--program", PROGRAM)
        self.assertTrue(told["mix"].startswith("~"), told)
        self.assertFalse(told["take"].startswith("~"), told)
        untold = self.hot("report.txt", "--no-waits")
        self.assertFalse(any(line.startswith("~") for line in untold.values()), untold)
        self.assertNotIn("~", self.said)

    def test_the_recorder_says_which_functions_are_sampled(self):
        self.assertEqual(self.sampled("~mix,worker"),
                         "rdam: 1 function marked ~ is sampled over the whole run: mix "
                         "(--all-calls records every call)")
        self.assertEqual(self.sampled("~small_leaves:mix,~length"),
                         "rdam: 2 functions marked ~ are sampled over the whole run: mix, length (--all-calls records every call)")
        self.assertEqual(self.sampled("mix,worker"), "")

    def test_marks_survive_standard_input(self):
        text = "~mix  # 12.3 %, small leaf (46 bytes)\nworker  # 9.1 %\nno_such_wait  # wait\n~length\n"
        self.assertEqual(self.sampled("-", text=text),
                         "rdam: 2 functions marked ~ are sampled over the whole run: mix, length "
                         "(--all-calls records every call)")

    def test_a_name_that_was_written_plainly_wins(self):
        self.assertIn(": length (", self.sampled("~mix,~length,mix"))
        self.assertIn(": mix, length (", self.sampled("~mix,~length,[m]ix,worker"))

    def test_all_calls(self):
        self.assertEqual(self.sampled("~mix,worker", "--all-calls"), "")
        self.assertEqual(self.counts(), {"mix": 200000, "worker": 2})
        for value, said in (("1", 0), ("0", 1)):
            done = self.preload("~mix,worker", PROGRAM, "1", RDAM_ALL_CALLS=value)
            self.assertEqual((done.returncode, done.stderr.decode().count("(RDAM_ALL_CALLS=1 records every call)")), (0, said))

    def test_the_trace_knows_which_functions_are_sampled(self):
        for options, expected in (((), {"mix": True, "worker": False}), (("--all-calls",), {"mix": False, "worker": False})):
            self.sampled("~mix,worker", *options)
            done = self.rdam("export", "--columns", f"columns{len(options)}", "trace.bin")
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            contents = json.loads((self.folder / f"columns{len(options)}" / "columns.json").read_text())
            self.assertEqual({f["name"]: f["sampled"] for f in contents["functions"]}, expected)

    def test_a_mark_in_the_wrong_place_is_said(self):
        done = self.rdam("record", "-f", "small_leaves:~mix", "--", PROGRAM, "1")
        self.assert_one_line(done, 1, "has the mark ~ in front of the name", "~small_leaves:mix")


if __name__ == "__main__":
    unittest.main()
