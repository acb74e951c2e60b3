#!/usr/bin/python3
"""From perf through rdam hot --eztrace, eztrace_create_plugin and eztrace to rdam analyze, on programs of threads and of MPI ranks: what EZTrace
recorded is every call with its arguments, and ranks like what rdam record sees of the same program."""

import json
import os
import pathlib
import shutil
import subprocess
import unittest

from harness import RDAM, TIMEOUT, Case

SOURCES = pathlib.Path(os.environ["SOURCE_ROOT"]) / "tests/e2e/eztrace"
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
RANKS = 4
STEPS = 200
BLOCKS = 1000
IMAGES = 400
# Scores that differ by less could change places from one run to the next.
CLEARLY = 0.05


def scores(document: dict) -> dict[str, float]:
    return {function["name"]: function["rdam"] for function in document["functions"]}


def clear_pairs(one: dict[str, float], other: dict[str, float]) -> set[tuple[str, str]]:
    """(worse, better) of `one`, of functions whose scores differ clearly in both."""
    names = set(one) & set(other)
    return {(a, b) for a in names for b in names if one[a] - one[b] > CLEARLY and abs(other[a] - other[b]) > CLEARLY}


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

    def assert_same_ranking(self, ours: dict, theirs: dict, names: set[str], expected: tuple[str, str]):
        """Of these functions: how long a thread waits inside a mutex differs from run to run where others use the machine."""
        one, other = ({name: score for name, score in scores(each).items() if name in names} for each in (ours, theirs))
        self.assertEqual(clear_pairs(one, other), clear_pairs(other, one))
        self.assertIn(expected, clear_pairs(one, other), f"rdam: {one}; EZTrace: {other}")

    def count(self, document: dict, name: str) -> int:
        return sum(each["occurrences"] for each in document["functions"] if each["name"] == name)

    def test_threads(self):
        program = self.build("cc", "threads")
        said = self.hot(program, BLOCKS, IMAGES)
        self.assertIn("EZTrace's own module pthread records pthread_mutex_lock", said)
        self.assertIn('record with eztrace -t "rdam_plugin pthread"', said)
        ranked = ("add_under_lock", "compute_block")
        for _ in range(10):  # whether two threads meet at a lock is up to the machine
            shutil.rmtree(self.folder / "threads_trace", ignore_errors=True)
            self.done("eztrace", "-l", self.folder / "plugin", "-t", "rdam_plugin pthread", program, BLOCKS)
            theirs = self.analyze("threads_trace/eztrace_log.otf2")
            (self.folder / "ours.bin").unlink(missing_ok=True)
            self.done(RDAM, "record", "-o", "ours.bin", "-f", "hot.txt", "--", program, BLOCKS)
            ours = self.analyze("ours.bin")
            if all(ranked in clear_pairs(scores(each), scores(each)) for each in (ours, theirs)):
                break
        for name in ("compute_block", "add_under_lock"):
            self.assertEqual(self.count(theirs, name), 2 * BLOCKS)
            self.assertEqual(self.count(ours, name), 2 * BLOCKS)
        self.assertRegex(self.printed("threads_trace/eztrace_log.otf2"),
                         r'\("lock" <\d+>; UINT64; \d+\), \("rounds" <\d+>; INT32; 20000\), \("scale" <\d+>; DOUBLE; 0\.5\)')
        self.assert_same_ranking(ours, theirs, set(ranked), ranked)
        keyed = {sequence["name"] for each in theirs["functions"] for sequence in each["sequences"]}
        self.assertTrue(any(name.startswith("pthread_mutex_lock(mutex=") for name in keyed), keyed)

        self.done("eztrace", "-l", self.folder / "plugin", "-t", "rdam_plugin", program, "0", IMAGES)
        images = self.analyze("threads_trace/eztrace_log.otf2")
        smooth = next(each for each in images["functions"] if each["name"] == "smooth_rows")
        self.assertEqual(smooth["occurrences"], IMAGES)
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
        self.assert_same_ranking(ours, theirs, {"MPI_Barrier", "compute_block"}, ("MPI_Barrier", "compute_block"))


if __name__ == "__main__":
    unittest.main()
