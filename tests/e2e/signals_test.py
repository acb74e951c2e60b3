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
            for options in ((), ("--no-args",), ("--stack-period", "1")):
                with self.subTest((functions, options)):
                    calls = 40_000 if options else 3_000_000
                    done = self.succeeded(self.rdam("record", "-o", "trace.bin", "-f", functions, *options, "--", PROGRAMS / "signals", str(calls)))
                    entered, often = done.stdout.split()
                    if not options:
                        self.assertEqual(often, b"1")
                    report = self.analyze()
                    counts = {f["name"]: f["occurrences"] for f in report["functions"]}
                    self.assertEqual((counts["work"], report["trace"]["dropped"]), (int(entered), 0))
                    if "scaled" in functions:
                        self.assertEqual(counts["scaled"], 2 * calls)


    def test_handlers_in_threads_that_are_ending(self):
        """Behind the thread's last destructor, too, a handler may call what is wrapped."""
        done = self.succeeded(self.rdam("record", "-o", "trace.bin", "-f", "work", "--", PROGRAMS / "signals", "ending", "3000"))
        report = self.analyze()
        self.assertEqual((report["functions"][0]["occurrences"], report["trace"]["dropped"]), (int(done.stdout.split()[0]), 0))


class Stepped(Case):
    """A signal at each instruction of the probes of a stack frame, a shadow frame and a tail call."""

    def run_stepped(self, rounds: int, fill: int, calls: int, stride: int = 1, **settings: str):
        """The counts of the program and those of the trace, the report, and how many signals there were."""
        environment = {**os.environ, "RDAM_FUNCTIONS": "work,scaled,summed,first,second", "RDAM_OUTPUT": "stepped.bin", **settings}
        done = subprocess.run([PROGRAMS / "steps", LIBRDAM, *(str(n) for n in (rounds, fill, calls, stride))],
                              cwd=self.folder, capture_output=True, env=environment, check=False)
        if done.returncode in (4, 10):
            self.skipTest("this process may not trace another (ptrace is forbidden here)")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        words = done.stdout.split()
        report = self.analyze("stepped.bin")
        self.assertEqual({f["name"]: f["occurrences"] for f in report["functions"]},
                         {name.decode(): int(number) for name, number in zip(words[::2], words[1::2], strict=True)})
        return report, int(done.stderr.split()[-2])

    def step(self, rounds: int, fill: int, calls: int, stride: int = 1, **settings: str):
        report, signals = self.run_stepped(rounds, fill, calls, stride, **settings)
        self.assertEqual((report["trace"]["dropped"], report["trace"]["abandoned"]), (0, 0))
        self.assertFalse([note for note in report["trace"]["notes"] if "never written" in note])
        # More than 100 instructions a call, or nothing was stepped through.
        self.assertGreater(signals * stride, rounds * 4 * 100)

    def test_gates_count_every_call(self):
        """Open or closed, and the handler's calls of the function whose gate it interrupts, too."""
        report, signals = self.run_stepped(4, 100, 3, RDAM_FUNCTIONS="~work,~scaled,~summed,~first,~second")
        self.assertTrue(all(f["counted"] for f in report["functions"]))
        self.assertGreater(signals, 4 * 4 * 3)

    def test_a_handler_with_few_calls(self):
        self.step(2, 100, 3)

    def test_a_handler_that_fills_a_chunk(self):
        """The interrupted probe has an event record in a chunk that is handed over before the record is written."""
        self.step(4, 0, 7000, 4)

    def test_at_the_end_of_a_chunk(self):
        # An event of 24 and one of 16 bytes a call, a chunk's limit at 57,344 behind a header of 64.
        full = (57_344 - 64) // 40
        for fill in (full, *random.Random().sample(range(full - 150, full), 3)):
            with self.subTest(fill):
                self.step(1, fill, 1, RDAM_STACK_PERIOD="0", RDAM_ARGS="0")

    def test_where_a_call_stack_is_taken(self):
        self.step(1, 10, 1, 7, RDAM_STACK_PERIOD="1")


class Killed(Case):
    def test_at_a_random_moment(self):
        moments = random.Random()
        for _ in range(12):
            pause = moments.uniform(0, 0.3)
            with self.subTest(pause):
                counter = self.folder / "returned"
                counter.unlink(missing_ok=True)
                said = self.folder / "said"
                with said.open("wb") as stderr, \
                     subprocess.Popen([PROGRAMS / "signals", "kept", counter], cwd=self.folder, stderr=stderr,
                                      env={**os.environ, "LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": "work", "RDAM_OUTPUT": "killed.bin"}) as program:
                    self.until(lambda: counter.exists() and any(counter.read_bytes()[:8]), "no call has returned")  # noqa: B023
                    time.sleep(pause)
                    program.kill()
                    program.wait()
                returned = struct.unpack("<Q", counter.read_bytes()[:8])[0]
                # The analyzer waits for the recorder's end.
                report = self.analyze("killed.bin")
                count, = (function["occurrences"] for function in report["functions"])
                self.assertIn(count, (returned, returned + 1), (said.read_text(), report["trace"]))
                (self.folder / "killed.bin").unlink()


if __name__ == "__main__":
    unittest.main()
