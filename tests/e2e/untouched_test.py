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
        plain = self.succeeded(self.run_in_folder(*command))
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
        plain = self.succeeded(self.run_in_folder(PROGRAMS / program))
        done = self.rdam("record", *options, "-o", "trace.bin", "-f", "leafy,tiny,upper", "--", PROGRAMS / program)
        said = done.stderr.decode()
        self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), said)
        walks, lost = map(int, re.search(r"(\d+) walks, (\d+) lost", said).groups())
        self.assertGreater(walks, 5000, said)
        # Those at the end, where the handler comes before the function that it looks for.
        self.assertEqual(lost, int(re.search(rb"(\d+) lost", plain.stderr).group(1)), said)
        if not options:
            self.assertEqual(self.counts(), {"leafy": 360, "tiny": 120, "upper": 120})

    def test_without_debug_information(self):
        for options in ((), ("--max-overhead", "5%"), ("--clock", "unfenced"), ("--clock", "rdtsc")):
            with self.subTest(options):
                self.check("walks", *options)

    def test_with_debug_information(self):
        self.check("walks_described")


class Faults(Case):
    """Functions whose first instructions fail, under handlers of all kinds: an exception that a signal handler throws is caught where
    it is without the recorder."""

    FUNCTIONS = "plain,above,cleans,by_type,anything,divides,nested,strict,only,only_others,lands_within"
    COUNTED = sorted(set(FUNCTIONS.split(",")) - {"strict"})

    def check(self, functions: str, *command, options=()):
        plain = self.run_in_folder(*command)
        done = self.rdam("record", *options, "-f", functions, "--", *command)
        said = done.stderr.decode()
        self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout), said)
        self.assertIn(f"{functions.count(',') + 1} functions wrapped", said)
        return plain

    def each(self, check):
        if not (PROGRAMS / "faults").exists():
            self.skipTest("gcc did not build these programs")
        for program in ("faults", "faults_static", "faults_fixed", "faults_sanitized"):
            for options in ((), ("--max-overhead", "5%"), ("--clock", "unfenced")):
                with self.subTest((program, options)):
                    check(PROGRAMS / program, options)

    def test_caught(self):
        def check(program, options):
            plain = self.check(self.FUNCTIONS, program, options=options)
            self.assertEqual((plain.returncode, plain.stdout), (0, b"-12100, 600 destroyed\n"))
            if not options:
                counts = self.counts()
                self.assertEqual(counts, {name: 600 if name == "plain" else 300 for name in self.COUNTED})

        self.each(check)

    def test_the_end_of_the_program(self):
        def check(program, options):
            for end in ("strict", "unexpected", "uncaught"):
                plain = self.check(self.FUNCTIONS, program, end, options=options)
                self.assertEqual((plain.returncode, plain.stdout), (3, b"terminated\n"))

        self.each(check)

    def test_behind_every_instruction(self):
        def check(program, options):
            plain = self.check("calls,calls_through,counts,lands_within", program, "stepped", options=options)
            self.assertEqual(plain.stdout, b"calls: some inside, some outside, 0 elsewhere\n"
                             b"calls_through: some inside, some outside, 0 elsewhere\ncounts: none inside, some outside, 0 elsewhere\n"
                             b"lands_within: some inside, some outside, 0 elsewhere\n")

        self.each(check)

    def test_cancelled_anywhere(self):
        for options in ((), ("--max-overhead", "5%")):
            with self.subTest(options):
                done = self.rdam("record", *options, "-f", "leaf", "--", PROGRAMS / "cancels")
                self.assertEqual((done.returncode, done.stdout), (0, b"500 cancelled, 500 cleaned, 500 handled, 500 destroyed\n"),
                                 done.stderr.decode())

    def test_thrown_while_a_library_is_loaded(self):
        loads = f"import ctypes; ctypes.CDLL('{PROGRAMS / 'libjoins.so'}')"
        self.assertEqual(self.run_in_folder("/usr/bin/python3", "-c", loads).stdout, b"7 caught\n")
        for variables, recorded in (({}, True), ({"RDAM_CLOCK": "none"}, False)):
            with self.subTest(variables):
                done = self.preload("pthread_join", "/usr/bin/python3", "-c", loads, **variables)
                self.assertEqual((done.returncode, done.stdout), (0, b"7 caught\n"), done.stderr.decode())
                self.assertNotEqual(recorded, b"continues without being recorded" in done.stderr)

    def test_tables_have_an_end(self):
        plain = self.run_in_folder(PROGRAMS / "scans")
        if plain.returncode == 77:
            self.skipTest("this C library has no _dl_find_object")
        self.assertEqual(plain.stdout, b"10 of 10 end\n")
        done = self.rdam("record", "-f", "fails", "--", PROGRAMS / "scans")
        self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr.decode())
        self.assertEqual(self.counts(), {"fails": 10})

    def test_thrown_in_another_namespace(self):
        command = (PROGRAMS / "apart_main", PROGRAMS / "libapart.so")
        plain = self.run_in_folder(*command)
        self.assertEqual((plain.returncode, plain.stdout), (0, b"11060\n"), plain.stderr.decode())
        done = self.rdam("record", "-f", "throws_here,throws_apart,catches_apart", "--", *command)
        self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr.decode())
        self.assertEqual(self.counts(), {"throws_here": 40, "throws_apart": 40, "catches_apart": 40})


class OtherUnwinders(Case):
    """LLVM's libunwind, known by its internal name, tells frames by the stack pointer."""

    def test_no_frame_that_it_would_mistake(self):
        self.need("gcc")
        (self.folder / "program.c").write_text("#include <stdio.h>\n"
                                               "__attribute__((noipa)) void __unw_add_dynamic_fde(void) {}\n"
                                               "__attribute__((noipa)) long leaf(long x) { return x + 1; }\n"
                                               "int main(void) { __unw_add_dynamic_fde(); puts(\"\"); return leaf(-1); }\n")
        for options, wrapped in ((("-O1",), False), (("-O1", "-g"), True)):
            self.assertEqual(self.run_in_folder("gcc", *options, "program.c", "-o", "program").returncode, 0)
            done = self.rdam("record", "-f", "leaf,puts", "-o", "trace.bin", "--", "./program")
            said = done.stderr.decode()
            self.assertEqual(done.returncode, 0, said)
            self.assertEqual("LLVM's unwinder" in said, not wrapped, said)
            self.assertEqual(self.counts().get("leaf"), 1 if wrapped else None)


if __name__ == "__main__":
    unittest.main()
