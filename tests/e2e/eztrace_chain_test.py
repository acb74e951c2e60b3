#!/usr/bin/python3
"""From perf through rdam hot --eztrace, eztrace_create_plugin and eztrace to rdam analyze, on programs of threads and of MPI ranks: what EZTrace
recorded is every call with its arguments, and ranks like what rdam record sees of the same program."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest
from statistics import median

from harness import RDAM, TIMEOUT, Case

SOURCES = pathlib.Path(os.environ["SOURCE_ROOT"]) / "tests/e2e/eztrace"
# EZTrace allocates a large buffer when a thread begins. Filling it, as meson has malloc do, takes longer than the program.
UNFILLED = {"MALLOC_PERTURB_": "0"}
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **UNFILLED}
RANKS = 4
STEPS = 200
BLOCKS = 1000
IMAGES = 400
# With each tool: the one in the middle is no accident.
RECORDINGS = 3
# Scores that differ by less could change places from one run to the next.
CLEARLY = 0.05
# What a recorder costs a call, one of the two tools does not know.
LONG_NS = 1000
# Pairs of functions of the program with threads: it is recorded again until both tools rank so many, for a while, and they must rank the least.
WANTED_PAIRS = 2
LEAST_PAIRS = 1
# So many are a known part of what the threads lose.
RANKED_IMAGES = 4000


def scores(document: dict) -> dict[str, float]:
    return {function["name"]: function["rdam"] for function in document["functions"]}


def median_ns(row: dict) -> float:
    """The least of those of several processes."""
    return min(process["median_ns"] for process in row["processes"]) if "processes" in row else row["median_ns"]


def intervals(documents: list[dict]) -> dict[str, tuple[float, float]]:
    """Between which scores each function lies, by the middle one of the recordings; of functions in which a recorder's cost does not count."""
    recorded = [{row["name"]: row for row in document["functions"] if row["rdam"] is not None} for document in documents]
    return {name: (median(rows[name]["rdam_low"] for rows in recorded), median(rows[name]["rdam_high"] for rows in recorded))
            for name in set.intersection(*(set(rows) for rows in recorded))
            if all(median_ns(rows[name]) >= LONG_NS for rows in recorded)}


def ranked(found: dict[str, tuple[float, float]]) -> set[tuple[str, str]]:
    """(worse, better) of all functions whose intervals are clearly apart."""
    return {(worse, better) for worse, (low, _) in found.items() for better, (_, high) in found.items() if low > high + CLEARLY}


