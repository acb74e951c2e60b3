#!/usr/bin/python3
"""`rdam run`: two runs of a program, and its scores, with a perf that the tests know, and without one."""

import os
import pathlib
import shutil
import signal
import subprocess
import unittest

from harness import PROGRAMS, RDAM, Case

# As perf record: runs the program, and stores a profile, which rdam hot reads as text as well.
PERF = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
data=$2
shift 3
"$@"
status=$?
cat > "$data" <<EOF
# Samples: 43  of event 'cpu-clock'
# Event count (approx.): 216080375
# Overhead  Command   Shared Object        Symbol
# ........  ........  ...................  ..................
    60.00%  {program:8}  {program:19}  [.] {function}
EOF
{end}
exit $status
"""


WORK = [PROGRAMS / "quiet", "plain", "10", "1000", "2"]  # two threads, for which the first one waits
LINE = " ".join(map(str, WORK))


class Run(Case):
    def perf(self, program: str, function: str, end: str = "") -> dict[str, str]:
        """A PATH with such a perf."""
        bin_ = self.folder / "bin"
        bin_.mkdir()
        (bin_ / "perf").write_text(PERF.format(program=program, function=function, end=end))
        (bin_ / "perf").chmod(0o755)
        return {"PATH": f"{bin_}:{os.environ['PATH']}"}

    def without_perf(self) -> dict[str, str]:
        """A PATH in which every program is but perf."""
        bin_ = self.folder / "bin"
        bin_.mkdir()
        for folder in map(pathlib.Path, os.environ["PATH"].split(":")):
            for each in folder.glob("*") if folder.is_dir() else []:
                if each.name != "perf" and not (bin_ / each.name).is_symlink():
                    (bin_ / each.name).symlink_to(each)
        return {"PATH": str(bin_)}

    def script(self, text: str) -> pathlib.Path:
        path = self.folder / "script"
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return path

    def test_the_whole_way(self):
        done = self.run_in_folder(RDAM, "run", *WORK, env=self.perf("quiet", "plain"))
        errors = done.stderr.decode()
        self.assertEqual(done.returncode, 0, errors)
        self.assertTrue((self.folder / "trace.bin").exists())
        self.assertIn("is run twice: first under perf, to find its functions, then recorded", errors.splitlines()[0])
        self.assertRegex(done.stdout.decode(), r"(?m)^ .*\bquiet:plain +2,020 ")
        self.assertIn("score: the share of its life", done.stdout.decode())

    def test_output_once_and_input_twice(self):
        script = self.script(f"cat\necho again >> {self.folder}/runs\nexec {LINE} > /dev/null\n")
        (self.folder / "input").write_text("skipped\nread\n")
        with open(self.folder / "input", encoding="utf-8") as given:
            os.lseek(given.fileno(), len("skipped\n"), os.SEEK_SET)
            done = self.run_in_folder(RDAM, "run", "-o", "here.bin", script, stdin=given, env=self.perf("quiet", "plain"))
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual((self.folder / "runs").read_text(), "again\nagain\n")
        self.assertEqual(done.stdout.decode().splitlines().count("read"), 1)
        self.assertNotIn("skipped", done.stdout.decode())
        self.assertTrue((self.folder / "here.bin").exists())

    def test_pipe(self):
        done = self.run_in_folder(RDAM, "run", "cat", input=b"once", stdin=None, env=self.perf("cat", "main"))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn(b"standard input is a pipe, which cannot be read again in the second run", done.stderr)

    def test_functions_are_given(self):
        """There is one run, which may read a pipe."""
        done = self.run_in_folder(RDAM, "run", "-f", "plain", *WORK, input=b"once", stdin=None, env=self.perf("quiet", "plain", "exit 9"))
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertNotIn(b"twice", done.stderr)
        self.assertRegex(done.stdout.decode(), r"(?m)^ .*\bquiet:plain +2,020 ")

    def test_no_perf(self):
        done = self.run_in_folder(RDAM, "run", *WORK, env=self.without_perf())
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertIn(b"perf is not installed, so only functions that wait are recorded", done.stderr)
        self.assertIn(b"pthread_join", done.stdout)

    def test_perf_that_may_not_record(self):
        done = self.run_in_folder(RDAM, "run", *WORK, env=self.perf("quiet", "plain", 'rm "$data"; exit 255'))
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertIn(b"perf could not record the program", done.stderr)
        self.assertIn(b"pthread_join", done.stdout)

    def test_exit_status(self):
        script = self.script(f"{LINE} > /dev/null\nexit 7\n")
        done = self.run_in_folder(RDAM, "run", script, env=self.perf("quiet", "plain"))
        self.assertEqual(done.returncode, 7, done.stderr.decode())
        self.assertIn(b"the first run ended with exit code 7", done.stderr)
        self.assertIn(b"score: the share of its life", done.stdout)

    def test_interrupted_in_the_first_run(self):
        done = self.run_in_folder(RDAM, "run", *WORK, env=self.perf("quiet", "plain", "kill -INT $$"))
        self.assertEqual(done.returncode, 128 + signal.SIGINT, done.stderr.decode())
        self.assertIn(b"the first run was interrupted, and nothing has been recorded", done.stderr)
        self.assertIn(b"quiet:plain", done.stdout)
        self.assertFalse((self.folder / "trace.bin").exists())

    def test_killed_in_the_first_run(self):
        """Whoever ends the run does not want another one."""
        for name, number in (("TERM", signal.SIGTERM), ("HUP", signal.SIGHUP), ("QUIT", signal.SIGQUIT)):
            with self.subTest(name=name):
                shutil.rmtree(self.folder / "bin", ignore_errors=True)
                # Whatever started the tests may ignore it (nohup, a job in the background).
                done = self.run_in_folder(RDAM, "run", *WORK, env=self.perf("quiet", "plain", f"kill -{name} $$"),
                                          preexec_fn=lambda number=number: signal.signal(number, signal.SIG_DFL))
                self.assertEqual(done.returncode, 128 + number, done.stderr.decode())
                self.assertIn(f"the first run was ended by signal {int(number)}, and nothing has been recorded".encode(), done.stderr)
                self.assertFalse((self.folder / "trace.bin").exists())

    def test_program_that_ends_like_an_interrupted_one(self):
        script = self.script(f"{LINE} > /dev/null\nexit 130\n")
        done = self.run_in_folder(RDAM, "run", script, env=self.perf("quiet", "plain"))
        self.assertEqual(done.returncode, 130, done.stderr.decode())
        self.assertIn(b"score: the share of its life", done.stdout)

    def test_output_in_no_folder(self):
        done = self.run_in_folder(RDAM, "run", "-o", "absent/trace.bin", *WORK, env=self.perf("quiet", "plain"))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.decode(), "rdam: cannot write the trace in absent: No such file or directory; give another file with -o\n")

    def test_interrupted_in_the_second_run(self):
        script = self.script(f'echo run >> {self.folder}/runs\n[ "$(wc -l < {self.folder}/runs)" = 1 ] && exit 0\n'
                             f"{LINE} > /dev/null\nkill -INT 0\nsleep 60\n")
        done = self.run_in_folder(RDAM, "run", script, env=self.perf("quiet", "plain"), start_new_session=True)
        self.assertEqual(done.returncode, 128 + signal.SIGINT, done.stderr.decode())
        self.assertIn(b"score: the share of its life", done.stdout)

    def test_no_program(self):
        for command, status in ((["run"], 2), (["run", "./absent"], 1)):
            done = subprocess.run([RDAM, *command], capture_output=True, cwd=self.folder, check=False)
            self.assertEqual(done.returncode, status)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
