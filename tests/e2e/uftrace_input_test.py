#!/usr/bin/python3
"""rdam on what uftrace has recorded, call by call against `uftrace dump` of the same directory."""

import collections
import csv
import io
import json
import re
import shutil
import struct
import subprocess
import unittest
from dataclasses import dataclass, field

from harness import TIMEOUT, Case

CALLS = r"""
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <csetjmp>
#include <vector>
namespace app {
struct Pair { int a, b; };
struct Job {
    int run(short s, unsigned char c) { return s + c; }
};
long sum(int a, long b, unsigned u, const char* text) { return a + b + u + (long)strlen(text); }
double scaled(double d, float f) { return d * f; }
const char* text_of(int i) { static const char* texts[] = {"", "one", "two \"quoted\"", nullptr}; return texts[i % 4]; }
std::string greeting(const std::string& name) { return "hello " + name; }
int of_pair(Pair p, int more) { return p.a + p.b + more; }
void nap() { usleep(300); }
int deep(int n) { return n == 0 ? 0 : deep(n - 1) + 1; }
void thrown(int n) { if (n == 0) throw std::runtime_error("x"); thrown(n - 1); }
void caught() { try { thrown(4); } catch (const std::exception&) { sum(-1, 1, 1, "caught"); } }
void work(int id) {
    Job job;
    for (int i = 0; i < 200; ++i) {
        sum(i - 3, -i, 4000000000U, text_of(i % 3));
        scaled(i, 0.5F);
        text_of(i);
        greeting("you");
        of_pair({i, id}, i);
        job.run((short)-i, (unsigned char)i);
        if (i % 50 == 0) { nap(); caught(); deep(20); }
    }
}
}
int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back(app::work, i);
    for (auto& each : threads) each.join();
}
"""

PROCESSES = r"""
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int inner(int n) { return n * 2; }
int child(int n) { return inner(n) + 1; }
int main(int argc, char** argv) {
    if (argc > 1) return inner(argc) - 4;
    if (fork() == 0) { child(5); execl("/proc/self/exe", argv[0], "again", (char*)0); _exit(1); }
    wait(0);
    if (fork() == 0) { child(7); exit(0); }
    wait(0);
    return inner(0);
}
"""

LEAP = r"""
#include <setjmp.h>
static jmp_buf place;
int leaf(int n) { return n + 1; }
int deep(int n) { leaf(n); if (n == 0) longjmp(place, 1); return deep(n - 1) + leaf(n); }
int after(int n) { return leaf(n); }
int main(void) {
    for (int i = 0; i < 3; ++i) { if (setjmp(place) == 0) deep(4); else after(i); leaf(i); }
    return 0;
}
"""

RECORD = re.compile(r"(\d+)\.(\d{9}) +(\d+): \[(entry|exit |args |retval|event)\] (.*)")
CALLEE = re.compile(r"(.*)\(([0-9a-f]+)\) depth: (\d+)")
VALUE = re.compile(r"  (?:args\[\d+\]|retval) ([^:]+):(.*)")


@dataclass
class Call:
    function: str
    begin: int
    end: int | None
    depth: int
    arguments: list = field(default_factory=list)
    result: list = field(default_factory=list)


def simple(name: str) -> str:
    """As uftrace writes it: without template arguments and parameters."""
    kept, depth = [], 0
    for letter in name:
        depth += letter in "<("
        if depth == 0:
            kept.append(letter)
        depth -= letter in ">)"
    # uftrace calls an inherited constructor as the class that has inherited it.
    return "".join(kept).replace("__uniq_ptr_data::__uniq_ptr_impl", "__uniq_ptr_data::__uniq_ptr_data")


