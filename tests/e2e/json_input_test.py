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

    def test_call_that_ends_after_the_one_around_it_is_no_measure(self):
        """It was not seen to end: as the shortest of all it would be what the others are compared with."""
        events = [{"ph": "X", "name": "f", "pid": 1, "tid": 2, "ts": 20 * i, "dur": 10} for i in range(99)]
        events += [{"ph": "X", "name": "g", "pid": 1, "tid": 2, "ts": 5000, "dur": 10.5},
                   {"ph": "X", "name": "f", "pid": 1, "tid": 2, "ts": 5010, "dur": 10}]
        (f,) = (row for row in self.analyze(self.write("cut.json", events))["functions"] if row["name"] == "f")
        self.assertEqual((f["occurrences"], f["min_ns"], f["rdam"]), (100, 10_000, 0))
        self.assertIn("1 call has no end in the trace before that of the call around", self.rdam("analyze", "cut.json").stdout.decode())

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
