#!/usr/bin/python3
"""Ends that nobody has planned: of the program, of the agent, of memory. The program never hangs for the recorder, ends as
it would without it, and what was written stays readable."""

import contextlib
import itertools
import os
import pathlib
import pty
import random
import re
import signal
import subprocess
import time
import unittest

from harness import LIBRDAM, NO_BUDGET, PROGRAMS, RDAM, Case, agents_of

ENDS = PROGRAMS / "ends"
COUNTS = PROGRAMS / "counts"


class Own(Case):
    """Ways in which the program ends itself; recorder_test.py and leaving_test.py have the others."""

    def check(self, how: str, work: int, calls=1000):
        plain = self.run_in_folder(ENDS, how, str(calls))
        done = self.rdam("record", "-f", "work", "--", ENDS, how, str(calls))
        status = plain.returncode if plain.returncode >= 0 else 128 - plain.returncode
        self.assertEqual((done.returncode, done.stdout), (status, b"called\n"), done.stderr.decode())
        self.assertEqual(self.counts(), {"work": work})

    def test_handlers_at_exit(self):
        self.check("atexit", 2000)

    def test_quick_exit(self):
        self.check("quick", 2000)

    def test_fault(self):
        self.check("segv", 1000)

    def test_illegal_instruction(self):
        self.check("trap", 1000)

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGBUS, signal.SIGXCPU):
            with self.subTest(number.name):
                self.check(f"signal {int(number)}", 1000)


    def test_killed_at_once_and_analyzed_at_once(self):
        # Plain preloading: nobody waits for the trace but the analyzer, which finds the file from the first call on.
        for calls in range(1, 25):
            self.preload("work", ENDS, f"signal {int(signal.SIGKILL)}", str(calls))
            self.assertEqual(self.counts(), {"work": calls})
        self.assertEqual(self.traces(), ["trace.bin"])


class Memory(Case):
    """The machine has no more memory for buffers, from some chunk on: what does not fit is counted, and that is said."""

    def starve(self, chunks: int, threads: int, calls: int) -> dict:
        command = (COUNTS, str(threads), str(calls))
        plain = self.run_in_folder(*command)
        done = self.run_in_folder(PROGRAMS / "starve", str(chunks), RDAM, "record", "-f", "work", "--", *command)
        if done.returncode == 77:
            self.skipTest("this kernel lets no program answer another's system calls (seccomp notifications)")
        self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout), done.stderr.decode())
        report = self.analyze()
        dropped = report["trace"]["dropped"]
        # Of a call that began in the last chunk and ended behind it the end was dropped.
        ends = report["trace"]["events"] - report["trace"]["calls"]
        self.assertEqual(ends + dropped, threads * calls)
        said = re.search(r"rdam: (\d+) events were dropped: the machine had no memory", done.stderr.decode())
        self.assertEqual(int(said[1]) if said else 0, dropped, done.stderr.decode())
        return report["trace"]

    def test_from_the_first_chunk_on(self):
        self.assertEqual(self.starve(0, 2, 3000)["calls"], 0)

    def test_one_chunk_for_one_thread(self):
        # It goes to the agent and comes back: nothing is lost.
        self.assertEqual(self.starve(1, 1, 100000)["dropped"], 0)

    def test_one_chunk_for_four_threads(self):
        self.starve(1, 4, 50000)

    def test_more_chunks_than_threads(self):
        self.assertEqual(self.starve(3, 2, 100000)["dropped"], 0)


def make_group(case: Case, file: str) -> pathlib.Path:
    """A control group with `file` in it, gone after the test."""
    found = "there is no cgroup file system"
    for place in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"):
        group = pathlib.Path(place) / f"rdam-test-{os.getpid()}"
        if not (group.parent / "cgroup.procs").exists():
            continue
        try:
            group.mkdir()
        except OSError as error:
            found = f"no cgroup can be made here: {error}"
            continue
        case.addCleanup(remove_group, group)
        if (group / file).exists():
            return group
        found = f"no cgroup here has {file}"
    return case.skipTest(found)


def remove_group(group: pathlib.Path):
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            return group.rmdir()
        time.sleep(0.05)


def in_group(group: pathlib.Path, *command) -> tuple:
    return ("sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh", *command)


