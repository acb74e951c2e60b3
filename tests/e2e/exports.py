"""What the tests of exports have in common: a trace of a program, a format of it, and its calls as a table."""

import csv
import io

from harness import PROGRAMS, Case


class Exports(Case):
    def record(self, program, *arguments, functions="*", options=()):
        self.succeeded(self.rdam("record", "-o", "trace.bin", "-f", functions, *options, "--", PROGRAMS / program, *arguments))

    def export(self, name, *options) -> bytes:
        return self.succeeded(self.rdam("export", "--format", name, *options, "trace.bin")).stdout

    def rows(self, *options) -> list[dict]:
        return list(csv.DictReader(io.StringIO(self.export("csv", *options).decode(), newline="")))
