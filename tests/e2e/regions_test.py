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


class Regions(Case):
    def check(self, program: str, expected: dict[str, int], *arguments):
        plain = self.run_in_folder(PROGRAMS / program, *arguments)
        self.assertEqual(plain.returncode, 0, plain.stderr.decode())
        done = self.rdam("record", "--", PROGRAMS / program, *arguments)
        self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr.decode())
        self.assertEqual(self.regions("trace.bin"), expected)

    def regions(self, trace: str) -> dict[str, int]:
        return {f["name"]: f["occurrences"] for f in self.analyze(trace)["functions"] if f["module"] == "region"}

    def test_c(self):
        self.check("regions", {"outer": 1000, "inner": 1000, "100 rows": 22})

    def test_c_in_a_position_dependent_program(self):
        self.check("regions_fixed", {"outer": 1000, "inner": 1000, "100 rows": 22})

    def test_names_of_regions_belong_on_the_list(self):
        plain = self.run_in_folder(PROGRAMS / "regions")
        for names in ("outer", "region:outer", "inner,100 rows"):
            done = self.rdam("record", "-f", names, "--", PROGRAMS / "regions")
            self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr.decode())
            said = done.stderr.decode()
            self.assertIn("regions: its regions are recorded\n", said)
            self.assertNotIn("not found", said)
            self.assertEqual(self.regions("trace.bin"), {"outer": 1000, "inner": 1000, "100 rows": 22})
            os.unlink(self.folder / "trace.bin")
        # Beside a function, and beside a name that nothing has.
        said = self.rdam("record", "-f", "work,outer,outter", "--", PROGRAMS / "regions").stderr.decode()
        self.assertRegex(said, r"rdam: 'outter': not found")
        self.assertNotIn("'outer'", said)
        self.assertIn("rdam: 1 function wrapped in ", said)

    def test_a_name_that_is_no_region_is_not_found(self):
        done = self.rdam("record", "-f", "nowhere", "--", PROGRAMS / "regions")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing is recorded", done.stderr.decode())

    def test_static_program_runs_without_the_recorder(self):
        plain = self.run_in_folder(PROGRAMS / "regions")
        self.assertEqual(self.run_in_folder(PROGRAMS / "regions_static").stdout, plain.stdout)

    def test_values_are_parameters(self):
        self.check("regions", {"outer": 1000, "inner": 1000, "100 rows": 22})
        for key in ("i % 5", "i%5"):
            functions = self.analyze("trace.bin", "--key", f"outer:{key}")["functions"]
            outer = next(f for f in functions if f["name"] == "outer")
            self.assertEqual(len({s["name"] for s in outer["sequences"]}), 5)

    def test_child_after_fork_knows_the_regions(self):
        self.check("regions", {"outer": 1000, "inner": 1000, "100 rows": 22}, "fork")
        child = next(name for name in self.traces() if name != "trace.bin")
        self.assertEqual(self.regions(child), {"outer": 500, "inner": 500, "100 rows": 11})

    def test_scopes(self):
        # Every tenth number leaves the first `step` by an exception.
        self.check("regions_scopes", {"step": 380, "end": 1})
        self.assertNotIn("abandoned", self.rdam("analyze").stdout.decode())

    def test_fortran(self):
        if not os.path.exists(PROGRAMS / "regions_fortran"):
            self.skipTest("gfortran was not there when the tests were built")
        self.check("regions_fortran", {"outer loop": 40, "inner": 40})

    def record_long_function(self, program, *arguments) -> dict:
        """The report; its `functions` by name."""
        (self.folder / "trace.bin").unlink(missing_ok=True)
        done = self.rdam("record", "-f", "solve", "-o", "trace.bin", "--", program, *arguments, preexec_fn=before_others)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        report = self.analyze()
        return report | {"functions": {f["name"]: f for f in report["functions"]}}

    def check_solve(self, functions: dict):
        """It ran once: whatever it lost, there is nothing to compare it with, and rdam says that it does not know."""
        solve = functions["solve"]
        self.assertEqual((solve["occurrences"], solve["rdam"], solve["lost_ns"]), (1, 0, 0))
        self.assertTrue(solve["lower_bound"])
        self.assertRegex(self.rdam("analyze").stdout.decode(), r"(?m)^ *≥0\.000 .*:solve +1 ")

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
