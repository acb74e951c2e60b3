#!/usr/bin/python3
"""Calling conventions that debug information hides, and what other tools leave at the entry of functions."""

import csv
import pathlib
import re
import subprocess
import unittest

from harness import Case

SOURCES = pathlib.Path(__file__).parent / "hidden"
CALLS = 3000
KEPT_BY_NOBODY = [f"-fcall-used-{register}" for register in ("rbx", "r12", "r13", "r14", "r15")]


class HiddenConventions(Case):
    def compile(self, compiler: str, *arguments):
        self.need(compiler)
        done = self.run_in_folder(compiler, *arguments, "-o", "program")
        if done.returncode != 0:
            self.skipTest(f"{compiler} cannot build it: {done.stderr.decode().strip().splitlines()[-1]}")

    def check(self, functions: str, env=None) -> subprocess.CompletedProcess:
        """The same output and status; what the program says of its own calls is what was recorded of those wrapped."""
        self.plain = self.run_in_folder("./program", CALLS, env=env)
        self.assertEqual(self.plain.returncode, 0, self.plain.stderr.decode())
        done = self.rdam("record", "-v", "-f", functions, "--", "./program", CALLS, env=env)
        self.said = done.stderr.decode()
        self.assertEqual((done.returncode, done.stdout), (0, self.plain.stdout), self.said)
        return done

    def printed(self) -> dict[str, int]:
        return {name: int(count) for name, count in re.findall(r"([a-z]+) (\d+)", self.plain.stdout.decode())}

    def parameters(self) -> dict[str, list]:
        return {f["name"]: [p["name"] for p in f.get("parameters", [])] for f in self.analyze()["functions"]}

    def test_microsofts_convention(self):
        for options in (["-O2", "-g"], ["-O0", "-g"], ["-O2"]):
            with self.subTest(options):
                self.compile("gcc", *options, SOURCES / "microsoft.c")
                self.check("six,home,doubles")
                self.assertEqual(self.counts(), dict.fromkeys(("six", "home", "doubles"), CALLS), self.said)
                self.assertFalse(any(self.parameters().values()), self.parameters())

    def test_parameters_that_are_assigned_to_at_once(self):
        """What was passed is shown; perf probe reads another register, or memory at a number (findings/probe_reads_the_next_value.sh)."""
        self.compile("gcc", "-O2", "-g", SOURCES / "overwritten.c")
        self.check("assigned,counted,negated")
        self.assertEqual(self.counts(), dict.fromkeys(("assigned", "counted", "negated"), CALLS), self.said)
        self.assertEqual(self.rdam("export", "--format", "csv", "trace.bin", "-o", "calls.csv").returncode, 0)
        with open(self.folder / "calls.csv", newline="") as file:
            shown = {(row["function"], *re.findall(r"\b([abn]=-?\d+)", row["parameters"])) for row in csv.DictReader(file)}
        self.assertEqual(shown, {("assigned", "a=11", "b=22"), ("counted", "n=5"), ("negated", "a=33")})

    def test_functions_that_keep_no_registers(self):
        for options in (["-O2", "-g"], ["-O2"]):
            with self.subTest(options):
                self.need("gcc")
                done = self.run_in_folder("gcc", *options, *KEPT_BY_NOBODY, "-fcall-used-rbp", "-c", SOURCES / "spoilers.c", "-o", "spoilers.o")
                if done.returncode != 0:
                    done = self.run_in_folder("gcc", *options, *KEPT_BY_NOBODY, "-c", SOURCES / "spoilers.c", "-o", "spoilers.o")
                self.assertEqual(done.returncode, 0, done.stderr.decode())
                self.compile("gcc", "-O1", SOURCES / "spoilers_main.c", "spoilers.o")
                self.check("vm,op,last,next")
                self.assertEqual(self.counts(), self.printed(), self.said)

    def test_functions_whose_attributes_say_that_they_keep_no_registers(self):
        for compiler, since, source, functions in (("gcc", 14, "keeps_nothing.c", "run,step,leaf"),
                                                   ("clang", 19, "preserves_none.c", "start,add,mul,call,last,leaf")):
            with self.subTest(compiler):
                self.need(compiler)
                # What does not know the attribute ignores it, with a warning.
                if self.run_in_folder(compiler, "-Werror", "-c", SOURCES / source, "-o", "known.o").returncode != 0:
                    self.skipTest(f"this {compiler} does not know the attribute in {source}, as {compiler} {since} does")
                for options in (["-O1"], ["-O2"], ["-O2", "-g"]):
                    self.compile(compiler, *options, SOURCES / source)
                    self.check(functions)
                    self.assertEqual(self.counts(), self.printed(), (options, self.said))

    def test_functions_that_leave_another_value_in_rbp(self):
        for options in (["-O1", "-g"], ["-O1"], ["-O0", "-g"]):
            with self.subTest(options):
                self.compile("gcc", *options, SOURCES / "spoils_rbp.c")
                self.check("leaf,late,jumping,plain")
                printed = self.printed()
                printed.pop("sum")
                self.assertEqual(self.counts(), printed, self.said)

    def test_a_function_that_takes_its_arguments_off_the_stack(self):
        self.compile("gcc", "-O1", "-g", SOURCES / "pops.c")
        self.check("pops,pops_two")
        self.assertEqual(self.counts(), {"pops": CALLS, "pops_two": CALLS}, self.said)

    def test_xray_and_rdam_live_together(self):
        self.compile("clang", "-O2", "-g", "-fxray-instrument", "-fxray-instruction-threshold=1", SOURCES / "hooked.c")
        for env in ({}, {"XRAY_OPTIONS": "patch_premain=true xray_mode=xray-basic verbosity=0 xray_logfile_base=xray-log."}):
            with self.subTest(env):
                self.check("first,second,third,tiny", env)
                counts, printed = self.counts(), self.printed()
                self.assertEqual({name: printed[name] for name in counts}, counts, self.said)
                self.assertLessEqual({"first", "second", "third"}, set(counts))
                if "tiny" not in counts:
                    self.assertIn("XRay's sled", self.said)
        self.assertTrue(list(self.folder.glob("xray-log.*")), "XRay has not recorded either")

    def test_gprof_with_fentry_keeps_its_call_graph(self):
        self.need("gprof")
        self.compile("gcc", "-O2", "-g", "-pg", "-mfentry", SOURCES / "hooked.c")
        self.check("first,second,third,tiny")
        self.assertEqual(self.counts(), self.printed(), self.said)
        self.assertEqual(self.arcs(), self.plain_arcs())

    def test_gprof_with_mcount_is_left_alone_with_the_reason(self):
        self.need("gprof")
        self.compile("gcc", "-O2", "-g", "-pg", SOURCES / "hooked.c")
        self.check("first,second,third,tiny,printf")
        self.assertEqual(self.counts(), {"printf": 1}, self.said)
        self.assertEqual(self.said.count("calls mcount (-pg)"), 4, self.said)
        self.assertEqual(self.arcs(), self.plain_arcs())

    def arcs(self) -> set[str]:
        """gprof's call graph: who called whom how often, without times."""
        graph = self.run_in_folder("gprof", "-q", "-b", "./program", "gmon.out").stdout.decode()
        return {" ".join(re.findall(r"\d+/\d+|[a-z]+ \[\d+\]", line)) for line in graph.splitlines() if re.search(r"\d+/\d+", line)}

    def plain_arcs(self) -> set[str]:
        self.assertEqual(self.run_in_folder("./program", CALLS).returncode, 0)
        arcs = self.arcs()
        self.assertTrue(any("second" in arc for arc in arcs), arcs)
        return arcs

    def test_tables_of_control_flow_integrity(self):
        self.compile("clang", "-O1", "-g", "-flto", "-fvisibility=hidden", "-fsanitize=cfi", "-fuse-ld=lld", SOURCES / "hooked.c")
        self.check("first,second.cfi,third.cfi,tiny.cfi")
        printed = self.printed()
        self.assertEqual({name.partition(".")[0]: count for name, count in self.counts().items()}, printed, self.said)
        self.assertNotIn("falls through", self.said)


if __name__ == "__main__":
    unittest.main()
