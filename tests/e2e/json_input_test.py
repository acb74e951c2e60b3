#!/usr/bin/python3
"""Trace events in JSON: what other writers do is read as they mean it, and rdam's own export like theirs."""

import csv
import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
import unittest

from harness import CACHE, PROGRAMS, RDAM, Case
from pythons import MODULE

os.environ["RDAM_PROGRAM"] = RDAM
os.environ["RDAM_CACHE"] = CACHE
sys.path.insert(0, str(MODULE))
sys.dont_write_bytecode = True

import rdam  # noqa: E402

# What any file of the format says of a call, but for its times.
SAME = ("thread", "thread_name", "module", "function", "depth", "end")


class JsonInput(Case):
    def export(self, trace, name, *options) -> bytes:
        done = self.rdam("export", "--format", name, *options, trace)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout

    def calls(self, trace) -> list[dict]:
        return list(csv.DictReader(io.StringIO(self.export(trace, "csv").decode(), newline="")))

    def scores(self, trace) -> dict[str, float]:
        return {f["name"]: f["rdam"] for f in self.analyze(trace)["functions"]}

    def write(self, name, content):
        (self.folder / name).write_text(json.dumps(content) if not isinstance(content, str) else content)
        return name

    def test_own_export_is_read_as_any_other_file(self):
        done = self.rdam("record", "-o", "trace.bin", "-f", "serve,parse,store", "--", PROGRAMS / "orders", "300")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        (self.folder / "own.json").write_bytes(self.export("trace.bin", "json", "--budget", "all"))
        before, after = self.calls("trace.bin"), self.calls("own.json")
        self.assertGreater(len(before), 1000)
        self.assertEqual([[call[name] for name in SAME] for call in before], [[call[name] for name in SAME] for call in after])
        moved = int(before[0]["begin_ns"]) - int(after[0]["begin_ns"])
        for times in ("begin_ns", "end_ns"):
            self.assertEqual([int(call[times]) for call in before], [int(call[times]) + moved for call in after])
        shown = self.rdam("analyze", "own.json").stdout.decode()
        self.assertIn("rdam exported this file", shown)
        self.assertIn("whose cost is not known", shown)
        self.assertNotIn("were not recorded:", shown)

    def test_packed_files(self):
        events = [{"ph": "X", "name": "f", "pid": 1, "tid": 2, "ts": 10 * i, "dur": 3 + i % 2} for i in range(1000)]
        self.write("plain.json", events)
        (self.folder / "packed.gz").write_bytes(gzip.compress((self.folder / "plain.json").read_bytes()))
        self.need("zstd")
        subprocess.run(["zstd", "-q", "plain.json", "-o", "packed.zst"], cwd=self.folder, check=True)
        plain = self.calls("plain.json")
        self.assertEqual(len(plain), 1000)
        self.assertEqual([int(call["begin_ns"]) for call in plain], [10_000 * i for i in range(1000)])
        for packed in ("packed.gz", "packed.zst"):
            self.assertEqual(self.calls(packed), plain)

    def test_score_of_known_calls(self):
        # 100 calls of 1 µs, 100 of 3 µs, in a life of 1000 µs.
        events = [{"ph": "X", "name": "f", "pid": 1, "tid": 2, "ts": 5 * i, "dur": 1 + 2 * (i % 2)} for i in range(200)]
        events.append({"ph": "X", "name": "g", "pid": 1, "tid": 2, "ts": 999, "dur": 1})
        scores = self.scores(self.write("known.json", events))
        self.assertAlmostEqual(scores["f"], 0.2, places=2)

    def test_call_that_ends_after_the_one_around_it_is_not_cut(self):
        """It is on a row of its own: cut there it would be the shortest of all, with which the others are compared."""
        events = [{"ph": "X", "name": "f", "pid": 1, "tid": 2, "ts": 20 * i, "dur": 10} for i in range(99)]
        events += [{"ph": "X", "name": "g", "pid": 1, "tid": 2, "ts": 5000, "dur": 10.5},
                   {"ph": "X", "name": "f", "pid": 1, "tid": 2, "ts": 5010, "dur": 10}]
        report = self.analyze(self.write("cut.json", events))
        (f,) = (row for row in report["functions"] if row["name"] == "f")
        self.assertEqual((f["occurrences"], f["outermost"], f["min_ns"], f["max_ns"], f["rdam"]), (100, 100, 10_000, 10_000, 0))
        self.assertEqual([thread["events"] for thread in report["threads"]], [200, 2])
        self.assertIn("One event overlaps another of its thread, neither inside the other: it is on a row of its own.", report["trace"]["notes"])

    def test_recursion_without_an_end(self):
        """The call around it ends when it ends, and what comes later is not inside."""
        spans = (("main", 0, 100), ("f", 1, 4), ("f", 2, None), ("g", 7, 1), ("g", 9, 1))
        events = [{"ph": "X", "name": name, "pid": 1, "tid": 2, "ts": at} | ({"dur": lasts} if lasts else {}) for name, at, lasts in spans]
        columns = ("function", "depth", "begin_ns", "end", "duration_ns")
        calls = [tuple(call[name] for name in columns) for call in self.calls(self.write("recursion.json", events))]
        self.assertEqual(sorted(calls, key=lambda call: int(call[2])), [
            ("main", "0", "0", "returned", "100000.000"),
            ("f", "1", "1000", "returned", "4000.000"),
            ("f", "2", "2000", "not seen", ""),
            ("g", "1", "7000", "returned", "1000.000"),
            ("g", "1", "9000", "returned", "1000.000")])

    def test_no_room_for_the_temporary_copy(self):
        if os.geteuid() != 0:
            self.skipTest("mounting a small file system takes root")
        name = self.write("calls.json", [{"ph": "X", "name": "f", "pid": 1, "tid": 2, "ts": 10 * i, "dur": 3} for i in range(1000)])
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "none", disk], stderr=subprocess.PIPE, check=False)
        if mounted.returncode != 0:
            self.skipTest("cannot mount a small file system: " + mounted.stderr.decode().strip())
        try:
            (disk / "filler").write_bytes(bytes(4096))
            done = self.rdam("analyze", name, env={"TMPDIR": str(disk)})
            self.assert_one_line(done, 1, "the temporary copy of calls.json cannot be written: No space left on device", "TMPDIR")
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_too_little_memory(self):
        """Wherever it is not enough: one line."""
        self.need("prlimit")
        name = self.write("threads.json", [{"ph": "X", "name": "f", "pid": 1, "tid": 1 + i, "ts": i, "dur": 3} for i in range(40_000)])
        if self.run_in_folder("prlimit", "--as=100000000", RDAM, "--version").returncode != 0:
            self.skipTest("this build takes more memory for nothing")
        for limit in (120, 150, 200):
            done = self.run_in_folder("prlimit", f"--as={limit}000000", RDAM, "analyze", name)
            self.assert_one_line(done, 1, name, "needs more memory than there is")

    def test_coarse_clock_is_told(self):
        # A clock of microseconds; f takes one or two of its steps.
        events = [{"ph": "X", "name": "f", "pid": 1, "tid": 2, "ts": 10 * i, "dur": 1 + i % 2} for i in range(200)]
        self.write("coarse.json", events)
        shown = self.rdam("analyze", "coarse.json").stdout.decode()
        self.assertIn("\nNotes\n  The clock moves by 1.00 µs at a time", shown)
        self.assertIn("≥0.00", shown)
        self.assertNotIn("two paths", shown)
        function = self.analyze("coarse.json")["functions"][0]
        self.assertTrue(function["lower_bound"])
        self.assertGreaterEqual(function["rdam_high"], 0.1)
        self.assertIn("coarse_clock", [hint["kind"] for hint in function["hints"]])

    def test_one_lost_end_takes_no_call_out_of_the_score(self):
        """One begin without an end, then 1,000 finished calls: whatever its name is."""
        rows = []
        for first in ("task", "other"):
            events = [{"ph": "B", "name": first, "pid": 1, "tid": 1, "ts": 0}]
            for i in range(1000):
                begin = 10 + 600 * i
                events += [{"ph": "B", "name": "task", "pid": 1, "tid": 1, "ts": begin},
                           {"ph": "E", "name": "task", "pid": 1, "tid": 1, "ts": begin + (450 if i % 10 == 0 else 50)}]
            self.write("lost_end.json", events)
            report = self.analyze("lost_end.json")
            rows.append(next(each for each in report["functions"] if each["name"] == "task"))
            inside = "1,000 calls were inside a call of the same function of which no end was seen: scored all the same."
            self.assertEqual(inside in report["trace"]["notes"], first == "task")
            exported = [call for call in self.calls("lost_end.json") if call["end"] == "returned"]
            self.assertEqual(sum(float(call["lost_ns"]) for call in exported), 100 * 400_000)
        for key in ("rdam", "lost_ns", "outermost", "min_ns", "median_ns"):
            self.assertEqual(rows[0][key], rows[1][key], key)
        self.assertEqual(rows[0]["outermost"], 1000)
        self.assertAlmostEqual(rows[0]["rdam"], 0.0667, places=3)

    def test_a_list_is_what_explains(self):
        """The shape of an operation tells its durations apart."""
        events, now = [], 0
        for i in range(400):
            size, duration = (64, 10) if i % 4 else (1024, 900)
            events.append({"ph": "X", "name": "aten::mm", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": now, "dur": duration,
                           "args": {"Input Dims": [[size, size], [size, size]]}})
            now += duration + 5
        self.write("shapes.json", events)
        (function,) = self.analyze("shapes.json")["functions"]
        hint = next(hint for hint in function["hints"] if hint["kind"] == "parameter")
        self.assertIn("Input Dims", hint["text"])
        self.assertGreater(hint["share"], 0.95)
        (function,) = self.analyze("shapes.json", "--key", "aten::mm:Input Dims")["functions"]
        self.assertLess(function["rdam"], 0.01)
        self.assertEqual({each["name"] for each in function["sequences"]},
                         {'aten::mm(Input Dims="[[64,64],[64,64]]")', 'aten::mm(Input Dims="[[1024,1024],[1024,1024]]")'})

    def test_processor_time_is_off_processor_time(self):
        events, now = [], 0
        for i in range(300):
            duration = 2000 if i % 3 else 42000
            events.append({"ph": "X", "name": "gc", "cat": "v8", "pid": 1, "tid": 1, "ts": now, "dur": duration, "tts": 3000 * i, "tdur": 2000})
            now += duration + 1000
        self.write("tdur.json", events)
        (function,) = self.analyze("tdur.json")["functions"]
        hint = next(hint for hint in function["hints"] if hint["kind"] == "blocked")
        self.assertGreater(hint["share"], 0.95)
        self.assertIn("whether it waited or was preempted is not told", hint["text"])
        self.assertNotIn("threads ran at a time", self.rdam("analyze", "tdur.json").stdout.decode())

    def test_overlapping_calls_are_scored(self):
        events = []
        for i in range(200):
            events += [{"ph": "X", "name": name, "cat": "kernel", "pid": 1, "tid": 7, "ts": 100 * i + at, "dur": duration}
                       for name, at, duration in (("k1", 0, 60), ("k2", 50, 40))]
        self.write("overlap.json", events)
        report = self.analyze("overlap.json")
        self.assertEqual({each["name"]: each["outermost"] for each in report["functions"]}, {"k1": 200, "k2": 200})
        self.assertEqual(len(report["threads"]), 2)

    def test_names_of_spans_mean_no_waiting(self):
        names = ("select", "connect", "read", "MPI_Recv", "poll", "accept")
        self.write("names.json", [{"ph": "X", "name": names[i % 6], "cat": "sql", "pid": 1, "tid": 1, "ts": 500 * i, "dur": 100 + 300 * (i % 7 == 0)}
                                  for i in range(600)])
        self.assertNotIn("by design", self.rdam("analyze", "names.json").stdout.decode())

    def test_texts_are_exported(self):
        """Whatever is in them."""
        texts = ['plain', 'a "b", c=1', 'back\\slash', 'long' * 100, '']
        self.write("texts.json", [{"ph": "X", "name": "query", "pid": 1, "tid": 2, "ts": 10 * i, "dur": 3 + i % 2, "args": {"sql": text, "n": i}}
                                  for i, text in enumerate(texts)])
        calls = self.calls("texts.json")
        quoted = ['"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for text in texts]
        self.assertEqual([call["parameters"] for call in calls], [f"sql={text}, n={i}" for i, text in enumerate(quoted)])
        events = json.loads(self.export("texts.json", "json", "--budget", "all"))["traceEvents"]
        self.assertEqual([event["args"]["parameters"] for event in events if event.get("name") == "query"], [call["parameters"] for call in calls])
        help_text = self.rdam("export", "--help").stdout
        if b"otf2 (" in help_text:
            done = self.rdam("export", "--format", "otf2", "-o", "archive", "texts.json")
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            self.assertEqual([call["parameters"] for call in self.calls("archive")], [call["parameters"] for call in calls])
        done = self.rdam("export", "--columns", "columns", "texts.json")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        trace = rdam.open(self.folder / "columns")
        values = trace.values("query")
        self.assertEqual(list(trace.texts[values["sql"]]), texts)
        self.assertEqual(list(values["n"]), list(range(len(texts))))

    def test_texts_are_shown(self):
        """In sequences and in plots; and a sequence has the same id in whatever order a file has its texts."""
        def events(paths) -> list[dict]:
            names = [paths[i % 2] for i in range(200)]
            return [{"ph": "X", "name": "open", "pid": 1, "tid": 2, "ts": 100 * i, "dur": 1 + 50 * (name == "/b, c") + i % 3, "args": {"path": name}}
                    for i, name in enumerate(names)]
        ids = []
        for name, paths in (("one.json", ["/a", "/b, c"]), ("other.json", ["/b, c", "/a"])):
            self.write(name, events(paths))
            (row,) = self.analyze(name, "--key", "open:path")["functions"]
            ids.append({sequence["name"]: sequence["id"] for sequence in row["sequences"]})
            self.assertEqual(set(ids[-1]), {'open(path="/a")', 'open(path="/b, c")'})
        self.assertEqual(*ids)
        done = self.rdam("report", "-o", "-", "one.json")
        data = json.loads(re.search(rb'id="data">(.*?)</script>', done.stdout, re.DOTALL).group(1))
        (plot,) = (each for each in data["runs"][0]["functions"][0]["details"]["parameters"] if each["name"] == "path")
        self.assertEqual([(each["value"], each["min"]) for each in plot["values"]], [('"/b, c"', 51_000), ('"/a"', 1_000)])

    def test_nobody_marks_loops_of_what_another_tool_has_recorded(self):
        name = self.write("few.json", [{"ph": "X", "name": "f", "pid": 1, "tid": 2, "ts": 100 * i, "dur": 3 + 10 * i} for i in range(5)])
        (row,) = self.analyze(name)["functions"]
        (advice,) = (hint["text"] for hint in row["hints"] if hint["kind"] == "few_occurrences")
        self.assertNotIn("rdam.h", advice)
        page = self.rdam("report", "-o", "-", name).stdout
        self.assertIn(advice.encode(), page)
        self.assertNotIn(b"rdam.h", page)

    def test_recorder_stays_known(self):
        events = [{"ph": "X", "name": "f", "pid": 1, "tid": 2, "ts": 10 * i, "dur": 1 + i % 2} for i in range(200)]
        self.write("foreign.json", {"otherData": {"product-version": "tracer 3"}, "traceEvents": events})
        (self.folder / "again.json").write_bytes(self.export("foreign.json", "json", "--budget", "all"))
        self.assertEqual(self.analyze("again.json")["trace"]["recorder"], "tracer 3")
        self.assertIn("recorded by tracer 3, whose cost is not known", self.rdam("analyze", "again.json").stdout.decode())

    def test_compared_with_own_trace(self):
        done = self.rdam("record", "-o", "trace.bin", "-f", "serve,parse,store", "--", PROGRAMS / "orders", "300")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        (self.folder / "own.json").write_bytes(self.export("trace.bin", "json", "--budget", "all"))
        foreign = json.loads((self.folder / "own.json").read_text())
        del foreign["otherData"]
        for event in foreign["traceEvents"]:
            event["cat"] = "calls"
        self.write("foreign.json", foreign)
        for other in ("own.json", "foreign.json"):
            for pair in (("trace.bin", other), (other, "trace.bin")):
                rows = self.analyze(pair[0], "--diff", pair[1])["diff"]
                joined = {row["name"] for row in rows if "a" in row and "b" in row}
                self.assertGreaterEqual(joined, {"serve", "parse", "store"}, (pair, rows))

    def test_report_stops(self):
        # 25 GB when unpacked: nobody waits for the end of that.
        many = gzip.compress(b'{"ph":"i","name":"f","pid":1,"tid":2,"ts":1},\n' * 1_000_000)
        with (self.folder / "large.json").open("wb") as file:
            file.write(gzip.compress(b"["))
            for _ in range(500):
                file.write(many)
        status = self.interrupted("report", "-o", "page.html", "large.json", writing="page.html.*")
        self.assertEqual((status, list(self.folder.glob("page*"))), (-signal.SIGINT, []))

    def test_bad_files(self):
        good = '[{"ph":"X","name":"f","pid":1,"tid":2,"ts":1,"dur":1},\n'
        self.assert_one_line(self.rdam("analyze", self.write("bad.json", good + '{"ph":]')), 1, "bad.json", "line 2")
        self.assert_one_line(self.rdam("analyze", self.write("none.json", '{"traceEvents":[{"ph":"i"}]}')), 1, "none.json", "no call")
        (self.folder / "cut.gz").write_bytes(gzip.compress((good * 1000).encode())[:-20])
        self.assert_one_line(self.rdam("analyze", "cut.gz"), 1, "cut.gz")

    def test_packed_strangers(self):
        """To unpack a file is the remedy only if it is one of rdam's own traces."""
        self.need("zstd")
        done = self.run_in_folder(PROGRAMS / "two_nodes_trace", "trace.bin")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.write("stranger", "no trace\n")
        self.write("perf.data", "PERFILE2")
        self.write("empty", "")
        said = {"trace.bin": (" is compressed by", "unpack it first"), "stranger": (", unpacked, is not an rdam trace", "docs/inputs.md"),
                "perf.data": (", unpacked, is a perf.data file", "rdam hot"), "empty": (", unpacked, is empty", "")}
        for packer, ending in (("gzip", "gz"), ("zstd", "zst")):
            for name, (what, remedy) in said.items():
                packed = self.run_in_folder(packer, "-c", name)
                self.assertEqual(packed.returncode, 0, packed.stderr.decode())
                (self.folder / f"{name}.{ending}").write_bytes(packed.stdout)
                self.assert_one_line(self.rdam("analyze", f"{name}.{ending}"), 1, f"{name}.{ending}{what}", remedy)


if __name__ == "__main__":
    unittest.main()
