#!/usr/bin/python3
"""rdam export --columns and the Python module rdam, on programs whose every call is known."""

import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time
import unittest

from harness import CACHE, PROGRAMS, RDAM, Case
from pythons import MODULE, python_with

os.environ["RDAM_PROGRAM"] = RDAM
os.environ["RDAM_CACHE"] = CACHE
sys.path.insert(0, str(MODULE))
sys.dont_write_bytecode = True

import numpy  # noqa: E402
import rdam  # noqa: E402

SHOP = "serve,parse,store"
ORDERS = 500


def served(threads: int = 1, orders: int = ORDERS):
    """What the program `orders` calls, in order: function, its parameters and result, and the row of its caller."""
    rows = []
    for _ in range(threads):
        for i in range(orders):
            number = i - 5
            top = len(rows)
            rows.append(("serve", {"id": number, "price": i / 4}, i / 2, -1))
            letter = (ord("a") + int(numpy.fmod(number, 26))) % 256
            rows.append(("parse", {"letter": letter}, letter % 2 == 0, top))
            for shelf in range(int(numpy.fmod(number, 3))):
                rows.append(("store", {"shelf": -shelf, "amount": number << 33, "weight": shelf + 0.5},
                             -shelf - 100, top))
    return rows


class Columns(Case):
    def record(self, program: str, *arguments, functions: str, trace: str = "trace.bin", options=(), status=0):
        done = self.rdam("record", "-o", trace, "-f", functions, *options, "--", PROGRAMS / program, *arguments)
        self.assertEqual(done.returncode, status, done.stderr.decode())

    def export(self, folder="columns", *options, trace="trace.bin", **more) -> subprocess.CompletedProcess:
        done = self.rdam("export", "--columns", folder, *options, trace, **more)
        self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr.decode())
        return done

    def opened(self, folder="columns", *options, **more) -> rdam.Trace:
        self.export(folder, *options, **more)
        return rdam.open(self.folder / folder)

    def left_in_folder(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())


