#!/usr/bin/python3
"""What is lost where the kernel, a container or a user's rights forbid something: each row of the table in docs/restrictions.md."""

import errno
import os
import pathlib
import shutil
import struct
import unittest

from harness import LIBRDAM, PROGRAMS, RDAM, Case
from seccomp import give_up_privileges

NOBODY = 65534
COUNTS = {"work": 2000, "step": 6000}
STATUS = 3  # of the program


class Restricted(Case):
    def record(self, forbidden: list[str], *options: str, functions: str = "work,step", error: int = errno.EPERM):
        """`counts` under `rdam record`, with these system calls forbidden to all."""
        return self.forbidding(forbidden, RDAM, "record", *options, "-f", functions, "--", PROGRAMS / "counts", "2", "1000", error=error)

    def assert_complete(self, done):
        self.assertEqual(done.returncode, STATUS, done.stderr.decode())
        self.assertEqual(self.counts(), COUNTS)

    def assert_nothing_recorded(self, done, *words: str):
        self.assertEqual(done.returncode, 1, done.stderr.decode())
        self.assertEqual(self.traces(), [])
        for word in (*words, "the program is not run"):
            self.assertIn(word, done.stderr.decode())

    def test_perf_event_open(self):
        for error, reason in ((errno.EPERM, "seccomp"), (errno.ENOSYS, "the kernel has no perf events")):
            with self.subTest(error=error):
                self.assert_complete(self.record(["perf_event_open"], "--counters=instructions", "-o", "trace.bin", error=error))
                trace = self.analyze()["trace"]
                for kind in ("switches", "counters"):
                    self.assertEqual(trace[kind]["state"], "unavailable")
                    self.assertIn(reason, trace[kind]["reason"])

    def test_process_vm_readv(self):
        # The threads' own stacks are read without it.
        for forbidden in ([], ["process_vm_readv"]):
            with self.subTest(forbidden=forbidden):
                self.assert_complete(self.record(forbidden, "--stack-period=1", "-o", "trace.bin"))
                functions = self.analyze()["functions"]
                self.assertEqual({stack["truncated"] for each in functions for stack in each["stacks"]}, {False})

    def test_process_vm_readv_that_kills(self):
        self.assert_complete(self.record(["process_vm_readv"], "--stack-period=1", "-o", "trace.bin", error=None))
        functions = self.analyze()["functions"]
        self.assertEqual({stack["truncated"] for each in functions for stack in each["stacks"]}, {False})

    def test_what_tells_that_the_program_has_ended(self):
        for call in ("pidfd_open", "poll"):
            with self.subTest(call=call):
                self.assert_complete(self.record([call], "-o", "trace.bin"))
                self.await_agents()

    def test_what_only_priorities_need(self):
        self.assert_complete(self.record(["sched_setscheduler", "sched_setattr", "setpriority"]))

    def test_memfd_create(self):
        self.assert_nothing_recorded(self.record(["memfd_create"]), "memfd_create")

    def test_madvise(self):
        done = self.record(["madvise"])
        self.assertEqual(done.returncode, STATUS, done.stderr.decode())
        self.assertIn("8000 events were dropped: the kernel refused memory for more buffers (mprotect or madvise: Operation not permitted)",
                      done.stderr.decode())

    def test_no_other_process(self):
        done = self.forbidding(["vfork", "clone", "clone3"], PROGRAMS / "quiet",
                               env={"LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": "work"})
        self.assertEqual(self.traces(), [])
        self.assertIn("the program continues without being recorded", done.stderr.decode())


class Rights(Case):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("to be another user takes root")
        self.folder.chmod(0o777)

    def as_nobody(self, program, before=None):
        def change():
            if before:
                before()
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
        return self.run_in_folder(RDAM, "record", "-f", "work,step", "--", program, "2", "1000", preexec_fn=change,
                                  env={"RDAM_CACHE": self.folder / "cache", "HOME": self.folder})

    def test_user_without_rights(self):
        self.rdam("record", "-o", "of_root.bin", "-f", "work", "--", PROGRAMS / "counts", "2", "1000")
        done = self.as_nobody(PROGRAMS / "counts")
        self.assertEqual(done.returncode, STATUS, done.stderr.decode())
        self.assertEqual(self.counts(), COUNTS)
        if int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text()) <= 2:
            self.assertEqual(*(self.analyze(trace)["trace"]["switches"]["state"] for trace in ("trace.bin", "of_root.bin")))

    def test_set_user_id(self):
        program = self.folder / "counts"
        shutil.copy(PROGRAMS / "counts", program)
        program.chmod(0o4755)
        if not program.stat().st_mode & 0o4000 or os.statvfs(program).f_flag & os.ST_NOSUID:
            self.skipTest("set-user-ID bits mean nothing on this file system")
        self.assert_one_line(self.as_nobody(program), 1, "setuid")
        done = self.as_nobody(program, give_up_privileges)
        self.assertEqual(done.returncode, STATUS, done.stderr.decode())
        self.assertEqual(self.counts(), COUNTS)

    def test_file_capabilities(self):
        program = self.folder / "counts"
        for effective, permitted, before, is_refused in ((True, True, None, True), (False, True, None, True), (False, False, None, False),
                                                         (True, True, give_up_privileges, True), (False, True, give_up_privileges, False)):
            with self.subTest(effective=effective, permitted=permitted, before=before):
                shutil.copy(PROGRAMS / "counts", program)
                self.give_capability(program, effective=effective, permitted=permitted)
                done = self.as_nobody(program, before)
                if is_refused:
                    self.assert_one_line(done, 1, "has file capabilities")
                else:
                    self.assertEqual(done.returncode, STATUS, done.stderr.decode())
                    self.assertEqual(self.counts(), COUNTS)

    def give_capability(self, program, *, effective: bool, permitted: bool):
        """CAP_NET_RAW, as the kernel keeps it; a process that inherits it gets it in any case."""
        net_raw, revision = 1 << 13, 0x02000000
        try:
            os.setxattr(program, "security.capability", struct.pack("<5I", revision | effective, net_raw * permitted, net_raw, 0, 0))
        except OSError as error:
            self.skipTest(f"files cannot have capabilities here: {error}")
        if os.statvfs(program).f_flag & os.ST_NOSUID:
            self.skipTest("capabilities mean nothing on this file system")


if __name__ == "__main__":
    unittest.main()
