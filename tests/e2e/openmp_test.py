#!/usr/bin/python3
"""Programs that use OpenMP, with the runtimes of gcc and of clang: all of the runtime's functions are recorded, and it works as before."""

import os
import pathlib
import unittest

from harness import Case

SOURCE = pathlib.Path(os.environ["SOURCE_ROOT"]) / "tests/e2e/programs/openmp.c"
LOCKS = """#include <omp.h>
int main(void) {
    omp_lock_t lock;
    omp_init_lock(&lock);
    long sum = 0;
#pragma omp parallel num_threads(4)
    for (int i = 0; i < 3000; i++) {
        omp_set_lock(&lock);
        sum++;
        omp_unset_lock(&lock);
    }
    return sum != 12000;
}
"""
RESULT = b"24975000 500\n"
MULTIGRID = SOURCE.with_name("multigrid.c")


class OpenMP(Case):
    def check(self, compiler: str, functions: str, expected: dict[str, int]):
        self.need(compiler)
        built = self.run_in_folder(compiler, "-O1", "-g", "-fopenmp", "-w", "-o", "program", SOURCE)
        if built.returncode != 0:
            self.skipTest(f"{compiler} cannot build a program with OpenMP here: {built.stderr.decode().strip()[-200:]}")
        self.assertEqual(self.unchanged(functions, "./program").stdout, RESULT)
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

    def check_multigrid(self, compiler: str, region: str, body: str):
        """Both threads do the same level of one region. None of them is why the other takes long, and the region does not wait."""
        self.need(compiler)
        built = self.run_in_folder(compiler, "-O2", "-fopenmp", "-w", "-o", "program", MULTIGRID)
        if built.returncode != 0:
            self.skipTest(f"{compiler} cannot build a program with OpenMP here: {built.stderr.decode().strip()[-200:]}")
        self.succeeded(self.rdam("record", "-f", f"relax,{body},{region}", "--", "./program"))
        functions = {f["name"]: f for f in self.analyze("trace.bin", "--threshold", "0")["functions"]}
        self.assertEqual(functions["relax"]["occurrences"], 60 * 7 * 2)
        self.assertEqual(functions[region]["occurrences"], 60 * 7)
        # Who is disturbed by other programs waits for the other thread most of the time, and the report may say so.
        own = functions[region]["rdam_self"] / functions[region]["rdam_all"]
        busy = own > 0.4
        for name, function in functions.items():
            for hint in function["hints"]:
                if name != region or not busy:
                    self.assertNotEqual((name, hint["kind"]), (name, "concurrent"), hint)
                self.assertNotIn("find out what makes it wait", hint["text"], name)
        if busy:
            self.skipTest(f"the machine is busy: {own:.0%} of the loss is waiting")
        inside = [hint for hint in functions[region]["hints"] if hint["kind"] == "inside"]
        self.assertEqual(len(inside), 1, functions[region]["hints"])
        if compiler == "gcc":
            self.assertIn(f"most of it in {body}()", inside[0]["text"])

    def test_levels_with_libgomp(self):
        self.check_multigrid("gcc", "GOMP_parallel", "main._omp_fn.0")

    def test_levels_with_libomp(self):
        self.check_multigrid("clang", "__kmpc_fork_call", ".omp_outlined.")

    def test_all_of_libomp(self):
        """Locks, and what programs of gcc call, look at their return addresses as well."""
        self.need("clang")
        (self.folder / "locks.c").write_text(LOCKS)
        built = self.run_in_folder("clang", "-O1", "-g", "-fopenmp", "-w", "-o", "program", "locks.c")
        if built.returncode != 0:
            self.skipTest(f"clang cannot build a program with OpenMP here: {built.stderr.decode().strip()[-200:]}")
        done = self.succeeded(self.rdam("record", "-v", "-f", "libomp.so.5:omp_*,libomp.so.5:GOMP_*", "--", "./program"))
        self.assertNotIn("reads its return address", done.stderr.decode())
        self.assertEqual(self.counts()["omp_set_lock"], 12000)


if __name__ == "__main__":
    unittest.main()