class Values(Columns):
    def test_every_call_is_a_row_with_what_the_program_gave_and_got(self):
        self.record("orders", 3, ORDERS, functions=SHOP)
        trace = self.opened()
        rows = served(3)
        names = trace.functions["name"][trace.calls["function"]]
        self.assertEqual(names.tolist(), [row[0] for row in rows])
        self.assertEqual(trace.calls["parent"].tolist(), [row[3] for row in rows])
        for function in SHOP.split(","):
            values = trace.values(function)
            expected = [(row, *call[1:3]) for row, call in enumerate(rows) if call[0] == function]
            self.assertEqual(values["call"].tolist(), [row for row, _, _ in expected])
            self.assertTrue(values["returned"].all())
            self.assertEqual(values["return"].tolist(), [result for _, _, result in expected])
            for name in expected[0][1]:
                self.assertEqual(values[name].tolist(), [given[name] for _, given, _ in expected], name)
        self.assertEqual(len(set(trace.values("parse")["text"].tolist())), 1)  # one string
        self.assertTrue((trace.calls["end"] == trace.info["end"].index("returned")).all())

    def test_threads_and_times(self):
        self.record("orders", 3, ORDERS, functions=SHOP)
        trace = self.opened()
        calls, threads = trace.calls, trace.threads
        each = len(served())
        self.assertEqual(threads["calls"].tolist(), [each] * 3)
        self.assertEqual(threads["first_call"].tolist(), [0, each, 2 * each])
        self.assertEqual(calls["thread"].tolist(), numpy.repeat(range(3), each).tolist())
        self.assertEqual(sorted(threads["tid"].tolist()), sorted(t["tid"] for t in self.analyze()["threads"]))
        self.assertEqual(threads["start"].min(), 0)
        for thread in range(3):
            own = calls["thread"] == thread
            self.assertTrue((numpy.diff(calls["start"][own]) >= 0).all())
            self.assertGreaterEqual(calls["start"][own].min(), threads["start"][thread])
            self.assertLessEqual(calls["start"][own].max(), threads["end"][thread])
        inner = calls["parent"] >= 0
        around = calls["parent"][inner]
        self.assertTrue((calls["start"][inner] >= calls["start"][around]).all())
        self.assertTrue((calls["duration"] >= 0).all())
        self.assertTrue((calls["self"] <= calls["duration"]).all())
        for column in ("cpu_enter", "cpu_leave"):
            self.assertTrue(set(calls[column].tolist()) <= os.sched_getaffinity(0), column)
        self.assertTrue((calls["caller"] != 0).all())

    def test_sums_are_those_of_the_scores(self):
        self.record("orders", 2, 5000, functions=SHOP)
        trace = self.opened()
        self.assertEqual(len(trace.scores), 3)
        for score in trace.scores:
            own = trace.calls["function"] == trace.function(score["name"])
            duration = self.taken(trace, own & trace.calls["outermost"])
            self.assertEqual((own.sum(), len(duration)), (score["occurrences"], score["outermost"]))
            self.assertAlmostEqual(duration.mean(), score["mean_ns"], delta=0.001)
            self.assertAlmostEqual(duration.min(), score["min_ns"], delta=0.001)
            self.assertAlmostEqual(duration.max(), score["max_ns"], delta=0.001)
            self.check_sequences(trace, score)

    def check_sequences(self, trace: rdam.Trace, score: dict):
        """Those that the report lists, each over all threads."""
        self.assertTrue(score["sequences"])
        ids = trace.sequences["id"][trace.calls["sequence"]]
        for sequence in score["sequences"]:
            own = ids == int(sequence["id"], 16)
            self.assertEqual(own.sum(), sequence["occurrences"])
            self.assertEqual(set(trace.sequences["name"][trace.calls["sequence"][own]].tolist()), {sequence["name"]})
            duration, thread, doubt = self.taken(trace, own), trace.calls["thread"][own], trace.calls["doubt"][own]
            self.assertAlmostEqual(duration.min(), sequence["min_ns"], delta=0.001)
            lost = sum(max((duration[thread == t] - self.fastest(trace, self.sure(duration[thread == t], doubt[thread == t]))).sum(), 0)
                       for t in set(thread.tolist()))
            self.assertAlmostEqual(lost, sequence["lost_ns"], delta=0.01 * (1 + own.sum()))

    def taken(self, trace: rdam.Trace, own):
        """Durations; those of calls with pauses are at least what their sequence is compared with, if there are calls without."""
        duration, held, doubt, sequence = (trace.calls[name][own] for name in ("duration", "held", "doubt", "sequence"))
        self.assertTrue(((doubt > 0) == held).all())
        fastest = {each: self.near_fastest(trace, (duration + doubt)[sequence == each])[-1] for each in set(sequence[~held].tolist())}
        return numpy.maximum(duration, numpy.where(held, [fastest.get(each, 0) for each in sequence.tolist()], 0))

    def sure(self, duration, doubt):
        """What sets a baseline: calls have taken no longer than with their pauses; if all have pauses, what they are without."""
        return duration + doubt if (doubt == 0).any() else duration

    def fastest(self, trace: rdam.Trace, duration):
        """The mean of the two least, if they are no more than a step of the clock apart, and what the clock errs."""
        error = trace.info["trace"]["clock_error_ns"] * (1 - 1 / len(duration))
        return duration[duration <= self.near_fastest(trace, duration)[-1]].mean() + error

    def near_fastest(self, trace: rdam.Trace, duration) -> list[float]:
        least = sorted(set(duration.tolist()))[:2]
        rounding = 1e-6
        return least if least[-1] - least[0] <= trace.info["trace"]["clock_step_ns"] + rounding else least[:1]

    def test_sequences(self):
        self.record("orders", 2, ORDERS, functions=SHOP)
        trace = self.opened()
        expected = {}
        for thread in range(2):
            for number in range(-5, ORDERS - 5):
                stores = max(0, int(numpy.fmod(number, 3)))
                name = "serve[parse" + ("", ", store", ", store ×2")[stores] + "]"
                for one, times in ((name, 1), ("parse", 1), ("store", stores)):
                    expected[thread, one] = expected.get((thread, one), 0) + times
        found = {(thread, name): calls for thread, name, calls in
                 zip(*(trace.sequences[c].tolist() for c in ("thread", "name", "calls")), strict=True)}
        self.assertEqual(found, expected)
        counted = numpy.bincount(trace.calls["sequence"], minlength=len(trace.sequences))
        self.assertEqual(counted.tolist(), trace.sequences["calls"].tolist())

    def test_settings_are_those_of_the_analysis(self):
        self.record("orders", 1, ORDERS, functions=SHOP)
        keyed = self.opened("keyed", "--key", "parse:letter", "--ignore", "store", "--fold-loops")
        self.assertNotIn("store", keyed.functions["name"][keyed.calls["function"]])
        letters = keyed.values("parse")
        sequence = keyed.calls["sequence"][letters["call"]]
        self.assertEqual(len(set(sequence.tolist())), len(set(letters["letter"].tolist())))
        self.assertEqual(len(set(zip(sequence.tolist(), letters["letter"].tolist(), strict=True))), len(set(sequence.tolist())))
        self.assertEqual({score["name"] for score in keyed.scores if score["occurrences"]}, {"serve", "parse"})
        with rdam.open(self.folder / "trace.bin", key="parse:letter", deep_keys=True) as deep:
            serve = deep.calls["function"] == deep.function("serve")
            # The letter tells callers apart as well, and how often store is called.
            kinds = {(i, j) for i, j in ((int(numpy.fmod(n, 26)), max(0, int(numpy.fmod(n, 3)))) for n in range(-5, ORDERS - 5))}
            self.assertEqual(len(set(deep.calls["sequence"][serve].tolist())), len(kinds))
            self.assertEqual(deep.info["settings"]["deep_keys"], True)


