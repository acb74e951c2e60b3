#!/usr/bin/python3
"""Wrapped functions that are left without a return: the program goes on as it would, and every call is counted."""

import unittest

from harness import PROGRAMS, Case

VARIANTS = ("ways_out", "ways_out_undescribed", "ways_out_static")


class WaysOut(Case):
    def check(self, how: str, expected: dict[str, int], *arguments, status=4, variants=VARIANTS):
        for program in variants:
            with self.subTest(program):
                plain = self.run_in_folder(PROGRAMS / program, how, *arguments)
                self.assertEqual(plain.returncode, status, plain.stderr.decode())
                done = self.rdam("record", "-o", program + ".bin", "-f", ",".join(expected), "--", PROGRAMS / program, how,
                                 *arguments)
                self.assertEqual(done.returncode, status, done.stderr.decode())
                self.assertEqual(done.stdout, plain.stdout, done.stderr.decode())
                self.assertEqual(self.counts(program + ".bin"), expected, done.stderr.decode())

    def test_exceptions_at_every_depth(self):
        self.check("throw", {"catcher": 300, "rethrower": 300, "descend": 3 * sum(range(1, 101))})

    def test_longjmp(self):
        self.check("longjmp", {"over": 5000, "jumper": 5000, "quiet": 10000 // 2}, "5000")

    def test_longjmp_a_million_times(self):
        times = 1000000
        self.check("longjmp", {"over": times, "jumper": times, "quiet": times}, str(times),
                   variants=("ways_out_undescribed",))

    def test_siglongjmp_out_of_a_handler(self):
        self.check("siglongjmp", {"raiser": 1000, "handler": 1000})

    def test_pthread_exit(self):
        self.check("pthread_exit", {"ends_thread": 50})

    def test_cancellation(self):
        self.check("cancel", {"blocks": 50})

    def test_exit_inside(self):
        self.check("exit", {"exits": 11}, status=23)

    def test_coroutines(self):
        self.check("coroutines", {"works": 100 * sum(range(1, 9)), "yields": 800})

    def test_backtrace_sees_the_callers(self):
        self.check("backtrace", {"looks_back": 1, "between": 1}, variants=("ways_out",))


if __name__ == "__main__":
    unittest.main()
