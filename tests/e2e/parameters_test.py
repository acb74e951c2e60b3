#!/usr/bin/python3
"""Parameters in languages of whose conventions debug information says nothing: what is recorded is what the program says that it passes,
with any optimization. docs/languages.md has the table of it."""

import collections
import csv
import dataclasses
import math
import pathlib
import re
import shutil
import unittest

from harness import Case

SOURCES = pathlib.Path(__file__).parent / "languages"


@dataclasses.dataclass
class Printed:
    """A program that says of each call what it passes: `CALL function name=value ...`."""

    name: str
    tool: str
    source: str
    build: str  # with {} for the options
    options: tuple[str, ...]  # the first: not optimized
    functions: str
    name_of: str  # a pattern for the functions, which finds their names as the program says them
    shown: dict[str, str]  # where nothing is optimized: parameters of each function, in alphabetical order
    optimized: str  # "function parameter ...": some that are shown with the other options, too
    perhaps: str = ""  # functions of which some versions of the compiler describe too little to show anything


PRINTED = [
    Printed("D (gdc)", "gdc", "values.d", "gdc -g {} values.d -o program",
            ("-O0", "-O1", "-O2", "-O3", "-O0 -fomit-frame-pointer"), "_D6values*,plain", r"(?:.*\.)?(\w+)",
            {"mixed": "colour f far flag g last n small", "makes": "changed n other pointer", "takes_big": "last n", "unused": "f last n",
             "area": "f n this", "nested": "a d", "plain": "a b c"}, "makes changed n other pointer"),
    Printed("D (ldc)", "ldc2", "values.d", "ldc2 -g {} values.d -of=program", ("-O0", "-O1", "-O2", "-O0 --frame-pointer=none"),
            "_D6values*,plain", r"(?:.*\.)?(\w+)",
            {"mixed": "colour f far g last n small", "makes": "n other pointer", "takes_big": "last n", "unused": "f last n",
             "area": "f n this", "nested": "a d", "plain": "a b c"}, "makes changed n other pointer"),
    Printed("Rust", "rustc", "values.rs", "rustc -C overflow-checks=off -g {} values.rs -o program",
            ("-C opt-level=0", "-C opt-level=1", "-C opt-level=3", "-C opt-level=0 -C force-frame-pointers=yes"),
            "values::*,plain", r"(?:.*::)?(\w+)",
            {"mixed": "f far g letter n small", "makes": "n other pointer", "either": "", "unused": "_f _n last", "area": "f n self",
             "plain": "a b c", "calls": "n"}, "plain a b c", "makes"),  # rustc 1.63: no place of a structure at the entry
    Printed("Pascal", "fpc", "values.pas", "fpc -v0 -Xs- -g {} values.pas -oprogram", ("-O-", "-O1", "-O2", "-O3 -gw3"), "P$VALUES*",
            r"P\$VALUES.*_\$\$_([A-Z]+)(?:\$.*)?",
            {"mixed": "colour f far flag g n range small", "makes": "changed made n other pointer", "open": "last n", "area": "f n this",
             "nested": "a d"}, "area n this"),
    Printed("Fortran", "gfortran", "values.f90", "gfortran -g -fno-inline {} values.f90 -o program", ("-O0", "-O1", "-O2", "-O3"),
            "__passed_MOD_*,plain", r"(?:__passed_MOD_)?(\w+)",
            {"mixed": "_text f far n value", "plain": "d f far flag i small", "text": "_source n", "turned": "n"}, "plain far flag i small"),
    Printed("Ada", "gnatmake", "values.adb", "gnatmake -q -f -g {} values.adb -o program",
            ("-O0", "-O1", "-O2", "-O2 -fno-ipa-sra -fno-ipa-cp"), "values__*", r"values__(\w+?)(?:\.\d+)*",
            {"mixed": "depth f far flag g hue mask small", "changes": "both given", "makes": "count f", "unused": "first last second"}, ""),
]


