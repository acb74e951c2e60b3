#!/usr/bin/python3
"""rdam check: made-up traces of which every figure is known, and recorded ones."""

import json
import os
import pathlib
import signal
import unittest
import xml.etree.ElementTree as xml

from harness import PROGRAMS, RDAM, Case

RUNS = (1, 1.01, 0.99, 1.02, 0.98)  # what their losses are multiplied by: on average by 1
LOSS, CALL, PAUSE = 10, 10, 5  # microseconds
CALLS = 100
BASE = [f"base-{run}.json" for run in range(5)]
NEW = [f"new-{run}.json" for run in range(5)]


def against(traces=BASE) -> list[str]:
    return [word for trace in traces for word in ("--against", trace)]


class Check(Case):
    def trace(self, file: str, loss: float = LOSS, calls: int = CALLS, functions=("solve",)):
        """Each function's calls last 10 µs and by turns 2 × `loss` longer, so that a call loses `loss`."""
        events, now = [], 0.0
        for name in functions:
            for call in range(calls):
                duration = CALL + (2 * loss if call % 2 else 0)
                events.append({"name": name, "ph": "X", "ts": now, "dur": duration, "pid": 1, "tid": 1})
                now += duration + PAUSE
        (self.folder / file).write_text(json.dumps({"traceEvents": events}))

    def traces(self, files, loss: float = LOSS, **options):
        for file, factor in zip(files, RUNS, strict=False):
            self.trace(file, loss * factor, **options)

    def check(self, *options, status: int, new=NEW) -> list[str]:
        done = self.succeeded(self.rdam("check", *against(), *new, *options), status)
        self.stderr = done.stderr.decode()
        return done.stdout.decode().splitlines()

    def test_equal_runs(self):
        self.traces(BASE)
        self.traces(reversed(NEW), 1.003 * LOSS)
        line, = self.check(status=0)
        # 50 × (10 + 5) + 50 × (30 + 5) - 5 µs
        self.assertRegex(line, r"^nothing got worse: time of the run 2\.50 ms → 2\.50 ms \(\+0\.1 %, 95 % interval -.* to \+.*\); "
                               r"1 function; 5 runs before, 5 after$")

    def test_one_function_lost_more(self):
        self.traces(BASE, functions=("solve", "other"))
        self.traces(NEW, functions=("solve", "other"))
        self.assertEqual(len(self.check(status=0)), 1)
        for file, factor in zip(NEW, RUNS, strict=True):  # solve 11 instead of 10 µs, and other, behind it, as before
            self.trace(file, factor * LOSS, functions=("solve", "other"))
            path = self.folder / file
            events = json.loads(path.read_text())["traceEvents"]
            shift = 0.0
            for event in events:
                event["ts"] += shift
                if event["name"] == "solve" and event["dur"] > CALL:
                    event["dur"] += 0.2 * LOSS * factor
                    shift += 0.2 * LOSS * factor
            path.write_text(json.dumps({"traceEvents": events}))
        line, = self.check(status=3)
        self.assertRegex(line, r"^worse: solve: loss per call 10\.0 µs → 11\.0 µs \(\+10\.0 %, 95 % interval \+[78]\.\d % to "
                               r"\+1[12]\.\d %\); 5 runs before, 5 after$")
        self.assertEqual(len(self.check("--max-loss", "+11%", status=0)), 1)

    def test_more_calls(self):
        self.traces(BASE)
        self.traces(NEW, calls=2 * CALLS)
        time, calls = self.check(status=3)
        self.assertTrue(time.startswith("worse: time of the run 2.50 ms → 5.00 ms (+100."), time)
        self.assertEqual(calls, "worse: solve: calls 100 → 200 (+100.0 %, 95 % interval +100.0 % to +100.0 %); 5 runs before, 5 after")
        self.assertEqual(len(self.check("--max-time", "+200%", "--max-calls", "+101%", status=0)), 1)

    def test_less_is_not_worse(self):
        self.traces(BASE, 2 * LOSS, calls=2 * CALLS)
        self.traces(NEW)
        self.assertTrue(self.check(status=0)[0].startswith("nothing got worse: "))

    def test_a_function_on_one_side(self):
        self.traces(BASE, functions=("solve", "old"))
        self.traces(NEW, functions=("solve", "young"))
        self.check("--junit", "out.xml", status=0)
        self.assertEqual(sorted(self.stderr.splitlines()), ["rdam: old: is recorded only before: not compared",
                                                            "rdam: young: is recorded only after: not compared"])
        suite = xml.parse(self.folder / "out.xml").getroot()[0]
        self.assertEqual((suite.get("tests"), suite.get("skipped"), suite.get("failures")), ("5", "2", "0"))

    def test_too_few_runs(self):
        self.traces(BASE)
        self.traces(NEW)
        self.assert_one_line(self.rdam("check", *against(), NEW[0]), 1, "5 runs before and 1 after: of a single run no interval is known",
                             "record 5 on each side")
        self.assert_one_line(self.rdam("check", *against(BASE[:3]), *NEW[:3]), 1, "too few for a verdict at the risk 0.01")
        done = self.succeeded(self.rdam("check", "--risk", "0.05", *against(BASE[:3]), *NEW[:3]))
        self.assertIn(b"too few runs for a 95 % interval", done.stdout)
        self.assert_one_line(self.rdam("check", *against(), BASE[0], *NEW[1:]), 1, "is the same recording as")

    def test_formats(self):
        """The fields are those that the services document."""
        self.traces(BASE)
        self.traces(NEW, 1.5 * LOSS)
        lines = self.check("--junit", "out.xml", "--bencher", "bencher.out", "--github", "github.out", status=3)
        self.assertEqual(len(lines), 2)
        suite = xml.parse(self.folder / "out.xml").getroot()[0]
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("errors")), ("3", "2", "0"))
        failed = {case.get("name"): case.find("failure") is not None for case in suite}
        self.assertEqual(failed, {"program: time of the run": True, "solve: loss per call": True, "solve: calls": False})
        bencher = json.loads((self.folder / "bencher.out").read_text())
        self.assertEqual(set(bencher), {"program", "solve"})
        loss = bencher["solve"]["loss-per-call"]
        self.assertEqual(set(loss), {"value", "lower_value", "upper_value"})
        for key, expected in (("value", 15_000), ("lower_value", 14_700), ("upper_value", 15_300)):
            self.assertAlmostEqual(loss[key], expected, delta=1)
        self.assertEqual(bencher["solve"]["calls"]["value"], CALLS)
        self.assertAlmostEqual(bencher["program"]["latency"]["value"], 2_995_000, delta=1)
        github = {one["name"]: one for one in json.loads((self.folder / "github.out").read_text())}
        one = github["solve: loss per call"]
        self.assertEqual((set(one), one["unit"]), ({"name", "unit", "value", "range", "extra"}, "ns"))
        self.assertAlmostEqual(one["value"], 15_000, delta=1)
        self.assert_one_line(self.rdam("check", *against(), *NEW, "--junit", "out.xml"), 1, "out.xml", "--overwrite")

    def test_names_that_mean_harm(self):
        harm = '<a&"b\x1b[2J\u202e>'
        self.traces(BASE, functions=(harm,))
        self.traces(NEW, 1.5 * LOSS, functions=(harm,))
        lines = self.check("--junit", "out.xml", status=3)
        self.assertNotIn("\x1b", "".join(lines))
        names = [case.get("name") for case in xml.parse(self.folder / "out.xml").getroot()[0]]
        self.assertIn('<a&"b\\x1b[2J\\u{202e}>: loss per call', names)

    def test_bad_input(self):
        self.traces(BASE)
        self.traces(NEW)
        (self.folder / "bad.bin").write_bytes(os.urandom(1000))
        self.assert_one_line(self.rdam("check", *against(), *NEW, "bad.bin", "--junit", "out.xml"), 1, "bad.bin")
        self.assert_one_line(self.rdam("check", *against(), "nothing.bin"), 1, "nothing.bin")
        self.assertFalse((self.folder / "out.xml").exists())
        self.assert_one_line(self.rdam("check", *NEW), 2, "--against")
        self.assert_one_line(self.rdam("check", *against()), 2, "new is required")
        for limit in ("5", "-5%", "x%", "nan%"):
            self.assert_one_line(self.rdam("check", f"--max-loss={limit}", *against(), *NEW), 2, "--max-loss", "is not a percentage like +5%")
        self.assert_one_line(self.rdam("check", *against(), *NEW, "--bencher", "-"), 2, "--bencher")

    def test_a_full_disk(self):
        self.traces(BASE)
        self.traces(NEW)
        for option in ("--junit", "--bencher", "--github"):
            self.assert_one_line(self.rdam("check", *against(), *NEW, option, "/dev/full"), 1, "/dev/full", "No space left")
        done = self.run_in_folder("sh", "-c", 'exec "$0" "$@" > /dev/full', RDAM, "check", *against(), *NEW)
        self.assert_one_line(done, 1, "standard output")

    def test_interrupted(self):
        for way in (signal.SIGINT, signal.SIGTERM):
            self.trace("long-0.json", calls=100_000)
            for run in range(1, 10):
                os.link(self.folder / "long-0.json", self.folder / f"long-{run}.json")
            traces = [f"long-{run}.json" for run in range(10)]
            ended = self.interrupted("check", *against(traces[:5]), *traces[5:], "--junit", "out.xml", writing="*out.xml*", way=way)
            self.assertEqual(ended, -way)
            self.assertEqual(list(self.folder.glob("*out.xml*")), [])
            self.assertEqual(list(self.folder.glob(".*out.xml*")), [])
            for trace in traces:
                (self.folder / trace).unlink()


