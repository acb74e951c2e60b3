#!/usr/bin/python3
"""Programs that use OpenMP, with the runtimes of gcc and of clang: all of the runtime's functions are recorded, and it works as before."""

import os
import pathlib
import unittest

from harness import Case

SOURCE = pathlib.Path(os.environ["SOURCE_ROOT"]) / "tests/e2e/programs/openmp.c"
RESULT = b"24975000 500\n"


class OpenMP(Case):
    def check(self, compiler: str, functions: str, expected: dict[str, int]):
        self.need(compiler)
        built = self.run_in_folder(compiler, "-O1", "-g", "-fopenmp", "-w", "-o", "program", SOURCE)
        if built.returncode != 0:
            self.skipTest(f"{compiler} cannot build a program with OpenMP here: {built.stderr.decode().strip()[-200:]}")
        plain = self.run_in_folder("./program")
        self.assertEqual((plain.returncode, plain.stdout), (0, RESULT), plain.stderr.decode())
        done = self.rdam("record", "-f", functions, "--", "./program")
        self.assertEqual((done.returncode, done.stdout), (0, RESULT), done.stderr.decode())
        counts = self.counts()
        self.assertEqual({name: counts.get(name) for name in expected}, expected)
        report = self.analyze()
        critical = next(f for f in report["functions"] if f["name"] in ("GOMP_critical_start", "__kmpc_critical"))
        self.assertEqual(critical["unscored"], 0)

    def test_libgomp(self):
        self.check("gcc", "libgomp.so.1:GOMP_*", {"GOMP_parallel": 50, "GOMP_critical_start": 500, "GOMP_critical_end": 500})

    def test_libomp(self):
        # Most of them look at their return address, for tools.
        self.check("clang", "libomp.so.5:__kmpc_*", {"__kmpc_fork_call": 50, "__kmpc_critical": 500, "__kmpc_end_critical": 500})


if __name__ == "__main__":
    unittest.main()
