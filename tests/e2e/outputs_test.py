#!/usr/bin/python3
"""Whose file a trace becomes: nothing that is no trace is lost, and what is missing is said."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import unittest

from harness import LIBRDAM, NO_BUDGET, PROGRAMS, RDAM, Case

COUNTS = PROGRAMS / "counts"
FORKS = PROGRAMS / "forks"
BUSY = PROGRAMS / "busy"
PRECIOUS = b"precious"
STATUS = 3  # of COUNTS


class Outputs(Case):
    def start(self, *command, **variables) -> subprocess.Popen:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("RDAM_") or name == "RDAM_CACHE"}
        process = subprocess.Popen([str(word) for word in command], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**environment, **NO_BUDGET, **variables})
        self.addCleanup(process.kill)
        return process

    def files(self, folder=".") -> list[str]:
        return sorted(path.name for path in (self.folder / folder).iterdir() if path.is_file())

    def agent_in_folder(self) -> int | None:
        """The agent of a program that runs in our folder and has opened its trace."""
        for agent in self.agents_here():
            with contextlib.suppress(OSError):
                for descriptor in pathlib.Path(f"/proc/{agent}/fd").iterdir():
                    if os.readlink(descriptor).endswith(".bin") and descriptor.stat().st_size > 100_000:
                        return agent
        return None


class Names(Outputs):
    def elsewhere(self, output: str):
        """A folder d2 with a file of the trace's name."""
        shutil.rmtree(self.folder / "d2", ignore_errors=True)
        (self.folder / "d2").mkdir()
        (self.folder / "d2" / output).write_bytes(PRECIOUS)

    def check_elsewhere(self, output: str, traces: int):
        self.assertEqual(self.files("d2"), [output])
        self.assertEqual((self.folder / "d2" / output).read_bytes(), PRECIOUS)
        here = [name for name in self.files() if re.fullmatch(output.replace(".", r"(\.\d+)*\."), name)]
        self.assertEqual(len(here), traces, self.files())
        self.assertIn(output, here)

    def test_a_fork_child_writes_where_the_run_began(self):
        program = "import os; os.chdir('d2'); os.write(1, b'.'); child = os.fork(); os.write(1, b'.'); child and os.wait()"
        for output, variables in (("cd.bin", {"RDAM_OUTPUT": "cd.bin"}), ("trace.bin", {})):
            with self.subTest(output):
                self.elsewhere(output)
                done = self.preload("write", sys.executable, "-c", program, **variables)
                self.assertEqual((done.returncode, done.stdout), (0, b"..."), done.stderr.decode())
                self.check_elsewhere(output, 2)

    def test_so_do_programs_that_are_executed_elsewhere(self):
        self.elsewhere("cd.bin")
        self.preload("work", "sh", "-c", f"cd d2; {COUNTS} 1 10; {FORKS}; true", RDAM_OUTPUT="cd.bin")
        self.check_elsewhere("cd.bin", 4)

    def test_fork_children_carry_their_pid(self):
        for output, parents in (("t.bin", ["t.bin"]), ("t.%p.bin", [])):
            with self.subTest(output):
                for file in self.folder.glob("t*.bin"):
                    file.unlink()
                done = self.preload("work", FORKS, RDAM_OUTPUT=output)
                names = [path.name for path in self.folder.glob("t*.bin")]
                self.assertEqual(len(names), 3, done.stderr.decode())
                self.assertEqual([name for name in names if not re.fullmatch(r"t(\.\d+)+\.bin", name)], parents)

    def test_becoming_another_program_is_no_end_without_a_word(self):
        self.preload("work", FORKS)
        self.assertEqual([self.analyze(name)["trace"]["clean_end"] for name in self.traces()], [True] * 3)

    def test_what_is_no_trace_is_refused_before_the_program_runs(self):
        (self.folder / "mine.txt").write_bytes(PRECIOUS)
        done = self.rdam("record", "-o", "mine.txt", "-f", "work", "--", COUNTS, "1", "10")
        self.assert_one_line(done, 1, "mine.txt", "it is not a trace", "-o")
        self.assertEqual((self.folder / "mine.txt").read_bytes(), PRECIOUS)
        done = self.preload("work", COUNTS, "1", "10", RDAM_OUTPUT="mine.txt")
        self.assertEqual(done.returncode, STATUS)
        self.assertIn("it is not a trace", done.stderr.decode())
        self.assertEqual((self.folder / "mine.txt").read_bytes(), PRECIOUS)

    def test_the_program_itself_is_not_written_over(self):
        program = self.folder / "program"
        program.write_bytes(COUNTS.read_bytes())
        program.chmod(0o755)
        before = program.read_bytes()
        self.assert_one_line(self.rdam("record", "-o", program, "-f", "work", "--", program, "1", "10"), 1, "it is not a trace")
        self.assertEqual(program.read_bytes(), before)

    def test_an_earlier_trace_is_replaced_and_that_is_said(self):
        for said in (False, True):
            done = self.rdam("record", "-f", "work", "--", COUNTS, "1", "10")
            self.assertEqual("replacing the trace of an earlier run" in done.stderr.decode(), said, done.stderr.decode())
        done = self.preload("work", COUNTS, "1", "20")
        self.assertIn("trace.bin: replacing the trace of an earlier run", done.stderr.decode())
        self.assertEqual(self.counts(), {"work": 20})
        self.assertEqual(self.files(), ["trace.bin"])

    def test_a_folder_that_is_gone(self):
        done = self.run_in_folder("sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "sh",
                                  RDAM, "record", "-f", "work", "--", COUNTS, "1", "10")
        self.assert_one_line(done, 1, "the current directory no longer exists", "-o")

    def test_a_place_where_nothing_can_be_made(self):
        self.assert_one_line(self.rdam("record", "-o", "/proc/x", "-f", "work", "--", COUNTS, "1", "120000"), 1, "/proc/x")

    def test_few_descriptors(self):
        recorded = [self.with_descriptors(number) for number in range(6, 24)]
        self.assertEqual(recorded, sorted(recorded), "more are no fewer")
        self.assertTrue(recorded[-1])

    def with_descriptors(self, number: int) -> bool:
        done = self.run_in_folder("sh", "-c", f'ulimit -n {number}; exec "$@"', "sh", RDAM, "record", "-f", "constant_work", "--", BUSY, "1", "10")
        if done.returncode == 0:
            self.assertEqual(self.counts(), {"constant_work": 10})
        else:
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr.decode(), "Too many open files.*ulimit -n")
            self.assertNotIn("not found", done.stderr.decode())
        return done.returncode == 0

    def test_a_wrong_variable_is_not_said_to_leave_the_program_running(self):
        done = self.rdam("record", "-f", "work", "--", COUNTS, "1", "10", env={"RDAM_WHEN_FULL": "foo"})
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn("the program is not run", done.stderr.decode())
        self.assertNotIn("runs on", done.stderr.decode())


