#!/usr/bin/python3
"""The recorder's process is never more than the program is: what that gives up it gives up, too, and nothing is lost by it."""

import ctypes
import os
import pathlib
import resource
import subprocess
import time
import unittest

from harness import LIBRDAM, PROGRAMS, RDAM, TIMEOUT, Case, agents_of

DROPS = PROGRAMS / "drops"
COUNTS = PROGRAMS / "counts"
DROPPED = (["65533"] * 4, ["65532"] * 4, ["65531"])
PR_SET_CHILD_SUBREAPER = 36


def rights(pid: int) -> tuple[list[str], list[str], list[str]]:
    lines = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    return lines["Uid"].split(), lines["Gid"].split(), lines["Groups"].split()


@unittest.skipUnless(os.geteuid() == 0, "only root has rights to give up")
class Drops(Case):
    """In a folder where only root may write."""

    def start(self, how: str, rounds: int, **variables) -> subprocess.Popen:
        program = subprocess.Popen([DROPS, how, str(rounds)], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE,
                                   env={**os.environ, "LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": "work", **variables})
        self.addCleanup(program.kill)
        self.assertEqual(program.stdout.readline(), b"dropped\n", "it may not become another user here")
        return program

    def finish(self, program: subprocess.Popen, status: int) -> str:
        _, errors = program.communicate(timeout=60)
        self.assertEqual(program.returncode, status, errors.decode())
        return errors.decode()

    def await_rights(self, agent: int, expected) -> None:
        self.until(lambda: rights(agent) == expected, f"the agent's rights never are {expected}")
        for task in pathlib.Path(f"/proc/{agent}/task").iterdir():
            self.assertEqual(rights(int(task.name)), expected)

    def check(self, how: str, work: int, status=5, without="cannot|could not|lost|keeps", **variables):
        program = self.start(how, 300, **variables)
        agent, = agents_of(program.pid)
        self.await_rights(agent, DROPPED)
        self.assertNotRegex(self.finish(program, status), without)
        self.assertEqual(self.counts(), {"work": work})
        self.assertEqual((self.folder / "trace.bin").stat().st_uid, 0)

    def test_before_the_first_event(self):
        self.check("early", 600_000)

    def test_afterwards(self):
        self.check("late", 601_000)

    def test_with_little_memory(self):
        # The program waits for the agent, which must get its priority back.
        self.check("late", 601_000, RDAM_BUFFER="4M")

    def test_on_a_processor_of_its_own(self):
        self.check("late", 601_000, RDAM_AGENT_CPUS=str(min(os.sched_getaffinity(0))))

    def test_program_that_becomes_another_one(self):
        # The other one may not write in this folder, and has nothing to write.
        self.check("exec", 600_000, status=0)

    def test_for_a_while_only(self):
        program = self.start("back", 1)
        agent, = agents_of(program.pid)
        time.sleep(0.5)  # The agent looks ten times a second.
        self.assertEqual(rights(agent)[0], ["0"] * 4)
        self.assertEqual(self.finish(program, 5), "")
        self.assertEqual(self.counts(), {"work": 1000})

    def test_child_whose_first_call_comes_later(self):
        # Its agent is started by who may not write here, and says so; where everybody may there is a trace.
        self.assertRegex(self.finish(self.start("fork", 300), 5), r"cannot write the trace to .*: Permission denied")
        self.folder.chmod(0o777)
        program = self.start("fork", 300)
        child = int(pathlib.Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()[0])
        self.finish(program, 5)
        self.assertEqual(self.counts(f"trace.{child}.bin"), {"work": 600_000})


class Namespaces(Case):
    def test_numbers_of_another_namespace_say_nothing(self):
        # There /proc/1 is not the program.
        self.folder.chmod(0o777)
        inside = ("unshare", "--map-root-user", "--pid", "--fork")
        user = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        if self.run_in_folder(*inside, "true", **user).returncode != 0:
            self.skipTest("no user namespace can be made here")
        done = self.run_in_folder(*inside, COUNTS, "1", "10", env={"LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": "work", "RDAM_CACHE": ""}, **user)
        if b"cannot be preloaded" in done.stderr:
            self.skipTest("another user cannot read the build directory")
        self.assertNotIn(b"the recorder keeps rights", done.stderr)
        self.assertEqual(self.counts(), {"work": 10})


class Ends(Case):
    def test_no_agent_ends_by_a_signal(self):
        # Agents are handed to whoever takes in orphans.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.addCleanup(ctypes.CDLL(None).prctl, PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
        statuses = []
        for _ in range(40):
            done = self.preload("work", COUNTS, "2", "1000")
            self.assertEqual(done.returncode, 3)
            statuses.append(os.waitpid(-1, 0)[1])
        self.assertEqual(statuses, [0] * 40)


class Attacks(Case):
    """What the program has written into the shared memory, with a sum that is right, is not believed."""

    MOST_MEMORY = 1 << 30
    CALLS = 20_000
    SAID = "the program wrote into the recorder's memory"

    def test_each(self):
        for kind in ("index", "far", "thread", "stack"):
            with self.subTest(kind=kind):
                done = subprocess.run([RDAM, "record", "--buffer", "16M", "--stack-period", "50", "-f", "counted", "-o", f"{kind}.bin", "--",
                                       PROGRAMS / "attacks", kind], cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT, check=False,
                                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (self.MOST_MEMORY, self.MOST_MEMORY)))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotRegex(done.stderr, "killed|before its end")
                report = self.rdam("analyze", f"{kind}.bin").stdout.decode()
                if self.counts(f"{kind}.bin") != {"counted": self.CALLS}:
                    self.assertIn(self.SAID, report)


if __name__ == "__main__":
    unittest.main()
