#!/usr/bin/python3
"""What a program could see in its registers and on its stack, it sees under the recorder: collectors of garbage, conventions of
their own, stacks that are copied away."""

import pathlib
import re
import shutil
import unittest

from harness import PROGRAMS, Case

# Greenlets copy the stack of the one that waits to the heap, and run at the same addresses.
GREENLETS = """
from greenlet import greenlet, getcurrent
main = getcurrent()
calls = 0
def key(x):
    global calls
    calls += 1
    main.switch(x)
    return -x
def run():
    for i in range(10):
        sorted([3, 1, i], key=key)
        try:
            if i % 3 == 0:
                raise ValueError(i)
        except ValueError:
            pass
waiting = [greenlet(run) for _ in range(500)]
while waiting:
    for one in waiting:
        one.switch()
    waiting = [one for one in waiting if not one.dead]
print(calls)
"""


class Untouched(Case):
    def check(self, functions: str, *command) -> dict[str, int]:
        plain = self.run_in_folder(*command)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        done = self.rdam("record", "-f", functions, "--", *command)
        self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr.decode())
        return self.counts()

    def test_references_are_where_collectors_look(self):
        for program in ("kept", "kept_undescribed"):
            for depth in (0, 2000):  # kilobytes: more than an eighth of the stack is deep
                with self.subTest((program, depth)):
                    plain = self.run_in_folder(PROGRAMS / program, "100", str(depth))
                    self.assertEqual(plain.stdout, b"400 of 400 found\n" * 2)
                    counts = self.check("look,look_variadic", PROGRAMS / program, "100", str(depth))
                    self.assertEqual(counts, {"look": 800, "look_variadic": 800})

    def test_a_sample_of_the_calls(self):
        for options in (("--max-overhead", "1%", "-f", "look,look_variadic"), ("-f", "~look,~look_variadic")):
            with self.subTest(options):
                done = self.rdam("record", *options, "--", PROGRAMS / "kept_undescribed", "3000", "0")
                self.assertEqual((done.returncode, done.stdout), (0, b"12000 of 12000 found\n" * 2), done.stderr.decode())

    def test_conventions_of_their_own(self):
        functions = ("odd_carry", "odd_overflow", "odd_taken", "odd_removes", "odd_clobbers")
        self.assertEqual(self.check(",".join(functions), PROGRAMS / "oddities", "5000"), dict.fromkeys(functions, 5000))

    def test_stacks_that_are_copied_away(self):
        python = "/usr/bin/python3"
        if not shutil.which(python) or self.run_in_folder(python, "-c", "import greenlet").returncode != 0:
            self.skipTest("python3-greenlet is not installed")
        (self.folder / "greenlets.py").write_text(GREENLETS)
        counts = self.check("_PyEval_EvalFrameDefault", python, "greenlets.py")
        self.assertGreater(counts["_PyEval_EvalFrameDefault"], 500 * 30)

    def test_libraries_that_come_and_go_a_thousand_times(self):
        times = 1100
        self.check("plugin_work,inner,snprintf", PROGRAMS / "generated", PROGRAMS / "libplugin.so", str(times))
        rows = self.analyze()["functions"]
        # The library's constructor calls plugin_work(), too; that calls inner() twice.
        for name, calls in (("plugin_work", 2 * times), ("inner", 4 * times), ("snprintf", times)):
            self.assertEqual(sum(row["occurrences"] for row in rows if row["name"] == name), calls, name)
        self.assertEqual(list(pathlib.Path(self.folder).glob("query_*")), [])


class Walks(Case):
    """A handler that walks the stack, behind every instruction of calls and of their probes."""

    def check(self, program: str, *options: str):
        plain = self.run_in_folder(PROGRAMS / program)
        self.assertEqual(plain.returncode, 0, plain.stderr.decode())
        done = self.rdam("record", *options, "-o", "trace.bin", "-f", "leafy,upper", "--", PROGRAMS / program)
        said = done.stderr.decode()
        self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), said)
        walks, lost = map(int, re.search(r"(\d+) walks, (\d+) lost", said).groups())
        # Of the few first instructions that were moved unwinders know nothing: there a walk ends early.
        self.assertGreater(walks, 5000, said)
        self.assertLess(lost, walks / 20, said)
        if not options:
            self.assertEqual(self.counts(), {"leafy": 360, "upper": 120})

    def test_without_debug_information(self):
        for options in ((), ("--max-overhead", "5%"), ("--clock", "unfenced"), ("--clock", "rdtsc")):
            with self.subTest(options):
                self.check("walks", *options)

    def test_with_debug_information(self):
        self.check("walks_described")


if __name__ == "__main__":
    unittest.main()
