#!/usr/bin/python3
"""Signals during the recorder's work, and SIGKILL at any moment."""

import os
import random
import struct
import subprocess
import time
import unittest

from harness import LIBRDAM, PROGRAMS, Case


class Signals(Case):
    def test_handlers_that_call_wrapped_functions(self):
        for functions in ("work,scaled", "work"):
            # Not with a call stack at every call: there a handler's calls can be lost (the README's limits).
            for options in ((), ("--no-args",)):
                with self.subTest((functions, options)):
                    calls = 40_000 if options else 3_000_000
                    done = self.rdam("record", "-o", "trace.bin", "-f", functions, *options, "--", PROGRAMS / "signals", str(calls))
                    self.assertEqual(done.returncode, 0, done.stderr.decode())
                    entered, often = done.stdout.split()
                    if not options:
                        self.assertEqual(often, b"1")
                    report = self.analyze()
                    counts = {f["name"]: f["occurrences"] for f in report["functions"]}
                    self.assertEqual((counts["work"], report["trace"]["dropped"]), (int(entered), 0))
                    if "scaled" in functions:
                        self.assertEqual(counts["scaled"], 2 * calls)


class Killed(Case):
    def test_at_a_random_moment(self):
        moments = random.Random()
        for _ in range(12):
            pause = moments.uniform(0, 0.3)
            with self.subTest(pause):
                counter = self.folder / "returned"
                counter.unlink(missing_ok=True)
                with subprocess.Popen([PROGRAMS / "signals", "kept", counter], cwd=self.folder, stderr=subprocess.DEVNULL,
                                      env={**os.environ, "LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": "work", "RDAM_OUTPUT": "killed.bin"}) as program:
                    deadline = time.monotonic() + 60
                    while (not counter.exists() or not any(counter.read_bytes()[:8])) and time.monotonic() < deadline:
                        time.sleep(0.005)
                    time.sleep(pause)
                    program.kill()
                    program.wait()
                returned = struct.unpack("<Q", counter.read_bytes()[:8])[0]
                # The analyzer waits for the recorder's end.
                count = self.counts("killed.bin")["work"]
                self.assertIn(count, (returned, returned + 1))
                (self.folder / "killed.bin").unlink()


if __name__ == "__main__":
    unittest.main()
