#!/usr/bin/python3
"""What `rdam record` says of processes that outlive the program, and of recordings inside the recorded program."""

import os
import re
import signal
import unittest

from harness import PROGRAMS, RDAM, Case, agents_of

COUNTS = PROGRAMS / "counts"
ALIVE = re.compile(r"rdam: process (\d+) \(outlives\) is still running and being recorded: its calls will be in (\S+) when it ends\n")


class Outliving(Case):
    def record(self, children: int, *program_calls, output="x.bin") -> str:
        done = self.rdam("record", "-f", "work", "-o", output, "--", PROGRAMS / "outlives", children, self.folder / "go", *program_calls)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stderr.decode()

    def end(self, pids):
        """Lets the children go on to their end, and their recorders."""
        (self.folder / "go").touch()
        self.until(lambda: not any(agents_of(pid) for pid in pids), "recorders have stayed")

    def check(self, children: int, *program_calls, output="x.bin", name="x.{}.bin") -> str:
        said = self.record(children, *program_calls, output=output)
        alive = ALIVE.findall(said)
        self.addCleanup((self.folder / "go").touch)
        self.assertEqual(len(alive), min(children, 4), said)
        for pid, trace in alive:
            self.assertTrue(agents_of(int(pid)), "it has ended: rdam record waited for it")
            self.assertEqual(trace, name.format(pid))
            self.assertNotIn(f"rdam: {trace}: ", said)
        self.end([int(pid) for pid, _ in alive])
        for _, trace in alive:
            self.assertEqual(self.counts(trace), {"work": 30})
        return said

    def test_one(self):
        said = self.check(1, "calls")
        self.assertEqual(self.counts("x.bin"), {"work": 5})
        self.assertIn("rdam: x.bin: outlives: 1 thread, ", said)

    def test_in_a_folder(self):
        (self.folder / "sub").mkdir()
        self.check(1, "calls", output="sub/x.bin", name="sub/x.{}.bin")

    def test_program_without_calls(self):
        said = self.check(1)
        self.assertNotIn("no trace", said)

    def test_process_without_calls(self):
        # Nobody knows what it will call.
        self.addCleanup((self.folder / "go").touch)
        done = self.rdam("record", "-f", "work", "--", "sh", "-c", f"""
            '{PROGRAMS}/outlives' 0 go ready <&- >&- 2>&- &
            while ! test -e ready; do sleep 0.05; done""")
        pid, = re.findall(r"^rdam: process (\d+) \(outlives\) is still running: if it calls functions on the list, those calls will "
                          r"be in a trace of its own$", done.stderr.decode(), re.MULTILINE)
        self.assertNotIn("no trace", done.stderr.decode())
        self.end([int(pid)])
        self.assertEqual(self.counts(), {"work": 20})

    def test_the_list_from_standard_input_is_there_for_them(self):
        kept = self.folder / "tmp"
        kept.mkdir()
        # A shell alone is not seen to go on: it is between two programs, and has asked for nothing.
        command = f"""
            (sleep 100 & echo $! >waits; sleep 0.5; touch ready; wait; '{COUNTS}' 1 10) <&- >&- 2>&- &
            while ! test -e ready; do sleep 0.05; done"""
        self.run_in_folder("sh", "-c", f"echo work | '{RDAM}' record -f - -- sh -c \"$0\"", command, env={"TMPDIR": str(kept)})
        os.kill(int((self.folder / "waits").read_text()), signal.SIGTERM)
        self.until(self.traces, "no trace was written")
        self.assertEqual(self.counts(), {"work": 10})
        self.assertEqual(len(list(kept.iterdir())), 1)
        self.run_in_folder("sh", "-c", f"echo work | '{RDAM}' record -f - -- '{COUNTS}' 1 10", env={"TMPDIR": str(kept)})
        self.assertEqual(len(list(kept.iterdir())), 1)

    def test_several_with_a_pattern(self):
        self.assertIn("\nrdam: … and so are 2 other processes of the run\n", self.check(6, "calls", output="t-%p.bin", name="t-{}.bin"))

    def test_the_name_is_held_as_long(self):
        pid, _ = ALIVE.search(self.record(1, "calls")).groups()
        self.addCleanup((self.folder / "go").touch)
        done = self.rdam("record", "-f", "work", "-o", "x.bin", "--", COUNTS, "1", "10")
        self.assertIn("another recording is writing x.bin: this one goes to x-", done.stderr.decode())
        self.assertTrue(agents_of(int(pid)), "it has ended: rdam record waited for it")
        self.end([int(pid)])
        self.assertEqual(self.counts("x.bin"), {"work": 5})


class Inside(Case):
    """The inner recording has the calls, and the outer one says so."""

    INNER = f"'{RDAM}' record -f work -o inner.bin -- '{COUNTS}' 1 10"

    def check(self, *command, output="outer.bin", status=3) -> str:
        done = self.succeeded(self.rdam("record", "-f", "work", "-o", output, "--", *command), status)
        self.assertEqual(self.counts("inner.bin"), {"work": 10})
        said = done.stderr.decode()
        self.assertIn("1 function wrapped in ", said)
        return said.splitlines()[-1]

    def test_in_a_shell(self):
        self.assertEqual(self.check("sh", "-c", self.INNER),
                         "rdam: no trace was written here: the program ran `rdam record` itself, and that recording is in inner.bin")
        self.assertFalse((self.folder / "outer.bin").exists())

    def test_one_right_in_the_other(self):
        said = self.check(RDAM, "record", "-f", "work", "-o", "inner.bin", "--", COUNTS, "1", "10")
        self.assertIn("that recording is in inner.bin", said)

    def test_beside_calls_of_its_own(self):
        for output in ("outer.bin", "outer%p.bin"):
            with self.subTest(output):
                said = self.check("sh", "-c", f"{self.INNER}; '{COUNTS}' 2 20", output=output)
                self.assertEqual(said, "rdam: the program ran `rdam record` itself, and that recording is in inner.bin")
                outer, = self.folder.glob("outer*.bin")
                self.assertEqual(self.counts(outer), {"work": 40})
                outer.unlink()

    def test_elsewhere(self):
        (self.folder / "sub").mkdir()
        done = self.rdam("record", "-f", "work", "-o", "sub/%p.bin", "--", "sh", "-c", f"cd sub; {self.INNER}")
        self.assertRegex(done.stderr.decode(), r"that recording is in sub/inner\.bin\n$")

    def test_inner_one_without_calls(self):
        done = self.rdam("record", "-f", "work", "--", "sh", "-c", f"'{RDAM}' record -f work -- true")
        self.assertNotIn("itself", done.stderr.decode())

    def test_the_program_of_the_inner_one_is_the_first_of_its_run(self):
        # Which alone says what has become of the counters.
        inner = self.rdam("record", "-f", "work", "--", "sh", "-c", self.INNER.replace("record", "record --counters=instructions"))
        alone = self.rdam("record", "-f", "work", "--counters=instructions", "-o", "alone.bin", "--", COUNTS, "1", "10")
        missing = b"no instructions were counted"
        self.assertEqual(missing in inner.stderr, missing in alone.stderr, inner.stderr.decode())


class Earlier(Case):
    def test_each_trace_that_is_replaced_is_said(self):
        for output in ("t-%h.bin", "t.bin"):
            with self.subTest(output):
                for round_number in range(2):
                    said = self.rdam("record", "-f", "work", "-o", output, "--", COUNTS, "1", "10").stderr.decode()
                    self.assertEqual(said.count("replacing the trace of an earlier run"), round_number, said)


if __name__ == "__main__":
    unittest.main()