class Parts(Columns):
    def setUp(self):
        super().setUp()
        self.record("orders", 3, ORDERS, functions=SHOP)
        self.whole = self.opened("whole")

    def check_rows(self, part: rdam.Trace, rows, complete):
        """They are the `rows` of the whole export; what is known of a call that has ended is the same for those that are `complete`."""
        for name in ("thread", "function", "start", "cpu_enter", "caller", "weight"):
            self.assertEqual(part.calls[name].tolist(), self.whole.calls[name][rows].tolist(), name)
        for name in ("duration", "self", "doubt", "cpu_leave", "end"):
            self.assertEqual(part.calls[name][complete].tolist(), self.whole.calls[name][rows][complete].tolist(), name)
        ids, theirs = (trace.sequences["id"][trace.calls["sequence"]] for trace in (part, self.whole))
        self.assertEqual(ids[complete].tolist(), theirs[rows][complete].tolist())
        for name in SHOP.split(","):
            mine = part.calls["function"] == part.function(name)
            scores = [score["occurrences"] for score in part.scores if score["name"] == name]
            self.assertEqual(sum(scores), mine.sum(), name)

    def test_threads_and_functions(self):
        names = self.whole.functions["name"][self.whole.calls["function"]]
        tid = str(self.whole.threads["tid"][1])
        part = self.opened("part", "--thread", tid, "--function", "serve", "--function", "st*")
        rows = (self.whole.calls["thread"] == 1) & (names != "parse")
        self.check_rows(part, rows, numpy.ones(rows.sum(), bool))
        parents = self.whole.calls["parent"][rows]
        self.assertEqual(part.calls["parent"].tolist(), numpy.where(parents < 0, -1, (numpy.cumsum(rows) - 1)[parents]).tolist())
        self.assertEqual(part.calls["outermost"].all(), True)
        self.assertEqual(part.threads["calls"].tolist(), [0, rows.sum(), 0])
        self.assertEqual((part.threads["tid"].tolist(), part.functions["name"].tolist()),
                         (self.whole.threads["tid"].tolist(), self.whole.functions["name"].tolist()))
        self.assertEqual(set(part.sequences["function"].tolist()), {part.function("serve"), part.function("store")})
        self.assertEqual(part.sequences["calls"].sum(), rows.sum())
        stored = self.whole.calls["thread"][self.whole.values("store")["call"]] == 1
        self.assertEqual(part.values("store")["amount"].tolist(), self.whole.values("store")["amount"][stored].tolist())
        self.assertEqual(len(part.values("parse")), 0)
        settings = part.info["settings"]
        self.assertEqual((settings["thread"], settings["function"], settings["since_ns"]), ([tid], ["serve", "st*"], None))

    def between_calls(self, part: float) -> int:
        """A time in the run, after about that part of the calls, at which none begins."""
        starts = numpy.unique(self.whole.calls["start"])
        place = int(len(starts) * part)
        place += int(numpy.argmax(numpy.diff(starts[place:]) > 10))
        return int(starts[place] + starts[place + 1]) // 2

    def test_a_window(self):
        since, until = self.between_calls(0.3), self.between_calls(0.6)
        start = self.whole.calls["start"]
        rows = (start >= since) & (start < until)
        part = self.opened("part", "--since", f"{since}ns", "--until", f"{until}ns")
        unseen = part.calls["end"] == part.info["end"].index("unseen")
        self.assertTrue((part.calls["sequence"][unseen] == -1).all() and numpy.isnan(part.calls["duration"][unseen]).all())
        self.assertLess(unseen.sum(), len(unseen) / 10)  # three threads have one of each function at most
        self.check_rows(part, rows, ~unseen)
        self.assertEqual((part.info["settings"]["since_ns"], part.info["settings"]["until_ns"]), (since, until))
        with rdam.open(self.folder / "trace.bin", since=f"{since}ns", until=f"{until}ns", function="serve") as opened:
            serve = part.calls["function"] == part.function("serve")
            self.assertEqual(opened.calls["start"].tolist(), part.calls["start"][serve].tolist())

    def test_nothing_in_it(self):
        for option, value, words in (("--since", "1000s", "no thread runs that late"), ("--thread", "nobody", "no thread with this tid or name"),
                                     ("--function", "nosuch", "nosuch")):
            self.assert_one_line(self.rdam("export", "--columns", "none", option, value), 1, words)
        self.assertEqual(len(self.opened("none", "--until", "1ns").calls), 0)


