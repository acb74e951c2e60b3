#!/usr/bin/python3
"""`rdam run`: two runs of a program, and its scores, with a perf that the tests know, with the real one, and without one."""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import unittest

from harness import PROGRAMS, RDAM, Case

# As perf record: runs the program, and stores a profile, which rdam hot reads as text as well. `true` is what rdam tries perf with.
PERF = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
data=$2
shift 3
[ "$1" = true ] && {{ {tried}; }}
"$@"
status=$?
cat > "$data" <<EOF
# Samples: 43  of event 'cpu-clock'
# Event count (approx.): 216080375
# Overhead  Command   Shared Object        Symbol
# ........  ........  ...................  ..................
    {share:5.2f}%  {program:8}  {program:19}  [.] {function}
{more}EOF
{end}
exit $status
"""

WORK = [PROGRAMS / "quiet", "plain", "10", "1000", "2"]  # two threads, for which the first one waits
LINE = " ".join(map(str, WORK))
SCORES = "score: the share of its life"
TWICE = " runs twice: under perf, to find its functions, then recorded"


def with_default(number):
    """Whatever started the tests may ignore the signal (nohup, a job in the background)."""
    return lambda: signal.signal(number, signal.SIG_DFL)


class Run(Case):
    def setUp(self):
        super().setUp()
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()

    def go(self, *arguments, env=None, **options) -> subprocess.CompletedProcess:
        """Runs it. Nothing may stay but the trace."""
        self.done = self.run_in_folder(RDAM, "run", *arguments, env={"TMPDIR": str(self.temporary), **(env or {})}, **options)
        self.said, self.printed = self.done.stderr.decode(), self.done.stdout.decode()
        self.assertEqual([*self.temporary.iterdir(), *self.folder.glob(".*")], [])
        return self.done

    def perf(self, program="quiet", function="plain", end="", tried="exit 0", share=60.0, more="") -> dict[str, str]:
        """A PATH with such a perf."""
        bin_ = self.folder / "bin"
        bin_.mkdir(exist_ok=True)
        (bin_ / "perf").write_text(PERF.format(program=program, function=function, end=end, tried=tried, share=share,
                                                  more=more))
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
        """A program that notes each of its runs."""
        path = self.folder / "script"
        path.write_text(f"#!/bin/sh\necho run >> {self.folder}/runs\n{text}\n")
        path.chmod(0o755)
        (self.folder / "runs").unlink(missing_ok=True)
        return path

    def in_run(self, number: int) -> str:
        """A condition of the script."""
        return f'[ "$(wc -l < {self.folder}/runs)" = {number} ]'

    def mount(self, size: str):
        """A small file system for what is temporary."""
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", self.temporary], stderr=subprocess.PIPE, check=False)
        if mounted.returncode != 0:
            self.skipTest("cannot mount a small file system: " + mounted.stderr.decode().strip())

    def runs(self) -> int:
        return (self.folder / "runs").read_text().count("run")

    def assert_refused(self, *parts: str):
        """In one line."""
        self.assertEqual((self.done.returncode, self.said.count("\n")), (1, 1), self.said)
        for part in parts:
            self.assertIn(part, self.said)

    def test_the_whole_way(self):
        self.succeeded(self.go("--", *WORK, env=self.perf()))
        lines = self.said.splitlines()
        self.assertIn(TWICE, lines[0])
        self.assertIn("(step by step: perf record -g, rdam hot, rdam record, rdam analyze)", lines[0])
        self.assertIn("rdam: trace.bin: quiet: ", lines[-2])
        self.assertEqual(self.traces(), ["trace.bin"])
        self.assertRegex(self.printed, r"(?m)^ .*\bplain +2,020 ")
        self.assertIn(SCORES, self.printed)
        commands = re.findall(r"rdam ((?:analyze|report|explain)(?: -i)? \S+)", lines[-1])
        self.assertEqual(len(commands), 3, lines[-1])
        for command in commands:
            self.succeeded(self.rdam(*command.replace(" -i", "").split()))

    def test_little_of_the_program_is_recorded(self):
        """The end says how little, and which package has the names of the rest."""
        self.need("dpkg-query")
        program = pathlib.Path(shutil.which("xz") or "/none").resolve()
        owner = subprocess.run(["dpkg-query", "--search", program], capture_output=True, text=True, check=False).stdout
        if ":" not in owner:
            self.skipTest(f"{program} is of no package")
        package = owner.split(":")[0]
        nameless = "".join(f"    30.00%  xz        {program!s:19}  [.] 0x00000000000012{i}4\n" for i in range(3))
        self.succeeded(self.go("--", *WORK, env=self.perf(share=4.0, more=nameless)))
        said = [line for line in self.said.splitlines() if "of the samples: what the program does in the rest is not recorded" in line]
        self.assertEqual(len(said), 2, self.said)
        self.assertEqual(said[0].replace("rdam hot: ", "rdam: by the list's own first line, "), said[1])
        self.assertEqual(self.said.splitlines()[-2], said[1])
        begin = r"^rdam: by the list's own first line, the listed functions have 4\.0 % .*; "
        self.assertRegex(said[1], begin + r"90\.0 % are at addresses without a name in xz: ")
        self.assertIn(f" {package}-dbgsym", said[1])

    def test_name_that_a_shell_would_split(self):
        self.succeeded(self.go("-o", "my trace.bin", *WORK, env=self.perf()))
        self.assertIn("rdam report 'my trace.bin'", self.said.splitlines()[-1])

    def test_perf_itself(self):
        tried = self.run_in_folder("perf", "record", "-q", "-g", "-o", "perf.data", "true")
        if tried.returncode != 0:
            self.skipTest(f"perf cannot sample here: {tried.stderr.decode().splitlines()[:2]}")
        self.succeeded(self.go(PROGRAMS / "busy", "1", "2000000", env={"RDAM_MAX_OVERHEAD": "5%"}))
        self.assertIn(TWICE, self.said)
        self.assertRegex(self.printed, r"(?m)^ .*\bconstant_work +[0-9]")

    def test_output_once_and_a_file_twice(self):
        script = self.script(f"cat\n{LINE} > /dev/null")
        (self.folder / "input").write_text("skipped\nread\n")
        with open(self.folder / "input", encoding="utf-8") as given:
            os.lseek(given.fileno(), len("skipped\n"), os.SEEK_SET)
            self.succeeded(self.go("-o", "here.bin", script, stdin=given, env=self.perf()))
        self.assertEqual(self.runs(), 2)
        self.assertIn("the first run's output is dropped", self.said)
        self.assertEqual(self.printed.splitlines().count("read"), 1)
        self.assertNotIn("skipped", self.printed)
        self.assertTrue((self.folder / "here.bin").exists())
        self.assertEqual(self.traces(), [])

    def test_a_pipe_is_kept(self):
        """Both runs read all of it, which is more than fits into a pipe."""
        script = self.script(f"cksum >> {self.folder}/sums\n{LINE} > /dev/null")
        self.succeeded(self.go(script, input=os.urandom(1_000_000), stdin=None, env=self.perf()))
        self.assertIn("its input kept for the second", self.said)
        first, second = (self.folder / "sums").read_text().splitlines()
        self.assertEqual(first, second)
        self.assertEqual(first.split()[1], "1000000")

    def test_a_pipe_that_is_read_in_part(self):
        """The second run reads what the first one has, and then more."""
        script = self.script(f"{self.in_run(1)} && {{ head -c 10; exit; }}\nhead -c 300000 | cksum\n{LINE} > /dev/null")
        data = os.urandom(400_000)
        self.succeeded(self.go(script, input=data, stdin=None, env=self.perf()))
        expected = subprocess.run(["cksum"], input=data[:300_000], capture_output=True, check=True).stdout.decode()
        self.assertEqual(self.printed.splitlines()[0], expected.strip())

    def test_a_socket_that_nobody_writes_to(self):
        """A program that does not read it need not wait for anything, nor for its end."""
        ours, its = socket.socketpair()
        with ours, its:
            self.succeeded(self.go(*WORK, stdin=its, env=self.perf()))
        self.assertIn(SCORES, self.printed)

    def test_a_pipe_that_cannot_be_kept(self):
        """The first run reads all of it even so."""
        script = self.script(f"cksum >> {self.folder}/sums")
        self.mount("1m")
        try:
            self.go(script, input=bytes(4_000_000), stdin=None, env=self.perf())
        finally:
            subprocess.run(["umount", self.temporary], check=True)
        self.assertEqual((self.done.returncode, self.runs()), (1, 1), self.said)
        self.assertEqual((self.folder / "sums").read_text().split()[1], "4000000")
        self.assertEqual(self.said.count("\n"), 2, self.said)
        self.assertIn("standard input, a pipe, could not be kept for the second run: it takes more than half of the room", self.said)

    def test_functions_are_given(self):
        """There is one run."""
        script = self.script(f"cat > /dev/null\n{LINE}")
        for more, env in ((["-f", "plain"], {}), ([], {"RDAM_FUNCTIONS": "plain"})):
            with self.subTest(env=env):
                self.succeeded(self.go(*more, script, input=b"once", stdin=None, env={**self.perf(end="exit 9"), **env}))
                self.assertNotIn("twice", self.said)
                self.assertRegex(self.printed, r"(?m)^ .*\bplain +2,020 ")
        self.assertEqual(self.runs(), 2)

    def test_no_perf(self):
        self.succeeded(self.go(self.script(LINE), input=b"once", stdin=None, env=self.without_perf()))
        self.assertEqual(self.said.splitlines()[0], "rdam: perf: cannot be run: No such file or directory; so only functions that wait are "
                                                    "recorded, in one run; for the others: apt-get install linux-perf")
        self.assertIn("pthread_join", self.printed)
        self.assertEqual(self.runs(), 1)

    def test_perf_that_may_not_sample(self):
        self.succeeded(self.go(self.script(LINE), env=self.perf(tried="printf 'Error:\\nIt is not allowed.\\nMore.\\n' >&2; exit 255")))
        self.assertRegex(self.said.splitlines()[0], r"^rdam: perf .*: It is not allowed\.; so only functions that wait are recorded, in one run")
        self.assertIn("pthread_join", self.printed)
        self.assertEqual(self.runs(), 1)

    def test_kernel_that_forbids_perf(self):
        self.need("perf")
        self.done = self.forbidding(["perf_event_open"], RDAM, "run", self.script(LINE), env={"TMPDIR": str(self.temporary)})
        self.succeeded(self.done)
        said = self.done.stderr.decode()
        self.assertRegex(said.splitlines()[0], r"^rdam: perf .*; so only functions that wait are recorded, in one run; for the others: \S")
        self.assertIn(b"pthread_join", self.done.stdout)
        self.assertEqual(self.runs(), 1)

    def test_perf_that_fails(self):
        self.succeeded(self.go(self.script(LINE), env=self.perf(end='rm "$data"; exit 255')))
        self.assertIn("perf has not completed the first run, so only functions that wait are recorded", self.said)
        self.assertIn("pthread_join", self.printed)
        self.assertEqual(self.runs(), 2)

    def test_no_room_for_samples(self):
        self.need("perf")
        self.mount("40k")
        try:
            self.go(PROGRAMS / "quiet", "plain", "10", "300000000", "1")
        finally:
            subprocess.run(["umount", self.temporary], check=True)
        self.succeeded(self.done)
        if ", in one run;" in self.said:
            self.skipTest(self.said.splitlines()[0])
        self.assertIn("perf has not completed the first run", self.said)
        self.assertNotIn("exit code", self.said)

    def test_exit_status(self):
        for status in (7, 130):  # as of an interrupted program
            with self.subTest(status=status):
                self.succeeded(self.go(self.script(f"{LINE} > /dev/null\nexit {status}"), env=self.perf()), status)
                self.assertIn(f"the first run ended with exit code {status}", self.said)
                self.assertNotIn("the second run ended", self.said)
                self.assertIn(SCORES, self.printed)

    def test_runs_that_differ(self):
        self.succeeded(self.go(self.script(f"{LINE}\n{self.in_run(1)}"), env=self.perf()), 1)
        self.assertIn("the second run ended with exit code 1, and the first with 0", self.said)

    def test_a_program_that_crashes(self):
        script = self.script(f"{LINE} > /dev/null\nkill -SEGV $$")
        self.succeeded(self.go(script, env=self.perf(end="[ $status -gt 128 ] && kill -SEGV $$")), 128 + signal.SIGSEGV)
        self.assertIn("the first run was ended by SIGSEGV (Segmentation fault)", self.said)
        self.assertIn("the program was killed by SIGSEGV (Segmentation fault)", self.said)
        self.assertIn(SCORES, self.printed)

    def test_ended_in_the_first_run(self):
        """Whoever ends the run does not want another one."""
        for name, number in (("INT", signal.SIGINT), ("TERM", signal.SIGTERM), ("HUP", signal.SIGHUP), ("QUIT", signal.SIGQUIT)):
            with self.subTest(name=name):
                self.succeeded(self.go(*WORK, env=self.perf(end=f"kill -{name} $$"), preexec_fn=with_default(number)), 128 + number)
                how = "interrupted" if name == "INT" else f"ended by SIG{name} ("
                self.assertIn(f"the first run was {how}", self.said)
                self.assertIn("and nothing has been recorded", self.said)
                self.assertEqual("quiet:plain  # 60.0 %" in self.printed, name == "INT")
                self.assertEqual(self.traces(), [])

    def test_ctrl_c(self):
        """In whichever run, for all processes of the terminal's group, among them rdam."""
        perf = self.perf(end="[ $status = 130 ] && { trap - INT; kill -INT $$; }")
        fake = self.folder / "bin/perf"
        fake.write_text(fake.read_text().replace('"$@"\n', 'trap : INT\n"$@"\n', 1))
        for run in (1, 2):
            with self.subTest(run=run):
                script = self.script(f"{self.in_run(run)} || exit 0\n{LINE} > /dev/null\nkill -INT 0\nsleep 60")
                self.succeeded(self.go(script, env=perf, start_new_session=True, preexec_fn=with_default(signal.SIGINT)), 128 + signal.SIGINT)
                self.assertEqual(self.runs(), run)
                self.assertEqual("trace.bin" in self.traces(), run == 2)
                self.assertEqual(SCORES in self.printed, run == 2)

    def test_output_that_cannot_be_written(self):
        """That is said before the first run."""
        (self.folder / "directory").mkdir()
        (self.folder / "text").write_text("mine")
        for output, why in (("absent/trace.bin", "absent"), ("directory", "directory"), ("text", "text"), ("-", "-o -"), ("", "-o")):
            with self.subTest(output=output):
                self.go("-o", output, *WORK, env=self.perf())
                self.assert_refused(why)
        self.go(*WORK, env={**self.perf(), "TMPDIR": "/absent"})
        self.assert_refused("cannot write to /absent, the directory for temporary files")

    def test_standard_output_that_is_full(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([RDAM, "run", *WORK], stdout=full, stderr=subprocess.PIPE, cwd=self.folder, check=False,
                                  env={**os.environ, **self.perf()})
        self.assertEqual(done.returncode, 1)
        self.assertIn("rdam: standard output: No space left on device", done.stderr.decode())
        self.assertIn("go on with rdam analyze -i trace.bin", done.stderr.decode().splitlines()[-1])

    def test_rdam_record_prints_the_report_if_asked(self):
        done = self.succeeded(self.run_in_folder(RDAM, "record", "--analyze", "-f", "plain", "--", *WORK))
        report = self.succeeded(self.rdam("analyze", "trace.bin")).stdout.decode()
        self.assertIn(SCORES, report)
        self.assertTrue(done.stdout.decode().endswith("\n" + report), done.stdout.decode())
        self.assertIn("go on with rdam analyze -i trace.bin", done.stderr.decode().splitlines()[-1])
        # The exit status is the program's, and without a trace there is no report.
        done = self.run_in_folder(RDAM, "record", "--analyze", "-f", "plain", "--", "sh", "-c", LINE + "; exit 7")
        self.assertEqual(done.returncode, 7)
        self.assertIn(SCORES, done.stdout.decode())
        done = self.run_in_folder(RDAM, "record", "--analyze", "-o", "absent/trace.bin", "-f", "plain", "--", *WORK)
        self.assertEqual((done.returncode, done.stdout), (1, b""))

    def test_command_line(self):
        for command, status in (([], 2), (["./absent"], 1), (["--functoins", "f", "cat"], 2)):
            self.go(*command)
            self.assertEqual((self.done.returncode, self.said.count("\n")), (status, 1), self.said)
        self.assertIn("the nearest is '--functions'", self.said)
        self.succeeded(self.go("--help"))
        for option in ("--functions", "--output", "--all-calls", "--max-overhead"):
            self.assertIn(option, self.printed)


if __name__ == "__main__":
    unittest.main()
