#!/usr/bin/python3
"""The examples of docs/columns.md, run one after the other in one folder; what they print is what the page says."""

import os
import pathlib
import re
import unittest

from harness import PROGRAMS, RDAM, Case
from pythons import MODULE, python_with

PAGE = pathlib.Path(os.environ["SOURCE_ROOT"]) / "docs/columns.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STANDARD = {"json"}


def examples() -> list[tuple[str, str, str]]:
    """Language, program, and the output that the page shows (None: it shows none)."""
    blocks = BLOCK.findall(PAGE.read_text())
    following = [*blocks[1:], ("", "")]
    return [(kind, text, after[1] if after[0] == "text" else None)
            for (kind, text), after in zip(blocks, following, strict=True) if kind != "text"]


def without_figures(text: str) -> list[list[str]]:
    """Words of each line; times and scores differ from run to run, whole numbers of calls do not."""
    lines = [re.sub(r"-?\d[\d.]*(?= ns)|\d+\.\d+|(?<=order )-?\d+|(?<=thread )\d+|(?<=cpu )-?\d+|^\d+(?= of)", "#", line)
             for line in text.splitlines()]
    return [line.split() for line in lines]


class Page(Case):
    """One test for each library, so that a missing one takes only its own example away."""

    def run_examples(self, *wanted: str):
        """Those that need no library but numpy and `wanted`, in order; checks that one of them imports each of these."""
        python = python_with("numpy", *wanted)
        if python is None:
            self.skipTest(f"no Python here has numpy and {' and '.join(wanted)}: tools/setup installs them where it reaches PyPI")
        (self.folder / "orders").symlink_to(PROGRAMS / "orders")
        (self.folder / "bin").mkdir()
        (self.folder / "bin/rdam").symlink_to(RDAM)
        self.env = {"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "PYTHONPATH": str(MODULE),
                    "PYTHONDONTWRITEBYTECODE": "1", "RDAM_PYTHON": python, "RDAM_PROGRAM": RDAM}
        imported = set()
        for kind, text, output in examples():
            if kind == "sh" and (".parquet" not in text or "pyarrow" in wanted):
                self.check(["sh", "-ec", text], output)
            libraries = set(re.findall(r"^import (\w+)", text, re.MULTILINE)) - STANDARD
            if kind == "python" and libraries <= {"numpy", "rdam", *wanted} and (libraries & set(wanted) or not wanted):
                self.assertIsNotNone(output, f"an example without its output:\n{text}")
                self.check([python, "-c", text], output)
                imported |= libraries
        self.assertLessEqual(set(wanted) - {"pyarrow"}, imported)
        return imported

    def check(self, command: list[str], output: str | None):
        done = self.run_in_folder(*command, env=self.env)
        self.assertEqual(done.returncode, 0, f"{command[-1]}\n{done.stderr.decode()}")
        if output is not None:
            self.assertEqual(without_figures(done.stdout.decode()), without_figures(output), command[-1])

    def test_numpy(self):
        self.assertEqual(self.run_examples(), {"numpy", "rdam"})

    def test_pandas(self):
        self.run_examples("pandas")

    def test_polars(self):
        self.run_examples("polars", "pyarrow")

    def test_duckdb(self):
        self.run_examples("duckdb", "pyarrow")

    def test_every_example_is_run_by_one_of_them(self):
        known = {"numpy", "rdam", "pandas", "polars", "duckdb"} | STANDARD
        found = examples()
        self.assertEqual({kind for kind, _, _ in found}, {"sh", "python"})
        for _, text, _ in found:
            self.assertLessEqual(set(re.findall(r"^import (\w+)", text, re.MULTILINE)), known)


if __name__ == "__main__":
    unittest.main()
