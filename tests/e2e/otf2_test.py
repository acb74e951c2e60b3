#!/usr/bin/python3
"""rdam export --format otf2: read with OTF2's own otf2-print, call by call against the other exports of the same trace."""

import collections
import csv
import io
import json
import math
import os
import re
import resource
import signal
import subprocess
import sys
import unittest

from harness import CACHE, PROGRAMS, RDAM, TIMEOUT, Case
from pythons import MODULE

os.environ["RDAM_PROGRAM"] = RDAM
os.environ["RDAM_CACHE"] = CACHE
sys.path.insert(0, str(MODULE))
sys.dont_write_bytecode = True

import rdam  # noqa: E402

OFF = "off the processor: "
STRING = re.compile(r'STRING +(\d+)  "(.*)"')
REGION = re.compile(r"REGION +(\d+)  Name: .* <(\d+)> \(Aka\. .* <\d+>\), Descr\.: .* <(\d+)>, Role: (\w+), Paradigm: (\w+), .*"
                    r"File: (?:UNDEFINED|.* <(\d+)>), Begin: (\d+), End: 0")
LOCATION = re.compile(r"LOCATION +(\d+)  Name: .* <(\d+)>, Type: CPU_THREAD, # Events: (\d+), Group: ")
EVENT = re.compile(r"(ENTER|LEAVE) +(\d+) +(\d+)  Region: .* <(\d+)>")
PRESENT = re.compile(r"MEASUREMENT_ON_OFF +(\d+) +\d+ +Mode: ON")
FLUSH = re.compile(r"BUFFER_FLUSH +(\d+) +\d+  Stop Time: \d+")
ATTRIBUTE = re.compile(r'\("([^"]*)" <\d+>; (\w+); ("[^"]*" <\d+>|[^)]*)\)')


class Archive:
    """What otf2-print says of one, strictly nested."""

    def __init__(self, folder):
        done = subprocess.run(["otf2-print", "-A", "-Werror", folder / "traces.otf2"], capture_output=True, timeout=TIMEOUT, check=False)
        text = done.stdout.decode()
        assert done.returncode == 0 and not done.stderr, done.stderr
        self.text = text
        lines = text.splitlines()
        self.strings = {int(m[1]): m[2] for line in lines if (m := STRING.fullmatch(line))}
        self.ns_per_tick = 1e9 / int(re.search(r"Ticks per Seconds: (\d+)", text)[1])
        self.regions = {}
        for m in filter(None, map(REGION.fullmatch, lines)):
            file = self.strings[int(m[6])] if m[6] else None
            self.regions[int(m[1])] = {"name": self.strings[int(m[2])], "module": self.strings[int(m[3])], "role": m[4], "paradigm": m[5],
                                       "source": f"{file}:{m[7]}" if file else ""}
        self.locations, events = {}, collections.Counter()
        for m in filter(None, map(LOCATION.match, lines)):
            self.locations[int(m[1])] = self.strings[int(m[2])]
            events[int(m[1])] = int(m[3])
        self.calls, self.off = collections.defaultdict(list), collections.defaultdict(list)
        self.times = collections.defaultdict(list)
        stacks = collections.defaultdict(list)
        last = collections.Counter()
        for line, following in zip(lines, [*lines[1:], ""], strict=True):
            if m := FLUSH.fullmatch(line):  # of what the recorder did
                events[int(m[1])] -= 1
            if not (m := EVENT.fullmatch(line)):
                continue
            kind, location, at, region = m[1], int(m[2]), int(m[3]) * self.ns_per_tick, int(m[4])
            assert at >= last[location], line
            last[location] = at
            events[location] -= 1
            found = ATTRIBUTE.findall(following) if "ADDITIONAL ATTRIBUTES" in following else []
            values = {name: (value_type, value) for name, value_type, value in found}
            assert len(values) == len(found), following
            self.event(kind, location, at, region, values, stacks[location])
        # That of a thread without calls.
        for m in filter(None, map(PRESENT.match, lines)):
            assert int(m[1]) not in last, "the thread has calls"
            events[int(m[1])] -= 1
        assert not any(stacks.values()), "not closed"
        assert not any(events.values()), "the number of events is another one"

    def event(self, kind, location, at, region, values, stack):
        name = self.regions[region]["name"]
        if not name.startswith(OFF):
            self.times[location].append(at)
        if kind == "ENTER":
            stack.append((region, at, values))
            return
        entered, begin, parameters = stack.pop()
        assert entered == region, "not nested"
        if name.startswith(OFF):
            times, why = self.off[location], name.removeprefix(OFF)
            if times and times[-1][1:] == (begin, why):  # in parts, where a call begins or ends in it
                begin = times.pop()[0]
            times.append((begin, at, why))
            return
        depth = sum(not self.regions[each[0]]["name"].startswith(OFF) for each in stack)
        self.calls[location].append({"function": name, "begin": begin, "end": at, "depth": depth, "parameters": parameters, "at_end": values})

    def all_calls(self) -> list[dict]:
        return [call for location in sorted(self.locations) for call in self.calls[location]]


