#!/usr/bin/python3
"""What `rdam doctor` says of a machine, and of one where something is forbidden or missing."""

import os
import pathlib
import shutil
import unittest

from harness import PROGRAMS, RDAM, Case

FAILS = "FAILS"


class Doctor(Case):
    def examine(self, *arguments, **variables) -> dict[str, tuple[str, str]]:
        self.done = self.run_in_folder(RDAM, "doctor", *arguments, env={"TMPDIR": str(self.folder), **variables})
        return self.findings()

    def findings(self) -> dict[str, tuple[str, str]]:
        """By what was looked at: the word, and the text with the remedy."""
        self.assertEqual(self.done.stderr, b"")
        found = {}
        for line in self.done.stdout.decode().splitlines():
            if not line.startswith(" "):
                what = line[:18].strip()
                word, text = line[18:].split(None, 1)
                found[what] = (word, text)
            else:
                found[what] = (found[what][0], found[what][1] + "\n" + line.strip())
        self.assertEqual(list(self.folder.iterdir()), [], "nothing may stay")
        return found

    def test_machine(self):
        found = self.examine()
        self.assertEqual(self.done.returncode, 0)
        self.assertEqual(list(found)[:3], ["recording", "clock", "context switches"])
        self.assertEqual(found["recording"][0], "ok")
        self.assertIn(found["clock"][0], ("ok", "no"))
        self.assertEqual(found["symbols of libc"][0], "ok" if pathlib.Path("/usr/lib/debug/.build-id").exists() else "no")

    def test_kernel_that_forbids(self):
        self.done = self.forbidding(["perf_event_open"], RDAM, "doctor", env={"TMPDIR": str(self.folder)})
        found = self.findings()
        self.assertEqual(self.done.returncode, 0)
        for what in ("context switches", "instructions"):
            self.assertEqual(found[what][0], "no")
            self.assertIn("perf_event_open: Operation not permitted", found[what][1])

    def test_no_memory_can_be_shared(self):
        self.done = self.forbidding(["memfd_create"], RDAM, "doctor", env={"TMPDIR": str(self.folder)})
        found = self.findings()
        self.assertEqual(self.done.returncode, 1)
        word, text = found["recording"]
        self.assertEqual(word, FAILS)
        self.assertIn("cannot create shared memory", text)
        self.assertNotIn("clock", found)

    def test_without_perf(self):
        bare = self.folder / "bin"
        bare.mkdir()
        os.symlink(shutil.which("true"), bare / "true")
        done = self.run_in_folder(RDAM, "doctor", env={"PATH": str(bare)})
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout.decode(), r"perf +no .*\n +apt-get install linux-perf, or name the functions")

    def test_a_variable_that_is_wrong(self):
        word, text = self.examine(RDAM_WHEN_FULL="now")["recording"]
        self.assertEqual((word, self.done.returncode), (FAILS, 1))
        self.assertIn("RDAM_WHEN_FULL='now' is not wait or drop", text)

    def test_program(self):
        found = self.examine(PROGRAMS / "counts")
        self.assertEqual(self.done.returncode, 0)
        self.assertEqual((found["program"], found["its symbols"]), (("ok", f"{PROGRAMS}/counts can be recorded"), ("ok", "found")))

    def test_program_without_symbols(self):
        found = self.examine(PROGRAMS / "shapes_undescribed")
        self.assertEqual(self.done.returncode, 0)
        self.assertEqual(found["its symbols"][0], "no")
        self.assertIn("has no debug information\ncompile with -g", found["its symbols"][1])

    def test_program_that_cannot_be_recorded(self):
        found = self.examine(PROGRAMS / "regions_static")
        self.assertEqual(self.done.returncode, 1)
        self.assertEqual(found["program"][0], FAILS)
        self.assertIn("statically linked", found["program"][1])

    def test_program_that_is_not_there(self):
        found = self.examine("no-such-program")
        self.assertEqual((found["program"][0], self.done.returncode), (FAILS, 1))

    def test_no_room(self):
        done = self.run_in_folder(RDAM, "doctor", env={"TMPDIR": "/proc"})
        self.assert_one_line(done, 1, "cannot write to /proc, the directory for temporary files", "TMPDIR")


if __name__ == "__main__":
    unittest.main()
