#!/usr/bin/python3
"""Traces cut and spoiled at random end in a message or in a report of what is whole in them."""

import os
import random
import resource
import subprocess
import unittest

from harness import PROGRAMS, RDAM, TIMEOUT, Case

DAMAGED_TRACES = os.environ["DAMAGED_TRACES"]
MORE_MEMORY = 256 << 20


class Damage(Case):
    def setUp(self):
        super().setUp()
        # Call stacks at every fiftieth call make the descriptions grow as the program runs.
        self.succeeded(self.rdam("record", "-f", "work,counts:step", "--stack-period", "50", "--", PROGRAMS / "counts", "2", "2000"), 3)
        self.trace = self.folder / "trace.bin"

    def test_thousands(self):
        seed = random.randrange(1 << 32)
        done = self.run_in_folder(DAMAGED_TRACES, self.trace, "4000", seed)
        self.assertEqual(done.returncode, 0, done.stderr.decode()[-5000:])

    def damaged(self, chance: random.Random) -> bytes:
        data = bytearray(self.trace.read_bytes())
        for _ in range(chance.randrange(4)):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        if chance.random() < 0.5:
            del data[chance.randrange(len(data)):]
        return bytes(data)

    def test_the_command(self):
        seed = random.randrange(1 << 32)
        chance = random.Random(seed)
        whole = self.counts()
        for i in range(100):
            with self.subTest(seed=seed, i=i):
                data = self.damaged(chance)
                (self.folder / "damaged.bin").write_bytes(data)
                before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
                done = subprocess.run([RDAM, "analyze", *(["--patterns"] if i % 2 else []), "damaged.bin"], cwd=self.folder,
                                      capture_output=True, text=True, timeout=TIMEOUT, check=False)
                most = max(before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
                self.assertLess(most * 1024, 2 * self.trace.stat().st_size + MORE_MEMORY)
                if done.returncode == 0:
                    self.assertRegex(done.stdout, r"\n[^\n]+, \d+ threads?, [\d,]+ events?; ")
                    for name, count in self.counts("damaged.bin").items():
                        self.assertLessEqual(count, whole[name])
                else:
                    self.assertEqual((done.returncode, done.stdout), (1, ""))
                    self.assertRegex(done.stderr, r"\Ardam: .*damaged\.bin.*\n\Z")


if __name__ == "__main__":
    unittest.main()
