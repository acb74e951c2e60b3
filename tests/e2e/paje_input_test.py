#!/usr/bin/python3
"""Pajé traces of other tools, state by state against pj_dump; and rdam's own, exported and read again."""

import collections
import csv
import gzip
import io
import os
import pathlib
import re
import subprocess
import unittest
from decimal import Decimal

from harness import PROGRAMS, TIMEOUT, Case

SHARED = pathlib.Path(os.environ["SOURCE_ROOT"]).parent / "shared/paje"
SECOND = Decimal(1)
MILLISECOND = Decimal("0.001")

DEFINITIONS = """%EventDef PajeDefineContainerType 0
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineStateType 1
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeCreateContainer 2
% Time date
% Alias string
% Type string
% Container string
% Name string
%EndEventDef
%EventDef PajePushState 3
% Time date
% Container string
% Type string
% Value string
%EndEventDef
%EventDef PajePopState 4
% Time date
% Container string
% Type string
%EndEventDef
0 T 0 "Thread"
1 S T "Function"
2 0 t1 T 0 "one"
"""


def plain_name(name: str, known: set[str]) -> str:
    """Without what tells functions, or threads, of the same name apart: the type in brackets, the container in front."""
    while name not in known and name.endswith(")"):
        name = name[: name.rindex(" (")]
    return name if name in known else name[name.index("/") + 1 :]