def ranked_by_both(ours: list[dict], theirs: list[dict]) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The pairs of functions that both tools rank, each as the one does and as the other does."""
    one, other = (ranked(intervals(documents)) for documents in (ours, theirs))

    def of_both(pairs: set[tuple[str, str]], others: set[tuple[str, str]]) -> set[tuple[str, str]]:
        return {pair for pair in pairs if pair in others or pair[::-1] in others}

    return of_both(one, other), of_both(other, one)


class Chain(Case):
    def setUp(self):
        super().setUp()
        self.need("eztrace", "eztrace_create_plugin", "otf2-print", "make", "cc", "perf", "pkg-config")
        if subprocess.run(["pkg-config", "--exists", "eztrace"], check=False).returncode != 0:
            self.skipTest("EZTrace's headers are not installed (apt install libeztrace-dev)")
        self.done("cc", "-g", "-O2", "-fPIC", "-shared", "-o", "libwork.so", SOURCES / "work.c")

    def done(self, *command, **options) -> str:
        """What it printed on standard error."""
        done = self.run_in_folder(*command, **options)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout.decode()}{done.stderr.decode()}")
        return done.stderr.decode()

    def build(self, compiler: str, name: str) -> str:
        self.done(compiler, "-g", "-O2", "-o", name, SOURCES / f"{name}.c", "-L.", "-lwork", "-pthread", "-Wl,-rpath,$ORIGIN")
        return f"./{name}"

    def hot(self, *command, env=None) -> str:
        """Makes hot.txt and the plug-in, of functions of libwork.so and of those that wait; what rdam hot said of the latter."""
        sampled = self.run_in_folder("perf", "record", "-q", "-g", "-e", "cpu-clock", "-o", "perf.data", *command, env=env)
        if sampled.returncode != 0:
            self.skipTest("perf cannot sample here")
        chosen = ("--module", "libwork.so", "--min-percent", "0", "perf.data")
        self.done(RDAM, "hot", "-o", "hot.txt", *chosen)
        said = self.done(RDAM, "hot", "--eztrace", "-o", "plugin.tpl", *chosen)
        self.done("eztrace_create_plugin", "-o", "plugin", "plugin.tpl")
        self.done("make", "-C", "plugin")
        return said

    def printed(self, trace: str) -> str:
        return subprocess.run(["otf2-print", self.folder / trace], capture_output=True, timeout=TIMEOUT, check=False).stdout.decode()

    def assert_same_ranking(self, ours: list[dict], theirs: list[dict], least: int):
        """All pairs that are clearly ranked by both are in the same order. How many are is up to the machine, and told if few."""
        one, other = ranked_by_both(ours, theirs)
        what = f"rdam: {intervals(ours)}; EZTrace: {intervals(theirs)}"
        self.assertEqual(one, other, what)
        if len(one) < least:
            print(f"skipped: {len(one)} of {least} pairs are clearly ranked by both on this machine: {what}")

    def count(self, document: dict, name: str) -> int:
        return sum(each["occurrences"] for each in document["functions"] if each["name"] == name)

    def test_threads(self):
        program = self.build("cc", "threads")
        said = self.hot(program, BLOCKS, IMAGES)
        self.assertIn("EZTrace's own module pthread records pthread_mutex_lock", said)
        self.assertIn('record with eztrace -t "rdam_plugin pthread"', said)
        (self.folder / "recorded.txt").write_text((self.folder / "hot.txt").read_text() + "pthread_mutex_lock\n")
        ours, theirs = [], []
        for _ in range(2 * RECORDINGS):  # whether two threads meet at a lock is up to the machine
            ours, theirs = ours[1 - RECORDINGS:], theirs[1 - RECORDINGS:]
            shutil.rmtree(self.folder / "threads_trace", ignore_errors=True)
            self.done("eztrace", "-l", self.folder / "plugin", "-t", "rdam_plugin pthread", program, BLOCKS, RANKED_IMAGES,
                      env=UNFILLED)
            theirs.append(self.analyze("threads_trace/eztrace_log.otf2"))
            (self.folder / "ours.bin").unlink(missing_ok=True)
            self.done(RDAM, "record", "-o", "ours.bin", "-f", "recorded.txt", "--", program, BLOCKS, RANKED_IMAGES)
            ours.append(self.analyze("ours.bin"))
            printed = self.printed("threads_trace/eztrace_log.otf2")
            for name in ("compute_block", "add_under_lock"):
                # EZTrace loses calls now and then, more of them on a busy machine; what is in its archive is all read.
                archived = len(re.findall(rf'(?m)^ENTER .*Region: "{name}" ', printed))
                self.assertGreater(archived, BLOCKS)
                self.assertEqual(self.count(theirs[-1], name), archived)
                self.assertEqual(self.count(ours[-1], name), 2 * BLOCKS)
            if len(ours) == RECORDINGS and len(ranked_by_both(ours, theirs)[0]) >= WANTED_PAIRS:
                break
        self.assertRegex(self.printed("threads_trace/eztrace_log.otf2"),
                         r'\("lock" <\d+>; UINT64; \d+\), \("rounds" <\d+>; INT32; 20000\), \("scale" <\d+>; DOUBLE; 0\.5\)')
        self.assert_same_ranking(ours, theirs, LEAST_PAIRS)
        keyed = {sequence["name"] for each in theirs[-1]["functions"] for sequence in each["sequences"]}
        self.assertTrue(any(name.startswith("pthread_mutex_lock(mutex=") for name in keyed), keyed)

        for _ in range(RECORDINGS):  # where others have the processor now and then, that may be what explains most
            shutil.rmtree(self.folder / "threads_trace", ignore_errors=True)
            self.done("eztrace", "-l", self.folder / "plugin", "-t", "rdam_plugin", program, "0", IMAGES, env=UNFILLED)
            images = self.analyze("threads_trace/eztrace_log.otf2")
            smooth = next(each for each in images["functions"] if each["name"] == "smooth_rows")
            self.assertEqual(smooth["occurrences"], IMAGES)
            if any(each["parameter"] == "rows" for each in smooth.get("explained", [])):
                break
        explained = {each["parameter"]: each["explains"] for each in smooth["explained"]}
        self.assertEqual(max(explained, key=explained.get), "rows", explained)
        by_rows = self.analyze("threads_trace/eztrace_log.otf2", "--key", "smooth_rows:rows")
        self.assertLess(scores(by_rows)["smooth_rows"], smooth["rdam"] - CLEARLY)

    def test_ranks(self):
        self.need("mpicc", "mpirun")
        program = self.build("mpicc", "ranks")
        start = ("mpirun", "--oversubscribe", "-n", str(RANKS))
        said = self.hot(*start, program, STEPS, env=MPI)
        self.assertIn("EZTrace's own module openmpi records MPI_Barrier", said)
        self.assertRegex(said, r'eztrace -t "rdam_plugin openmpi[^"]*"')
        self.done(*start, "eztrace", "-l", self.folder / "plugin", "-t", "rdam_plugin openmpi", program, STEPS, env=MPI)
        theirs = self.analyze("ranks_trace/eztrace_log.otf2")
        self.assertEqual(self.count(theirs, "MPI_Barrier"), RANKS * STEPS)
        self.assertEqual(self.count(theirs, "compute_block"), STEPS * (300 + 50 * (RANKS - 1)))
        # EZTrace's last state begins inside the one around it, and may end after it.
        self.assertNotIn("without a recorded end", json.dumps(theirs))
        self.done(RDAM, "record", "-f", "libwork.so:compute_block,MPI_Barrier", "--", *start, program, STEPS, env=MPI)
        done = self.rdam("analyze", "--json", "--top", "0", *self.traces())
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        ours = json.loads(done.stdout)
        self.assertEqual(self.count(ours, "MPI_Barrier"), RANKS * STEPS)
        self.assert_same_ranking([ours], [theirs], 1)


if __name__ == "__main__":
    unittest.main()