class Ends(Columns):
    def test_exceptions_and_jumps(self):
        self.record("sampled", 50, functions="thrower,jumper,leaf")
        trace = self.opened()
        kinds = numpy.array(trace.info["end"])
        for function, accident in (("thrower", "unwound"), ("jumper", "unseen")):
            values = trace.values(function)
            # Thrown out of, or jumped out of, if i is odd.
            self.assertEqual(values["i"].tolist(), [*range(50)] * 2)
            odd = values["i"] % 2 == 1
            self.assertEqual(values["returned"].tolist(), (~odd).tolist())
            self.assertEqual(values["return"][~odd].tolist(), (values["i"][~odd] + 1).tolist())
            end = kinds[trace.calls["end"][values["call"]]]
            self.assertEqual(end.tolist(), numpy.where(odd, accident, "returned").tolist())
            duration = trace.calls["duration"][values["call"]]
            self.assertEqual(numpy.isnan(duration).tolist(), (odd & (accident == "unseen")).tolist())
            sequence = trace.calls["sequence"][values["call"]]
            self.assertEqual((sequence < 0).tolist(), (odd & (accident == "unseen")).tolist())

    def test_tail_calls(self):
        self.record("tails", functions="jumps,target")
        trace = self.opened()
        target, jumps = trace.values("target"), trace.values("jumps")
        self.assertEqual((len(target), len(jumps)), (300, 300))
        self.assertEqual(trace.calls["parent"][target["call"]].tolist(), jumps["call"].tolist())
        self.assertEqual(target["a"].tolist(), [i % 3 for i in range(300)])
        self.assertEqual(target["i"].tolist(), [0.5] * 300)
        expected = [i % 3 + i % 5 * 2 + 1 + 2 + 3 + 4 + 6 + i % 2 + 0.5 for i in range(300)]
        self.assertEqual(target["return"].tolist(), expected)
        self.assertEqual(jumps["return"].tolist(), expected)

    def test_functions_that_wait(self):
        self.record("counts", 1, 20, functions="work,write,memcpy,pthread_spin_lock", status=3)
        waits = {f["name"]: (f["waits"], f["busy_waits"]) for f in self.opened().info["functions"]}
        for name, expected in {"work": (False, False), "write": (True, False), "pthread_spin_lock": (False, True)}.items():
            self.assertEqual(waits[name], expected, waits)

    def test_a_program_that_is_killed(self):
        self.record("counts", 1, 200, "kill", functions="main,work", status=128 + signal.SIGKILL)
        trace = self.opened()
        self.assertFalse(trace.info["trace"]["clean_end"])
        kinds = [trace.info["end"][end] for end in trace.calls["end"].tolist()]
        self.assertEqual(kinds, ["unseen"] + ["returned"] * 200)
        self.assertEqual(trace.calls["parent"].tolist(), [-1] + [0] * 200)
        self.assertTrue(numpy.isnan(trace.calls["duration"][0]))

    def test_calls_in_windows_stand_for_themselves(self):
        functions = "leaf,inner,tree,thrower,jumper,first,second"
        self.record("sampled", 20000, functions=functions, options=("--max-overhead", "5%"))
        trace = self.opened()
        self.assertTrue((trace.calls["weight"] == 1).all())
        self.assertEqual(len(trace.scores), 7)
        self.assertTrue(any("windows_cover" in score for score in trace.scores))
        for score in trace.scores:
            own = trace.calls["function"] == trace.function(score["name"])
            self.assertEqual(own.sum(), score["recorded"])

    def test_a_trace_that_was_cut_off(self):
        self.record("orders", 2, 20000, functions=SHOP)
        whole = (self.folder / "trace.bin").read_bytes()
        (self.folder / "cut.bin").write_bytes(whole[:len(whole) * 2 // 3])
        done = self.export("cut", trace="cut.bin")
        self.assertIn(b"cut.bin: its end is missing", done.stderr)
        trace = rdam.open(self.folder / "cut")
        self.assertTrue(trace.info["damage"]["no_index"])
        self.assertLess(0, len(trace.calls))
        self.assertLess(len(trace.calls), 2 * len(served(1, 20000)))


class Places(Columns):
    def setUp(self):
        super().setUp()
        self.record("orders", 1, 20, functions=SHOP)

    def refused(self, *arguments, status=1, words=(), **options):
        before = self.left_in_folder()
        self.assert_one_line(self.rdam("export", *arguments, **options), status, *words)
        self.assertEqual(self.left_in_folder(), before)

    def test_what_cannot_be_done_is_said_in_one_line_and_leaves_nothing(self):
        self.refused("trace.bin", status=2, words=("--columns",))
        self.refused("--columns", "c", "nosuch.bin", words=("nosuch.bin",))
        self.refused("--columns", "c", "--ignore", "nosuch", words=("nosuch",))
        self.refused("--columns", "trace.bin", words=("trace.bin: is a file",))
        self.refused("--columns", "no/such", words=("no/such: cannot be created",))
        self.refused("--columns", ".", words=("exists and is not empty",))

    def test_no_room(self):
        self.record("orders", 1, 100000, functions=SHOP)

        def little_room():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
        self.refused("--columns", "c", words=("rdam: c/", "File too large; free some space"), preexec_fn=little_room)
        (self.folder / "own").mkdir()
        self.refused("--columns", "own", words=("rdam: own/",), preexec_fn=little_room)
        self.assertEqual(list((self.folder / "own").iterdir()), [])

    def interrupt(self, columns: str, begun: str, env: dict[str, str]) -> int:
        """Sends SIGINT once `begun` (a glob) is there; how the command ended."""
        process = subprocess.Popen([RDAM, "export", "--columns", columns], cwd=self.folder, stderr=subprocess.PIPE,
                                   env={**os.environ, **env})
        while process.poll() is None and not list(self.folder.glob(begun)):
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        process.communicate()
        return process.returncode

    def test_an_interrupted_export_leaves_nothing(self):
        self.record("orders", 2, 500_000, functions=SHOP)
        python = python_with("pyarrow", "numpy")
        cases = [("c", "c/calls", {})]
        if python:
            cases.append(("c.parquet", "c.parquet.*/calls", {"RDAM_PYTHON": python}))
        for columns, begun, env in cases:
            # It may be done before the signal comes, on a machine that is busy elsewhere.
            for _ in range(10):
                status = self.interrupt(columns, begun, env)
                if status != 0 and not (self.folder / columns).exists():
                    break
                self.run_in_folder("rm", "-rf", columns)
            self.assertEqual((columns, status), (columns, -signal.SIGINT))
            self.assertEqual(self.left_in_folder(), ["trace.bin"])

    def test_memory_does_not_grow_with_the_calls(self):
        used = []
        for orders in (150_000, 1_000_000):
            self.record("orders", 1, orders, functions=SHOP, trace=f"{orders}.bin")
            process = subprocess.Popen([RDAM, "export", "--columns", f"{orders}", f"{orders}.bin"], cwd=self.folder,
                                       stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = status
            self.assertEqual(status, 0)
            self.assertEqual(len(rdam.open(self.folder / str(orders)).calls), 3 * orders - 6)
            used.append(usage.ru_maxrss)
        # Two and a half million more calls of more than 60 bytes.
        self.assertLess(used[1] - used[0], 16 * 1024, "KiB")


class Module(Columns):
    def setUp(self):
        super().setUp()
        self.record("orders", 2, ORDERS, functions=SHOP)

    def test_arrays_are_the_files(self):
        trace = self.opened()
        for name, column in trace.calls.items():
            self.assertIs(type(column), numpy.ndarray)
            self.assertFalse(column.flags.owndata or column.flags.writeable, name)
            stored = numpy.load(self.folder / "columns/calls" / f"{name}.npy")
            self.assertTrue(numpy.array_equal(column, stored, equal_nan=column.dtype.kind == "f"), name)

    def test_a_call_takes_as_much_as_the_page_says(self):
        self.record("orders", 1, 10, functions=SHOP)
        page = " ".join((pathlib.Path(os.environ["SOURCE_ROOT"]) / "docs/columns.md").read_text().split())
        each = sum(column.dtype.itemsize for column in self.opened().calls.values())
        self.assertIn(f"A directory takes {each} bytes per call ({each + 8} with instructions)", page)

    def test_a_trace_is_opened_through_a_folder_that_goes_with_it(self):
        with rdam.open(self.folder / "trace.bin") as trace:
            temporary = trace.folder
            duration = trace.calls["duration"]
            self.assertTrue((temporary / "columns.json").exists())
        self.assertFalse(temporary.exists())
        self.assertEqual(len(duration), len(served(2)))
        self.assertTrue((duration >= 0).all())
        kept = rdam.open(self.folder / "trace.bin", folder=self.folder / "kept")
        kept.close()
        self.assertTrue((kept.folder / "columns.json").exists())

    def test_scores_are_the_report(self):
        with rdam.open(self.folder / "trace.bin") as trace:
            self.assertEqual(trace.report, self.analyze("trace.bin", "--sequences"))
            self.assertEqual(trace.scores, trace.report["functions"])
            (self.folder / "trace.bin").unlink()
            again = rdam.open(trace.folder)
            with self.assertRaisesRegex(rdam.Error, "no longer exists"):
                _ = again.scores

    def test_errors_say_what_the_command_says(self):
        with self.assertRaisesRegex(rdam.Error, "^cannot read .*nosuch.bin"):
            rdam.open(self.folder / "nosuch.bin")
        with self.assertRaisesRegex(rdam.Error, "has no columns.json"):
            rdam.open(self.folder)
        with rdam.open(self.folder / "trace.bin") as trace, self.assertRaisesRegex(rdam.Error, "nosuch: the trace has no"):
            trace.values("nosuch")
        contents = self.folder / "other/columns.json"
        contents.parent.mkdir()
        contents.write_text(json.dumps({"format": "rdam columns", "version": 2}))
        with self.assertRaisesRegex(rdam.Error, "version 2, not"):
            rdam.open(contents.parent)

    def test_no_calls_at_all(self):
        trace = self.opened("none", *(f"--ignore={name}" for name in SHOP.split(",")))
        self.assertEqual((len(trace.calls), len(trace.sequences), len(trace.threads)), (0, 0, 2))
        self.assertEqual(trace.calls["duration"].tolist(), [])
        self.assertEqual(len(trace.values("serve")), 0)


COMPARE = """
import sys, numpy, pyarrow.parquet, rdam
trace = rdam.open("columns")
table = pyarrow.parquet.read_table("calls.parquet")
def same(name, expected, there=None):
    column = table.column(name).combine_chunks()
    if isinstance(column, pyarrow.ChunkedArray):
        column = pyarrow.concat_arrays([part.dictionary_decode() for part in column.chunks])
    there = numpy.ones(len(expected), bool) if there is None else there
    assert numpy.array_equal(column.is_valid().to_numpy(zero_copy_only=False), there), name
    found = numpy.array(column.filter(pyarrow.array(there)).to_pylist())
    assert numpy.array_equal(found, numpy.asarray(expected)[there]), (name, found[:5], expected[:5])
calls = trace.calls
assert table.num_rows == len(calls)
for name in ("start", "thread", "caller", "weight", "outermost"):
    same(name, calls[name])
for name in ("duration", "self"):
    same(name, calls[name], ~numpy.isnan(calls[name]))
for name in ("cpu_enter", "cpu_leave", "parent"):
    same(name, calls[name], calls[name] >= 0)
same("call", numpy.arange(len(calls)))
same("tid", trace.threads["tid"][calls["thread"]])
same("thread_name", trace.threads["name"][calls["thread"]].astype(str))
same("function", trace.functions["name"][calls["function"]].astype(str))
same("end", numpy.array(trace.info["end"])[calls["end"]])
there = calls["sequence"] >= 0
same("sequence", trace.sequences["id"][calls["sequence"]], there)
same("sequence_name", trace.sequences["name"][calls["sequence"]].astype(str), there)
columns = 0
for function in trace.functions["name"]:
    values = trace.values(function)
    for name in values:
        if name in ("call", "returned"):
            continue
        there = numpy.zeros(len(calls), bool)
        there[values["call"]] = values["returned"] if name == "return" else True
        expected = numpy.zeros(len(calls), values[name].dtype)
        expected[values["call"]] = values[name]
        assert table.column(f"{function}.{name}").type == pyarrow.from_numpy_dtype(expected.dtype), name
        same(f"{function}.{name}", expected, there)
        columns += 1
print(columns, table.num_rows)
"""


class Parquet(Columns):
    def setUp(self):
        super().setUp()
        self.python = python_with("pyarrow", "numpy")
        if self.python is None:
            self.skipTest("no Python here has pyarrow and numpy: tools/setup installs them where it reaches PyPI")

    def compare(self, *program, functions: str, options=()) -> list[int]:
        self.record(*program, functions=functions)
        self.export("columns", *options)
        self.export("calls.parquet", *options, env={"RDAM_PYTHON": self.python})
        self.assertEqual(self.left_in_folder(), ["calls.parquet", "columns", "trace.bin"])
        done = self.run_in_folder(self.python, "-B", "-c", COMPARE, env={"PYTHONPATH": str(MODULE)})
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return [int(word) for word in done.stdout.split()]

    def test_the_file_says_what_the_folder_says(self):
        # More calls than a row group has.
        self.assertEqual(self.compare("orders", 2, 60000, functions=SHOP), [10, len(served(2, 60000))])

    def test_calls_left_in_other_ways(self):
        self.assertEqual(self.compare("sampled", 20, functions="thrower,jumper")[0], 4)

    def test_a_part(self):
        self.assertEqual(self.compare("orders", 2, 60, functions=SHOP, options=("--function", "parse")), [3, 120])

    def test_no_calls_at_all(self):
        self.record("orders", 1, 10, functions=SHOP)
        self.export("none.parquet", *(f"--ignore={name}" for name in SHOP.split(",")), env={"RDAM_PYTHON": self.python})
        script = "import pyarrow.parquet as p; t = p.read_table('none.parquet'); print(t.num_rows, 'duration' in t.column_names)"
        self.assertEqual(self.run_in_folder(self.python, "-c", script).stdout, b"0 True\n")

    def test_modules_that_lie_around_are_not_taken(self):
        self.record("orders", 1, 10, functions=SHOP)
        for name in ("rdam.py", "numpy.py", "pyarrow.py"):
            (self.folder / name).write_text("raise SystemExit('not this one')\n")
        self.export("calls.parquet", env={"RDAM_PYTHON": self.python})

    def test_a_file_is_replaced_once_the_new_one_is_whole(self):
        self.record("orders", 1, 10, functions=SHOP)
        env = {"RDAM_PYTHON": self.python}
        (self.folder / "calls.parquet").write_text("old")
        done = self.rdam("export", "--columns", "calls.parquet", "--overwrite", "--ignore", "nosuch", env=env)
        self.assert_one_line(done, 1, "nosuch")
        self.assertEqual((self.folder / "calls.parquet").read_text(), "old")
        self.assert_one_line(self.rdam("export", "--columns", "calls.parquet", env=env), 1, "calls.parquet: exists and is not empty", "--overwrite")
        self.assertEqual((self.folder / "calls.parquet").read_text(), "old")
        self.export("calls.parquet", "--overwrite", env=env)
        self.assertEqual((self.folder / "calls.parquet").read_bytes()[:4], b"PAR1")
        self.assertEqual(self.left_in_folder(), ["calls.parquet", "trace.bin"])


class WithoutPyarrow(Columns):
    def test_what_is_missing_is_said(self):
        self.record("orders", 1, 10, functions=SHOP)
        bare = self.folder / "bare"
        bare.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S \"$@\"\n")  # without any installed package
        bare.chmod(0o755)
        for python, words in ((bare, ("pyarrow", "pip install", "RDAM_PYTHON")), ("/no/such", ("/no/such", "RDAM_PYTHON"))):
            done = self.rdam("export", "--columns", "calls.parquet", env={"RDAM_PYTHON": str(python)})
            self.assert_one_line(done, 1, "calls.parquet", *words)
        done = self.rdam("export", "--columns", "no/such/calls.parquet", env={"RDAM_PYTHON": str(bare)})
        self.assert_one_line(done, 1, "no/such/calls.parquet: cannot be written", "No such file or directory")
        self.assertEqual(self.left_in_folder(), ["bare", "trace.bin"])


if __name__ == "__main__":
    unittest.main()
