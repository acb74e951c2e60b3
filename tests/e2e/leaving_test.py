#!/usr/bin/python3
"""Functions that are not left by a return: the program goes its way, and every call is counted once."""

import unittest

from harness import PROGRAMS, Case

DYNAMIC = ("ways_out", "ways_out_undescribed")
STATIC = ("ways_out_static",)  # libgcc and libstdc++, that is the unwinder


class Leaving(Case):
    """Each with stack frames (described) and with shadow frames (no debug information)."""

    def check(self, programs: tuple[str, ...], way: tuple[str, ...], expected: dict[str, int], status: int):
        for program in programs:
            with self.subTest(program):
                command = (PROGRAMS / program, *way)
                self.unchanged(",".join(expected), *command, status=status, options=("-o", program + ".bin"))
                report = self.analyze(program + ".bin")
                self.assertEqual({f["name"]: f["occurrences"] for f in report["functions"] if f["occurrences"] > 0}, expected)
                self.assertEqual(report["trace"]["dropped"], 0)


class AgainAndAgain(Leaving):
    def leave(self, way: str, count: int, expected: dict[str, int], status: int = 0):
        self.check(("leaves", "leaves_undescribed"), (way, str(count)), expected, status)

    def test_longjmp(self):
        # 0 to 4 levels deeper in turn, each level a call; every other one is jumped out of.
        count = 500_000
        self.leave("longjmp", count, {"work": count, "leaf": count, "middle": 3 * count})

    def test_siglongjmp_from_an_alternate_stack(self):
        self.leave("siglongjmp", 20_000, {"work": 20_000, "interrupted": 20_000})

    def test_coroutines(self):
        # A switch ends in the middle of `step`; each of the eight begins with one half.
        self.leave("coroutines", 20_000, {"work": 2 * 20_000 - 8, "step": 20_000})

    def test_quick_exit(self):
        self.leave("quick_exit", 1, {"work": 1, "exits": 1}, 6)

    def test_destructors_of_thousands_of_threads(self):
        self.leave("destructors", 3_000, {"work": 12_000, "destroy": 9_000})


class ThroughManyFrames(Leaving):
    def leave(self, way: str, expected: dict[str, int], status: int = 4):
        self.check(DYNAMIC + STATIC, (way,), expected, status)

    def test_exceptions_at_every_depth(self):
        self.leave("throw", {"catcher": 300, "rethrower": 300, "descend": 3 * sum(range(1, 101))})

    def test_pthread_exit(self):
        self.leave("pthread_exit", {"ends_thread": 50})

    def test_cancellation(self):
        self.leave("cancel", {"blocks": 50})

    def test_exit(self):
        self.leave("exit", {"exits": 11}, status=23)

    def test_coroutines_that_come_to_their_end(self):
        self.leave("coroutines", {"works": 100 * sum(range(1, 9)), "yields": 800})

    def test_backtrace_sees_the_callers(self):
        self.leave("backtrace", {"looks_back": 1, "between": 1})


if __name__ == "__main__":
    unittest.main()
