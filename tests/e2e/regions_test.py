#!/usr/bin/python3
"""Manual probes: rdam/rdam.h in C and C++, rdam.f90 in Fortran."""

import os
import unittest

from harness import PROGRAMS, Case


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

    def check_long_function(self, program: str):
        """docs/manual-probes.md: somebody else holds a lock for at least a third of the time in which the region's calls run."""
        done = self.rdam("record", "-f", "solve", "--", PROGRAMS / program)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        functions = {f["name"]: f for f in self.analyze()["functions"]}
        self.assertEqual((functions["solve"]["occurrences"], functions["solve"]["rdam"]), (1, 0))
        self.assertEqual((functions["ten steps"]["module"], functions["ten steps"]["occurrences"]), ("region", 2000))
        self.assertGreater(functions["ten steps"]["rdam"], 0.2)

    def test_long_function_in_c(self):
        self.check_long_function("long_function_c")

    def test_long_function_in_cpp(self):
        self.check_long_function("long_function_cpp")

    def test_long_function_in_fortran(self):
        if not os.path.exists(PROGRAMS / "long_function_fortran"):
            self.skipTest("gfortran was not there when the tests were built")
        self.check_long_function("long_function_fortran")


if __name__ == "__main__":
    unittest.main()
