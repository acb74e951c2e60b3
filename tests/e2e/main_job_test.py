#!/usr/bin/python3
"""perf record, rdam hot, rdam record, rdam-analyze, one after the other on programs that are installed, and their counts
beside counts that do not come from rdam."""

import pathlib
import re
import unittest

from harness import RDAM, Case

ANALYZE = pathlib.Path(RDAM).with_name("rdam-analyze")


class MainJob(Case):
    def hot_list(self, *program) -> str:
        sampled = self.run_in_folder("perf", "record", "-q", "-e", "cpu-clock", "-F", "1999", "-g", "-o", "perf.data", "--", *program)
        if sampled.returncode != 0:
            self.skipTest("perf cannot sample here: " + sampled.stderr.decode().strip().splitlines()[-1])
        hot = self.rdam("hot", "perf.data")
        self.assertEqual(hot.returncode, 0, hot.stderr.decode())
        (self.folder / "hot.txt").write_bytes(hot.stdout)
        return hot.stdout.decode()

    def rdam_analyze(self) -> pathlib.Path:
        """The program under its other name, as it is installed."""
        link = self.folder / "rdam-analyze"
        link.symlink_to(RDAM)
        return link

    def test_pigz_counts_agree_with_gdb(self):
        self.need("perf", "pigz", "gdb")
        (self.folder / "input").write_bytes(bytes(i * i % 251 ^ (i >> 7) & 63 for i in range(6_000_000)))
        command = ("pigz", "-p", "2", "-c", "input")
        hot = self.hot_list(*command)
        self.assertRegex(hot, r"(?m)^libz\.so\.[0-9.]+:")
        self.assertRegex(hot, r"(?m)^libc\.so\.6:pthread_cond_wait .*wait")
        with open(self.folder / "hot.txt", "a", encoding="utf-8") as lines:
            lines.write("libz.so.1:deflate\nlibz.so.1:deflateSetDictionary\n")
        plain = self.run_in_folder(*command)
        done = self.rdam("record", "-f", "hot.txt", "--", *command)
        self.assertEqual((done.returncode, done.stdout == plain.stdout), (0, True), done.stderr.decode())
        table = self.run_in_folder(self.rdam_analyze(), "trace.bin")
        self.assertEqual(table.returncode, 0, table.stderr.decode())
        self.assertEqual(table.stdout, self.rdam("analyze", "trace.bin").stdout)
        counts = self.counts()
        gdb = self.run_in_folder(
            "gdb", "-q", "-nx", "-batch", "-ex", "set breakpoint pending on", "-ex", "set debuginfod enabled off",
            "-ex", "break deflate", "-ex", "ignore 1 100000000", "-ex", "break deflateSetDictionary", "-ex", "ignore 2 100000000",
            "-ex", "run > /dev/null", "-ex", "info breakpoints", "--args", *command)
        hits = re.findall(r"already hit (\d+) time", gdb.stdout.decode())
        if len(hits) != 2:
            self.skipTest("gdb cannot run programs here: " + gdb.stderr.decode().strip()[-200:])
        self.assertEqual([counts["deflate"], counts["deflateSetDictionary"]], [int(hit) for hit in hits])
        self.assertGreater(counts["deflate"], 40)

    def test_sysbench_counts_agree_with_its_own(self):
        self.need("perf", "sysbench")
        yields = 50
        command = ("sysbench", "threads", "--threads=2", "--thread-locks=1", f"--thread-yields={yields}", "--events=2000",
                   "--time=0", "run")
        hot = self.hot_list(*command)
        self.assertIn("libc.so.6:pthread_mutex_lock", hot)
        done = self.rdam("record", "-f", "hot.txt", "--", *command)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        events = int(re.search(rb"total number of events:\s+(\d+)", done.stdout).group(1))
        report = self.analyze()
        lock = next(f for f in report["functions"] if f["name"] == "pthread_mutex_lock")
        # Each event locks and unlocks `yields` times; sysbench's own start-up and reporting add some dozens.
        self.assertGreaterEqual(lock["occurrences"], events * yields)
        self.assertLess(lock["occurrences"], events * yields + 500)
        self.assertGreaterEqual(len(lock["threads"]), 2)


if __name__ == "__main__":
    unittest.main()