class Recorded(Case):
    def test_folders(self):
        for folder, calls in (("before", 2000), ("after", 3000)):
            (self.folder / folder).mkdir()
            for run in range(5):
                self.succeeded(self.rdam("record", "-f", "step,work", "-o", pathlib.Path(folder) / f"trace-{run}.bin", "--", PROGRAMS / "counts", "1",
                                         str(calls)), 3)
        done = self.rdam("check", "--against", "before", "after", "--max-time", "100000%", "--max-loss", "100000%")
        self.assertEqual((done.returncode, done.stderr), (3, b""))
        lines = done.stdout.decode().splitlines()
        self.assertEqual([line.split(":")[1] for line in lines], [" step", " work"])
        for line in lines:
            self.assertRegex(line, r"calls .* \(\+50\.0 %, 95 % interval \+50\.0 % to \+50\.0 %\); 5 runs before, 5 after$")

    def test_processes_of_a_run_are_one_run(self):
        for run in range(3):
            self.succeeded(self.rdam("record", "-f", "work", "-o", f"run-{run}.bin", "--", PROGRAMS / "phases", "300", "200", "100"))
        names = sorted(path.name for path in self.folder.glob("run-*.bin"))
        self.assertEqual(len(names), 6)
        first = [name for name in names if name.startswith("run-0")]
        rest = [name for name in names if not name.startswith("run-0")]
        self.assert_one_line(self.rdam("check", *against(first), *rest), 1, "1 run before and 2 after")


if __name__ == "__main__":
    unittest.main()
