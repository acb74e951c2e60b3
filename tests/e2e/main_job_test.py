#!/usr/bin/python3
"""perf record, rdam hot, rdam record, rdam-analyze, one after the other on programs that are installed, and their counts
beside counts that do not come from rdam."""

import os
import pathlib
import re
import shutil
import unittest

from harness import RDAM, Case


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

    def uprobe_counts(self, library: str, functions: tuple[str, ...], command) -> list[int]:
        """How often the kernel saw the functions entered in another run of the command."""
        group = f"rdam_test_{os.getpid()}"
        definitions = [f"{group}:{name}={name}" for name in functions]
        added = self.run_in_folder("perf", "probe", "-q", "-x", library, *(w for d in definitions for w in ("-a", d)))
        if added.returncode != 0:
            self.skipTest("no uprobes here: " + added.stderr.decode().strip().splitlines()[-1])
        self.addCleanup(self.run_in_folder, "perf", "probe", "-q", "-d", f"{group}:*")
        events = ",".join(f"{group}:{name}" for name in functions)
        counted = self.run_in_folder("perf", "stat", "-x", ";", "-e", events, "--", *command)
        lines = [line.split(";") for line in counted.stderr.decode().splitlines() if group in line]
        return [int(line[0]) for line in lines]

    def test_pigz_counts_agree_with_uprobes(self):
        self.need("perf", "pigz")
        # Long enough for hundreds of samples, of which the library's named functions have a tenth.
        (self.folder / "input").write_bytes(10 * bytes(i * i % 251 ^ (i >> 7) & 63 for i in range(6_000_000)))
        command = ("pigz", "-p", "2", "-c", "input")
        hot = self.hot_list(*command)
        self.assertRegex(hot, r"(?m)^libz\.so\.[0-9.]+:")
        self.assertRegex(hot, r"(?m)^(libc\.so\.6:)?pthread_cond_wait(@@\S+)? +# (wait|[0-9.]+ %)$")
        functions = ("deflate", "deflateSetDictionary")
        with open(self.folder / "hot.txt", "a", encoding="utf-8") as lines:
            lines.writelines(f"libz.so.1:{name}\n" for name in functions)
        plain = self.run_in_folder(*command)
        done = self.rdam("record", "-f", "hot.txt", "--", *command)
        self.assertEqual((done.returncode, done.stdout == plain.stdout), (0, True), done.stderr.decode())
        table = self.run_in_folder(self.rdam_analyze(), "trace.bin")
        self.assertEqual(table.returncode, 0, table.stderr.decode())
        self.assertEqual(table.stdout, self.rdam("analyze", "trace.bin").stdout)
        for name in hot.split():
            if name.startswith("libz"):
                self.assertNotIn(f"'{name}': not found", done.stderr.decode())
        report = self.analyze()
        counts = {f["name"]: f["occurrences"] for f in report["functions"]}
        self.assertGreaterEqual(len(report["threads"]), 3)
        self.assertGreater(counts["deflate"], 40)
        library = next(line.split()[-1] for line in self.run_in_folder("ldd", shutil.which("pigz")).stdout.decode().splitlines()
                       for line in [line.rsplit(" (", 1)[0]] if "libz.so" in line)
        self.assertEqual([counts[name] for name in functions], self.uprobe_counts(library, functions, command))

    def test_sysbench_counts_agree_with_its_own(self):
        self.need("perf", "sysbench")
        yields = 50
        command = ("sysbench", "threads", "--threads=2", "--thread-locks=1", f"--thread-yields={yields}", "--events=2000",
                   "--time=0", "run")
        hot = self.hot_list(*command)
        # As a waiting function, or, where a sample fell into it, as one that is hot.
        self.assertRegex(hot, r"(?m)^(libc\.so\.6:)?pthread_mutex_lock(@@\S+)? +# (wait|[0-9.]+ %)$")
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
