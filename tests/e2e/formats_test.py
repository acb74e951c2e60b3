#!/usr/bin/python3
"""rdam export --format: each format in its own reader, call by call against the columns of the same trace."""

import collections
import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

from exports import FORMATS, Exports
from harness import CACHE, RDAM, TIMEOUT
from pythons import MODULE, python_with

os.environ["RDAM_PROGRAM"] = RDAM
os.environ["RDAM_CACHE"] = CACHE
sys.path.insert(0, str(MODULE))
sys.dont_write_bytecode = True

import rdam  # noqa: E402

READ_PERFETTO = pathlib.Path(__file__).with_name("read_perfetto.py")


class Formats(Exports):
    def record(self, program="orders", *arguments, functions="serve,parse,store", options=()):
        super().record(program, *arguments, functions=functions, options=options)

    def perfetto(self, *options) -> dict:
        python = python_with("perfetto")
        if python is None:
            self.skipTest("no Python here has the package perfetto (tools/setup installs it)")
        (self.folder / "trace.pftrace").write_bytes(self.export("perfetto", *options))
        done = subprocess.run([python, READ_PERFETTO, self.folder / "trace.pftrace"], capture_output=True, timeout=TIMEOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return json.loads(done.stdout)

    def columns(self):
        self.succeeded(self.rdam("export", "--columns", "columns", "trace.bin"))
        return rdam.open(self.folder / "columns").calls

    def test_that_nothing_is_there_is_said(self):
        self.record()
        for name in FORMATS:
            done = self.rdam("export", "--format", name, "--until", "1ns", "trace.bin")
            self.assert_said(done, "rdam: trace.bin: no calls: the part of the trace that was selected has none\n")
            self.assertNotIn(b"no calls", self.rdam("export", "--format", name, "trace.bin").stderr, name)
        self.assert_said(self.rdam("export", "--format", "csv", "--ignore", "serve", "--ignore", "parse", "--ignore", "store", "trace.bin"),
                         "rdam: trace.bin: no calls: the trace has none, or all are ignored\n")

    def assert_said(self, done, text: str):
        self.assertEqual((done.returncode, done.stderr.decode()), (0, text))

    def test_csv(self):
        self.record("orders", "700")
        rows, calls = self.rows(), self.columns()
        names = [each["name"] for each in self.analyze()["functions"]]
        self.assertEqual(len(rows), len(calls["start"]))
        by_begin = sorted(rows, key=lambda row: (int(row["begin_ns"]), -float(row["duration_ns"])))
        theirs = sorted(zip(calls["start"].tolist(), (-calls["duration"]).tolist(), strict=True))
        for row, (begin, duration) in zip(by_begin, theirs, strict=True):
            self.assertEqual(int(row["begin_ns"]), begin)
            self.assertAlmostEqual(float(row["duration_ns"]), -duration, delta=0.001)
            self.assertIn(row["function"], names)
        sums = collections.Counter()
        for row in rows:
            sums[row["function"]] += float(row["lost_ns"] or 0)
        for each in self.analyze()["functions"]:
            self.assertAlmostEqual(sums[each["name"]], each["lost_ns"], delta=max(0.005 * each["lost_ns"], 10))
        serve = next(row for row in by_begin if row["function"] == "serve")
        self.assertEqual((serve["parameters"], serve["result"]), ("id=-5, price=0", "0"))

    def test_paths(self):
        self.record("orders", "700")
        lost = sum(int(line.rpartition(" ")[2]) for line in self.export("folded").decode().splitlines())
        profile = json.loads(self.export("speedscope"))
        self.assertEqual(profile["$schema"], "https://www.speedscope.app/file-format-schema.json")
        for each in profile["profiles"]:
            self.assertEqual(len(each["samples"]), len(each["weights"]))
        weights = {each["name"]: sum(each["weights"]) for each in profile["profiles"]}
        self.assertAlmostEqual(weights["lost time"] / lost, 1, delta=0.01)
        self.assertEqual(weights["calls"], len(self.rows()))
        calls = collections.Counter()
        for line in self.export("folded", "--weight", "calls").decode().splitlines():
            stack, _, count = line.rpartition(" ")
            calls[stack.rpartition(";")[2].rpartition(":")[2]] += int(count)
        self.assertEqual(calls, collections.Counter(row["function"] for row in self.rows()))

    def test_names_in_csv(self):
        self.record("hostile_names", functions="*")
        rows = self.rows()
        self.assertIn("'=a;b,c d'e", {row["function"] for row in rows})
        self.assertIn("'=1+1,;", {row["thread_name"] for row in rows})
        self.assertTrue(all(None not in row and None not in row.values() for row in rows))

    def test_json(self):
        for options in ((), ("--budget", "all")):
            self.record("hostile_names", functions="*")
            events = json.loads(self.export("json", *options))["traceEvents"]
            for event in events:
                self.assertIn(event["ph"], "XMC")
                self.assertIsInstance(event["pid"], int)
                self.assertLess(event.get("tid", 0), 1 << 31)  # others are no tids to Perfetto
                if event["ph"] == "X":
                    self.assertLessEqual({"name", "cat", "tid", "ts", "dur"}, event.keys())
                    self.assertGreaterEqual(event["dur"], 0)
            calls = [event for event in events if event["ph"] == "X" and event["cat"] == "hostile_names"]
            rows = self.rows()
            self.assertEqual(collections.Counter(each["name"] for each in calls),
                             collections.Counter(row["function"].removeprefix("'") for row in rows))
            lost = sum(each["args"].get("lost_ns", 0) for each in calls)
            self.assertAlmostEqual(lost / sum(float(row["lost_ns"] or 0) for row in rows), 1, delta=0.001)
            names = {event["args"]["name"] for event in events if event.get("name") == "thread_name"}
            self.assertIn("<b>&\"'</b>", names)

    def test_perfetto(self):
        self.record("orders", "700")
        trace, rows = self.perfetto("--budget", "all"), self.rows()
        calls = [each for each in trace["slices"] if "lost_ns" in each]
        self.assertEqual(len(calls), len(rows))
        mine = sorted((each["begin"], each["depth"], each["name"], each.get("parameters", ""), each.get("result", "")) for each in calls)
        theirs = sorted((int(row["begin_ns"]), int(row["depth"]), row["function"], row["parameters"], row["result"]) for row in rows)
        for one, other in zip(mine, theirs, strict=True):
            self.assertEqual(one[1:], other[1:])
            self.assertLessEqual(abs(one[0] - other[0]), 1 + one[1])
        # Each is a whole number of nanoseconds.
        self.assertAlmostEqual(sum(each["lost_ns"] for each in calls), sum(float(row["lost_ns"]) for row in rows), delta=0.5 * len(calls))
        counters = [points for uuid, points in trace["counters"].items() if trace["tracks"][uuid]["name"] == "lost time"]
        self.assertEqual(len(counters), len({row["thread"] for row in rows if float(row["lost_ns"])}))

    def test_processors(self):
        """What ran where: none of a processor's slices overlap, and they are those of the threads."""
        self.record("orders", "700")
        rows = self.rows()
        trace = self.perfetto("--budget", "all")
        outermost = collections.defaultdict(list)
        for row in rows:
            if row["depth"] == "0":
                outermost[int(row["thread"]), row["function"]].append((int(row["begin_ns"]), int(row["end_ns"])))
        processors = {uuid: track["name"] for uuid, track in trace["tracks"].items() if track["name"].startswith("processor ")}
        self.assertTrue(processors)
        on = [each for each in trace["slices"] if str(each["track"]) in processors]
        self.assertTrue(on)
        for each in on:
            self.assertEqual(each["depth"], 0)
            self.assertTrue(any(begin <= each["begin"] and each["end"] <= end for begin, end in outermost[each["tid"], each["name"]]), each)
        in_json = [event for event in json.loads(self.export("json", "--budget", "all"))["traceEvents"] if event.get("cat") == "on a processor"]
        self.assertEqual(len(in_json), len(on))

    def test_a_budget(self):
        self.record("orders", "20000")
        rows = self.rows()
        trace = self.perfetto("--budget", "2000")
        slices = trace["slices"]
        self.assertLessEqual(len(slices), 3000)
        kept = [each for each in slices if "baseline_ns" in each]
        merged = [each for each in slices if "calls" in each]
        self.assertGreater(len(kept), 300)
        self.assertEqual(len(kept) + sum(each["calls"] for each in merged), len(rows))
        all_lost = sum(float(row["lost_ns"]) for row in rows)
        self.assertAlmostEqual(sum(each["lost_ns"] for each in kept + merged), all_lost, delta=0.5 * len(kept + merged) + 0.001 * all_lost)
        # The hundred that lost most are there, each with the call around it.
        most = sorted(rows, key=lambda row: -float(row["lost_ns"]))[:100]
        have = collections.Counter(each["name"] for each in kept)
        lost = sorted((each["lost_ns"] for each in kept), reverse=True)
        for row, mine in zip(most, lost, strict=False):
            self.assertAlmostEqual(float(row["lost_ns"]), mine, delta=1)
        self.assertGreaterEqual(have["serve"], max(have["parse"], 1))

    def test_paje(self):
        self.need("pj_dump")
        self.record("orders", "700")
        (self.folder / "x.paje").write_bytes(self.export("paje"))
        done = subprocess.run(["pj_dump", self.folder / "x.paje"], capture_output=True, text=True, timeout=TIMEOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        states = [line.split(", ") for line in done.stdout.splitlines() if line.startswith("State, ")]
        calls = sorted((state[7], float(state[3])) for state in states if state[2] == "Call")
        theirs = sorted((row["function"], int(row["begin_ns"]) / 1e9) for row in self.rows())
        self.assertEqual(len(calls), len(theirs))
        for mine, other in zip(calls, theirs, strict=True):
            self.assertEqual(mine[0], other[0])
            self.assertAlmostEqual(mine[1], other[1], delta=2e-6)

    def test_names_in_paje(self):
        self.need("pj_dump")
        self.record("hostile_names", functions="*")
        (self.folder / "x.paje").write_bytes(self.export("paje"))
        done = subprocess.run(["pj_dump", self.folder / "x.paje"], capture_output=True, text=True, timeout=TIMEOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("__proto__", done.stdout)

    def test_a_part(self):
        self.record("orders", "700")
        rows = self.rows()
        middle = int(rows[len(rows) // 2]["begin_ns"])
        part = self.rows("--since", f"{middle}ns")
        self.assertTrue(0 < len(part) < len(rows))
        self.assertTrue(all(int(row["begin_ns"]) >= middle for row in part))
        only = self.rows("--function", "parse")
        self.assertEqual({row["function"] for row in only}, {"parse"})
        self.assertEqual({row["depth"] for row in only}, {"0"})
        for name in FORMATS:
            self.assertLess(len(self.export(name, "--function", "parse")), len(self.export(name)))

    def test_nothing_in_the_window(self):
        self.record("orders", "10")
        for command in [("report", "-o", "x.html")] + [("export", "--format", name, "-o", "x") for name in FORMATS]:
            with self.subTest(command=command):
                done = self.rdam(*command, "--since", "1000s")
                self.assert_one_line(done, 1, "--since 1000 s: no thread runs that late: the run ends at ", "give an earlier begin")
                self.assert_one_line(self.rdam(*command, "--until", "0"), 1, "--until 0 ns: no thread runs that early: the run begins at 0 ns")
                self.assert_one_line(self.rdam(*command, "--thread", "orders", "--since", "1000s"), 1, "the last of --thread ends at ")
                self.assert_one_line(self.rdam(*command, "--thread", "nobody"), 1, "nobody: the trace has no thread", "it has ")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["trace.bin"])

    def test_a_cut_trace(self):
        """What a killed recorder leaves has no end, and its threads have none."""
        self.record("orders", "20000")
        whole = (self.folder / "trace.bin").read_bytes()
        (self.folder / "trace.bin").write_bytes(whole[:len(whole) // 2])
        rows = self.rows()
        self.assertGreater(len(rows), 100)
        slices = self.perfetto("--budget", "40000")["slices"]
        merged = [each for each in slices if "calls" in each]
        self.assertGreater(len(merged), 10)  # spread over the bins, not in one of them
        kept = [each for each in slices if "calls" not in each and "tid" not in each]
        self.assertEqual(len(kept) + sum(each["calls"] for each in merged), len(rows))
        for name in FORMATS:
            self.assertTrue(self.export(name))

    def test_places(self):
        self.record("orders", "10")
        for name in FORMATS:
            with self.subTest(format=name):
                first = self.rdam("export", "--format", name, "-o", "out")
                self.assertEqual((first.returncode, first.stdout), (0, b""), first.stderr.decode())
                self.assert_one_line(self.rdam("export", "--format", name, "-o", "out"), 1, "out", "--overwrite")
                self.assertEqual(self.rdam("export", "--format", name, "-o", "out", "--overwrite").returncode, 0)
                self.assert_one_line(self.rdam("export", "--format", name, "-o", "trace.bin", "--overwrite"), 1, "is the trace")
                self.assert_one_line(self.rdam("export", "--format", name, "-o", "/dev/full"), 1, "No space left")
                self.assert_one_line(self.rdam("export", "--format", name, "-o", "nowhere/x"), 1, "cannot be written")
                (self.folder / "out").unlink()
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["trace.bin"])

    def test_nobody_reads(self):
        self.record("orders", "20000")
        for name in FORMATS:
            reading, writing = os.pipe()
            os.close(reading)
            done = subprocess.run([RDAM, "export", "--format", name], cwd=self.folder, stdout=writing, stderr=subprocess.PIPE, check=False)
            os.close(writing)
            self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, b""))

    def test_interrupted(self):
        self.record("orders", "200000")
        for name in FORMATS:
            self.interrupted("export", "--format", name, "-o", "out", writing="out.*")
            left = sorted(path.name for path in self.folder.iterdir())
            self.assertIn(left, (["trace.bin"], ["out", "trace.bin"]))  # it may have been done
            (self.folder / "out").unlink(missing_ok=True)

    def test_wrong_calls(self):
        for arguments in ((), ("--format", "elf"), ("--columns", "x", "--format", "csv"), ("--format", "csv", "--budget", "5M"),
                          ("--format", "json", "--budget", "5"), ("--format", "json", "--budget", "many"),
                          ("--columns", "x", "-o", "y")):
            done = self.rdam("export", *arguments)
            self.assertEqual(done.returncode, 2, (arguments, done.stderr))
            self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
