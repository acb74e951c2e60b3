#!/usr/bin/python3
"""Firefox's profiles and speedscope's evented ones: what rdam exports, call by call, and files that the test writes as others do."""

import collections
import csv
import io
import json
import random
import unittest

from harness import PROGRAMS, Case

FUNCTIONS = ["parse", "evaluate", "select", "draw <text>", "f(int)"]


class Profiles(Case):
    def rows(self, file) -> list[dict]:
        done = self.succeeded(self.rdam("export", "--format", "csv", file))
        return list(csv.DictReader(io.StringIO(done.stdout.decode(), newline="")))

    def calls(self, file) -> collections.Counter:
        return collections.Counter((row["thread_name"], row["function"], int(row["end_ns"]) - int(row["begin_ns"])) for row in self.rows(file))

    def tree(self, rng, begin, end, depth=0) -> list:
        """Calls (function, begin, end, depth) that are nested, the outer ones first; times are whole."""
        calls, at = [], begin
        while at + 4 < end and depth < 5:
            at += rng.randrange(1, 50)
            until = min(end, at + rng.randrange(1, 5000 >> depth))
            if at >= until:
                break
            calls.append((rng.choice(FUNCTIONS), at, until, depth))
            calls += self.tree(rng, at, until, depth + 1) if rng.random() < 0.6 else []
            at = until
        return calls

    def expected(self, threads, ns) -> collections.Counter:
        return collections.Counter((name, function, (end - begin) * ns) for name, calls in threads.items() for function, begin, end, _ in calls)

    def test_exported_by_rdam(self):
        self.succeeded(self.rdam("record", "-f", "step,work", "--", PROGRAMS / "counts", "2", "1000"), 3)
        self.succeeded(self.rdam("export", "--format", "firefox", "--budget", "200k", "-o", "firefox.json", "trace.bin"))
        self.assertEqual(self.calls("firefox.json"), self.calls("trace.bin"))
        parameters = collections.Counter(row["parameters"] for row in self.rows("trace.bin"))
        for row in self.rows("firefox.json"):
            parameters[row["parameters"].partition('parameters="')[2].partition('"')[0]] -= 1
        self.assertEqual(set(parameters.values()), {0})
        report = self.succeeded(self.rdam("analyze", "firefox.json")).stdout.decode()
        self.assertIn("rdam exported this file", report)
        # Short calls are merged where there is no room, and it is said how many.
        self.succeeded(self.rdam("export", "--format", "firefox", "--budget", "1000", "-o", "small.json", "trace.bin"))
        report = self.succeeded(self.rdam("analyze", "small.json")).stdout.decode()
        self.assertIn("are not in the file one by one", report)
        self.succeeded(self.rdam("export", "--format", "speedscope", "-o", "paths.json", "trace.bin"))
        self.assert_one_line(self.rdam("analyze", "paths.json"), 1, "paths.json", "samples, no calls")

    def test_speedscope(self):
        for unit, ns in (("nanoseconds", 1), ("microseconds", 1000), ("milliseconds", 10**6)):
            rng = random.Random(ns)
            threads = {f"thread {number}": self.tree(rng, 0, 100_000) for number in range(3)}
            profiles = []
            for name, calls in threads.items():
                events = [(begin, 1, depth, "O", function) for function, begin, _, depth in calls]
                events += [(end, 0, -depth, "C", function) for function, _, end, depth in calls]
                profiles.append({"type": "evented", "name": name, "unit": unit, "startValue": 0, "endValue": 100_000,
                                 "events": [{"type": kind, "frame": FUNCTIONS.index(function), "at": at}
                                            for at, _, _, kind, function in sorted(events)]})
            text = {"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": [{"name": name} for name in FUNCTIONS]},
                    "profiles": profiles}
            for name, order in (("speedscope.json", list(text)), ("behind.json", list(text)[::-1])):
                (self.folder / name).write_text(json.dumps({key: text[key] for key in order}))
                self.assertEqual(self.calls(name), self.expected(threads, ns))

    def test_firefox(self):
        rng = random.Random(7)
        threads = {f"Worker {number}": self.tree(rng, 0, 100_000) for number in range(3)}
        for has_shared in (True, False):
            profile = {"meta": {"preprocessedProfileVersion": 61 if has_shared else 26, "product": "Firefox"}, "libs": [], "threads": []}
            for number, (name, calls) in enumerate(threads.items()):
                columns = {"length": len(calls), "data": [{"type": "Text", "name": "x"} for _ in calls],
                           "name": [FUNCTIONS.index(function) for function, *_ in calls],
                           "startTime": [begin / 1000 for _, begin, _, _ in calls], "endTime": [end / 1000 for _, _, end, _ in calls],
                           "phase": [1 for _ in calls], "category": [0 for _ in calls]}
                profile["threads"].append({"name": name, "pid": "12", "tid": 13 + number, "markers": columns})
                if not has_shared:
                    profile["threads"][-1]["stringArray"] = FUNCTIONS
            if has_shared:
                profile["shared"] = {"stringArray": FUNCTIONS}
            (self.folder / "firefox.json").write_text(json.dumps(profile))
            self.assertEqual(self.calls("firefox.json"), self.expected(threads, 1000))
        whole = (self.folder / "firefox.json").read_bytes()
        (self.folder / "cut.json").write_bytes(whole[: len(whole) // 2])
        self.assert_one_line(self.rdam("analyze", "cut.json"), 1, "cut.json", "cut")


if __name__ == "__main__":
    unittest.main()
