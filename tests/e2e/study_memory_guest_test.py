#!/usr/bin/python3
"""Tests where there are several nodes of memory: in emulated machines, on demand (RDAM_GUEST=1), because that takes minutes."""

import os
import pathlib
import shlex
import sys
import unittest

import guest
from harness import Case

VARIABLES = ("RDAM", "MICROBENCH", "LIBRDAM", "PROGRAMS", "SOURCE_ROOT", "LD_LIBRARY_PATH", "PATH")
LIMIT = 3600.0  # seconds


class InGuests(Case):
    def setUp(self):
        super().setUp()
        if os.environ.get("RDAM_GUEST") != "1":
            self.skipTest("RDAM_GUEST=1 is not set: emulated machines take minutes")

    def run_tests(self, nodes: int, file: str, *tests: str) -> None:
        exports = " ".join(f"{name}={shlex.quote(os.environ[name])}" for name in VARIABLES if name in os.environ)
        folder = shlex.quote(str(pathlib.Path(__file__).resolve().parent))
        script = (f"export {exports} RDAM_PYTHON={shlex.quote(sys.executable)}\ncd {folder}\n"
                  "for node in /sys/devices/system/node/node[0-9]*; do echo \"nodes: ${node##*/node} processors $(cat $node/cpulist) distances "
                  "$(cat $node/distance)\"; done\n"
                  f"exec {shlex.quote(sys.executable)} {file} -v {' '.join(tests)}\n")
        try:
            status, printed = guest.run(script, nodes, LIMIT)
        except guest.Missing as why:
            self.skipTest(str(why))
        print(f"In a guest of {nodes} emulated nodes, where times mean nothing:\n{printed}", flush=True)
        told = [line.split("distances ")[1] for line in printed.splitlines() if line.startswith("nodes: ")]
        self.assertEqual(told, [" ".join(map(str, row)) for row in guest.ring(nodes)])
        self.assertEqual(status, 0)
        self.assertNotIn("skipped", printed)

    def test_four_nodes(self):
        self.run_tests(4, "study_memory_test.py")

    def test_two_nodes(self):
        self.run_tests(2, "study_memory_test.py", "Pages")

    def test_benchmarks_on_four_nodes(self):
        self.run_tests(4, "microbench_test.py", "Microbench.test_the_numa_suite_measures_every_pair_of_nodes_or_says_that_there_is_one")


if __name__ == "__main__":
    unittest.main()
