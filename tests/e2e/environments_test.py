#!/usr/bin/python3
"""Programs in places where not everything is allowed, or not everything is there."""

import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import unittest

from harness import LIBRDAM, PROGRAMS, RDAM, Case

NOBODY = 65534


class Limits(Case):
    """What ulimit forbids is said, and does not end the program."""

    def under(self, limit: int, soft: int, hard: int) -> subprocess.CompletedProcess:
        return self.run_in_folder(PROGRAMS / "counts", "2", "1000",
                                  env={"LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": "work"},
                                  preexec_fn=lambda: resource.setrlimit(limit, (soft, hard)))

    def test_file_size(self):
        done = self.under(resource.RLIMIT_FSIZE, 100_000, resource.RLIM_INFINITY)
        self.assertEqual((done.returncode, done.stderr), (3, b""))
        self.assertEqual(self.counts(), {"work": 2000})

    def test_file_size_for_good(self):
        done = self.under(resource.RLIMIT_FSIZE, 100_000, 100_000)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr.decode().count("\n"), 1, done.stderr.decode())
        self.assertIn("ulimit -f", done.stderr.decode())

    def test_no_file_may_be_written(self):
        done = self.rdam("record", "-f", "work", "--", PROGRAMS / "counts", "2", "1000",
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), r"(?m)^rdam: .*(ulimit -f|File too large)")

    def test_a_program_keeps_what_the_limit_does_to_it(self):
        done = self.rdam("record", "-f", "work", "--", "sh", "-c", "grep SigIgn /proc/self/status; exec counts 1 1",
                         env={"PATH": f"{PROGRAMS}:{os.environ['PATH']}"})
        ignored = int(re.search(rb"SigIgn:\s*(\w+)", done.stdout)[1], 16)
        self.assertEqual(ignored & 1 << (signal.SIGXFSZ - 1), 0, done)

    def test_address_space(self):
        done = self.under(resource.RLIMIT_AS, 400 << 20, 400 << 20)
        self.assertEqual((done.returncode, done.stderr), (3, b""))
        self.assertEqual(self.counts(), {"work": 2000})

    def test_number_of_descriptors(self):
        done = self.under(resource.RLIMIT_NOFILE, 4, 1024)
        self.assertEqual((done.returncode, done.stderr), (3, b""))
        self.assertEqual(self.counts(), {"work": 2000})


class Memory(Case):
    """Programs that have no more memory than they need themselves."""

    COUNTS = {"work": 1000, "nested": 10_000}

    def test_least_stack_of_a_thread(self):
        # libc takes the thread-local storage, the recorder's too, from the thread's stack.
        for size in (16384, 20000, 65536):
            for options in ((), ("--stack-period", "1"), ("--max-overhead", "100000%")):
                with self.subTest((size, options)):
                    command = (PROGRAMS / "tight", "thread", str(size))
                    # What the recorder asks of libc is not the program's call.
                    functions = ",".join(self.COUNTS) + ",pthread_attr_setstacksize,pthread_attr_getstack"
                    self.unchanged(functions, *command, status=4, options=options)
                    self.assertEqual(self.counts(), {**self.COUNTS, "pthread_attr_setstacksize": 1})

    def grows_by(self, plain, done) -> int:
        """Kilobytes."""
        resident = [int(re.search(r"resident: (\d+)", run.stderr.decode())[1]) for run in (plain, done)]
        return resident[1] - resident[0]

    def test_all_memory_locked(self):
        command = (PROGRAMS / "tight", "locked")
        plain = self.run_in_folder(*command)
        if plain.returncode == 77:
            self.skipTest("this process may not lock its memory (mlockall)")
        done = self.rdam("record", "--buffer", "1G", "-f", ",".join(self.COUNTS), "--", *command)
        self.assertEqual((done.returncode, done.stdout), (4, plain.stdout), done.stderr.decode())
        self.assertEqual(self.counts(), self.COUNTS)
        # The buffers that are not in use stay out of memory.
        self.assertLess(self.grows_by(plain, done), 200_000)

    def test_thousands_of_short_threads(self):
        threads = 3000
        command = (PROGRAMS / "tight", "threads", str(threads))
        plain = self.run_in_folder(*command)
        done = self.rdam("record", "--buffer", "2G", "-f", "work", "--", *command)
        self.assertEqual((done.returncode, done.stdout), (4, plain.stdout), done.stderr.decode())
        report = self.analyze()
        self.assertEqual((report["functions"][0]["occurrences"], report["trace"]["dropped"]), (1000 * threads, 0))
        # A buffer for each would be 768 MB. How many are on their way to the agent depends on what else the machine has to do.
        self.assertLess(self.grows_by(plain, done), 400_000)

    def test_detached_threads_alive_at_the_end(self):
        command = (PROGRAMS / "tight", "detached", "20")
        self.unchanged(",".join(self.COUNTS), *command, status=4)
        self.assertEqual(self.counts(), {name: 20 * count for name, count in self.COUNTS.items()})

    def test_all_descriptors_closed(self):
        command = (PROGRAMS / "tight", "closed")
        self.unchanged(",".join(self.COUNTS), *command, status=4)
        self.assertEqual([self.counts(trace) for trace in self.traces()], [self.COUNTS] * 2)


