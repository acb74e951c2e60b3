#!/usr/bin/python3
"""Other tools that live in the same program, or watch it at the same time."""

import glob
import unittest

from harness import LIBRDAM, PROGRAMS, RDAM, Case

ALLOCATES = PROGRAMS / "allocates"
OUTPUT = b"22477500 22477500\n"
FUNCTIONS = "work,malloc,free,memcpy,mmap,pthread_mutex_lock"


class Allocators(Case):
    def check(self, library: str):
        if not glob.glob(f"/usr/lib/x86_64-linux-gnu/{library}"):
            self.skipTest(f"{library} is not installed")
        for preload in (f"{LIBRDAM}:{library}", f"{library}:{LIBRDAM}"):
            with self.subTest(preload):
                done = self.run_in_folder(ALLOCATES, env={"LD_PRELOAD": preload, "RDAM_FUNCTIONS": FUNCTIONS})
                self.assertEqual((done.returncode, done.stdout), (0, OUTPUT), done.stderr.decode())
                functions = self.analyze()["functions"]
                counts = {f["name"]: f["occurrences"] for f in functions if not f["module"].startswith("libc.")}
                self.assertEqual(counts["work"], 2000)
                # The allocator's own function is the one that is wrapped.
                self.assertGreaterEqual(counts["malloc"], 2000)

    def test_jemalloc(self):
        self.check("libjemalloc.so.2")

    def test_tcmalloc(self):
        self.check("libtcmalloc_minimal.so.4")


class DynamicLinker(Case):
    def test_a_library_that_is_to_be_initialized_first_too(self):
        """The recorder's constructor runs last then: it starts with the first thread, whose code must not be changed."""
        plain = self.run_in_folder(PROGRAMS / "early")
        self.assertEqual((plain.returncode, plain.stdout), (0, b"40002 calls, 1 of them before the threads\n"), plain.stderr.decode())
        for _ in range(10):
            done = self.rdam("record", "-f", "work", "--", PROGRAMS / "early")
            self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr.decode())
            self.assertEqual(self.counts(), {"work": 40001})

    def test_an_auditor(self):
        """glibc has the thread-local storage of all libraries go into what this tunable enlarges."""
        auditor = {"LD_AUDIT": str(PROGRAMS / "libauditor.so"), "GLIBC_TUNABLES": "glibc.malloc.perturb=0:glibc.rtld.optional_static_tls=0x4000"}
        self.succeeded(self.rdam("record", "-f", "work", "--", PROGRAMS / "counts", "2", "1000", env=auditor), 3)
        self.assertEqual(self.counts(), {"work": 2000})
        for tunable in ("glibc.rtld.optional_static_tls=1000", "glibc.rtld.optional_static_tls=20000:glibc.rtld.optional_static_tls=0"):
            refused = self.rdam("record", "-f", "work", "--", PROGRAMS / "counts", "2", "1000", env={**auditor, "GLIBC_TUNABLES": tunable})
            self.assert_one_line(refused, 1, "LD_AUDIT", "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384")


class Profilers(Case):
    def test_gperftools(self):
        if not glob.glob("/usr/lib/x86_64-linux-gnu/libprofiler.so.0"):
            self.skipTest("libprofiler.so.0 (gperftools) is not installed")
        done = self.succeeded(self.run_in_folder(PROGRAMS / "counts", "2", "2000000",
                                                 env={"LD_PRELOAD": f"{LIBRDAM}:libprofiler.so.0", "RDAM_FUNCTIONS": "work,malloc,memcpy",
                                                      "CPUPROFILE": str(self.folder / "profile"), "CPUPROFILE_FREQUENCY": "1000"}), 3)
        self.assertIn("PROFILE: interrupts", done.stderr.decode())
        self.assertEqual(self.counts()["work"], 4_000_000)

    def test_perf_on_the_same_run(self):
        self.need("perf")
        done = self.run_in_folder("perf", "record", "-q", "-e", "cpu-clock", "-g", "-o", "perf.data", "--", RDAM, "record", "-f", "work", "--",
                                  PROGRAMS / "counts", "2", "500000")
        self.assertEqual(done.returncode, 3, done.stderr.decode())
        self.assertEqual(self.counts(), {"work": 1_000_000})
        report = self.run_in_folder("perf", "report", "--stdio", "-i", "perf.data", "--comm", "counts")
        self.assertIn(b"rdam_enter_stack_rdtscp", report.stdout)


class Sanitizers(Case):
    def test_address_sanitizer(self):
        done = self.rdam("record", "-f", FUNCTIONS, "--", PROGRAMS / "sanitized")
        self.assertEqual((done.returncode, done.stdout), (0, OUTPUT), done.stderr.decode())
        self.assertEqual(self.counts()["work"], 2000)

    def test_what_address_sanitizer_finds_is_found(self):
        as_usual = {"ASAN_OPTIONS": ""}  # meson has it abort
        plain = self.run_in_folder(PROGRAMS / "sanitized", "use", env=as_usual)
        done = self.rdam("record", "-f", FUNCTIONS, "--", PROGRAMS / "sanitized", "use", env=as_usual)
        self.assertEqual((done.returncode, done.stdout), (plain.returncode, OUTPUT), done.stderr.decode())
        self.assertIn("heap-use-after-free", done.stderr.decode())
        self.assertIn(" in main ", done.stderr.decode())
        self.assertEqual(self.counts()["work"], 2000)


class Interposers(Case):
    def test_what_works_only_after_the_constructors(self):
        # The recorder starts before them, and must not depend on the program's own functions.
        self.assertEqual(self.unchanged("work", PROGRAMS / "interposes", status=5).stdout, b"14951 1\n")
        self.assertEqual(self.counts(), {"work": 100})


class Debuggers(Case):
    def test_gdb_from_the_start(self):
        self.need("gdb")
        done = self.run_in_folder("gdb", "-q", "-batch", "-ex", f"set environment LD_PRELOAD {LIBRDAM}", "-ex",
                                  "set environment RDAM_FUNCTIONS work", "-ex", "break step", "-ex", "run", "-ex", "backtrace", "-ex",
                                  "delete", "-ex", "continue", "--args", PROGRAMS / "counts", "1", "50")
        text = done.stdout.decode()
        # The breakpoint is in a function that a wrapped one calls: the callers are there, beyond rdam's frame.
        self.assertRegex(text, r"(?s)#0 .*step.*#1 .*work.*rdam_enter_stack_rdtscp.*(main|run)")
        self.assertIn("exited with code 03", text)
        self.assertEqual(self.counts(), {"work": 50})


if __name__ == "__main__":
    unittest.main()
