#!/usr/bin/python3
"""No program finds a process of the recorder among its children, not even one that takes in orphans."""

import contextlib
import ctypes
import os
import pathlib
import re
import signal
import subprocess
import unittest

from harness import LIBRDAM, PROGRAMS, RDAM, TIMEOUT, Case, agents_of

PR_SET_CHILD_SUBREAPER = 36
CANNOT = 77  # The status of a program that may not do what it is for.
NOBODY = 65534

ORPHANS = PROGRAMS / "orphans"
PRELOADED = {"LD_PRELOAD": str(LIBRDAM), "RDAM_FUNCTIONS": "work"}


def take_in_orphans(whether=1):
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, whether, 0, 0, 0)


class Orphans(Case):
    """The agent of a process that takes in orphans is no child that its wait() returns."""

    def check(self, *command, **options):
        done = self.run_in_folder(*command, env=PRELOADED, **options)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (5, b"1499500 -1 1\n", b""))
        self.assertEqual(self.counts(), {"work": 1000})

    def test_subreaper(self):
        self.check(ORPHANS, "subreaper")

    def test_subreaper_that_becomes_another_program(self):
        # The starter outlives the agent that left it behind.
        self.check(ORPHANS, "subreaper", preexec_fn=take_in_orphans)

    def test_process_one(self):
        if self.run_in_folder("unshare", "--pid", "--fork", "true").returncode != 0:
            self.skipTest("no PID namespace can be made here")
        done = self.run_in_folder("unshare", "--pid", "--fork", "--mount-proc", "env", f"LD_PRELOAD={LIBRDAM}", "RDAM_FUNCTIONS=work",
                                  ORPHANS)
        self.assertEqual((done.returncode, done.stdout), (5, b"1499500 -1 1\n"), done.stderr.decode())
        self.assertEqual(self.counts(), {"work": 1000})


