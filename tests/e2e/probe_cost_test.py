#!/usr/bin/python3
"""microbench/probe-cost measures what it says it measures: every call is in the trace, and every row has figures.

How many nanoseconds they are is not for a test.
"""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["SOURCE_ROOT"])
BUILD = pathlib.Path(os.environ["PROBE_COST"]).parents[1]
PEERS = ("uftrace", "EZTrace")


class ProbeCost(unittest.TestCase):
    def test_all_rows(self):
        with tempfile.TemporaryDirectory(prefix="rdam-cost-") as folder:
            figures = pathlib.Path(folder) / "figures.json"
            run = subprocess.run([ROOT / "microbench/probe-cost", "--build", BUILD, "--rounds", "2", "--calls", "30000",
                                  "--batch", "3000", "--single-calls", "30000", "--scratch", folder, "--json", figures], check=False, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(run.returncode, 0, run.stdout)
            rows = json.loads(figures.read_text())
        self.assertIn("33000 calls, all there", run.stdout)
        for compared in ("rdam / two stamps", "RDAM_CLOCK=unfenced / two stamps without a fence", "three int arguments / two stamps",
                         r"shadow frame \(no debug info\) / two stamps",
                         "RDAM_CLOCK=rdtsc / rdam", "2 threads at once, each / rdam"):
            self.assertRegex(run.stdout, compared + r" +\d+\.\d\d +\d+\.\d\d")
        for single in rows.pop("single calls"):
            for kind in ("call_ns", "floor_ns"):
                shares = [single[kind][name] for name in ("min", "p50", "p99", "p99.9", "p99.99", "max")]
                self.assertEqual(shares, sorted(shares))
                self.assertGreater(shares[0], 0)
            # 31,000 calls of 40 bytes do not fit into four chunks; every 10,000th has a call stack.
            self.assertGreaterEqual(single["pauses"]["new_chunk"]["count"], 4)
            self.assertGreaterEqual(single["pauses"]["stack_copy"]["count"], 4)
        for name, rounds in rows.items():
            if name.startswith(PEERS) and isinstance(rounds, str):
                print(f"{name}: not measured: {rounds}")
                continue
            with self.subTest(row=name):
                self.assertIsInstance(rounds, list, rounds)
                self.assertEqual(len(rounds), 2)
                threads = [thread for one in rounds for thread in one["threads"]]
                self.assertEqual(len(threads), 4 if "2 threads" in name else 2)
                for thread in threads:
                    for kind in ("call_ns", "floor_ns", "ratio"):
                        self.assertGreater(thread[kind]["min"], 0)
                        self.assertLessEqual(thread[kind]["p50"], thread[kind]["p99"])


if __name__ == "__main__":
    unittest.main()
