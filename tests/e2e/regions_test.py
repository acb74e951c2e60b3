#!/usr/bin/python3
"""Manual probes: rdam/rdam.h in C and C++, rdam.f90 in Fortran."""

import os
import pathlib
import re
import shutil
import unittest

from harness import PROGRAMS, Case
from votes import before_others, check_apart

ROOT = pathlib.Path(os.environ["SOURCE_ROOT"])
PAGE = ROOT / "docs/manual-probes.md"
EXAMPLES = ROOT / "docs/manual-probes"
INCLUDE = ROOT / "libprobe/include"


C = """#include <rdam/rdam.h>
int main(void) {
    const char* text = "";
    int i = 0;
    RDAM_BEGIN("no values");
    RDAM_BEGIN("two values", i % 3, (rdam_value)text);
    RDAM_END("two values");
    RDAM_END("no values");
    RDAM_LOOP(rows, "rows", 2);
    for (i = 0; i < 5; ++i) RDAM_STEP(rows);
    RDAM_LOOP_END(rows);
    return 0;
}
"""
CPP = """#include <rdam/rdam.h>
enum class Kind { one };
int main() {
    const char* text = "";
    RDAM_BEGIN("no values");
    RDAM_BEGIN("values", 1, text, true, Kind::one, nullptr);
    RDAM_END("values");
    RDAM_END("no values");
    RDAM_SCOPE("scope");
    RDAM_SCOPE("scope with a value", 'c');
}
"""
FORTRAN = """program names
    use rdam
    implicit none
    type(rdam_region), save :: variable = rdam_region('variable')
    integer :: i
    integer(8) :: long
    do i = 0, 99
        long = i / 10
        call rdam_begin('scalars', mod(i, 4), long, 0.5d0 * i, i >= 50)
        call rdam_begin(variable, mod(i, 5))
        call rdam_begin('none')
        call rdam_end('none')
        call rdam_end(variable)
        call rdam_end('scalars')
        call rdam_begin('array', [mod(i, 2), 7])
        call rdam_end('array')
        call rdam_begin('words', [int(mod(i, 3), 8)])
        call rdam_end('words')
    end do
end program
"""

FORTRAN_VALUES = """program kinds
    use rdam
    use, intrinsic :: ieee_arithmetic
    implicit none
    logical, parameter :: yes(0:1) = [.false., .true.]
    integer :: round, i
    do round = 0, 9
        i = mod(round, 2)
        call rdam_begin('logical', yes(i))
        call rdam_end('logical')
        call rdam_begin('logicals', logical(yes(i), 1), logical(yes(i), 2), logical(yes(i), 4), logical(yes(i), 8))
        call rdam_end('logicals')
        call rdam_begin('integers', int(-i, 1), int(-i, 2), int(-i, 4), int(-i, 8))
        call rdam_end('integers')
        call rdam_begin('reals', -1.5 * i, 2.5d0 * i, 1e30 * i, -1d300 * i, ieee_value(1d0, ieee_quiet_nan))
        call rdam_end('reals')
    end do
end program
"""
FORTRAN_EXPECTED = {"logical": [1], "logicals": [1] * 4, "integers": [-1] * 4, "reals": [-1, 2, (1 << 63) - 1, -(1 << 63), 0]}


REGIONS = {"outer": 1000, "inner": 1000, "100 rows": 22, "loop's rest": 2}
# How many iterations and how often: tests/e2e/programs/loops.c
RESTS = {50: 250, 1: 250, 31: 250, 61: 250, 91: 250, 21: 250}