class Disk(Case):
    def test_it_is_full_from_the_beginning_or_gets_full(self):
        disk = self.folder / "disk"
        disk.mkdir()
        calls = 300_000  # their events fill 32 kB several times over, however well they compress
        plain = self.run_in_folder(COUNTS, "2", str(calls))
        # A page is the lock's. Each call of work() makes three of step().
        for size, functions, recorded in (("8k", "work", calls), ("32k", "work", calls), ("256k", "step,work", 4 * calls)):
            mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", disk], stderr=subprocess.PIPE, check=False)
            if mounted.returncode != 0:
                self.skipTest("cannot mount a small file system: " + mounted.stderr.decode().strip())
            try:
                with self.subTest(size):
                    done = self.rdam("record", "-o", disk / "trace.bin", "-f", functions, "--", COUNTS, "2", str(calls))
                    self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout), done.stderr.decode())
                    self.assertRegex(done.stderr.decode(), r"\d+ events could not be written: .*No space left on device")
                    trace = self.analyze(disk / "trace.bin")["trace"]
                    # The recorder's own pauses are among what is lost.
                    self.assertIn(trace["events"] + trace["dropped"] - 2 * 2 * recorded, range(recorded // 150))
                    if size == "256k":
                        self.assertGreater(trace["events"], 1000)
            finally:
                subprocess.run(["umount", disk], check=True)


class Agent(Case):
    """The agent goes away, or stands still."""

    def start(self, *command, functions="work", **variables) -> subprocess.Popen:
        own = {name: value for name, value in os.environ.items() if not name.startswith("RDAM_")}
        return subprocess.Popen([str(word) for word in command], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**own, **NO_BUDGET, "LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": functions, **variables})

    def find_agent(self, program: subprocess.Popen) -> int:
        agents = self.until(lambda: agents_of(program.pid) or program.poll() is not None, "no agent was seen")
        self.assertIsNot(agents, True, "the program ended before its agent was seen")
        return agents[0]

    def plain(self, *command) -> tuple[int, bytes]:
        done = self.run_in_folder(*command)
        return done.returncode, done.stdout

    def finish(self, program: subprocess.Popen, status: int, output: bytes) -> str:
        said, errors = program.communicate(timeout=60)
        self.assertEqual((program.returncode, said), (status, output), errors.decode())
        return errors.decode()

    def readable(self, at_most: int) -> int:
        """Calls in the trace, if one was begun."""
        if not self.traces():
            return 0
        trace = self.folder / "trace.bin"
        if trace.stat().st_size == 0:
            # On a busy machine the agent may have come no further.
            self.assertIn(b"trace.bin is empty: the recorder was stopped before it wrote anything", self.rdam("analyze").stderr)
            calls = 0
        else:
            calls = self.analyze()["trace"]["calls"]
        self.assertLessEqual(calls, at_most)
        trace.unlink()
        return calls

    def test_killed_at_a_random_moment(self):
        rounds, calls = 250, 4000
        for _ in range(8):
            pause = random.uniform(0, 0.5)
            with self.subTest(pause):
                program = self.start(ENDS, "works", str(calls), str(rounds))
                agent = self.find_agent(program)
                time.sleep(pause)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(agent, signal.SIGKILL)
                self.finish(program, 5, b"called\n")
                self.readable((rounds + 1) * calls)

    def test_killed_while_threads_wait_for_room(self):
        # The least buffer, and a program that fills it faster than it is emptied.
        plain = self.plain(COUNTS, "4", "1000000")
        for _ in range(4):
            pause = random.uniform(0.05, 0.3)
            with self.subTest(pause):
                program = self.start(COUNTS, "4", "1000000", functions="work,step", RDAM_BUFFER="4M")
                agent = self.find_agent(program)
                time.sleep(pause)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(agent, signal.SIGKILL)
                self.finish(program, *plain)
                self.readable(4 * 4 * 1000000)

    def test_killed_while_it_plans(self):
        command = ("/usr/bin/python3", "-c", "print(sum(map(len, map(str, range(1000)))))")
        ended = 0
        for number, pause in enumerate((0, 0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)):
            with self.subTest(pause):
                # Nothing that was planned before helps.
                home = str(self.folder / f"home{number}")
                program = self.start(*command, functions="*,libc.so.6:str*,libc.so.6:mem*", HOME=home, XDG_CACHE_HOME=home)
                agent = self.find_agent(program)
                time.sleep(pause)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(agent, signal.SIGKILL)
                ended += self.finish(program, 0, b"2890\n").count("rdam-agent ended unexpectedly; the program continues without being recorded")
                self.readable(10**9)
        self.assertGreater(ended, 0)

    def test_stopped_and_then_killed(self):
        plain = self.plain(COUNTS, "2", "400000")
        for when_full, pause in itertools.product(("wait", "drop"), (0, 0.04, 0.08)):
            with self.subTest((when_full, pause)):
                program = self.start(COUNTS, "2", "400000", RDAM_BUFFER="4M", RDAM_WHEN_FULL=when_full)
                agent = self.find_agent(program)
                time.sleep(pause)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(agent, signal.SIGSTOP)
                time.sleep(0.4)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(agent, signal.SIGKILL)
                self.finish(program, *plain)
                self.readable(2 * 400000)

    def test_container_with_little_memory(self):
        # The kernel does not refuse memory beyond a control group's limit: it kills.
        limit = "memory.limit_in_bytes" if pathlib.Path("/sys/fs/cgroup/memory/memory.limit_in_bytes").exists() else "memory.max"
        group = make_group(self, limit)
        (group / limit).write_text(str(96 << 20))
        command = (COUNTS, "2", "1000000")
        plain = self.plain(*command)
        program = self.start(*in_group(group, "env", f"LD_PRELOAD={LIBRDAM}", *command), functions="work,step", LD_PRELOAD="")
        agent = self.find_agent(program)
        time.sleep(0.05)
        # The events of half a second would be half a gigabyte.
        os.kill(agent, signal.SIGSTOP)
        time.sleep(0.5)
        os.kill(agent, signal.SIGCONT)
        self.finish(program, *plain)
        self.assertEqual(self.readable(8 * 1000000), 8 * 1000000)

    def test_stopped_for_a_while(self):
        plain = self.plain(COUNTS, "2", "400000")
        program = self.start(COUNTS, "2", "400000", RDAM_BUFFER="4M")
        agent = self.find_agent(program)
        time.sleep(0.05)
        os.kill(agent, signal.SIGSTOP)
        time.sleep(0.5)
        os.kill(agent, signal.SIGCONT)
        self.finish(program, *plain)
        self.assertEqual(self.readable(2 * 400000), 2 * 400000)


class Together(Case):
    """Program and agent die in one moment: what was written stays readable."""

    def run_and_kill(self, kill, prefix=()) -> None:
        calls, rounds = 4000, 100000
        for _ in range(3):
            pause = random.uniform(1.2, 1.8)  # chunks are on their way to the file by then
            with self.subTest(pause):
                program = subprocess.Popen([*prefix, ENDS, "works", str(calls), str(rounds)], cwd=self.folder, stdout=subprocess.PIPE,
                                           start_new_session=True,
                                           env={**os.environ, "LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": "work", "RDAM_BUFFER": "8M"})
                with program:
                    self.assertEqual(program.stdout.readline(), b"called\n")
                    agents = agents_of(program.pid)
                    until = time.monotonic() + 1
                    while len(agents) != 1 and time.monotonic() < until:  # one that is just being made has two processes
                        time.sleep(0.01)
                        agents = agents_of(program.pid)
                    self.assertEqual(len(agents), 1)
                    time.sleep(pause)
                    kill(program.pid, agents[0])
                    self.assertEqual(program.wait(timeout=60), -signal.SIGKILL)
                while pathlib.Path(f"/proc/{agents[0]}/fd").exists() and agents_of(program.pid):
                    time.sleep(0.01)
                report = self.analyze()
                self.assertGreater(report["trace"]["calls"], 0)
                self.assertFalse(report["trace"]["clean_end"])
                self.assertRegex(self.rdam("analyze").stdout.decode(), "The end of the trace is missing")
                (self.folder / "trace.bin").unlink()

    def test_process_group_and_agent(self):
        def kill(program: int, agent: int):
            for pid in (agent, -program):
                os.kill(pid, signal.SIGKILL)
        self.run_and_kill(kill)

    def test_cgroup(self):
        group = make_group(self, "cgroup.kill")

        def kill(program: int, agent: int):
            members = (group / "cgroup.procs").read_text().split()
            self.assertEqual({str(program), str(agent)} - set(members), set())
            (group / "cgroup.kill").write_text("1")
        self.run_and_kill(kill, in_group(group))


class Terminal(Case):
    def test_reader_that_has_seen_enough(self):
        done = self.run_in_folder("sh", "-c", f"{RDAM} record -f work -- {ENDS} prints 10 | head -n 3")
        self.assertEqual((done.returncode, done.stdout), (0, b"called\na line\na line\n"), done.stderr.decode())
        # The program goes on until it notices: ten calls a line.
        calls = self.counts()["work"]
        self.assertEqual((calls % 10, calls >= 30), (0, True), calls)

    def test_control_c(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execv(RDAM, [RDAM, "record", "-f", "work", "--", str(ENDS), "pause", "1234"])
        with os.fdopen(terminal, "r+b", buffering=0) as screen:
            shown = b""
            while b"called" not in shown:
                shown += screen.read(100)
            screen.write(b"\x03")
            with contextlib.suppress(OSError):  # EIO: nobody has it open any more
                while part := screen.read(100):
                    shown += part
            status = os.waitpid(pid, 0)[1]
        self.assertEqual((os.WIFEXITED(status), os.WEXITSTATUS(status)), (True, 128 + signal.SIGINT), shown)
        self.assertEqual(self.counts(), {"work": 1234})


if __name__ == "__main__":
    unittest.main()