class AtTheSameTime(Outputs):
    def test_two_recordings_with_one_name(self):
        long = self.start(RDAM, "record", "-f", "constant_work", "--", BUSY, "1", "100000000")
        self.until(self.agent_in_folder, "no agent has opened the trace")
        done = self.succeeded(self.rdam("record", "-f", "work", "--", COUNTS, "1", "10"), STATUS)
        other, = re.findall(r"another recording is writing trace.bin: this one goes to (trace-\d+\.bin)", done.stderr.decode())
        self.assertEqual(self.counts(other), {"work": 10})
        program, = (int(path.name) for path in pathlib.Path("/proc").iterdir() if self.is_busy_child(path, long.pid))
        os.kill(program, signal.SIGTERM)
        text = long.communicate()[1].decode()
        self.assertIn("rdam: trace.bin: busy", text)
        self.assertEqual(self.files(), sorted(["trace.bin", other]))
        self.assertGreater(self.counts()["constant_work"], 1000)

    def is_busy_child(self, process: pathlib.Path, parent: int) -> bool:
        try:
            # rdam record has another child, from which the run's agents come.
            return (process.name.isdigit() and f"\nPPid:\t{parent}\n" in (process / "status").read_text()
                    and os.readlink(process / "exe") == str(BUSY))
        except OSError:
            return False

    def test_a_lock_that_was_left_behind(self):
        (self.folder / ".trace.bin.lock").write_bytes(b"of a run that was killed")
        self.succeeded(self.rdam("record", "-f", "work", "--", COUNTS, "1", "10"), STATUS)
        self.assertEqual(self.files(), ["trace.bin"])
        self.assertEqual(self.counts(), {"work": 10})


class KilledAgent(Outputs):
    def test_what_is_missing_is_said(self):
        run = self.start(RDAM, "record", "-f", "constant_work", "--", BUSY, "1", "20000000")
        os.kill(self.until(self.agent_in_folder, "no agent has opened the trace"), signal.SIGKILL)
        text = run.communicate()[1].decode()
        self.assertEqual(run.returncode, 1, text)
        said = re.search(r"rdam: trace.bin: rdam-agent was killed: the trace has about ([\d,]+) events up to then", text)
        self.assertIsNotNone(said, text)
        self.assertEqual(text.count("killed"), 1, text)
        events = self.analyze()["trace"]["events"]
        self.assertAlmostEqual(int(said[1].replace(",", "")), events, delta=events * 0.01 + 100)
        self.assertTrue(0 < self.counts()["constant_work"] < 20_000_000)

    def test_without_rdam_record(self):
        run = self.start(BUSY, "1", "20000000", LD_PRELOAD=LIBRDAM, RDAM_FUNCTIONS="constant_work")
        os.kill(self.until(self.agent_in_folder, "no agent has opened the trace"), signal.SIGKILL)
        text = run.communicate()[1].decode()
        self.assertEqual(run.returncode, 0, text)
        self.assertIn("rdam-agent ended before the trace was finished", text)


if __name__ == "__main__":
    unittest.main()
