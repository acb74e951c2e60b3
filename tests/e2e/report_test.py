#!/usr/bin/python3
"""rdam report without a browser: what is in the file, and what happens where it cannot be written."""

import collections
import csv
import itertools
import json
import os
import re
import resource
import signal
import subprocess
import unittest

from harness import PROGRAMS, RDAM, Case

MOST = 2_000_000


def data_of(page: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL).group(1))


class Report(Case):
    def record(self, program="orders", *arguments, functions="serve,parse,store", trace="trace.bin"):
        self.succeeded(self.rdam("record", "-o", trace, "-f", functions, "--", PROGRAMS / program, *arguments))

    def report(self, *arguments, name="report.html") -> str:
        done = self.rdam("report", *arguments)
        self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr.decode())
        page = (self.folder / name).read_text()
        self.assertLessEqual(len(page.encode()), MOST)
        return page

    def test_figures_are_those_of_analyze(self):
        self.record("orders", "2000")
        run = data_of(self.report())["runs"][0]
        functions = {each["name"]: each for each in self.analyze()["functions"]}
        self.assertEqual(len(run["functions"]), len(functions))
        for row in run["functions"]:
            known = functions[row["name"].split(":")[-1]]
            self.assertEqual((row["rank"], row["rdam"], row["rdam_low"], row["rdam_high"], row["occurrences"], row["lost_ns"]),
                             (known["rank"], known["rdam"], known["rdam_low"], known["rdam_high"], known["occurrences"], known["lost_ns"]))
            self.assertEqual(sum(calls for _, _, calls in row["details"]["bars"]), known["outermost"])
        lost = sum(each["lost_ns"] for each in functions.values())
        self.assertAlmostEqual(sum(cell[3] for cell in run["heat"]["cells"]) / lost, 1, delta=0.001)
        calls = sum(each["occurrences"] for each in functions.values())
        self.assertEqual(sum(run["icicle"]["calls"]), calls)

    def counters(self, function: str) -> dict[int, float]:
        """By thread: the sum of its track of lost time, as Perfetto gets it, of one function alone."""
        done = self.succeeded(self.rdam("export", "--format", "json", "--function", function, "trace.bin"))
        tracks = collections.defaultdict(list)
        for event in json.loads(done.stdout)["traceEvents"]:
            if event["ph"] == "C" and event["name"].startswith("lost time, "):
                tracks[int(event["name"].split()[2])].append((event["ts"], event["args"]["lost_ns"]))
        # A figure holds until the next one, which is there where it is another.
        step = min((later - earlier for points in tracks.values() for (earlier, _), (later, _) in itertools.pairwise(points)), default=1)
        sums = {}
        for tid, points in tracks.items():
            ends = [at for at, _ in points[1:]] + [points[-1][0] + step]
            sums[tid] = sum(lost * round((end - at) / step) for (at, lost), end in zip(points, ends, strict=True))
        return sums

    def test_pictures_agree(self):
        """Icicle, folded stacks, heat map and counters with the ranking, for every function within 1 %. Of a sample the times outside of calls inside
        are estimates of their own in the ranking, and counters have what the recorded calls lost."""
        for functions in ("look_up,flush_cache,pthread_mutex_lock", "~look_up,flush_cache,~pthread_mutex_lock"):
            self.record("owners", "keeper", "1500", functions=functions)
            run = data_of(self.report("--overwrite"))["runs"][0]
            icicle, heat = run["icicle"], run["heat"]
            own, over_time, folded = collections.Counter(), collections.Counter(), collections.Counter()
            for name, lost in zip(icicle["name"], icicle["lost"], strict=True):
                own[icicle["names"][name].split(":")[-1]] += lost
            for _, _, place, lost in heat["cells"]:
                over_time[run["functions"][place]["name"].split(":")[-1]] += lost
            for line in self.succeeded(self.rdam("export", "--format", "folded", "trace.bin")).stdout.decode().splitlines():
                stack, lost = line.rsplit(" ", 1)
                folded[stack.split(";")[-1]] += int(lost)
            calls: collections.defaultdict[str, collections.Counter] = collections.defaultdict(collections.Counter)
            for row in csv.DictReader(self.succeeded(self.rdam("export", "--format", "csv", "trace.bin")).stdout.decode().splitlines()):
                calls[row["function"]][int(row["thread"])] += float(row["lost_ns"] or 0)
            for row in self.analyze()["functions"]:
                with self.subTest(functions=functions, name=row["name"]):
                    self.assertEqual(row["windowed"], f"~{row['name']}" in functions)
                    self.assertGreater(row["lost_ns"], 1000)
                    self.assertAlmostEqual(over_time[row["name"]] / row["lost_ns"], 1, delta=0.01)
                    of_itself = folded[row["name"]] if row["windowed"] else row["rdam_self"] * row["lost_ns"] / row["rdam_all"]
                    counted = self.counters(row["name"])
                    if row["windowed"]:
                        # The recorded calls stand for others, which no track has.
                        self.assertLess(sum(counted.values()), row["lost_ns"])
                        of_threads = calls[row["name"]]
                    else:
                        of_threads = {each["tid"]: each["lost_ns"] for each in row["threads"]}
                        self.assertAlmostEqual(sum(counted.values()) / row["lost_ns"], 1, delta=0.01)
                    self.assertLessEqual(set(counted), set(of_threads))
                    for tid, lost in of_threads.items():
                        self.assertAlmostEqual(counted.get(tid, 0), lost, delta=max(0.01 * lost, 1000))
                    for each in (own, folded):
                        self.assertAlmostEqual(each[row["name"]], of_itself, delta=max(0.01 * of_itself, 10))

    def test_addresses(self):
        """The durations of the commonest values, and of the rest together."""
        self.succeeded(self.run_in_folder(PROGRAMS / "two_nodes_trace", "trace.bin"))
        (plot,) = (each for each in data_of(self.report())["runs"][0]["functions"][0]["details"]["parameters"] if each["name"] == "list")
        self.assertNotIn("points", plot)
        *lists, rest = plot["values"]
        self.assertEqual((len(lists), rest["others"]), (12, 8))
        for each in lists:
            number = (int(each["value"], 16) - 0x5000) // 0x100
            self.assertEqual(each["min"], 100_000 + 100 * number)
            self.assertIn(each["median"] - each["min"], (0, 100_000))
            self.assertEqual(each["p99"] - each["min"], 100_000)
        self.assertEqual([each["median"] for each in lists], sorted((each["median"] for each in lists), reverse=True))
        self.assertAlmostEqual(sum(each["calls"] for each in plot["values"]) / 3200, 1, delta=0.05)

    def record_processes(self, *orders) -> list[str]:
        """A run with a process for each number of orders; their traces, in their order."""
        program = PROGRAMS / "orders"
        done = self.rdam("record", "-o", "run.%p.bin", "-f", "serve,parse,store", "--", "sh", "-c", "".join(f"{program} {each};" for each in orders))
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return sorted((path.name for path in self.folder.glob("run.*.bin")), key=lambda name: int(name.split(".")[1]))

    def test_several_processes(self):
        traces = self.record_processes(300, 600, 900, 1200, 1500)
        self.assertEqual(len(traces), 5)
        page = self.report(*traces)
        data = data_of(page)
        processes = data["processes"]
        self.assertEqual(processes["title"], "5 processes of orders")
        done = self.rdam("analyze", "--json", "--top", "0", *traces)
        known = {each["name"]: each for each in json.loads(done.stdout)["functions"]}
        self.assertEqual(len(processes["functions"]), 3)
        for row in processes["functions"]:
            other = known[row["name"].split(":")[-1]]
            self.assertEqual((row["rdam"], row["occurrences"], row["lost_ns"], row["processes"]),
                             (other["rdam"], other["occurrences"], other["lost_ns"], len(other["processes"])))
        lost = sum(row["lost_ns"] for row in processes["functions"])
        self.assertAlmostEqual(sum(row["lost"] for row in processes["processes"]) / lost, 1, delta=0.001)
        self.assertAlmostEqual(sum(cell[3] for cell in processes["heat"]["cells"]) / lost, 1, delta=0.01)
        self.assertEqual([row["lost"] for row in processes["processes"]], sorted((row["lost"] for row in processes["processes"]), reverse=True))
        # One after the other, they lose one after the other.
        first = {}
        for row, place, _, _ in processes["heat"]["cells"]:
            first[row] = min(first.get(row, place), place)
        self.assertEqual([first[row] for row in sorted(first)], sorted(first.values()))
        self.assertEqual([row["run"] for row in processes["processes"][:3]], [0, 1, 2])
        for row, run in zip(processes["processes"][:3], data["runs"], strict=True):
            self.assertEqual(dict(run["facts"])["Trace"], row["trace"])
        facts = dict(data_of(self.report("--overwrite", "--ignore", "parse", *traces))["processes"]["facts"])
        self.assertEqual(facts["Ignored"], "parse")
        self.assertNotIn("Ignored", dict(processes["facts"]))
        outside = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
        self.assertIn("5 processes of orders", outside)
        self.assertIn("serve", outside)

    def test_two_processes_of_a_run_are_not_compared(self):
        traces = self.record_processes(300, 600)
        data = data_of(self.report(*traces))
        self.assertEqual(data["processes"]["title"], "2 processes of orders")
        self.assertNotIn("diff", data)

    def test_processes_that_cannot_be_read(self):
        traces = self.record_processes(100, 200, 300)
        (self.folder / "bad.bin").write_bytes(b"no trace")
        done = self.rdam("report", *traces, "bad.bin")
        self.assertEqual(done.returncode, 1)
        self.assertIn("bad.bin", done.stderr.decode())
        data = data_of((self.folder / "report.html").read_text())
        self.assertEqual(data["processes"]["title"], "3 processes of orders")
        self.assertIn("bad.bin was skipped", " ".join(data["processes"]["notes"]))
        done = self.rdam("report", "-o", "none.html", "bad.bin", "bad.bin", "bad.bin")
        self.assertEqual(done.returncode, 1)
        self.assertIn("none of the traces can be read", done.stderr.decode())
        self.assertFalse((self.folder / "none.html").exists())

    def test_two_traces(self):
        self.record("orders", "500", trace="a.bin")
        self.record("orders", "500", trace="b.bin")
        data = data_of(self.report("a.bin", "b.bin", "-o", "diff.html", name="diff.html"))
        self.assertEqual(len(data["runs"]), 2)
        self.assertEqual({each["name"].split(":")[-1] for each in data["diff"]}, {"serve", "parse", "store"})

    def test_a_part(self):
        self.record("orders", "500")
        run = data_of(self.report("--function", "parse"))["runs"][0]
        self.assertEqual([each["name"].split(":")[-1] for each in run["functions"]], ["parse"])

    def test_places(self):
        self.record("orders", "10")
        self.report()
        done = self.rdam("report")
        self.assert_one_line(done, 1, "report.html", "--overwrite")
        self.report("--overwrite")
        self.assert_one_line(self.rdam("report", "-o", "trace.bin", "--overwrite"), 1, "trace.bin", "is the trace")
        (self.folder / "link").symlink_to("trace.bin")
        self.assert_one_line(self.rdam("report", "-o", "link", "--overwrite"), 1, "link", "is the trace")
        self.assert_one_line(self.rdam("report", "-o", ""), 1, "-o ''")
        self.assert_one_line(self.rdam("report", "-o", "nowhere/x.html"), 1, "nowhere/x.html", "cannot be written")
        self.assert_one_line(self.rdam("report", "-o", "."), 1, "is a directory")
        self.assert_one_line(self.rdam("report", "-o", "/dev/full"), 1, "/dev/full", "No space left")
        self.assert_one_line(self.rdam("report", "missing.bin", "-o", "x.html"), 1, "missing.bin")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["link", "report.html", "trace.bin"])
        done = self.succeeded(self.rdam("report", "-o", "-"))
        self.assertTrue(done.stdout.startswith(b"<!DOCTYPE html>"))

    def test_a_full_disk_leaves_nothing(self):
        self.record("orders", "10")
        limit = (100_000, 100_000)
        done = self.rdam("report", "-o", "x.html", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["trace.bin"])

    def test_interrupted(self):
        """Nothing is left, whenever it comes."""
        self.succeeded(self.rdam("record", "-o", "large.bin", "-f", "serve,parse,store", "--", PROGRAMS / "orders", "200000"))
        before = {path.name for path in self.folder.iterdir()}
        for way in (signal.SIGINT, signal.SIGTERM):
            self.interrupted("report", "large.bin", "-o", "page.html", writing="page.html.*", way=way)
            self.assertLessEqual({path.name for path in self.folder.iterdir()} - before, {"page.html"})  # it may have been done
            (self.folder / "page.html").unlink(missing_ok=True)

    def test_nobody_reads(self):
        self.record("orders", "10")
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run([RDAM, "report", "-o", "-"], cwd=self.folder, stdout=writing, stderr=subprocess.PIPE, check=False)
        os.close(writing)
        self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, b""))

    def test_wrong_calls(self):
        self.record("orders", "10")
        for arguments, words in ((("--open", "-o", "-"), "--open"),
                                 (("--since", "2s", "--until", "1s"), "--until")):
            done = self.rdam("report", *arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr.decode())


if __name__ == "__main__":
    unittest.main()
