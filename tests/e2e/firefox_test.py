#!/usr/bin/python3
"""rdam export --format firefox: the profile's tables, and what they say against other formats of the same trace. viewers_test.py opens it."""

import collections
import json
import unittest

from exports import Exports

# Version 61 of the processed format: the columns of each table.
SHARED = {
    "stackTable": ("frame", "prefix"),
    "frameTable": ("address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol", "innerWindowID", "line", "column"),
    "funcTable": ("name", "isJS", "relevantForJS", "resource", "source", "lineNumber", "columnNumber"),
    "resourceTable": ("lib", "name", "host", "type"),
    "nativeSymbols": ("libIndex", "address", "name", "functionSize"),
    "sources": ("id", "filename", "startLine", "startColumn", "sourceMapURL"),
}
SAMPLES = ("stack", "time", "weight")
MARKERS = ("data", "name", "startTime", "endTime", "phase", "category")
THREAD = {"processType", "processName", "processStartupTime", "processShutdownTime", "registerTime", "unregisterTime", "pausedRanges", "name",
          "isMainThread", "pid", "tid", "samples", "markers"}
INTERVAL = 1  # a marker's phase
WEIGHTS = {"lost": "lost time", "time": "time", "calls": "calls"}  # speedscope's profiles of the same


class Firefox(Exports):
    def profile(self, *options) -> dict:
        """One that has been checked."""
        text = self.export("firefox", *options).decode()
        self.assertTrue(text.replace("\n", "").isprintable())
        profile = json.loads(text)
        self.check(profile)
        return profile

    def check_table(self, table, columns, *more):
        self.assertEqual(set(table), {"length", *columns, *more})
        for column in columns:
            self.assertEqual(len(table[column]), table["length"], column)

    def check_indices(self, values, size, otherwise=()):
        wrong = [value for value in values if not (value in otherwise or (type(value) is int and 0 <= value < size))]
        self.assertEqual(wrong, [], size)

    def check(self, profile):
        self.assertEqual(set(profile), {"meta", "libs", "threads", "shared"})
        self.assertEqual(profile["meta"]["preprocessedProfileVersion"], 61)
        self.check_shared(profile["shared"], len(profile["meta"]["categories"]))
        tids = [thread["tid"] for thread in profile["threads"]]
        self.assertEqual(len(tids), len(set(tids)))
        self.assertLessEqual(sum(thread["isMainThread"] for thread in profile["threads"]), 1)
        for thread in profile["threads"]:
            self.assertEqual(set(thread), THREAD)
            self.assertIsInstance(thread["pid"], str)
            self.check_samples(thread["samples"], profile["shared"])
            self.check_markers(thread["markers"], profile)

    def check_shared(self, shared, categories):
        self.assertEqual(set(shared), {*SHARED, "stringArray"})
        for name, columns in SHARED.items():
            self.check_table(shared[name], columns)
        self.assertTrue(all(type(text) is str for text in shared["stringArray"]))
        self.assertEqual(len(shared["stringArray"]), len(set(shared["stringArray"])))
        size = {name: shared[name]["length"] for name in SHARED} | {"strings": len(shared["stringArray"])}
        self.check_indices(shared["stackTable"]["frame"], size["frameTable"])
        wrong = [(stack, prefix) for stack, prefix in enumerate(shared["stackTable"]["prefix"])
                 if not (prefix is None or (type(prefix) is int and 0 <= prefix < stack))]
        self.assertEqual(wrong, [])
        pairs = list(zip(shared["stackTable"]["prefix"], shared["stackTable"]["frame"], strict=True))
        self.assertEqual(len(pairs), len(set(pairs)))
        frames, functions, resources = shared["frameTable"], shared["funcTable"], shared["resourceTable"]
        self.check_indices(frames["func"], size["funcTable"])
        self.check_indices(frames["category"], categories)
        self.check_indices(frames["nativeSymbol"], size["nativeSymbols"], (None,))
        self.assertEqual(set(frames["address"]), {-1})
        self.assertEqual(set(frames["subcategory"]) | set(frames["inlineDepth"]), {0})
        self.check_indices(functions["name"], size["strings"])
        self.check_indices(functions["resource"], size["resourceTable"], (-1,))
        self.check_indices(functions["source"], size["sources"], (None,))
        self.assertTrue(all(type(value) is bool for value in functions["isJS"] + functions["relevantForJS"]))
        self.assertTrue(all(line is None or (type(line) is int and line > 0) for line in functions["lineNumber"]))
        self.check_indices(resources["name"], size["strings"])
        self.assertEqual(set(resources["type"]), {1})
        self.check_indices(shared["sources"]["filename"], size["strings"])

    def check_samples(self, samples, shared):
        self.check_table(samples, SAMPLES, "weightType")
        self.check_indices(samples["stack"], shared["stackTable"]["length"], (None,))
        self.assertEqual(samples["time"], sorted(samples["time"]))
        self.assertGreaterEqual(samples["time"][0], 0)
        wrong = [(stack, weight) for stack, weight in zip(samples["stack"], samples["weight"], strict=True)
                 if (weight <= 0 if stack is not None else weight != 0)]
        self.assertEqual(wrong, [])

    def check_markers(self, markers, profile):
        self.check_table(markers, MARKERS)
        strings = len(profile["shared"]["stringArray"])
        self.check_indices(markers["name"], strings)
        self.check_indices(markers["category"], len(profile["meta"]["categories"]))
        self.assertLessEqual(set(markers["phase"]), {INTERVAL})
        times = list(zip(markers["startTime"], markers["endTime"], strict=True))
        self.assertEqual([(begin, end) for begin, end in times if not 0 <= begin <= end], [])
        kinds = {"duration": (int, float), "string": (str,), "integer": (int,), "unique-string": (int,)}
        schemas = {each["name"]: {field["key"]: field["format"] for field in each["fields"]} for each in profile["meta"]["markerSchema"]}
        for data in markers["data"]:
            for key, value in data.items():
                if key == "type":
                    continue
                form = schemas[data["type"]][key]
                if type(value) not in kinds[form] or (form == "unique-string" and not 0 <= value < strings):
                    self.fail(f"{data}: {key}")

    def paths(self, profile) -> collections.Counter:
        """What the samples weigh, by the names of their frames."""
        shared = profile["shared"]
        names = [shared["stringArray"][shared["funcTable"]["name"][func]] for func in shared["frameTable"]["func"]]
        stacks = []
        for frame, prefix in zip(shared["stackTable"]["frame"], shared["stackTable"]["prefix"], strict=True):
            stacks.append((*(stacks[prefix] if prefix is not None else ()), names[frame]))
        weights = collections.Counter()
        for thread in profile["threads"]:
            for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"], strict=True):
                if stack is not None:
                    weights[stacks[stack]] += weight if thread["samples"]["weightType"] == "samples" else round(weight * 1e6)
        return weights

    def speedscope_paths(self, weight) -> collections.Counter:
        file = json.loads(self.export("speedscope", "--weight", weight))
        profile = next(each for each in file["profiles"] if each["name"] == WEIGHTS[weight])
        weights = collections.Counter()
        for sample, each in zip(profile["samples"], profile["weights"], strict=True):
            weights[tuple(file["shared"]["frames"][frame]["name"] for frame in sample)] += each
        return weights

    def markers(self, profile, kind) -> list[dict]:
        strings = profile["shared"]["stringArray"]
        found = []
        for thread in profile["threads"]:
            table = thread["markers"]
            for data, name, begin, end in zip(table["data"], table["name"], table["startTime"], table["endTime"], strict=True):
                if data["type"] == kind:
                    found.append({**data, "thread": thread["name"], "name": strings[name], "begin": begin, "end": end})
        return found

    def test_weights(self):
        """Each path weighs what it does in a flame graph, whose paths come from the report."""
        for program, arguments in (("orders", ("5000",)), ("hostile_names", ())):
            self.record(program, *arguments)
            for weight in WEIGHTS:
                with self.subTest(program=program, weight=weight):
                    profile = self.profile("--weight", weight)
                    types = {thread["samples"]["weightType"] for thread in profile["threads"]}
                    self.assertEqual(types, {"samples" if weight == "calls" else "tracing-ms"})
                    mine, theirs = self.paths(profile), self.speedscope_paths(weight)
                    total = sum(theirs.values())
                    self.assertGreater(total, 0)
                    self.assertAlmostEqual(sum(mine.values()), total, delta=0.001 * total)
                    for path in mine | theirs:
                        # Below a step of the clock, the report shares out among paths what it lowers.
                        self.assertAlmostEqual(mine[path], theirs[path], delta=0 if weight == "calls" else 0.001 * total, msg=path)

    def test_weights_within_a_budget(self):
        self.record("orders", "5000", functions="serve,parse,store")
        for weight in WEIGHTS:
            total = sum(self.speedscope_paths(weight).values())
            for budget in ("1000", "5k"):
                with self.subTest(weight=weight, budget=budget):
                    paths = self.paths(self.profile("--weight", weight, "--budget", budget))
                    self.assertAlmostEqual(sum(paths.values()), total, delta=0.001 * total)
                    self.assertIn("(other calls)", {path[0] for path in paths})

    def test_markers(self):
        self.record("orders", "700", functions="serve,parse,store")
        rows, markers = self.rows(), self.markers(self.profile(), "Call")
        self.assertEqual(len(markers), len(rows))
        def sorted_by(*keys):
            return sorted(tuple(each[key] for key in keys) for each in markers), sorted(tuple(row[key] for key in keys) for row in rows)

        for row in rows:
            row.update({"name": row["function"], "thread": f"{row['thread']} {row['thread_name']}", "begin": int(row["begin_ns"]),
                        "lost": float(row["lost_ns"]), "baseline": float(row["baseline_ns"])})
        for each in markers:
            each.update({key: each[key] * 1e6 for key in ("begin", "lost", "baseline")})
            each.update({key: each.get(key, "") for key in ("parameters", "result")})
        names = ("name", "thread", "parameters", "result")
        mine, theirs = sorted_by(*names)
        self.assertEqual(mine, theirs)
        self.assertTrue(any(each[2] for each in mine) and any(each[3] for each in mine))
        # A call inside another begins a nanosecond after it at the earliest.
        for number, delta in (("begin", 2), ("lost", 1), ("baseline", 1)):
            for one, other in zip(*sorted_by("thread", "name", number), strict=True):
                self.assertEqual(one[:2], other[:2])
                self.assertAlmostEqual(one[2], other[2], delta=delta)

    def test_a_budget(self):
        self.record("orders", "20000", functions="serve,parse,store")
        rows, profile = self.rows(), self.profile("--budget", "2000")
        kept, merged = self.markers(profile, "Call"), self.markers(profile, "OtherCalls")
        self.assertLessEqual(len(kept) + len(merged), 3000)
        self.assertGreater(len(kept), 300)
        self.assertEqual(len(kept) + sum(each["calls"] for each in merged), len(rows))
        most = sorted((float(row["lost_ns"]) for row in rows), reverse=True)[:100]
        for one, other in zip(sorted((each["lost"] * 1e6 for each in kept), reverse=True), most, strict=False):
            self.assertAlmostEqual(one, other, delta=1)
        lost = sum(float(row["lost_ns"]) for row in rows)
        self.assertAlmostEqual(sum(each["lost"] for each in kept + merged) * 1e6, lost, delta=0.001 * lost + 0.5 * len(kept + merged))

    def test_names(self):
        self.record("hostile_names")
        profile = self.profile()
        # The viewer shows no tid beside a name.
        names = {thread["name"].removeprefix(f"{thread['tid']} ") for thread in profile["threads"]}
        self.assertEqual(names, {"hostile_names", "<b>&\"'</b>", "=1+1,;"})
        self.assertEqual(len({thread["name"] for thread in profile["threads"]}), len(profile["threads"]))
        names = {each["name"] for each in self.markers(profile, "Call")}
        self.assertLessEqual({"<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "__proto__", "constructor", "=a;b,c d'e",
                              "x\\u{202e}y"}, names)

    def test_deep_calls(self):
        """Also those of which nobody saw the end."""
        for way, function in (("plain", "plain"), ("longjmp", "jumper")):
            with self.subTest(way):
                self.record("deep", way, "98304", functions=function)
                paths = self.paths(self.profile("--weight", "calls"))
                self.assertEqual(sum(paths.values()), len(self.rows()))
                self.assertGreater(max(map(len, paths)), 300)
                self.assertNotIn("(other calls)", {path[0] for path in paths})

    def test_wrong_calls(self):
        self.record("orders", "10")
        for arguments, words in ((("firefox", "--budget", "all"), ("--budget", "2000000", "perfetto")),
                                 (("firefox", "--budget", "3M"), ("--budget", "2000000", "perfetto")),
                                 (("json", "--weight", "time"), ("--weight", "firefox"))):
            self.assert_one_line(self.rdam("export", "--format", *arguments, "trace.bin"), 2, *words)


if __name__ == "__main__":
    unittest.main()
