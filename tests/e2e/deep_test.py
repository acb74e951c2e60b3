#!/usr/bin/python3
"""Recursion that nearly fills the stack does so under the recorder, too, and each of its calls is recorded."""

import re
import resource
import unittest

from harness import PROGRAMS, Case

DEEP = PROGRAMS / "deep"
FUNCTIONS = {"plain": "plain", "words": "words", "large": "large", "throw": "thrower", "longjmp": "jumper", "signal": "signalled"}
ROUNDS = {"plain": 2, "longjmp": 20}
STACK = 8 << 20


def limit_stack():
    resource.setrlimit(resource.RLIMIT_STACK, (STACK, resource.getrlimit(resource.RLIMIT_STACK)[1]))


class Deep(Case):
    def record(self, way: str, *options: str, thread_stack: int = 0) -> tuple[str, int]:
        """What the program prints, which is what it prints alone; its depth."""
        command = [DEEP, way, *([str(thread_stack)] if thread_stack else [])]
        plain = self.succeeded(self.run_in_folder(*command, preexec_fn=limit_stack))
        done = self.succeeded(self.rdam("record", "-f", FUNCTIONS[way] + ",handled", *options, "--", *command, preexec_fn=limit_stack))
        # A frame more or less: where a stack begins is chosen at random, to 16 bytes.
        depth, with_recorder = (int(re.search(rb"depth (\d+)", run.stdout)[1]) for run in (plain, done))
        self.assertGreater(depth, 500)
        self.assertGreater(with_recorder, depth * 0.8)
        self.assertLessEqual(with_recorder, depth + 1)
        return done.stdout.decode(), with_recorder

    def check(self, way: str, *options: str, **others) -> str:
        printed, depth = self.record(way, *options, **others)
        report = self.analyze()
        calls = {row["name"]: row["occurrences"] for row in report["functions"]}
        self.assertEqual(calls[FUNCTIONS[way]], depth * ROUNDS.get(way, 1))
        self.assertEqual(report["trace"]["dropped"], 0)
        return printed

    def test_every_call_is_recorded(self):
        for way in FUNCTIONS:
            with self.subTest(way):
                printed = self.check(way)
                if way in ("plain", "signal"):
                    result, depth = map(int, re.match(r"(\d+) of (\d+)", printed).groups())
                    self.assertEqual(result, 2 * depth - 1)
                if way == "throw":
                    caught, depth = map(int, re.search(r"caught (\d+)\ndepth (\d+)", printed).groups())
                    self.assertEqual(caught, depth)
                if way == "words":
                    self.assertEqual(float(printed.split()[0]), 44)
                if way == "large":
                    result, depth = map(int, re.match(r"(\d+) of (\d+)", printed).groups())
                    self.assertEqual(result, 13 + 2 * (depth - 1))

    def test_beyond_a_limit_that_is_raised_at_run_time(self):
        def limit_to_a_megabyte():
            resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))

        kilobytes = 20000
        plain = self.run_in_folder(PROGRAMS / "raised_limit", kilobytes, preexec_fn=limit_to_a_megabyte)
        if plain.returncode == 77:
            self.skipTest("the stack's limit cannot be raised here")
        done = self.rdam("record", "-f", "deep", "--", PROGRAMS / "raised_limit", kilobytes, preexec_fn=limit_to_a_megabyte)
        self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr.decode())
        report = self.analyze()
        deep = next(row for row in report["functions"] if row["name"] == "deep")
        # Two calls on another stack, which is not taken for a part of the first one.
        self.assertEqual(deep["occurrences"], kilobytes + 1 + 2 * 11)
        self.assertEqual((deep["outermost"], deep["unscored"]), (3, 0))
        self.assertEqual([row["occurrences"] for row in deep["threads"] if row["tid"] >= 1 << 22], [22])
        self.assertEqual(len(report["threads"]), 2)

    def test_in_threads_with_stacks_of_any_size(self):
        for size in (1 << 20, 96 << 10):
            for way in ("plain", "words", "throw", "signal"):
                with self.subTest(way, size=size):
                    self.check(way, thread_stack=size)

    def test_with_every_clock(self):
        for clock in ("unfenced", "rdtsc", "monotonic"):
            with self.subTest(clock):
                self.check("words", "--clock", clock)

    def test_with_a_budget(self):
        self.record("words", "--max-overhead", "10%")
        self.record("longjmp", "--max-overhead", "10%")


if __name__ == "__main__":
    unittest.main()
