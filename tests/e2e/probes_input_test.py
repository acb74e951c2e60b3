#!/usr/bin/python3
"""Pairs of uprobes, recorded by perf and ftrace in this test, against what the program says of itself."""

import contextlib
import csv
import io
import os
import pathlib
import re
import subprocess
import time
import unittest

from harness import TIMEOUT, Case

TRACING = pathlib.Path("/sys/kernel/tracing")
GROUP = f"rdam{os.getpid()}"

PROGRAM = r"""
#include <pthread.h>
#include <unistd.h>
__attribute__((noinline)) long inner(int n, const char* text) {
    for (volatile int i = 0; i < 500; ++i) {}
    return text[0] + n;
}
__attribute__((noinline)) long outer(int n) {
    if (n == 3) usleep(3000);
    return 2 * inner(n, "abc def") + inner(-1, "x\"y");
}
static void* work(void* unused) {
    for (int i = 0; i < 40; ++i) outer(i);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    return 0;
}
"""

# Of each thread: what outer and inner were called with, and returned.
EXPECTED = []
for i in range(40):
    EXPECTED += [("inner", f"{i} abc def", 97 + i), ("inner", '-1 x"y', 119), ("outer", f"{i}", 2 * (97 + i) + 119)]


class ProbesInput(Case):
    def setUp(self):
        super().setUp()
        self.need("gcc", "nm")
        (self.folder / "app.c").write_text(PROGRAM)
        self.must("gcc", "-g", "-O1", "-pthread", "-o", "app", "app.c")

    def must(self, *command) -> str:
        done = self.run_in_folder(*command)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode()

    def may(self, *command) -> str:
        """What this kernel, or this user, may not be allowed to do."""
        done = self.run_in_folder(*command)
        if done.returncode != 0:
            self.skipTest(f"{command[0]} {command[1]} is not allowed here: {(done.stderr.decode().strip().splitlines() or ['?'])[-1]}")
        return done.stdout.decode()

    def calls(self, text: str) -> dict[str, list]:
        (self.folder / "probes.txt").write_text(text)
        done = self.rdam("export", "--format", "csv", "probes.txt")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        threads = {}
        for row in csv.DictReader(io.StringIO(done.stdout.decode(), newline="")):
            threads.setdefault(row["thread"], []).append(row)
        return threads

    def check(self, text: str, lines_of_function):
        """Each pair of lines is a call, with their times and values; `lines_of_function`: (event, is return, time, values) of a line."""
        threads = self.calls(text)
        self.assertEqual(len(threads), 2)
        expected = {}
        opened = {}
        for tid, event, returns, at, values in lines_of_function:
            if not returns:
                opened.setdefault(tid, []).append((event, at, values))
                continue
            function, begin, arguments = opened[tid].pop()
            expected.setdefault(tid, []).append((function, at - begin, arguments, values))
        for tid, rows in threads.items():
            self.assertEqual(len(rows), 120)
            for row, (function, duration, arguments, result), (name, wanted, value) in zip(rows, expected[tid], EXPECTED, strict=True):
                self.assertEqual(row["function"], function)
                self.assertEqual(function, name)
                self.assertEqual(int(row["end_ns"]) - int(row["begin_ns"]), duration)
                self.assertEqual(int(row["result"]), value)
                self.assertEqual(int(result, 0), value)
                number, _, string = wanted.partition(" ")
                self.assertTrue(arguments.startswith(f"n={number}"), arguments)
                self.assertEqual(row["parameters"], f"n={number}" + (', s="' + string.replace('"', '\\"') + '"' if string else ""))

    def lines(self, text: str, pattern: str):
        for line in text.splitlines():
            if found := re.fullmatch(pattern, line.strip()):
                tid, seconds, decimals, event, arrow, values = found.groups()
                name = event.rpartition(":")[2]
                values = values.strip()
                yield (tid, re.sub("(__return|_ret)$", "", name), bool(arrow),
                       int(seconds) * 10**9 + int(decimals.ljust(9, "0")), values.rpartition("=")[2] if arrow else values)

    def test_perf(self):
        self.need("perf")
        self.addCleanup(self.run_in_folder, "perf", "probe", "-q", "-d", f"{GROUP}:*")
        for probe in ("inner n s=text:string", "inner%return ret=$retval:s64", "outer n", "outer%return ret=$retval:s64"):
            name = "" if "%" in probe else probe.split()[0]
            of_group = f"{GROUP}:{name or probe.split('%')[0] + '__return'}={probe}"
            self.may("perf", "probe", "-q", "-x", "./app", of_group)
        self.may("perf", "record", "-q", "-a", "-o", "perf.data", "-e", f"{GROUP}:*", "-e", "sched:sched_switch", "./app")
        pattern = r".*? +(?:\d+/)?(\d+) +\[\d+\] +(\d+)\.(\d+): +(\S+): \([0-9a-f]+( <- [0-9a-f]+)?\)(.*)"
        for options in ((), ("--ns",), ("--ns", "-F", "comm,pid,tid,cpu,time,event,trace")):
            text = self.must("perf", "script", *options, "-i", "perf.data")
            self.check(text, self.lines(text, pattern))
        done = self.rdam("analyze", "--json", "probes.txt")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        slept = [row for rows in self.calls(text).values() for row in rows if row["parameters"] == "n=3" and row["function"] == "outer"]
        self.assertTrue(all(int(row["end_ns"]) - int(row["begin_ns"]) > 3_000_000 for row in slept))

        self.assert_one_line(self.rdam("analyze", self.without_returns(text)), 1, "calls.txt", "no pair of probes", f"{GROUP}:inner")

    def without_returns(self, text: str) -> str:
        (self.folder / "calls.txt").write_text("\n".join(line for line in text.splitlines() if "<-" not in line))
        return "calls.txt"

    def set(self, name: str, value: str):
        # uprobe_events forgets all others when it is cut, and takes nothing behind a place that was sought.
        file = os.open(TRACING / name, os.O_WRONLY | (0 if name == "uprobe_events" else os.O_TRUNC))
        try:
            os.write(file, value.encode())
        finally:
            os.close(file)

    def trace_with_ftrace(self):
        if not os.access(TRACING / "uprobe_events", os.W_OK):
            with contextlib.suppress(OSError):
                subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACING], capture_output=True, timeout=TIMEOUT, check=False)
        symbols = {name: address for address, _, name in (line.split() for line in self.must("nm", "--defined-only", "app").splitlines()
                                                          if len(line.split()) == 3)}
        app = self.folder / "app"
        before = (TRACING / "tracing_on").read_text() if os.access(TRACING / "tracing_on", os.R_OK) else "1"
        try:
            self.addCleanup(self.set, "tracing_on", before)  # trace-cmd leaves it off
            for name, values in (("inner", "n=%di:s32 s=+0(%si):string"), ("outer", "n=%di:s32")):
                self.set("uprobe_events", f"p:{GROUP}/{name} {app}:0x{symbols[name]} {values}\n")
                self.addCleanup(self.set, "uprobe_events", f"-:{GROUP}/{name}\n")
                self.set("uprobe_events", f"r:{GROUP}/{name}_ret {app}:0x{symbols[name]} ret=$retval:s64\n")
                self.addCleanup(self.set, "uprobe_events", f"-:{GROUP}/{name}_ret\n")
            self.set("trace", "")
            self.set("tracing_on", "1")
            self.set(f"events/{GROUP}/enable", "1")
        except OSError as error:
            self.skipTest(f"ftrace's uprobes are not allowed here: {error}")
        try:
            self.must("./app")
            time.sleep(0.1)
        finally:
            self.set(f"events/{GROUP}/enable", "0")

    def test_ftrace_and_trace_cmd(self):
        self.trace_with_ftrace()
        text = (TRACING / "trace").read_text()
        if "outer: (" not in text:
            self.skipTest("ftrace recorded nothing here")
        pattern = r".*?-(\d+) +\[\d+\] +(?:\S+ +)?(\d+)\.(\d+): (\S+): +\((?:0x)?[0-9a-f]+( <- (?:0x)?[0-9a-f]+)?\)(.*)"
        self.check(text, self.lines(text, pattern))
        self.need("trace-cmd")
        self.may("trace-cmd", "extract", "-o", "trace.dat")
        for options in ((), ("-t",)):
            text = self.must("trace-cmd", "report", *options, "-i", "trace.dat")
            self.check(text, self.lines(text, pattern))

    def check_marks(self, text: str):
        """Each thread has 40 calls of outer with two of inner in it, at the times of the marks in the text."""
        marks = re.findall(r"-(\d+) .*? (\d+)\.(\d+): (?:print: +)?\w+: ([BE])\|\d+\|?(\w*)", text)
        expected, opened = {}, {}
        for tid, seconds, decimals, kind, name in marks:
            at = int(seconds) * 10**9 + int(decimals.ljust(9, "0"))
            if kind == "B":
                opened.setdefault(tid, []).append((name, at))
            else:
                name, begin = opened[tid].pop()
                expected.setdefault(tid, []).append((name, at - begin))
        self.assertEqual([sorted(name for name, _ in calls) for calls in expected.values()], 2 * [["inner"] * 80 + ["outer"] * 40])
        # The calls are in the order in which they end.
        got = {tid: [(row["function"], int(row["end_ns"]) - int(row["begin_ns"])) for row in rows] for tid, rows in self.calls(text).items()}
        self.assertEqual(sorted(got.values()), sorted(expected.values()))

    def test_marks(self):
        marks = PROGRAM.replace("#include <unistd.h>", """#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
static int file;
static void mark(const char* name) {
    char text[64];
    write(file, text, snprintf(text, sizeof text, name ? "B|%d|%s" : "E|%d", getpid(), name));
}""").replace("for (volatile", 'mark("inner"); for (volatile').replace("return text", "mark(0); return text")
        marks = marks.replace("if (n == 3)", 'mark("outer"); if (n == 3)').replace("return 2 *", "long sum = 2 *")
        marks = marks.replace('"x\\"y");', '"x"); mark(0); return sum;').replace(
            "pthread_t thread;", f'pthread_t thread; file = open("{TRACING}/trace_marker", O_WRONLY); if (file < 0) return 1;')
        (self.folder / "app.c").write_text(marks)
        self.must("gcc", "-w", "-g", "-O1", "-pthread", "-o", "app", "app.c")
        try:
            self.addCleanup(self.set, "tracing_on", (TRACING / "tracing_on").read_text())
            self.set("trace", "")
            self.set("tracing_on", "1")
            self.may("./app")
            text = (TRACING / "trace").read_text()
        except OSError as error:
            self.skipTest(f"ftrace's marks are not allowed here: {error}")
        if "B|" not in text:
            self.skipTest("ftrace recorded nothing here")
        self.check_marks(text)
        self.need("trace-cmd")
        self.may("trace-cmd", "extract", "-o", "trace.dat")
        self.check_marks(self.must("trace-cmd", "report", "-t", "-i", "trace.dat"))

    def test_function_graph(self):
        """Of this kernel's own functions, where it has the tracer; tests/unit/inputs has lines that are made by hand."""
        tracers = TRACING / "available_tracers"
        if not os.access(tracers, os.R_OK) or "function_graph" not in tracers.read_text().split():
            self.skipTest("this kernel has no tracer function_graph, or nobody may use it here")
        self.need("trace-cmd")
        self.may("trace-cmd", "record", "-p", "function_graph", "-g", "vfs_read", "-o", "trace.dat", "cat", "/etc/passwd")
        text = self.must("trace-cmd", "report", "-t", "-i", "trace.dat")
        begun = len(re.findall(r"vfs_read\(.*\{|vfs_read\(.*;", text))
        rows = [row for rows in self.calls(text).values() for row in rows if row["function"] == "vfs_read"]
        self.assertEqual(len(rows), begun)


if __name__ == "__main__":
    unittest.main()