class Otf2(Case):
    def setUp(self):
        super().setUp()
        self.need("otf2-print")
        if b"otf2 (" not in self.rdam("export", "--help").stdout:
            self.skipTest("this rdam is built without OTF2 (libotf2-trace-dev)")

    def record(self, program="orders", *arguments, functions="serve,parse,store"):
        done = self.rdam("record", "-o", "trace.bin", "-f", functions, "--", PROGRAMS / program, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def export(self, *options, name="archive"):
        return self.rdam("export", "--format", "otf2", "-o", name, *options, "trace.bin")

    def archive(self, *options) -> Archive:
        done = self.export("--overwrite", *options)
        self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr.decode())
        self.assertNotIn(b"OTF2]", done.stderr)
        return Archive(self.folder / "archive")

    def rows(self, *options) -> list[dict]:
        done = self.rdam("export", "--format", "csv", *options, "trace.bin")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return list(csv.DictReader(io.StringIO(done.stdout.decode(), newline="")))

    def assert_value(self, text: str, value: tuple[str, str]):
        """`value` is (type, number) as otf2-print writes it."""
        if text in ("true", "false"):
            self.assertEqual(value, ("UINT8", str(int(text == "true"))))
        elif value[0] in ("FLOAT", "DOUBLE"):
            self.assertTrue(math.isclose(float(text), float(value[1]), rel_tol=1e-5, abs_tol=1e-12), (text, value))
        else:
            self.assertEqual(value[0], "UINT64" if int(text, 0) > 2**63 or text.startswith("0x") else value[0])
            self.assertIn(value[0], ("UINT64", "INT64"))
            self.assertEqual(int(value[1]), int(text, 0))

    def assert_call(self, call: dict, row: dict):
        self.assertEqual(call["depth"], int(row["depth"]), (call, row))
        for mine, theirs in (("begin", "begin_ns"), ("end", "end_ns")):
            self.assertAlmostEqual(call[mine], int(row[theirs]), delta=1, msg=(call, row))
        self.assertEqual(call["function"], row["function"].removeprefix("'"))
        parameters, at_end = dict(call["parameters"]), dict(call["at_end"])
        self.assertEqual(int(parameters.pop("calls", ("", "1"))[1]), int(row["calls"]))
        expected = dict(each.split("=") for each in row["parameters"].split(", ") if each)
        self.assertEqual(list(parameters), list(expected))
        for name, text in expected.items():
            self.assert_value(text, parameters[name])
        self.assertEqual("return" in at_end, row["result"] != "")
        if row["result"]:
            self.assert_value(row["result"], at_end.pop("return"))
        self.assertEqual("lost_ns" in at_end, row["lost_ns"] != "")
        if row["lost_ns"]:
            self.assertAlmostEqual(float(at_end.pop("lost_ns")[1]), float(row["lost_ns"]), delta=0.001 + 1e-5 * abs(float(row["lost_ns"])))
        end = at_end.pop("end", ("STRING", '"returned"'))
        self.assertEqual((end[0], end[1].split('"')[1]), ("STRING", row["end"]))
        self.assertEqual(at_end, {})

    def assert_same(self, archive: Archive, rows: list[dict]):
        calls = archive.all_calls()
        self.assertEqual(len(calls), len(rows))
        for call, row in zip(calls, rows, strict=True):
            self.assert_call(call, row)
        tids = [row["thread"] for row in rows]
        mine = [archive.locations[location].split(" ")[0] for location in sorted(archive.locations) for _ in archive.calls[location]]
        self.assertEqual(mine, tids)

    def test_every_call(self):
        self.record("orders", "3", "700")
        archive, rows = self.archive(), self.rows()
        self.assertGreater(len(rows), 3 * 700)
        self.assertEqual(len(archive.locations), 3)
        self.assert_same(archive, rows)
        types = {name: value[0] for call in archive.all_calls() for name, value in call["parameters"].items()}
        self.assertEqual(types, {"id": "INT64", "price": "DOUBLE", "letter": "UINT64", "text": "UINT64", "shelf": "INT64", "amount": "UINT64",
                                 "weight": "FLOAT"})

    def test_definitions(self):
        self.record("orders", "2", "20")
        archive = self.archive()
        regions = {each["name"]: each for each in archive.regions.values()}
        for name in ("serve", "parse", "store"):
            region = regions[name]
            self.assertEqual((region["module"], region["role"], region["paradigm"]), ("orders", "FUNCTION", "USER"))
            file, _, line = region["source"].rpartition(":")
            self.assertTrue(file.endswith("orders.c"), region)
            with open(f"{os.environ['SOURCE_ROOT']}/tests/e2e/programs/orders.c", encoding="utf-8") as source:
                self.assertIn(f" {name}(", source.read().splitlines()[int(line) - 1])
        self.assertIn(f'Name: "{os.uname().nodename}"', archive.text)
        self.assertIn("Type: PROCESS", archive.text)
        clock = re.search(r"Ticks per Seconds: (\d+), Global Offset: 0, Length: (\d+), Date: (\S+)", archive.text)
        self.assertGreaterEqual(int(clock[2]) / int(clock[1]) * 1e9 + 1, max(int(row["end_ns"]) for row in self.rows()))
        self.assertTrue(clock[3].startswith("20"), clock[0])

    def test_names(self):
        self.record("hostile_names", functions="*")
        archive = self.archive()
        self.assert_same(archive, self.rows())
        names = {each["name"] for each in archive.regions.values()}
        self.assertLessEqual({"<script>alert(1)</script>", "=a;b,c d'e", r"x\u{202e}y"}, names)
        self.assertTrue(any("<b>&\"'</b>" in name for name in archive.locations.values()), archive.locations)

    def test_a_part(self):
        self.record("orders", "2", "700")
        rows = self.rows()
        middle = rows[len(rows) // 4]["begin_ns"]
        thread = rows[-1]["thread"]
        for options in (("--function", "parse"), ("--since", f"{middle}ns"), ("--until", f"{middle}ns"), ("--thread", thread)):
            with self.subTest(options=options):
                part = self.rows(*options)
                self.assertTrue(0 < len(part) < len(rows))
                self.assert_same(self.archive(*options), part)

    def test_a_cut_trace(self):
        """What a killed recorder leaves: calls that nobody saw end are closed where that became clear."""
        self.record("orders", "2", "20000")
        whole = (self.folder / "trace.bin").read_bytes()
        (self.folder / "trace.bin").write_bytes(whole[:len(whole) // 2])
        rows = self.rows()
        self.assertGreater(len(rows), 100)
        self.assert_same(self.archive(), rows)

    def test_calls_that_do_not_return(self):
        self.record("leaves", "longjmp", "50", functions="work,leaf,middle")
        rows = self.rows()
        self.assertGreater(len({row["end"] for row in rows}), 1, rows)
        self.assert_same(self.archive(), rows)

    def test_off_the_processor(self):
        self.record("switches", "sleeps", "5", "3", functions="nap")
        archive = self.archive()
        self.assert_same(archive, self.rows())
        done = self.rdam("export", "--columns", "columns", "trace.bin")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        table = rdam.open(self.folder / "columns").off_cpu
        if table is None:
            self.skipTest("no context switches can be had here")
        there = {(location, round(begin), round(end), why) for location, times in archive.off.items() for begin, end, why in times}
        # A preemption in parts, by one thread of the program after another, is one in the archive.
        theirs = []
        for thread, begin, end, preempted, recorder in zip(*(table[name].tolist() for name in ("thread", "out", "in", "preempted", "by_recorder")),
                                                           strict=True):
            why = "waits" if not preempted else "displaced" if recorder else "preempted"
            if theirs and (theirs[-1][0], *theirs[-1][2:]) == (thread, begin, why):
                begin = theirs.pop()[1]
            theirs.append((thread, begin, end, why))

        def near(one, other):
            return one[0] == other[0] and one[3].startswith(other[3]) and abs(one[1] - other[1]) <= 1 and abs(one[2] - other[2]) <= 1

        self.assertTrue(all(any(near(one, other) for other in theirs) for one in there), there)
        self.assertTrue(all(any(near(one, other) for one in there) for other in theirs), theirs)
        naps = [call for call in archive.all_calls() if call["function"] == "nap"]
        self.assertEqual(len(naps), 8)
        within = sum(any(call["begin"] <= begin and end <= call["end"] for _, begin, end, why in there if why == "waits") for call in naps)
        self.assertEqual(within, 8)

    def test_places(self):
        self.record("orders", "2", "10")
        self.assertEqual(self.rdam("export", "--format", "otf2").returncode, 2)
        for arguments in ((), ("-o", "-")):
            done = self.rdam("export", "--format", "otf2", *arguments, "trace.bin")
            self.assert_one_line(done, 2, "-o DIR")
        self.assert_one_line(self.export(name=""), 1, "no directory name")
        self.assert_one_line(self.export(name="trace.bin"), 1, "is not a directory")
        self.assert_one_line(self.export("--overwrite", name="trace.bin"), 1, "is not a directory")
        self.assert_one_line(self.export(name="nowhere/x"), 1, "cannot be written")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["trace.bin"])

    def test_an_existing_directory(self):
        self.record("orders", "2", "10")
        (self.folder / "archive").mkdir()
        self.assertEqual(self.export(name="archive/").returncode, 0)
        self.assert_one_line(self.export(), 1, "archive", "--overwrite")
        first = sorted(path.stat().st_ino for path in (self.folder / "archive").iterdir())
        self.assertEqual(self.export("--overwrite").returncode, 0)
        self.assertNotEqual(first, sorted(path.stat().st_ino for path in (self.folder / "archive").iterdir()))
        (self.folder / "link").symlink_to("archive")
        self.assertEqual(self.export("--overwrite", name="link").returncode, 0)
        self.assertTrue((self.folder / "link").is_symlink())
        self.assert_same(Archive(self.folder / "link"), self.rows())
        for stray in ("mine.txt", "traces/mine.evt", "traces/1.txt", "traces.otf"):
            (self.folder / "archive" / stray).write_text("keep me")
            self.assert_one_line(self.export("--overwrite"), 1, stray, "would be lost")
            (self.folder / "archive" / stray).unlink()
        other = self.folder / "other"
        other.mkdir()
        (other / "mine.txt").write_text("keep me")
        self.assert_one_line(self.export("--overwrite", name="other"), 1, "is not an OTF2 archive")
        (other / "traces.otf2").symlink_to("mine.txt")
        self.assert_one_line(self.export("--overwrite", name="other"), 1, "is not an OTF2 archive")
        self.assertEqual((other / "mine.txt").read_text(), "keep me")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["archive", "link", "other", "trace.bin"])

    def test_no_room(self):
        """Wherever in the archive it ends: the library that writes it is not called again after an error."""
        self.record("orders", "2", "30000")
        self.assertEqual(self.export().returncode, 0)
        before = {path: path.read_bytes() for path in (self.folder / "archive").rglob("*.*")}
        largest = max(map(len, before.values()))
        self.assertGreater(largest, 4 << 20)  # more than the library holds back
        for most in (0, 10, 100, 10_000, (4 << 20) - 1, 4 << 20, largest - 1):
            with self.subTest(most=most):
                done = self.rdam("export", "--format", "otf2", "-o", "archive", "--overwrite", "trace.bin",
                                 preexec_fn=lambda most=most: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
                self.assert_one_line(done, 1, "archive", "has room")
                self.assertEqual(before, {path: path.read_bytes() for path in (self.folder / "archive").rglob("*.*")})
                self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["archive", "trace.bin"])

    def test_more_threads_than_an_archive_may_have_files(self):
        events = [{"ph": "X", "name": "f", "pid": 1, "tid": 1 + i, "ts": i, "dur": 3} for i in range((1 << 15) + 1)]
        (self.folder / "threads.json").write_text(json.dumps(events))
        done = self.rdam("export", "--format", "otf2", "-o", "archive", "threads.json")
        self.assert_one_line(done, 1, "the trace has 32769 threads", "at most 32768", "--thread")
        self.assertFalse((self.folder / "archive").exists())

    def test_interrupted(self):
        self.record("orders", "4", "100000")
        status = self.interrupted("export", "--format", "otf2", "-o", "archive", "trace.bin", writing="archive.*/archive/traces/*.evt")
        left = sorted(path.name for path in self.folder.iterdir())
        self.assertIn((status, left), ((-signal.SIGINT, ["trace.bin"]), (0, ["archive", "trace.bin"])))  # it may have been done


class Offered(Case):
    def test_it_is_there_or_what_it_needs_is_said(self):
        done = self.rdam("export", "--format", "otf2", "-o", "x", "nowhere.bin")
        if b"otf2 (" in self.rdam("export", "--help").stdout:
            self.assert_one_line(done, 1, "nowhere.bin")
        else:
            self.assert_one_line(done, 2, "libotf2-trace-dev")


if __name__ == "__main__":
    unittest.main()
