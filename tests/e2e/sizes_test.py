#!/usr/bin/python3
"""Functions of libc whose work depends on a size: the sizes are recorded without debug information, and are keys by default."""

import os
import pathlib
import re
import unittest

from harness import Case

SOURCE = pathlib.Path(os.environ["SOURCE_ROOT"]) / "tests/e2e/programs/sizes.c"
CALLS = 20000
# What tells the calls apart.
KEYS = {"memset": r"n=\d+…\d+", "memcpy": r"n=\d+…\d+", "memmove": r"n=\d+…\d+", "memcmp": r"n=\d+…\d+", "strlen": r"return=\d+…\d+",
        "strchr": r"return-s=\d+…\d+", "malloc": r"size=\d+…\d+", "calloc": r"nmemb=\d+…\d+, size=2", "qsort": r"nmemb=\d+…\d+, size=4"}


class Sizes(Case):
    def record(self, functions: str) -> None:
        self.need("gcc")
        self.succeeded(self.run_in_folder("gcc", "-O1", "-fno-builtin", "-w", "-o", "program", SOURCE))
        self.succeeded(self.rdam("record", "--all-calls", "-f", functions, "--", "./program"))

    def test_sizes_are_keys(self):
        self.record(",".join(KEYS))
        report = self.analyze("trace.bin", "--threshold", "0")
        found = {f["name"]: f for f in report["functions"]}
        # memcpy() and memmove() are one function where the processor has it so.
        shared = {"memcpy", "memmove"} - set(found)
        self.assertLessEqual(len(shared), 1)
        for name in KEYS.keys() - shared:
            for sequence in found[name]["sequences"]:
                self.assertRegex(sequence["name"], rf"^{name}\(({KEYS[name]}|.*=\d+)\)(\[.*\])?$")
            self.assertTrue(any(re.match(rf"{name}\({KEYS[name]}\)", sequence["name"]) for sequence in found[name]["sequences"]),
                            found[name]["sequences"][:3])
            # A parameter that is a key is no discovery.
            self.assertFalse([hint for hint in found[name]["hints"] if hint.get("parameter") in ("n", "size", "nmemb")])
        self.assertEqual(found["strlen"]["occurrences"], CALLS)
        # 64 to 65,599: ten octaves of eight.
        self.assertLessEqual(len(found["memset"]["sequences"]), 90)
        self.assertGreaterEqual(len(found["memset"]["sequences"]), 30)

    @staticmethod
    def typical_loss(function: dict) -> float:
        """What typical calls lose: other programs on the machine disturb only a few."""
        return sum(s["occurrences"] * (s["median_ns"] - s["min_ns"]) for s in function["sequences"])

    def test_what_a_size_explains_is_no_loss(self):
        self.record("memset,strlen")
        by_size = {f["name"]: f for f in self.analyze()["functions"]}
        options = [word for key in ("memset:n", "strlen:return") for word in ("--no-key", key)]
        flat = {f["name"]: f for f in self.analyze("trace.bin", *options)["functions"]}
        for name in ("memset", "strlen"):
            self.assertLess(self.typical_loss(by_size[name]), self.typical_loss(flat[name]))
            self.assertEqual(len(flat[name]["sequences"]), 1)

    def test_variants_by_processor_have_the_sizes_of_what_they_are(self):
        """What perf names where libc's debug symbols are installed."""
        self.record("libc.so.6:__memset_*_unaligned_erms,libc.so.6:__strlen_*,libc.so.6:__memmove_*_unaligned_erms")
        functions = [f for f in self.analyze()["functions"] if f["occurrences"] >= CALLS]
        variants = [f for f in functions if f["name"].startswith("__")]
        if not variants:
            self.skipTest("the debug symbols of libc are not installed")
        for function in variants:
            key = "return" if "strlen" in function["name"] else "n"
            self.assertIn(f"({key}=", function["sequences"][0]["name"])


if __name__ == "__main__":
    unittest.main()
