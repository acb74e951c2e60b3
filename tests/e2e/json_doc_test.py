#!/usr/bin/python3
"""docs/json.md says what each key of `rdam analyze --json` means."""

import json
import os
import pathlib
import re
import unittest

from harness import PROGRAMS, Case

ROOT = pathlib.Path(os.environ["SOURCE_ROOT"])
PAGE = ROOT / "docs/json.md"
CAUSES = ROOT / "tests/unit/causes/samples/callgrind.out"


def keys_of(value) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(keys_of, value.values()))
    return set().union(*map(keys_of, value)) if isinstance(value, list) else set()


class Page(Case):
    def documented(self) -> set[str]:
        """The words in code; the ends of an interval go with the score that they are of."""
        words = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", PAGE.read_text()))))
        return words | {f"{word}_{end}" for word in words if word.startswith("rdam") for end in ("low", "high")}

    def record(self, name: str, functions: str, *command):
        self.rdam("record", "-o", name, "-f", functions, *command)

    def check(self, *arguments):
        done = self.rdam("analyze", "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        keys = keys_of(json.loads(done.stdout))
        self.assertEqual(sorted(keys - self.documented()), [], arguments)

    def test_each_key_is_on_the_page(self):
        self.record("a.bin", "deliver,drive", "--", PROGRAMS / "depots")
        self.record("b.bin", "deliver,drive", "--", PROGRAMS / "depots")
        self.record("counted.bin", "work", "--counters=instructions", "--", PROGRAMS / "counts", 2, 1000)
        self.record("sampled.bin", "~work,step", "--max-overhead=1%", "--", PROGRAMS / "counts", 2, 100_000)
        self.check("--threshold=0", "--patterns", "--sequences", "--causes", CAUSES, "a.bin")
        self.check("--threshold=0", "--split-by-context=deliver", "--key=deliver:parcels", "a.bin")
        self.check("--since=1us", "--until=1s", "--thread=*", "--function=deliver", "a.bin")
        for trace in ("counted.bin", "sampled.bin"):
            self.check("--threshold=0", trace)
        self.check("a.bin", "b.bin", "sampled.bin")
        self.check("--diff", "a.bin", "b.bin")


if __name__ == "__main__":
    unittest.main()