class PajeInput(Case):
    def shared(self, name: str) -> str:
        if not (SHARED / name).is_file():
            self.skipTest(f"{SHARED / name} is not there")
        return (SHARED / name).read_text()

    def rows(self, trace) -> list[dict]:
        done = self.rdam("export", "--format", "csv", trace)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return list(csv.DictReader(io.StringIO(done.stdout.decode(), newline="")))

    def dumped(self, text: str, unit: Decimal) -> list[tuple]:
        """Container, value, begin and end in nanoseconds, as pj_dump prints them."""
        self.need("pj_dump")
        (self.folder / "for-pj_dump.trace").write_text(text)
        command = ["pj_dump", "-n", "-z", "-l", "9", self.folder / "for-pj_dump.trace"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        states = [line.split(", ", 7) for line in done.stdout.splitlines() if line.startswith("State, ")]
        return [(each[1], each[7], *(round(Decimal(each[i]) * unit * 10**9) for i in (3, 4))) for each in states]

    def compare(self, trace, text: str, unit: Decimal, states: int):
        theirs = self.dumped(text, unit)
        self.assertEqual(len(theirs), states)
        rows = self.rows(trace)
        containers, values = {state[0] for state in theirs}, {state[1] for state in theirs}
        ours = [(plain_name(row["thread_name"], containers), plain_name(row["function"], values), *(int(row[at]) for at in ("begin_ns", "end_ns")))
                for row in rows]
        # rdam counts from the beginning of the trace.
        origin = min(state[2] for state in theirs) - min(call[2] for call in ours)
        ours = [(name, value, begin + origin, end + origin) for name, value, begin, end in ours]
        ours, theirs = collections.Counter(ours), collections.Counter(theirs)
        self.assertFalse([*(ours - theirs)][:5], [*(theirs - ours)][:5])

    def test_simgrid(self):
        self.compare(SHARED / "pajeng_simu-mardi.trace", self.shared("pajeng_simu-mardi.trace"), SECOND, 13620)

    def test_starpu(self):
        self.compare(SHARED / "pajeng_native_sample.trace", self.shared("pajeng_native_sample.trace"), MILLISECOND, 3318)

    def test_starpu_whose_variables_are_not_in_order(self):
        """pj_dump reads it without the variables."""
        text = "".join(line for line in self.shared("dnn_starpu_paje.trace").splitlines(True) if not re.match(r"1[345]\s", line))
        self.compare(SHARED / "dnn_starpu_paje.trace", text, MILLISECOND, 4199)

    def test_eztrace_with_a_value_defined_twice(self):
        """pj_dump reads it if the second has a name of its own."""
        text = self.shared("eztrace-test_mpi_paje_774cde6.trace")
        other = text.replace('6 "GOMP_Untied_Task" "ST_Thread" "GOMP_Task"', '6 "GOMP_Untied_Task" "ST_Thread" "Other"')
        other = other.replace('6 "GOMP_Untied_Task_Create" "ST_Thread" "Creating an OpenMP Task"', '6 "GOMP_Untied_Task_Create" "ST_Thread" "More"')
        self.assertNotEqual(other, text)
        self.compare(SHARED / "eztrace-test_mpi_paje_774cde6.trace", other, MILLISECOND, 273)

    def test_what_the_report_says_of_a_producer(self):
        self.shared("pajeng_native_sample.trace")
        done = self.rdam("analyze", SHARED / "pajeng_native_sample.trace")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertIn("recorded by StarPU", done.stdout.decode())
        self.assertIn("StarPU writes times in milliseconds, and rdam reads them as such.", done.stdout.decode())

    def test_states_that_the_end_of_the_trace_cuts_off_are_no_measure(self):
        """All states of this name but the last of each node last ten seconds; that one begins when the trace ends."""
        self.shared("pajeng_simu-mardi.trace")
        (free,) = (each for each in self.analyze(SHARED / "pajeng_simu-mardi.trace")["functions"] if each["name"] == "free")
        self.assertEqual(free["occurrences"], 5406)
        self.assertAlmostEqual(free["min_ns"], 10e9, delta=1e6)
        self.assertLess(free["rdam"], 0.01)

    def test_all_states_that_begin_at_the_last_time_are_calls(self):
        """Of these, pj_dump 1.3.6 prints the first one of a thread (findings/pj_dump_loses_what_runs_on.sh), 1.3.7 all."""
        text = DEFINITIONS + "3 1 t1 S f\n3 2 t1 S g\n3 2 t1 S h\n3 2 t1 S i\n"
        (self.folder / "cut").write_text(text)
        self.assertEqual(sorted(row["function"] for row in self.rows("cut")), ["f", "g", "h", "i"])
        self.assertIn([state[1] for state in self.dumped(text, Decimal(1))], (["f", "g"], ["f", "g", "h", "i"]))

    def test_extra_fields_are_parameters(self):
        self.shared("pajeng_native_sample.trace")
        rows = [row for row in self.rows(SHARED / "pajeng_native_sample.trace") if row["function"] == "chol_model_11"]
        self.assertEqual(len(rows), 10)
        for row in rows:
            self.assertRegex(row["parameters"], r"^Size=3686400, ")

    def test_compressed(self):
        text = DEFINITIONS + "3 1 t1 S f\n3 1.5 t1 S g\n4 2 t1 S\n4 3 t1 S\n"
        (self.folder / "plain").write_text(text)
        self.assertEqual(len(self.rows("plain")), 2)
        (self.folder / "packed.gz").write_bytes(gzip.compress(text.encode()))
        self.assertEqual(self.rows("packed.gz"), self.rows("plain"))
        self.need("zstd")
        packed = self.run_in_folder("zstd", "-q", "-c", "plain")
        self.assertEqual(packed.returncode, 0, packed.stderr.decode())
        (self.folder / "packed.zst").write_bytes(packed.stdout)
        self.assertEqual(self.rows("packed.zst"), self.rows("plain"))

    def test_own_export_is_read_as_any_other_file(self):
        done = self.rdam("record", "-o", "trace.bin", "-f", "serve,parse,store", "--", PROGRAMS / "orders", "700")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        done = self.rdam("export", "--format", "paje", "-o", "x.paje", "trace.bin")
        self.assertEqual(done.returncode, 0, done.stderr.decode())

        def calls(trace):
            columns = ("thread", "function", "begin_ns", "end_ns", "depth")
            return sorted(tuple(row[each] for each in columns) for row in self.rows(trace))

        self.assertTrue(calls("trace.bin"))
        mine = calls("trace.bin")
        again = calls("x.paje")
        self.assertEqual(len(mine), len(again))
        first = min(int(call[2]) for call in mine) - min(int(call[2]) for call in again)
        moved = sorted((*call[:2], str(int(call[2]) + first), str(int(call[3]) + first), call[4]) for call in again)
        self.assertEqual(mine, moved)
        self.assertIn("rdam exported this file", self.rdam("analyze", "x.paje").stdout.decode())

    def test_bad_files(self):
        for line, words in {
            "3 1 t2 S f": ("line 32", "container that has been created", "`t2`"),
            "3 1 t1 X f": ("line 32", "type of states", "`X`"),
            "3 soon t1 S f": ("line 32", "time in seconds", "`soon`"),
            "3 1 t1": ("line 32", "expected 4 fields", "PajePushState", "found 2"),
            "99 1 t1 S f": ("line 32", "%EventDef", "`99`"),
            "%EventDef PajePopState 5": ("line 32", "%EndEventDef"),
        }.items():
            with self.subTest(line):
                (self.folder / "bad.trace").write_text(DEFINITIONS + line + "\n")
                for command in ("analyze", "report", "export"):
                    done = self.rdam(command, "bad.trace", *(("--format", "csv") if command == "export" else ()))
                    self.assert_one_line(done, 1, "bad.trace", *words)


if __name__ == "__main__":
    unittest.main(verbosity=2)