class SubreaperCase(Case):
    """A program that takes in orphans from some moment on sees only the children that it has made."""

    CHILDREN = 3

    def start(self, *command, how="return", change="none", when="first", env=None, **options) -> subprocess.Popen:
        """One that waits for a line before it makes its children."""
        program = subprocess.Popen([*command, PROGRAMS / "subreaper", how, str(self.CHILDREN), PROGRAMS / "counts", change, when],
                                   cwd=self.folder, env={**os.environ, **PRELOADED, **(env or {})}, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.addCleanup(program.kill)
        return program

    def finish(self, program: subprocess.Popen) -> tuple[str, str]:
        out, said = (text.decode() for text in program.communicate(b"go\n", timeout=TIMEOUT))
        if program.returncode == CANNOT:
            self.skipTest("a process may not become what this test is about here")
        self.assertEqual(program.returncode, 0, said)
        return re.search(r".* own, .*", out)[0], said

    def calls(self) -> list[int]:
        return sorted(self.counts(trace.name)["work"] for trace in self.folder.glob("trace*.bin"))

    def starter_of(self, process: int) -> int:
        """That of the run whose first process it is."""
        def found() -> int | None:
            for number in (int(entry) for entry in os.listdir("/proc") if entry.isdigit()):
                with contextlib.suppress(OSError):
                    title = pathlib.Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")[0]
                    parent = pathlib.Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[1]
                    if title == b"rdam-starter" and int(parent) in agents_of(process):
                        return number
            return None

        return self.until(found, "there is no starter")

    def await_end(self, process: int):
        def ended() -> bool:
            try:
                return ") Z " in pathlib.Path(f"/proc/{process}/stat").read_text()
            except OSError:
                return True

        self.until(ended, "the starter has stayed")

    def await_end_of_starters(self, maker: int):
        """Of that process, a zombie: nothing shows whose a starter is, so of all that began after it; and its agent's, which makes it."""
        since = int(pathlib.Path(f"/proc/{maker}/stat").read_text().rsplit(")", 1)[1].split()[19])
        self.await_end(maker)
        self.until(lambda: not any(self.is_starter_since(number, since) for number in os.listdir("/proc") if number.isdigit()),
                   "the starter has stayed")

    def is_starter_since(self, number: str, since: int) -> bool:
        try:
            title = pathlib.Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")
            stat = pathlib.Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return False
        agent = title[1] if title[0] == b"rdam-starter" else title[0]
        ours = agent.startswith(os.path.dirname(LIBRDAM).encode()) and agent.endswith(b"/rdam-agent")
        return ours and stat[0] != "Z" and int(stat[19]) >= since

    def kill_starter(self, program: subprocess.Popen):
        starter = self.starter_of(program.pid)
        os.kill(starter, signal.SIGKILL)
        self.await_end(starter)


class Subreaper(SubreaperCase):
    def test_children_end(self):
        for how in ("return", "_exit", "kill"):
            with self.subTest(how=how):
                said = self.finish(self.start(how=how))[0]
                self.assertEqual(said, "3 own, 0 strangers, 1")
                self.await_agents()
                self.assertEqual(self.calls(), [1] + self.CHILDREN * [1000])
                self.forget()

    def test_children_that_become_other_programs(self):
        self.assertEqual(self.finish(self.start(how="exec"))[0], "3 own, 0 strangers, 1")
        self.await_agents()
        self.assertEqual(self.calls(), [1] + self.CHILDREN * [100] + self.CHILDREN * [1000])

    def test_under_a_shell(self):
        # Nothing of the list is in the shell, which waits for the program.
        program = self.start("bash", "-c", '"$0" "$@"; true')
        self.assertEqual(self.finish(program)[0], "3 own, 0 strangers, 1")

    def test_recorded_by_the_command(self):
        program = subprocess.run([RDAM, "record", "-f", "work", "--", PROGRAMS / "subreaper", "kill", "3"], cwd=self.folder, input=b"go\n",
                                 capture_output=True, timeout=TIMEOUT, check=False)
        self.assertIn(b"3 own, 0 strangers, 1", program.stdout)
        self.assertEqual(self.calls(), [1] + self.CHILDREN * [1000])

    def test_around_the_command(self):
        # Who takes in orphans around `rdam record` gets none of its.
        take_in_orphans()
        self.addCleanup(take_in_orphans, 0)
        for command in ((PROGRAMS / "counts", "1", "10"), ("sh", "-c", f"'{PROGRAMS / 'counts'}' 1 10; '{PROGRAMS / 'children'}' fork 3")):
            for _ in range(5):
                self.rdam("record", "-f", "work", "--", *command)
                with self.assertRaises(ChildProcessError):
                    os.waitpid(-1, os.WNOHANG)

    def test_a_starter_that_was_killed(self):
        # Where nobody takes in orphans everything is recorded all the same.
        program = self.start(when="never")
        self.kill_starter(program)
        self.assertEqual(self.finish(program)[0], "3 own, 0 strangers, 1")
        self.await_agents()
        self.assertEqual(self.calls(), [1] + self.CHILDREN * [1000])

    def test_a_starter_that_does_not_answer(self):
        program = self.start()
        starter = self.starter_of(program.pid)
        os.kill(starter, signal.SIGSTOP)
        self.addCleanup(os.kill, starter, signal.SIGKILL)
        result, said = self.finish(program)
        self.assertEqual(result, "3 own, 0 strangers, 1")
        self.assertEqual(said.count("does not respond; the program continues without being recorded"), self.CHILDREN)
        self.assertEqual(self.calls(), [1])

    def test_nothing_stays(self):
        program = self.start()
        starter = self.starter_of(program.pid)
        self.finish(program)
        self.await_agents()
        self.await_end(starter)


class LeftAlone(SubreaperCase):
    """Children whose agents the starter cannot start are not recorded below a program that takes in orphans, which is said."""

    REFUSES = "rdam-starter cannot start it (another root directory, namespace or control group, or PR_SET_DUMPABLE)"
    IS_GONE = "rdam-starter has ended or cannot be reached (another user, PID or network namespace, or no /proc)"

    def check(self, why: str, program: subprocess.Popen, *, lines=SubreaperCase.CHILDREN, calls=(1,), adopter=None):
        result, said = self.finish(program)
        self.assertEqual(result, "3 own, 0 strangers, 1", said)
        adopts = re.escape(f", which adopts orphans: {why}; the program continues without being recorded")
        self.assertEqual(len(re.findall(rf"of process \d+ would become a child of process {adopter or program.pid}{adopts}\n", said)), lines, said)
        self.await_agents()
        self.assertEqual(self.calls(), sorted(calls))

    def check_all(self, why: str, **options):
        for how, lines in (("return", 3), ("kill", 3), ("exec", 6)):
            with self.subTest(how=how):
                self.check(why, self.start(how=how, **options), lines=lines)
                self.forget()

    def check_executed(self, *command, adopter=None, executed=(), **options):
        """A fork child's agent is started where its parent began; what the child executes has to ask by itself."""
        self.check(self.REFUSES, self.start(*command, how="exec", **options), lines=0 if executed else self.CHILDREN,
                   calls=[1, *self.CHILDREN * [1000], *executed], adopter=adopter)
        self.forget()

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_another_user(self):
        self.check_all(self.IS_GONE, change="user")

    def check_forked(self, **options):
        for how in ("return", "kill"):
            with self.subTest(how=how):
                self.check("", self.start(how=how, **options), lines=0, calls=[1] + self.CHILDREN * [1000])
                self.forget()

    def test_another_root(self):
        (self.folder / "root").mkdir()
        self.check_forked(change="root")

    def test_another_namespace(self):
        self.check_forked(change="mounts")
        self.check_executed(change="mounts")

    def test_another_network(self):
        # A file leads to the starter from there.
        self.check_forked(change="network")
        self.check_executed(change="network", executed=self.CHILDREN * [100])

    def test_another_control_group(self):
        group = self.make_group()
        self.check_forked(change="group", env={"GROUP": group})
        self.check_executed(change="group", env={"GROUP": group})

    def test_another_root_without_its_parent(self):
        # Its parent's agent could find it no more, nor anybody else.
        (self.folder / "root").mkdir()
        program = self.start(change="root")
        self.kill_starter(program)
        self.check(self.IS_GONE, program)

    def make_group(self) -> str:
        mount = re.search(r"(?m)^\S+ \S+ \S+ \S+ (\S+) .* - cgroup2 ", pathlib.Path("/proc/self/mountinfo").read_text())
        own = re.search(r"(?m)^0::(.*)$", pathlib.Path("/proc/self/cgroup").read_text())
        if mount is None or own is None:
            self.skipTest("there are no control groups (cgroup2) here")
        group = pathlib.Path(mount[1] + own[1]) / f"rdam-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError as error:
            self.skipTest(f"no control group can be made here: {error}")
        self.addCleanup(group.rmdir)
        return str(group)

    def test_undumpable(self):
        # What is executed may be inspected again.
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        self.folder.chmod(0o777)
        if self.run_in_folder(PROGRAMS / "counts", "1", "1", **user).returncode != 3:
            self.skipTest("another user cannot read the build directory")
        self.check(self.REFUSES, self.start(how="kill", change="undumpable", **user))
        self.folder.joinpath("trace.bin").unlink()
        self.check(self.REFUSES, self.start(how="exec", change="undumpable", **user), calls=[1] + self.CHILDREN * [100])

    def test_ancestors_that_have_ended(self):
        # The program itself has called nothing of the list, so that no starter knows it, and its maker's ends.
        program = self.start(how="exec", change="unserved")
        self.await_end_of_starters(program.pid)
        self.check(self.IS_GONE, program, lines=6, adopter=r"\d+")

    def test_a_starter_that_was_killed(self):
        for how, lines in (("return", 3), ("exec", 6)):
            with self.subTest(how=how):
                program = self.start(how=how)
                self.kill_starter(program)
                self.check(self.IS_GONE, program, lines=lines)
                self.folder.joinpath("trace.bin").unlink()

    def test_by_the_system_call(self):
        self.check_executed(change="mounts", when="syscall")

    def test_children_made_before(self):
        self.check_executed(change="mounts", when="between")

    def test_from_the_start(self):
        self.check_executed(change="mounts", when="never", preexec_fn=take_in_orphans)

    def test_process_one(self):
        inside = ("unshare", "--pid", "--fork", "--mount-proc")
        if self.run_in_folder(*inside, "true").returncode != 0:
            self.skipTest("no PID namespace can be made here")
        self.check_executed(*inside, change="mounts", when="never", adopter=1)

    def test_a_program_that_is_not_recorded(self):
        self.check(self.REFUSES, self.start(how="exec", change="mounts", env={"RDAM_FUNCTIONS": "step"}), calls=[])

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_process_one_that_becomes_another_user(self):
        # That user has a starter of its own from then on.
        inside = ("unshare", "--pid", "--fork", "--mount-proc")
        if self.run_in_folder(*inside, "true").returncode != 0:
            self.skipTest("no PID namespace can be made here")
        self.folder.chmod(0o777)
        becomes = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        if self.run_in_folder(*becomes, PROGRAMS / "counts", "1", "1").returncode != 3:
            self.skipTest("another user cannot read the build directory")
        self.check("", self.start(*inside, *becomes, how="kill", when="never"), lines=0, calls=[1] + self.CHILDREN * [1000])

    def test_agents_that_are_there_already(self):
        # They have been somebody else's children since they were started.
        for change in ("mounts", "none"):
            with self.subTest(change=change):
                program = self.start(how="kill", change=change, when="last")
                self.kill_starter(program)
                self.check("", program, lines=0, calls=[1] + self.CHILDREN * [1000])
                self.forget()

    def test_recorded_by_the_command(self):
        done = subprocess.run([RDAM, "record", "-f", "work", "--", PROGRAMS / "subreaper", "exec", "3", PROGRAMS / "counts", "mounts"],
                              cwd=self.folder, input=b"go\n", capture_output=True, timeout=TIMEOUT, check=False)
        if done.returncode == CANNOT:
            self.skipTest("no mount namespace can be made here")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertIn(b"3 own, 0 strangers, 1", done.stdout)
        self.assertEqual(done.stderr.decode().count(self.REFUSES), self.CHILDREN, done.stderr.decode())

    def test_prctl_on_the_list(self):
        self.assertEqual(self.finish(self.start(env={"RDAM_FUNCTIONS": "prctl"}))[0], "3 own, 0 strangers, 1")
        self.assertEqual(self.counts(), {"prctl": 1})


if __name__ == "__main__":
    unittest.main()