class Guarded(Case):
    def test_memory_may_not_become_executable(self):
        guarded = PROGRAMS / "guarded"
        if self.run_in_folder(guarded, "true").returncode == 77:
            self.skipTest("this kernel has no PR_SET_MDWE")
        self.succeeded(self.rdam("record", "-f", "work,step,malloc,memcpy", "--", guarded, PROGRAMS / "counts", "2", "1000"), 3)
        trace = max(self.traces(), key=lambda name: (self.folder / name).stat().st_size)
        counts = self.counts(trace)
        self.assertEqual((counts["work"], counts["step"]), (2000, 6000))


class Forbidden(Case):
    """A program that forbids itself nearly all system calls (seccomp) runs on, and is recorded."""

    CALLS = 300_000

    def check(self, how: str):
        plain = self.run_in_folder(PROGRAMS / "forbids", self.CALLS, how)
        if plain.returncode == 77:
            self.skipTest("no seccomp filter can be set here")
        done = self.rdam("record", "-f", "work", "--", PROGRAMS / "forbids", self.CALLS, how)
        self.assertEqual((done.returncode, done.stdout), (3, plain.stdout), done.stderr.decode())
        self.said = done.stderr.decode()
        return self.analyze()

    def check_all(self, how: str):
        self.assertEqual({f["name"]: f["occurrences"] for f in self.check(how)["functions"]}, {"work": self.CALLS + 1})
        self.assertNotIn("seccomp", self.said)

    def test_filter_that_lets_calls_fail(self):
        self.check_all("fail")

    def test_filter_that_kills(self):
        self.check_all("kill")

    def test_strict_mode(self):
        # The kernel forbids such a thread to read the time-stamp counter.
        report = self.check("strict")
        self.assertEqual(report["functions"][0]["occurrences"], 1)
        lost = f"{self.CALLS} events of threads that may not read the time-stamp counter"
        self.assertIn(lost, self.said)
        self.assertTrue(any(note.startswith(lost) for note in report["trace"]["notes"]), report["trace"]["notes"])


class Chroot(Case):
    """A folder with a program, its libraries and rdam: no /proc, no /dev, no /tmp."""

    def copy(self, file: str):
        place = self.root / file.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)

    def copy_with_libraries(self, file: str):
        self.copy(file)
        for line in self.run_in_folder("ldd", file).stdout.decode().splitlines():
            for word in line.split():
                if word.startswith("/") and not (self.root / word.lstrip("/")).exists():
                    self.copy(word)

    def test_without_proc(self):
        if os.geteuid() != 0:
            self.skipTest("chroot needs root")
        self.root = self.folder / "root"
        library = pathlib.Path(LIBRDAM).resolve()
        agent = library.parent.parent / "tools/agent/rdam-agent"
        for file in (PROGRAMS / "counts", library, agent):
            self.copy_with_libraries(str(file))
        self.copy_with_libraries("/usr/bin/env")
        done = self.run_in_folder("chroot", self.root, "/usr/bin/env", f"LD_PRELOAD={library}", "RDAM_FUNCTIONS=work", "RDAM_OUTPUT=/trace.bin",
                                  PROGRAMS / "counts", "2", "1000")
        self.assertEqual((done.returncode, done.stderr), (3, b""))
        self.assertEqual(self.counts(self.root / "trace.bin"), {"work": 2000})
        self.assertIn("unknown processor", self.analyze(self.root / "trace.bin")["trace"]["machine"])

    def test_fork_after_chroot(self):
        if os.geteuid() != 0:
            self.skipTest("chroot needs root")
        (self.folder / "root").mkdir()
        self.succeeded(self.rdam("record", "-f", "work", "--", PROGRAMS / "chroots", "root"), 4)
        self.assertEqual([self.counts(trace.name) for trace in sorted(self.folder.glob("trace*.bin"))], [{"work": 1}, {"work": 2}])


