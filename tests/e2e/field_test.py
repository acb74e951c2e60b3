#!/usr/bin/python3
"""microbench/field: a suite's program is built from source and goes the user's way; what is absent or refused is said, and what is judged
can be false."""

import importlib.machinery
import importlib.util
import os
import pathlib
import re
import sys
import unittest

from harness import Case

FIELD = pathlib.Path(os.environ["SOURCE_ROOT"]) / "microbench/field"
BUILD = pathlib.Path(os.environ["RDAM"]).parents[2]

PROGRAM = r"""
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sum;

extern "C" __attribute__((noinline)) void add_under_lock(unsigned long rounds) {
    pthread_mutex_lock(&lock);
    for (unsigned long i = 0; i < rounds; ++i) sum = sum * 3 + i;
    pthread_mutex_unlock(&lock);
}

static void* work(void*) {
    for (unsigned i = 0; i < 4000; ++i) add_under_lock(30000);
    return NULL;
}

int main(int count, char** arguments) {
    if (count != 7 || strcmp(arguments[5], "-nt") != 0) return 3;
    pthread_t threads[16];
    const int wanted = atoi(arguments[6]);
    for (int i = 0; i < wanted; ++i) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < wanted; ++i) pthread_join(threads[i], NULL);
    return 0;
}
"""


def field():
    """The bench as a module."""
    sys.path.insert(0, str(FIELD.parent))
    loader = importlib.machinery.SourceFileLoader("field", str(FIELD))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("field", loader))
    sys.modules["field"] = module
    loader.exec_module(module)
    return module


class Field(Case):
    def test_built_and_judged(self):
        self.need("perf", "g++")
        if self.run_in_folder("perf", "record", "-q", "-e", "cpu-clock", "-o", "perf.data", "true").returncode != 0:
            self.skipTest("perf cannot sample here")
        place = self.folder / "suites/parsec-3.0/pkgs/apps/swaptions/src"
        place.mkdir(parents=True)
        (place / "main.cpp").write_text(PROGRAM)
        (place / "nr_routines.c").write_text("")
        done = self.run_in_folder(FIELD, "--build", BUILD, "--programs", self.folder / "suites", "--only", "swaptions,raytrace", "--threads", 2,
                                  "--rounds", 1, "--waits", "--no-uftrace", "--reports", self.folder / "kept")
        text = done.stdout.decode()
        self.assertEqual(done.returncode, 0, done.stderr.decode() + text)
        self.assertRegex(text, r"(?m)^swaptions, 2 threads, \d+ functions")
        self.assertRegex(text, r"(?m)^  rdam +wall .* × plain ")
        self.assertRegex(text, r"(?m)^  the header says [\d.]+")
        self.assertRegex(text, r"(?m)^    wait: pthread_mutex_lock .* alone \d\.\d{3} ")
        self.assertRegex(text, r"(?m)^\| swaptions, 2 \| ")
        self.assertIn("absent: raytrace: no Splash-3 in the folders given; it comes from https://", text)
        self.assertIn("add_under_lock", (self.folder / "kept/swaptions-2.txt").read_text())

    def test_not_built(self):
        place = self.folder / "suites/parsec-3.0/pkgs/apps/swaptions/src"
        place.mkdir(parents=True)
        (place / "main.cpp").write_text("no program\n")
        done = self.run_in_folder(FIELD, "--build", BUILD, "--programs", self.folder / "suites", "--only", "swaptions")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertRegex(done.stdout.decode(), r"(?m)^absent: swaptions: cannot be built in ")

    def test_usage(self):
        done = self.run_in_folder(FIELD, "--only", "raytrace,nobody")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"no such program: nobody; there are raytrace, ", done.stderr)

    def test_claims(self):
        claim = field().Claim
        for low, high, ratio, covers, narrow in (
            (1.10, 1.10, 1.19, True, True),
            (1.10, 1.10, 1.25, False, True),
            (1.05, 1.20, 1.20, True, True),
            (1.05, 1.20, 1.22, False, True),
            (1.05, 1.40, 1.30, True, False),
            (3.80, 4.15, 4.00, True, True),
            (3.50, 4.15, 4.00, True, False),
        ):
            with self.subTest(f"{low} to {high}, {ratio}"):
                self.assertEqual(claim(low, high).covers(ratio), covers)
                self.assertEqual(claim(low, high).is_narrow(), narrow)

    def test_waits(self):
        listed = ("~libc.so.6:pthread_mutex_lock@@GLIBC_2.2.5  # 4.6 %\nlibc.so.6:__GI___lll_lock_wait  # 8.2 %\nA:walk  # 3 %\n"
                  "libgomp.so.1:gomp_team_barrier_wait_end  # 3 %\nlibgomp.so.1:GOMP_parallel  # 3 %\nns::join_all()  # 1 %\npthread_join  # wait\n"
                  "libc.so.6:__GI___pthread_mutex_unlock_usercnt  # 2 %\n")
        found = re.findall(r"^(\S+)", field().waits_of(listed), re.MULTILINE)
        self.assertEqual(found, ["libc.so.6:pthread_mutex_lock@@GLIBC_2.2.5", "libc.so.6:__GI___lll_lock_wait",
                                 "libgomp.so.1:gomp_team_barrier_wait_end", "pthread_join"])


if __name__ == "__main__":
    unittest.main()
