#!/usr/bin/python3
"""Functions that are not left by a return: the program goes its way, and every call is counted once."""

import unittest

from harness import PROGRAMS, Case

FUNCTIONS = "work,leaf,middle,interrupted,step,blocks,exits,destroy"


class Leaving(Case):
    """Each with real frames (described) and with side frames (no debug information)."""

    def check(self, way: str, count: int, expected: dict[str, int], status: int = 0):
        for program in ("leaves", "leaves_undescribed"):
            with self.subTest(program):
                command = (PROGRAMS / program, way, str(count))
                plain = self.run_in_folder(*command)
                done = self.rdam("record", "-o", "trace.bin", "-f", FUNCTIONS, "--", *command)
                self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout), done.stderr.decode())
                self.assertEqual(done.returncode, status)
                report = self.analyze()
                self.assertEqual({f["name"]: f["occurrences"] for f in report["functions"] if f["occurrences"] > 0}, expected)
                self.assertEqual(report["trace"]["dropped"], 0)

    def test_longjmp(self):
        # 0 to 4 levels deeper in turn, each level a call; every other one is jumped out of.
        count = 500_000
        self.check("longjmp", count, {"work": count, "leaf": count, "middle": 3 * count})

    def test_siglongjmp_from_an_alternate_stack(self):
        self.check("siglongjmp", 20_000, {"work": 20_000, "interrupted": 20_000})

    def test_coroutines(self):
        # A switch ends in the middle of `step`; each of the eight begins with one half.
        self.check("coroutines", 20_000, {"work": 2 * 20_000 - 8, "step": 20_000})

    def test_cancellation(self):
        self.check("cancel", 200, {"work": 200, "blocks": 200})

    def test_exit(self):
        self.check("exit", 1, {"work": 1, "exits": 1}, 7)

    def test_quick_exit(self):
        self.check("quick_exit", 1, {"work": 1, "exits": 1}, 6)

    def test_destructors_of_thousands_of_threads(self):
        self.check("destructors", 3_000, {"work": 12_000, "destroy": 9_000})


if __name__ == "__main__":
    unittest.main()