class Namespaces(Case):
    """A process that is executed, or forked, where it has other numbers than outside, and other sockets and folders."""

    INSIDE = ("unshare", "--map-root-user", "--pid", "--net", "--fork")

    def setUp(self):
        super().setUp()
        self.user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        self.folder.chmod(0o777)
        (self.folder / "root").mkdir()
        if self.run_in_folder(*self.INSIDE, "true", **self.user).returncode != 0:
            self.skipTest("no user namespace can be made here")
        if self.run_in_folder(PROGRAMS / "counts", "1", "1", **self.user).returncode != 3:
            self.skipTest("another user cannot read the build directory")

    def check(self, how: str, status: int, *launcher, **environment):
        done = self.run_in_folder(*launcher, *self.INSIDE, PROGRAMS / "nests", "root", how, env=environment, **self.user)
        said = done.stderr.decode()
        if done.returncode == 77:
            self.skipTest("no further PID namespace can be made here")
        self.assertEqual((done.returncode, done.stdout), (status, b"6\n"), said)
        self.assertNotIn("without being recorded", said)
        reports = [self.analyze(trace.name) for trace in self.folder.glob("trace*.bin")]
        calls = {report["functions"][0]["occurrences"]: report for report in reports}
        self.assertEqual(sorted(calls), [2, 2000], said)
        # As everybody outside knows them.
        threads = calls[2000]["threads"]
        self.assertEqual(len({thread["tid"] for thread in threads} - {1, 2, 3}), 2)
        self.assertEqual(sorted(thread["name"] for thread in threads), ["inner", "nests"])
        self.forget()

    def test_by_the_command(self):
        self.check("return", 4, RDAM, "record", "-f", "work", "--")
        self.check("kill", signal.SIGKILL, RDAM, "record", "-f", "work", "--")

    def test_preloaded(self):
        self.check("return", 4, LD_PRELOAD=str(LIBRDAM), RDAM_FUNCTIONS="work")


class Clocks(Case):
    """Where the kernel has found the time-stamp counter wanting it keeps time by something else."""

    SOURCE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"

    def record(self, source: str, *options):
        (self.folder / "source").write_text(source + "\n", encoding="ascii")
        inside = f'mount --bind "$PWD/source" {self.SOURCE} || exit 125; exec "$@"'
        done = subprocess.run(["unshare", "-m", "sh", "-c", inside, "sh", RDAM, "record", "-o", "trace.bin", "-f", "work", *options, "--",
                               PROGRAMS / "counts", "2", "1000"], cwd=self.folder, capture_output=True, check=False)
        if done.returncode in (1, 125) and not (self.folder / "trace.bin").exists():
            self.skipTest("cannot show another clock source (mount is forbidden here): " + done.stderr.decode().strip())
        self.assertEqual(done.returncode, 3, done.stderr.decode())
        self.assertEqual(self.counts()["work"], 2000)
        return done.stderr.decode()

    def test_a_counter_that_the_kernel_does_not_trust(self):
        said = "the kernel does not trust this machine's time-stamp counter: using the monotonic clock"
        for source in ("hpet", "acpi_pm", "jiffies"):
            with self.subTest(source):
                self.assertIn(said, self.record(source))
        # Who asks for the counter gets it.
        self.assertNotIn(said, self.record("hpet", "--clock", "rdtscp"))
        # A virtual machine's clock is made from the counter.
        self.assertNotIn(said, self.record("kvm-clock"))


if __name__ == "__main__":
    unittest.main()
