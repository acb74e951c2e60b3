"""What the tests of exports have in common: a trace of a program, a format of it, and its calls as a table."""

import csv
import io
import re
import subprocess

from harness import PROGRAMS, RDAM, Case

# All but otf2's, which is a directory.
FORMATS = re.search("is not one of (.*);", subprocess.run([RDAM, "export", "--format", "?"], capture_output=True, text=True, check=False).stderr)[1] \
    .replace(", otf2", "").split(", ")


class Exports(Case):
    def record(self, program, *arguments, functions="*", options=()):
        self.succeeded(self.rdam("record", "-o", "trace.bin", "-f", functions, *options, "--", PROGRAMS / program, *arguments))

    def export(self, name, *options) -> bytes:
        return self.succeeded(self.rdam("export", "--format", name, *options, "trace.bin")).stdout

    def rows(self, *options) -> list[dict]:
        return list(csv.DictReader(io.StringIO(self.export("csv", *options).decode(), newline="")))