def number(text: str) -> float:
    if text in ("true", "false", "T", "F"):
        return text in ("true", "T")
    if text.endswith("/4"):
        return int(text[:-2]) / 4
    try:
        return int(text, 0)
    except ValueError:
        return float(text)


class Values(Case):
    """Every value that is recorded is the one that the program passed, with any optimization. What is not certain is not shown."""

    def said(self, output: str) -> dict[str, list[dict[str, str]]]:
        calls = collections.defaultdict(list)
        for line in output.splitlines():
            if line.startswith("CALL "):
                calls[line.split()[1]].append(dict(word.split("=") for word in line.split()[2:]))
        return calls

    def recorded(self, printed: Printed) -> dict[str, list[dict[str, str]]]:
        self.succeeded(self.rdam("export", "--format", "csv", "--overwrite", "trace.bin", "-o", "trace.csv"))
        calls = collections.defaultdict(list)
        with open(self.folder / "trace.csv", newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                name = re.fullmatch(printed.name_of, row["function"])
                values = dict(word.split("=") for word in row["parameters"].split(", ") if word)
                if name:
                    calls[name[1].lower()].append((int(row["begin_ns"]), {key.lower(): value for key, value in values.items()}))
        return {name: [values for _, values in sorted(rows, key=lambda row: row[0])] for name, rows in calls.items()}

    def check(self, printed: Printed):
        self.need(printed.tool)
        shutil.copy(SOURCES / printed.source, self.folder / printed.source)
        compared = 0
        for options in printed.options:
            with self.subTest(options):
                self.succeeded(self.run_in_folder("sh", "-c", printed.build.format(options)))
                plain = self.run_in_folder("./program")
                done = self.rdam("record", "-v", "-f", printed.functions, "--", "./program")
                self.assertEqual((done.returncode, plain.returncode), (0, 0), done.stderr.decode())
                said, recorded = self.said(done.stdout.decode()), self.recorded(printed)
                self.assertEqual(said.keys(), self.said(plain.stdout.decode()).keys())
                for name in said.keys() & recorded.keys():
                    # Copies that a compiler has made of a function's body have no calls of their own.
                    if len(said[name]) == len(recorded[name]):
                        compared += self.compare(name, said[name], recorded[name])
                shown = {name: " ".join(sorted(calls[0].keys() & said[name][0].keys())) for name, calls in recorded.items() if name in said}
                if options.startswith(printed.options[0]):
                    expected = {name: "" if name in printed.perhaps.split() and not shown[name] else names
                                for name, names in printed.shown.items()}
                    self.assertEqual(shown, expected, done.stderr.decode())
                elif printed.optimized:
                    name, *names = printed.optimized.split()
                    self.assertLessEqual(set(names), set(shown[name].split()), (shown, done.stderr.decode()))
                for name in ("text", "pair", "list", "back", "maybe", "big", "money", "price", "step"):
                    values = [call[name] for calls in recorded.values() for call in calls if name in call]
                    self.assertFalse([value for value in values if not value.startswith("0x")], name)
        self.assertGreater(compared, 100)

    def compare(self, name: str, said: list[dict[str, str]], recorded: list[dict[str, str]]) -> int:
        compared = 0
        for call, (passed, values) in enumerate(zip(said, recorded, strict=True)):
            for parameter in passed.keys() & values.keys():
                one, other = number(values[parameter]), number(passed[parameter])
                integers = isinstance(one, int) and isinstance(other, int)
                same = one == other if integers else math.isclose(one, other, rel_tol=1e-6)
                self.assertTrue(same, (name, call, parameter, values[parameter], passed[parameter]))
                compared += 1
        return compared


def add_values_test(printed: Printed):
    name = "test_" + re.sub(r"[^a-z0-9]+", "_", printed.name.lower()).strip("_")
    setattr(Values, name, lambda self: self.check(printed))


for each in PRINTED:
    add_values_test(each)


if __name__ == "__main__":
    unittest.main()
