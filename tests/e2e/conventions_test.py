#!/usr/bin/python3
"""Arguments and results of every kind arrive through wrapped functions as they do without the recorder."""

import unittest

from harness import PROGRAMS, Case

ROUNDS = 50
ONCE_A_ROUND = ("twelve_integers", "eleven_doubles", "both_kinds", "large_by_value", "large_result", "two_doubles",
                "mixed_result", "long_double_in_struct", "long_double_result", "complex_double", "complex_float",
                "complex_long_double", "int128", "variadic_twenty", "aligned", "aligned_arguments")


class Conventions(Case):
    def check(self, program: str, **variables):
        plain = self.run_in_folder(PROGRAMS / program)
        self.assertEqual(plain.returncode, 9)
        expected = dict.fromkeys(ONCE_A_ROUND, ROUNDS)
        for name in ("avx", "avx512"):
            if f"\n{name} ".encode() in plain.stdout:
                expected[name] = ROUNDS
            else:
                print(f"{name}: not called, the processor does not have it")
        functions = ",".join([*expected, "nested.*"])
        done = self.succeeded(self.rdam("record", "-f", functions, "--", PROGRAMS / program, env=variables), 9)
        self.assertEqual(done.stdout, plain.stdout, done.stderr.decode())
        counts = {name.split(".")[0]: count for name, count in self.counts().items()}
        self.assertEqual(counts, {**expected, "nested": ROUNDS}, done.stderr.decode())

    def test_described(self):
        self.check("conventions")

    def test_undescribed(self):
        self.check("conventions_undescribed")

    def test_nested_through_a_pointer(self):
        for program in ("nested", "nested_undescribed"):
            with self.subTest(program):
                done = self.unchanged("apply,nested.*", PROGRAMS / program, status=9)
                counts = {name.split(".")[0]: count for name, count in self.counts().items()}
                self.assertEqual(counts, {"apply": 2 * ROUNDS, "nested": 2 * ROUNDS}, done.stderr.decode())

    def test_a_stack_with_every_call(self):
        for program in ("conventions", "conventions_undescribed"):
            with self.subTest(program):
                self.check(program, RDAM_STACK_PERIOD="1")

    def test_other_clocks(self):
        for program in ("conventions", "conventions_undescribed"):
            for clock in ("unfenced", "rdtsc"):
                with self.subTest((program, clock)):
                    self.check(program, RDAM_CLOCK=clock)


if __name__ == "__main__":
    unittest.main()