class Regions(Case):
    def check(self, program: str, expected: dict[str, int], *arguments):
        plain = self.succeeded(self.run_in_folder(PROGRAMS / program, *arguments))
        done = self.rdam("record", "--", PROGRAMS / program, *arguments)
        self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr.decode())
        self.assertEqual(self.regions("trace.bin"), expected)

    def regions(self, trace: str) -> dict[str, int]:
        return {f["name"]: f["occurrences"] for f in self.analyze(trace)["functions"] if f["module"] == "region"}

    def test_c(self):
        self.check("regions", REGIONS)

    def test_c_in_a_position_dependent_program(self):
        self.check("regions_fixed", REGIONS)

    def test_names_of_regions_belong_on_the_list(self):
        plain = self.run_in_folder(PROGRAMS / "regions")
        for names in ("region:outer", "region:inner,region:100 rows", "region:*", "region:ou*r"):
            done = self.rdam("record", "-f", names, "--", PROGRAMS / "regions")
            self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr.decode())
            said = done.stderr.decode()
            self.assertIn("regions: its regions are recorded\n", said)
            self.assertNotIn("not found", said)
            self.assertNotIn("no function has that name", said)
            self.assertEqual(self.regions("trace.bin"), REGIONS)
            os.unlink(self.folder / "trace.bin")
        # Beside a function, and beside a name that nothing has.
        said = self.rdam("record", "-f", "work,region:outer,outter", "--", PROGRAMS / "regions").stderr.decode()
        self.assertRegex(said, r"rdam: 'outter': not found")
        self.assertNotIn("'region:outer'", said)
        self.assertIn("rdam: 1 function wrapped in ", said)

    def test_a_name_that_is_taken_for_a_region_is_said(self):
        # Constants that end alike: a function's name that was mistyped may be one of them.
        done = self.rdam("record", "-f", "inner,work", "--", PROGRAMS / "regions")
        said = done.stderr.decode()
        self.assertEqual(done.returncode, 0, said)
        self.assertIn("rdam: 'inner': wrapped region:inner: no function has that name, so rdam treats it as a region that "
                      "the program may mark; region:inner states this explicitly", said)
        done = self.rdam("record", "-f", "region:nowhere", "--", PROGRAMS / "regions")
        self.assertEqual(done.returncode, 1)
        self.assertIn("'region:nowhere': not found: no loaded object has a region of that name", done.stderr.decode())
        for program, names in (("regions", "region:nowh*"), ("counts", "region:*")):
            done = self.rdam("record", "-f", names, "--", PROGRAMS / program, "1", "10")
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"'{names}': not found: no loaded object has a region of that name", done.stderr.decode())

    def test_a_name_that_is_no_region_is_not_found(self):
        done = self.rdam("record", "-f", "nowhere", "--", PROGRAMS / "regions")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing is recorded", done.stderr.decode())

    def test_static_program_runs_without_the_recorder(self):
        plain = self.run_in_folder(PROGRAMS / "regions")
        self.assertEqual(self.run_in_folder(PROGRAMS / "regions_static").stdout, plain.stdout)

    def test_values_are_parameters(self):
        self.check("regions", REGIONS)
        for key in ("i % 5", "i%5"):
            functions = self.analyze("trace.bin", "--key", f"outer:{key}")["functions"]
            outer = next(f for f in functions if f["name"] == "outer")
            self.assertEqual(len({s["name"] for s in outer["sequences"]}), 5)

    def test_child_after_fork_knows_the_regions(self):
        self.check("regions", REGIONS, "fork")
        child = next(name for name in self.traces() if name != "trace.bin")
        self.assertEqual(self.regions(child), {"outer": 500, "inner": 500, "100 rows": 11, "loop's rest": 1})

    def test_the_rest_of_a_loop_is_compared_with_rests_of_as_many_iterations(self):
        self.succeeded(self.rdam("record", "-f", "region:100 rows", "--", PROGRAMS / "loops"))
        expected = {"100 rows": 750}
        for iterations, count in RESTS.items():
            expected["100 rows[loop's rest" + (f" ×{iterations}]" if iterations > 1 else "]")] = count
        rows = next(f for f in self.analyze("trace.bin")["functions"] if f["name"] == "100 rows")
        self.assertEqual({s["name"]: s["occurrences"] for s in rows["sequences"]}, expected)
        self.assertEqual(self.rdam("export", "--columns", "columns").returncode, 0)
        names = (self.folder / "columns/sequences/name.npy").read_bytes()[128:].decode()
        for name in expected:
            self.assertIn(name, names)
        folded = next(f for f in self.analyze("trace.bin", "--fold-loops")["functions"] if f["name"] == "100 rows")
        self.assertEqual({s["occurrences"] for s in folded["sequences"]}, {750, 1500})

    def test_scopes(self):
        # Every tenth number leaves the first `step` by an exception.
        self.check("regions_scopes", {"step": 380, "end": 1})
        self.assertNotIn("abandoned", self.rdam("analyze").stdout.decode())

    def test_fortran(self):
        if not os.path.exists(PROGRAMS / "regions_fortran"):
            self.skipTest("gfortran was not there when the tests were built")
        self.check("regions_fortran", {"outer loop": 40, "inner": 40})

    def compile(self, name: str, text: str, *command):
        (self.folder / name).write_text(text)
        done = self.run_in_folder(*command)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""), command)

    def test_the_header_is_clean_for_pedants(self):
        strict = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-I", INCLUDE]
        for compilers, name, text, standards in ((("gcc", "clang"), "probes.c", C, ("c99", "c11", "c17")),
                                                 (("g++", "clang++"), "probes.cpp", CPP, ("c++11", "c++17", "c++20"))):
            self.need(compilers[0])
            for compiler in filter(shutil.which, compilers):
                # From clang 19 on, which says so in the file of the user: a region without values is of C23 and C++20.
                newer = ["-Wno-unknown-warning-option", "-Wno-c23-extensions", "-Wno-c++20-extensions"] if "clang" in compiler else []
                for standard in standards:
                    self.compile(name, text, compiler, f"-std={standard}", *strict, *newer, name, "-o", "probes")
                    self.assertEqual(self.run_in_folder("./probes").returncode, 0)

    def test_seven_values_are_too_many(self):
        self.need("gcc")
        (self.folder / "seven.c").write_text('#include <rdam/rdam.h>\nint main(void) { RDAM_BEGIN("x", 1, 2, 3, 4, 5, 6, 7); }\n')
        done = self.run_in_folder("gcc", "-I", INCLUDE, "seven.c")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("rdam_region_has_up_to_six_values", done.stderr.decode())

    def test_fortran_takes_names_and_values_of_the_usual_kinds(self):
        self.need("gfortran")
        self.compile("names.f90", FORTRAN, "gfortran", "-std=f2018", "-Wall", "-Wextra", "-fopenmp", "-g", "-o", "names",
                     INCLUDE / "rdam/rdam.f90", "names.f90")
        self.assertEqual(self.run_in_folder("./names").returncode, 0)
        self.succeeded(self.rdam("record", "-f", "region:scalars", "--", "./names"))
        expected = {"scalars": (100, 4), "variable": (100, 5), "none": (100, 1), "array": (100, 2), "words": (100, 3)}
        self.assertEqual(self.regions("trace.bin"), {name: calls for name, (calls, _) in expected.items()})
        for name, (_, values) in expected.items():
            keys = [] if values == 1 else ["--key", f"{name}:value0"]
            function = next(f for f in self.analyze("trace.bin", *keys)["functions"] if f["name"] == name)
            self.assertEqual(len(function["sequences"]), values, name)

    def test_fortran_values_are_those_that_were_given(self):
        self.need("gfortran")
        for kind in ([], ["-fdefault-integer-8"]):
            self.compile("kinds.f90", FORTRAN_VALUES, "gfortran", "-Wall", "-Wextra", "-Wno-conversion", *kind, "-o", "kinds",
                         INCLUDE / "rdam/rdam.f90", "kinds.f90")
            self.succeeded(self.rdam("record", "-f", "region:logical", "--", "./kinds"))
            for name, values in FORTRAN_EXPECTED.items():
                function = next(f for f in self.analyze("trace.bin", "--key", f"{name}:*")["functions"] if f["name"] == name)
                words = (", ".join(f"value{i}={value}" for i, value in enumerate(given)) for given in ([0] * len(values), values))
                self.assertEqual({s["name"] for s in function["sequences"]}, {f"{name}({word})" for word in words})

    def record_long_function(self, program, *arguments) -> dict:
        """The report; its `functions` by name."""
        (self.folder / "trace.bin").unlink(missing_ok=True)
        self.succeeded(self.rdam("record", "-f", "solve", "-o", "trace.bin", "--", program, *arguments, preexec_fn=before_others))
        report = self.analyze()
        return report | {"functions": {f["name"]: f for f in report["functions"]}}

    def check_solve(self, functions: dict):
        """It ran once: whatever it lost, there is nothing to compare it with, and rdam says that it does not know."""
        solve = functions["solve"]
        self.assertEqual((solve["occurrences"], solve["rdam"], solve["lost_ns"]), (1, 0, 0))
        self.assertTrue(solve["lower_bound"])
        self.assertRegex(self.rdam("analyze").stdout.decode(), r"(?m)^ *≥0\.000 .* solve +1 ")

    def ten_steps(self, program, *arguments) -> float:
        """The region's score."""
        functions = self.record_long_function(program, *arguments)["functions"]
        self.check_solve(functions)
        steps = functions["ten steps"]
        self.assertEqual((steps["module"], steps["occurrences"], steps["lower_bound"]), ("region", 2000, False))
        return steps["rdam"]

    def check_with_probes(self, program):
        """docs/manual-probes.md: somebody else holds a lock for at least a third of the time in which the region's calls run, or is not there."""
        check_apart(self, lambda: self.ten_steps(program), lambda: self.ten_steps(program, "alone"))

    def check_without_probes(self, program):
        """The same is lost, and nothing of it is seen but by the kernel."""
        report = self.record_long_function(program)
        self.assertEqual(list(report["functions"]), ["solve"])
        self.check_solve(report["functions"])
        if report["trace"]["switches"]["state"] == "recorded":
            waited, = (t["off_cpu"]["blocked_ns"] for t in report["threads"] if t["events"] > 0)
            self.assertGreater(waited, 0.1 * report["functions"]["solve"]["min_ns"])

    def test_long_function_in_c(self):
        self.check_without_probes(PROGRAMS / "long_function_c_plain")
        self.check_with_probes(PROGRAMS / "long_function_c")

    def test_long_function_in_cpp(self):
        self.check_without_probes(PROGRAMS / "long_function_cpp_plain")
        self.check_with_probes(PROGRAMS / "long_function_cpp")

    def test_long_function_in_fortran(self):
        if not os.path.exists(PROGRAMS / "long_function_fortran"):
            self.skipTest("gfortran was not there when the tests were built")
        self.check_with_probes(PROGRAMS / "long_function_fortran")

    def build_commands(self) -> list[str]:
        """Those of the page, without the one that says where rdam is."""
        block, = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
        place, *commands = filter(None, block.splitlines())
        self.assertRegex(place, r"^include=/usr/local/include ")
        return commands

    def test_commands_of_the_page(self):
        self.need("gcc", "g++", "gfortran")
        for path in EXAMPLES.iterdir():
            shutil.copy(path, self.folder)
        for command in self.build_commands():
            done = self.run_in_folder("sh", "-c", command, env={"include": str(INCLUDE)})
            self.assertEqual((done.returncode, done.stderr), (0, b""), command)
        for program in ("without_probes", "without_probes_cpp"):
            self.check_without_probes(f"./{program}")
        for program in ("long_function", "long_function_cpp", "long_function_fortran"):
            self.check_with_probes(f"./{program}")


if __name__ == "__main__":
    unittest.main()