def value_of(kind: str, text: str):
    """As rdam takes it; None: it does not."""
    text = text.removeprefix(" ")
    if kind in ("str", "std"):
        return text.removeprefix(":string: ")
    if kind.startswith("struct"):
        return None
    bits = int(re.sub(r"\D", "", kind) or 64)
    number = 0 if text == "(nil)" else int(text.split()[0], 16)
    letter = kind[0]
    if letter == "f":
        return struct.unpack({32: "<f", 64: "<d"}[bits], number.to_bytes(bits // 8, "little"))[0]
    if letter in "uxp":
        return number
    if letter == "d" and 0xffff0000 < number <= 0xffffffff:
        return number - (1 << 32)
    return number - (1 << bits) if number >> (bits - 1) else number


def joined(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """rdam divides the times at which another thread of the program had the processor."""
    all_of_them = []
    for begin, end in intervals:
        if all_of_them and all_of_them[-1][1] == begin:
            begin = all_of_them.pop()[0]
        all_of_them.append((begin, end))
    return all_of_them


class Dump:
    """The calls of each task, matched by depth, and the scheduler's events."""

    def __init__(self, folder, name, fields):
        done = subprocess.run(["uftrace", "dump", "--no-pager", "-d", name], cwd=folder, capture_output=True, timeout=TIMEOUT, check=True)
        self.calls, self.switches = collections.defaultdict(list), collections.defaultdict(list)
        stacks, values = collections.defaultdict(dict), []
        for line in done.stdout.decode(errors="replace").splitlines():
            if (m := VALUE.match(line)) and fields is not None:
                values.append(value_of(m[1], m[2]))
                continue
            if not (m := RECORD.fullmatch(line)):
                continue
            at, tid, kind, rest = int(m[1]) * 10**9 + int(m[2]), int(m[3]), m[4], m[5]
            if kind == "event":
                self.switches[tid].append((at, rest))
            if kind in ("args ", "retval"):
                values = self.last.arguments if kind == "args " else self.last.result
            if kind in ("entry", "exit "):
                self.take(tid, kind == "entry", at, *CALLEE.fullmatch(rest).groups(), stacks[tid])

    def take(self, tid, enters, at, function, _address, depth, stack):
        depth = int(depth)
        if enters:
            self.last = stack[depth] = Call(function, at, None, depth)
            self.calls[tid].append(self.last)
            for deeper in [each for each in stack if each > depth]:
                del stack[deeper]
        elif depth in stack and stack[depth].function == function:
            self.last = stack.pop(depth)
            self.last.end = at
        else:
            self.last = Call(function, 0, at, depth)  # its beginning is not in the directory

    def absences(self, tid) -> list[tuple[int, int]]:
        found, out = [], None
        for at, event in sorted(self.switches[tid]):
            if "sched-in" in event and out is not None and out < at:
                found.append((out, at))
            if "sched-" in event:
                out = at if "sched-out" in event else None
        return found


class Uftrace(Case):
    def setUp(self):
        super().setUp()
        self.need("uftrace", "g++", "gcc")

    def build(self, source: str, *options, compiler="g++"):
        self.source = self.folder / f"program.{'cpp' if compiler == 'g++' else 'c'}"
        self.source.write_text(source)
        done = self.run_in_folder(compiler, "-O0", "-g", *options, "-o", "program", self.source, "-pthread")
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def record(self, *options):
        done = self.run_in_folder("uftrace", "record", "-d", "data", *options, "./program")
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def rows(self) -> dict[int, list[dict]]:
        done = self.rdam("export", "--format", "csv", "data")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        rows = collections.defaultdict(list)
        for row in csv.DictReader(io.StringIO(done.stdout.decode(), newline="")):
            rows[int(row["thread"])].append(row)
        return rows

    def origin(self, dump: Dump, rows) -> int:
        """When the trace begins, on uftrace's clock."""
        first = min(int(row["begin_ns"]) for each in rows.values() for row in each)
        return min(call.begin for calls in dump.calls.values() for call in calls if call.begin) - first

    def compare(self, *, values=True) -> Dump:
        """All calls with an end, in the order in which they ended."""
        dump, rows = Dump(self.folder, "data", values), self.rows()
        origin = self.origin(dump, rows)
        self.assertEqual(set(rows), set(dump.calls))
        self.texts = set()
        for tid, calls in dump.calls.items():
            expected = sorted((call.end, -call.depth, call.begin, simple(call.function), call) for call in calls if call.end is not None)
            seen = [row for row in rows[tid] if row["end"] == "returned"]
            seen.sort(key=lambda row: (int(row["end_ns"]), -int(row["depth"])))
            self.assertEqual([(end - origin, begin - origin, name) for end, _, begin, name, _ in expected],
                             [(int(row["end_ns"]), int(row["begin_ns"]), simple(row["function"])) for row in seen])
            if values:
                for (*_, call), row in zip(expected, seen, strict=True):
                    self.compare_values(call.arguments, self.parts(row["parameters"]), row)
                    self.compare_values(call.result, [row["result"]] if row["result"] else [], row)
        return dump

    def parts(self, text: str) -> list[str]:
        return re.findall(r'\w+=("(?:[^"\\]|\\.)*"|[^,]*)', text)

    def compare_values(self, expected, seen, row):
        """A call of which uftrace has recorded nothing has zeros."""
        expected = [value for value in expected if value is not None]
        if not expected:
            self.assertFalse([text for text in seen if text != "-" and float(int(text, 0) if text.startswith("0x") else text)], row)
            return
        self.assertEqual(len(expected), len(seen), row)
        for value, text in zip(expected, seen, strict=True):
            if isinstance(value, str):
                self.assertEqual('"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"', text, row)
                self.texts.add(value)
            elif isinstance(value, float):
                self.assertAlmostEqual(value, float(text), places=4, msg=row)
            else:
                self.assertEqual(value, int(text, 0), row)

    def test_every_call_of_every_thread_with_the_values_that_are_asked_for(self):
        self.build(CALLS, "-pg")
        self.record("-A", "app::sum@arg1/i32,arg2,arg3/u32,arg4/s", "-R", "app::sum@retval", "-A", "app::scaled@fparg1/64,fparg2/32", "-R",
                    "app::scaled@retval/f64", "-A", "app::Job::run@arg2/i16,arg3/u8", "-R", "app::text_of@retval/s")
        dump = self.compare()
        self.assertEqual(len(dump.calls), 4)
        self.assertEqual(sum(call.function == "app::sum" for calls in dump.calls.values() for call in calls), 3 * 204)
        self.assertGreaterEqual(len(self.texts), 4)

    def test_every_call_with_the_values_that_debug_information_tells(self):
        self.build(CALLS, "-pg")
        self.record("--auto-args")
        dump = self.compare()
        with_values = {call.function for calls in dump.calls.values() for call in calls if call.arguments}
        self.assertLessEqual({"app::sum", "app::scaled", "app::of_pair", "usleep"}, with_values)
        functions = {each["name"]: each for each in self.analyze("data")["functions"]}
        self.assertEqual(functions["app::sum"]["occurrences"], 3 * 204)

    def test_programs_that_are_instrumented_in_other_ways(self):
        self.build(LEAP, "-finstrument-functions", compiler="gcc")
        self.record()
        self.compare(values=False)
        shutil.rmtree(self.folder / "data")
        self.build(CALLS)
        self.record("-P", ".")
        dump = self.compare(values=False)
        self.assertIn("app::work", {call.function for calls in dump.calls.values() for call in calls})

    def test_calls_that_longjmp_leaves_end_then(self):
        self.build(LEAP, "-pg", compiler="gcc")
        self.record("--no-event")
        self.compare(values=False)
        rows = [row for each in self.rows().values() for row in each]
        unwound = collections.Counter(row["function"] for row in rows if row["end"] == "unwound")
        self.assertEqual(unwound, {"deep": 15, "longjmp": 3})
        self.assertEqual({row["depth"] for row in rows if row["function"] == "after"}, {"1"})

    def test_forked_processes_and_programs_that_they_execute(self):
        self.build(PROCESSES, "-pg", compiler="gcc")
        self.record("-A", "inner@arg1/i32", "-R", "inner@retval/i32")
        dump = self.compare()
        self.assertEqual(len(dump.calls), 3)
        done = self.rdam("analyze", "data")
        self.assertIn("The directory has the threads of 3 processes, which are analyzed together.", done.stdout.decode())

    def test_the_scheduler_s_events_are_times_off_the_processor(self):
        self.build(CALLS, "-pg")
        self.record("-E", "linux:schedule")
        if not any(path.stat().st_size for path in self.folder.glob("data/perf-cpu*.dat")):
            self.skipTest("the kernel does not let uftrace record switches here")
        dump = self.compare(values=False)
        origin = self.origin(dump, self.rows())
        self.assertEqual(self.rdam("export", "--format", "json", "-o", "out.json", "data").returncode, 0)
        off = collections.defaultdict(list)
        for event in json.loads((self.folder / "out.json").read_text())["traceEvents"]:
            if event.get("cat") == "off the processor":
                off[event["tid"] % (1 << 28)].append((round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000)))
        self.assertGreater(sum(len(dump.absences(tid)) for tid in dump.calls), 8)
        for tid in dump.calls:
            expected = [(out - origin, back - origin) for out, back in dump.absences(tid)]
            self.assertEqual(joined(expected), joined(sorted(off[tid])))

    def test_directories_that_are_cut_or_of_another_machine_are_refused_in_one_line(self):
        self.build(LEAP, "-pg", compiler="gcc")
        self.record("--no-event")
        info, records = self.folder / "data/info", next(self.folder.glob("data/[0-9]*.dat"))
        whole = info.read_bytes()
        info.write_bytes(whole[:14] + b"\2" + whole[15:])
        self.assert_one_line(self.rdam("analyze", "data"), 1, "data/info", "big-endian")
        info.write_bytes(whole[:8] + b"\x63" + whole[9:])
        self.assert_one_line(self.rdam("analyze", "data"), 1, "data/info", "version 99")
        info.write_bytes(whole[:30])
        self.assert_one_line(self.rdam("analyze", "data"), 1, "data/info", "ends within its header")
        info.write_bytes(whole)
        events = records.read_bytes()
        records.write_bytes(events[:-5])
        self.assert_one_line(self.rdam("analyze", "data"), 1, records.name, "ends within the record")
        records.write_bytes(events[:32] + b"\0" * 16 + events[48:])
        self.assert_one_line(self.rdam("analyze", "data"), 1, records.name, "byte 32")
        (self.folder / "data/task.txt").unlink()
        self.assert_one_line(self.rdam("analyze", "data"), 1, "task.txt", "missing")


if __name__ == "__main__":
    unittest.main()
