#!/usr/bin/python3
"""Small traces that somebody has made up to take much time or memory: both stay in proportion to the file, and what is not read is said.

What one piece of the trace took is used for the next: taking memory anew for each would be most of the time.
"""

import os
import resource
import subprocess
import sys
import unittest

from harness import RDAM, TIMEOUT, Case

HOSTILE_TRACES = os.environ["HOSTILE_TRACES"]
MOST_MEMORY = 256 << 20
OF_FILE = 20
MOST_SECONDS = 60
TAKEN_ANEW = 2  # times as much as is in use at once, by each thread of the trace
SAID = {
    "one-tid": "46 pieces of the trace are damaged and skipped.",
    "open-calls": "calls were nested too deeply to be followed: counted, not scored.",
    "many-words": "damaged and skipped.",
    "wide-words": "1 thread, 1,184,256 events",
    "rejected": "64 pieces of the trace are damaged and skipped.",
    "open-calls-of-eight": "calls were nested too deeply to be followed: counted, not scored.",
    "many-words-of-eight": "damaged and skipped.",
    "wide-words-of-eight": "8 threads, 1,184,256 events",
    "rejected-of-eight": "64 pieces of the trace are damaged and skipped.",
    # Pieces that are not large, but many.
    "open-calls-of-eight 400 44000": "calls were nested too deeply to be followed: counted, not scored.",
    "wide-words-of-eight 400 8000": "8 threads, 3,200,000 events",
}

# Of one child, whatever the others took.
MEASURE = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], check=False)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(usage.ru_maxrss * 1024, usage.ru_minflt * resource.getpagesize(), file=sys.stderr)
sys.exit(done.returncode)
"""


# When a thread's memory goes back to the system, before or after the next one takes its own, is up to the scheduler.
ATTEMPTS = 4


class Hostile(Case):
    def measure(self, trace, jobs: str, said: str) -> tuple[int, int]:
        """Bytes at once and taken over time, of an analysis that says so."""
        done = subprocess.run([sys.executable, "-c", MEASURE, RDAM, "analyze", "--jobs", jobs, trace], capture_output=True, text=True,
                              timeout=TIMEOUT, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(said, done.stdout)
        at_once, taken = map(int, done.stderr.splitlines()[-1].split())
        return at_once, taken

    def test_shapes(self):
        for shape, said in SAID.items():
            name, *size = shape.split()
            trace = self.folder / f"{name}.bin"
            subprocess.run([HOSTILE_TRACES, name, trace, *size], check=True)
            for jobs in ("1", "8"):
                with self.subTest(shape=shape, jobs=jobs):
                    most = MOST_MEMORY + OF_FILE * trace.stat().st_size
                    for _ in range(ATTEMPTS):
                        at_once, taken = self.measure(trace, jobs, said)
                        if at_once < most:
                            break
                    self.assertLess(at_once, most)
                    self.assertLess(taken, TAKEN_ANEW * most * (8 if name.endswith("of-eight") else 1))

    def test_a_page_of_names_that_nobody_can_read(self):
        subprocess.run([HOSTILE_TRACES, "long-names", self.folder / "trace.bin"], check=True)
        self.succeeded(self.rdam("report", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))))
        page = (self.folder / "report.html").read_text()
        self.assertIn("m…m", page)
        self.assertIn("n…n", page)


if __name__ == "__main__":
    unittest.main()
