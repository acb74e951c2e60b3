#!/usr/bin/python3
"""Two recordings of a program, one with fewer threads: what varies by itself, and what comes with the threads."""

import os
import unittest

from harness import Case

MICROBENCH = os.environ["MICROBENCH"]
ATTEMPTS = 5  # what else runs on the machine disturbs as well


class Alone(Case):
    def record(self, function: str, threads: int, name: str, *command):
        self.succeeded(self.run_in_folder("nice", "-n", "-20", os.environ["RDAM"], "record", "-f", function, "-o", name, "--", MICROBENCH, command[0],
                                          "--threads", threads, *command[1:]))

    def first_hint(self, function: str, *command) -> dict:
        self.record(function, 1, "one.bin", *command)
        self.record(function, 2, "many.bin", *command)
        row = next(row for row in self.analyze("many.bin", "--alone", "one.bin", "--threshold=0.02")["functions"] if row["name"] == function)
        for name in ("one.bin", "many.bin"):
            (self.folder / name).unlink()
        return row["hints"][0]

    def check(self, kind: str, function: str, *command):
        for _ in range(ATTEMPTS):
            hint = self.first_hint(function, *command)
            if hint["kind"] == kind:
                break
        self.assertEqual(hint["kind"], kind, hint["text"])
        self.assertIn("with 1 thread, and ", hint["text"])
        self.assertIn("with 2 threads", hint["text"])

    def test_search(self):
        self.check("varies_alone", "search_list", "falsepositive", "--iterations", "5000")

    def test_triangular_loop(self):
        self.check("varies_alone", "triangle_row", "falsepositive", "--kind", "triangle", "--iterations", "5000")

    def test_lock(self):
        self.check("with_threads", "lock_increment", "lock", "--pin", "--together", "--work", "25us", "--delay", "20us", "--iterations", "2000")

    def test_refused(self):
        self.record("search_list", 1, "one.bin", "falsepositive", "--iterations", "50")
        done = self.rdam("analyze", "--alone", "none.bin", "one.bin")
        self.assert_one_line(done, 1, "none.bin")
        self.assert_one_line(self.rdam("analyze", "--alone", "one.bin", "--diff", "one.bin", "one.bin"), 2, "--alone")
        self.assert_one_line(self.rdam("analyze", "--alone", "one.bin", "one.bin", "one.bin"), 2, "--alone")
        # Nothing can be compared: as many threads.
        done = self.rdam("analyze", "--alone", "one.bin", "--threshold=0", "one.bin")
        self.assertIn("one.bin: no function that scores at least 0 in one.bin was called often enough here by fewer threads: nothing can be",
                      done.stderr.decode())
        kinds = [hint["kind"] for row in self.analyze("one.bin", "--alone", "one.bin")["functions"] for hint in row["hints"]]
        self.assertNotIn("varies_alone", kinds)
        self.assertNotIn("with_threads", kinds)


if __name__ == "__main__":
    unittest.main()
