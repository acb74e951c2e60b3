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
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sum;

extern "C" __attribute__((noinline)) void add_under_lock(unsigned long rounds) {
    pthread_mutex_lock(&lock);
    for (unsigned long i = 0; i < rounds; ++i) sum = sum * 3 + i;
    // Whoever keeps the processors busy: the other thread comes to run, and waits for the lock.
    const struct timespec nap = {0, 50000};
    nanosleep(&nap, NULL);
    pthread_mutex_unlock(&lock);
}

static void* work(void*) {
    for (unsigned i = 0; i < 3000; ++i) add_under_lock(30000);
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


PAGE = """# A page

<!-- thesis: written by a command, see there -->
what stood here
<!-- end of thesis -->

between
<!-- study: written by a command, see there -->
<!-- end of study -->
"""


class Field(Case):
    def made_program(self):
        self.need("perf", "g++")
        if self.run_in_folder("perf", "record", "-q", "-e", "cpu-clock", "-o", "perf.data", "true").returncode != 0:
            self.skipTest("perf cannot sample here")
        place = self.folder / "suites/parsec-3.0/pkgs/apps/swaptions/src"
        place.mkdir(parents=True)
        (place / "main.cpp").write_text(PROGRAM)
        (place / "nr_routines.c").write_text("")

    def test_built_and_judged(self):
        self.made_program()
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

    def test_the_thesis_s_tables(self):
        self.made_program()
        page = self.folder / "page.md"
        page.write_text(PAGE)
        done = self.run_in_folder(FIELD, "--build", BUILD, "--programs", self.folder / "suites", "--only", "zstd,raytrace,swaptions", "--threads", 2,
                                  "--rounds", 1, "--no-uftrace", "--thesis", "--page", page)
        text = done.stdout.decode()
        self.assertEqual(done.returncode, 0, done.stderr.decode() + text)
        self.assertNotIn("zstd", text.partition("### Table 5.3")[2], "it is none of the thesis's")
        cost = r"-?[\d.]+ % \(-?\d+ to -?\d+\)"
        row = rf"(?m)^\| swaptions \| HJM_SimPath_Forward… 33 \| 1 % \| .*\badd_under_lock \d+.* \| \d+\.\d\d s \| {cost}( †)? \| {cost} \|$"
        self.assertRegex(text, row)
        self.assertEqual("not judged: other programs took" in text, "† Other programs took more than 10%" in text)
        self.assertRegex(text, r"(?m)^\| Raytrace, car \| .* \| 9.05 % \| absent: no Splash-3 in the folders given; ")
        self.assertRegex(text, r"(?m)^\| facesim \| .* \| absent: PARSEC's sources come without its input \|")
        self.assertRegex(text, r"(?m)^\| swaptions \| < 0.2 \| `\w+` \| .* \| .*\d\.\d\d.* \(\d\.\d\d–\d\.\d\d\)( †)? \|$")
        self.assertRegex(text, r"(?m)^\| all \| 27 \| 1 \| 11 \| 1 \| 15 \| [1-9]\d* \| 3 \| \d+ \|$")
        self.assertIn("| true defects | 12, in 9 applications | not judged |", text)
        written = page.read_text()
        self.assertNotIn("what stood here", written)
        self.assertRegex(written, row)
        self.assertEqual(written.partition("<!-- end of thesis -->")[2], PAGE.partition("<!-- end of thesis -->")[2])

    def test_studied(self):
        self.made_program()
        page = self.folder / "page.md"
        page.write_text(PAGE)
        done = self.run_in_folder(FIELD, "--build", BUILD, "--programs", self.folder / "suites", "--only", "swaptions,memcached", "--threads", 2,
                                  "--study", 3, "--page", page, env={"RDAM_PYTHON": sys.executable})
        text = done.stdout.decode()
        self.assertEqual(done.returncode, 0, done.stderr.decode() + text)
        row = r"(?m)^\| swaptions \| 3 \| [\d.]+% \| [\d.]+% \| (more stable|\*\*less stable\*\*|no difference shown) \| \w.* \|$"
        self.assertRegex(text, row)
        self.assertRegex(text, r"(?m)^absent: memcached: (a server, which does not end by itself|not installed)")
        self.assertRegex(page.read_text(), row)

    def test_a_page_without_a_place_is_refused_before_anything_runs(self):
        page = self.folder / "page.md"
        for contents, words in ((None, "No such file"), ("# A page\n", "has not the two lines '<!-- study: ")):
            if contents is not None:
                page.write_text(contents)
            done = self.run_in_folder(FIELD, "--only", "raytrace", "--study", 3, "--page", page)
            self.assertEqual((done.returncode, done.stderr.decode().count("\n")), (1, 1), done.stderr.decode())
            self.assertIn(f"{page}: {words}", done.stderr.decode())
        self.assertEqual(self.run_in_folder(FIELD, "--only", "raytrace", "--page", page).returncode, 2)

    def test_a_study_s_program_may_read_its_input(self):
        module = field()
        program = module.Program("sh", "-c 'x'", input="{folder}/given", directory="{folder}")
        asked = module.ProgramCase(program, [], os.environ["PATH"]).invocation(self.folder, 2)
        (self.folder / "given").write_text("a word\n")
        command = module.readable(module.dataclasses.replace(asked, command=["sh", "-c", 'read line; echo "$1: $line"', "sh", "said"]))
        self.assertEqual(self.run_in_folder(*command).stdout, b"said: a word\n")

    def test_shares(self):
        listed = ("bt.W:binvcrhs_  # 22.3 %\n~libm.so.6:__ieee754_log_fma  # 8.2 %, small leaf with a loop (30 bytes)\n"
                  "A:_ZN1A1fEi  # 31 %, A::f(int, char), with a loop\npthread_join  # wait\nlibc.so.6:__GI___lll_lock_wait@@GLIBC_2.2.5  # 1.5 %\n")
        self.assertEqual(field().shares_of(listed), [("A::f", 31.0), ("binvcrhs_", 22.3), ("ieee754_log_fma", 8.2), ("lll_lock_wait", 1.5)])

    def test_what_counts_as_a_score(self):
        field()
        tables = importlib.import_module("thesis_tables")
        lost = {"name": "lost", "rdam": 0.4, "rdam_low": 0.3, "rdam_high": 0.5, "floor": 0.02, "by_design": ""}
        rows = [lost, {**lost, "name": "idle", "by_design": "for requests", "rdam": 0.9}, {**lost, "name": "even", "rdam": 0.6, "rdam_low": 0.01},
                {**lost, "name": "refused", "rdam": None, "rdam_low": None}, {**lost, "name": "more", "rdam": 0.45}]
        self.assertEqual([row["name"] for row in tables.by_score(rows)], ["more", "lost"])

    def test_not_built(self):
        place = self.folder / "suites/parsec-3.0/pkgs/apps/swaptions/src"
        place.mkdir(parents=True)
        (place / "main.cpp").write_text("no program\n")
        done = self.succeeded(self.run_in_folder(FIELD, "--build", BUILD, "--programs", self.folder / "suites", "--only", "swaptions"))
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
