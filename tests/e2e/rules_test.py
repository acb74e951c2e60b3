#!/usr/bin/python3
"""What somebody knows about a program's functions, on the command line and in a rules file, and what comes of it."""

import json
import os
import pathlib
import re
import shutil
import sys
import unittest

from harness import CACHE, PROGRAMS, RDAM, Case
from pythons import MODULE

os.environ["RDAM_PROGRAM"] = RDAM
os.environ["RDAM_CACHE"] = CACHE
sys.path.insert(0, str(MODULE))
sys.dont_write_bytecode = True

import rdam  # noqa: E402

PAGE = pathlib.Path(os.environ["SOURCE_ROOT"]) / "docs/feedback.md"


def function(report: dict, name: str) -> dict:
    return next(f for f in report["functions"] if f["name"] == name)


class Rules(Case):
    def setUp(self):
        super().setUp()
        self.record()

    def record(self, trace="trace.bin"):
        done = self.rdam("record", "-o", trace, "-f", "deliver,drive", "--", PROGRAMS / "depots")
        self.assertEqual((done.returncode, done.stdout), (0, b"70\n"), done.stderr.decode())

    def rules(self, text: str, name="rdam.toml"):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def report(self, *options, trace="trace.bin") -> tuple[list, list[str]]:
        """What is said of the functions, and on stderr."""
        done = self.succeeded(self.rdam("analyze", "--json", "--top", "0", *options, trace))
        return json.loads(done.stdout)["functions"], done.stderr.decode().splitlines()

    def sequences(self, *options, name="deliver") -> list[int]:
        """Their occurrences, in order."""
        functions, _ = self.report(*options)
        return sorted(row["occurrences"] for row in function({"functions": functions}, name)["sequences"])

    def assert_error(self, *words: str, options=()):
        for command in (("analyze", "trace.bin"), ("export", "--columns", "columns", "trace.bin")):
            self.assert_one_line(self.rdam(*command, *options), 1, *words)
            self.assertFalse((self.folder / "columns").exists())


class Context(Rules):
    def test_calls_are_told_apart_by_where_they_were_made(self):
        self.assertEqual(self.sequences(), [60])
        self.assertEqual(self.sequences("--split-by-context", "deliver"), [20, 40])
        self.assertEqual(self.sequences("--split-by-context", "depots:deliver", "--key", "deliver:parcels"), [10] * 6)
        # What the callers are told apart by, their callers are only with deep keys.
        self.assertEqual(self.sequences("--split-by-context", "drive"), [60])
        functions, _ = self.report("--split-by-context", "deliver")
        rows = function({"functions": functions}, "deliver")["sequences"]
        places = {row["occurrences"]: row["called_from"][0] for row in rows}
        self.assertRegex(places[40], r"^city at .*depots\.c:\d+$")
        self.assertRegex(places[20], r"^country at .*depots\.c:\d+$")
        for row in rows:
            self.assertRegex(row["name"], r"^deliver\(from depots\+0x[0-9a-f]+\)\[drive\]$")
        text = self.rdam("analyze", "--sequences", "--split-by-context", "deliver").stdout.decode()
        self.assertRegex(text, r"deliver\(from depots\+0x[0-9a-f]+\)\[drive\] called from city at ")

    def test_ids_are_the_same_in_the_next_recording(self):
        self.record("again.bin")
        options = ("--split-by-context", "deliver")
        ids = [{row["name"]: row["id"] for row in function({"functions": self.report(*options, trace=trace)[0]}, "deliver")["sequences"]}
               for trace in ("trace.bin", "again.bin")]
        self.assertEqual(len(ids[0]), 2)
        self.assertEqual(ids[0], ids[1])

    def test_columns_and_python_agree(self):
        self.succeeded(self.rdam("export", "--columns", "columns", "--split-by-context", "deliver", "trace.bin"))
        names, ids = self.names_and_ids("--split-by-context", "deliver")
        for trace in (rdam.open(self.folder / "columns"), rdam.open(self.folder / "trace.bin", split_by_context="deliver")):
            with trace:
                self.assertEqual(dict(zip(trace.sequences["name"].tolist(), trace.sequences["id"].tolist(), strict=True)),
                                 dict(zip(names, ids, strict=True)))
                self.assertEqual(len(trace.scores[0]["sequences"]) + len(trace.scores[1]["sequences"]), 3)

    def names_and_ids(self, *options) -> tuple[list[str], list[int]]:
        rows = [row for f in self.report(*options)[0] for row in f["sequences"]]
        return [row["name"] for row in rows], [int(row["id"], 16) for row in rows]

    def test_a_function_that_is_not_there(self):
        self.assert_error("delivers: the trace has no such function; similar: deliver",
                          options=("--split-by-context", "delivers"))


class InForce(Rules):
    def test_a_file_says_the_same_as_options(self):
        plain, said = self.report()
        self.assertEqual(said, [])
        for rules, options in (('keys = ["deliver:parcels"]', ["--key", "deliver:parcels"]),
                               ('ignore = ["drive"]', ["--ignore", "drive"]),
                               ('split-by-context = ["deliver"]', ["--split-by-context", "deliver"]),
                               ('split-by-context = ["drive"]\ndeep-keys = true\nkeys = ["drive:*", "deliver:*"]',
                                ["--key", "deliver:*", "--deep-keys", "--split-by-context", "drive"]),
                               ('baseline = "p50"', ["--baseline", "p50"])):
            self.rules("")
            expected, _ = self.report("--no-rules", *options)
            self.assertNotEqual(expected, plain, options)
            self.rules(rules.replace('"drive:*", ', ""))
            found, said = self.report()
            self.assertEqual((found, said), (expected, ["rdam: rules: rdam.toml"]), rules)
            # Again on the command line: no contradiction.
            self.assertEqual(self.report(*options)[0], expected)
            self.assertEqual(self.report("--no-rules"), (plain, []))

    def test_every_report_names_what_is_in_force(self):
        self.rules('ignore = ["drive", "elsewhere"]\nbaseline = "p50"\n')
        usual = "calls compared with"
        for options in ((), ("--diff", "trace.bin"), ("--histogram",)):
            text = self.rdam("analyze", *options, "trace.bin").stdout.decode()
            self.assertIn("\ncalls compared with percentile 50 of their thread; rules: rdam.toml; ignored: drive\n", text)
            self.assertNotIn(usual, self.rdam("analyze", *options, "--no-rules", "trace.bin").stdout.decode())
        shutil.copy(self.folder / "trace.bin", self.folder / "second.bin")
        text = self.rdam("analyze", "trace.bin", "second.bin").stdout.decode()
        self.assertEqual(text.count(usual + " percentile 50 of their thread; rules: rdam.toml; ignored: drive\n"), 1)
        found = json.loads(self.rdam("analyze", "--json", "trace.bin").stdout)["trace"]["comparison"]
        self.assertEqual([found[key] for key in ("baseline", "ignore", "keys", "rules_file")], ["p50", ["drive"], [], "rdam.toml"])
        page = self.rdam("report", "-o", "-", "trace.bin").stdout.decode()
        for line in ("<dt>Calls compared with</dt><dd>percentile 50 of their thread</dd>", "<dt>Rules</dt><dd>rdam.toml</dd>",
                     "<dt>Ignored</dt><dd>drive</dd>"):
            self.assertIn(line, page)

    def test_the_command_line_wins(self):
        self.rules('keys = ["deliver:parcels"]\nbaseline = "process"\n')
        self.assertEqual(self.sequences(), [10, 10, 20, 20])
        self.assertEqual(self.sequences("--no-key", "deliver:parcels"), [60])
        self.rules('no-keys = ["deliver:*"]\nbaseline = "p50"\n')
        self.assertEqual(self.sequences("--key", "deliver:parcels"), [10, 10, 20, 20])
        self.assertEqual(self.report("--baseline", "thread")[0], self.report("--no-rules")[0])
        self.assertNotEqual(self.report()[0], self.report("--no-rules")[0])

    def test_where_it_is_found(self):
        self.rules('ignore = ["drive"]\n')
        self.rules('split-by-context = ["deliver"]\n', "other.toml")
        (self.folder / "run").mkdir()
        (self.folder / "trace.bin").rename(self.folder / "run/trace.bin")
        trace = "run/trace.bin"

        def said(*options):
            functions, lines = self.report(*options, trace=trace)
            return len(functions), lines

        self.assertEqual(said(), (1, ["rdam: rules: rdam.toml"]))
        self.rules("", "run/rdam.toml")
        self.assertEqual(said(), (2, ["rdam: rules: run/rdam.toml"]))
        self.assertEqual(said("--rules", "rdam.toml"), (1, ["rdam: rules: rdam.toml"]))
        self.assertEqual(said("--rules", "other.toml"), (2, ["rdam: rules: other.toml"]))
        self.assertEqual(said("--no-rules"), (2, []))
        both = self.rdam("analyze", "--rules", "other.toml", "--no-rules", trace)
        self.assertEqual(both.returncode, 2, both.stderr.decode())

    def test_the_threshold(self):
        def legend(*options):
            text = self.rdam("analyze", *options).stdout.decode()
            return re.search(r"look at scores from (\d\.\d\d)", text).group(1)

        self.assertEqual(legend(), "0.20")
        self.assertEqual(legend("--threshold", "0.3"), "0.30")
        self.rules("threshold = 0.05")
        self.assertEqual(legend(), "0.05")
        self.assertEqual(legend("--threshold", "0.2"), "0.20")
        self.assertEqual(self.rdam("analyze", "--threshold", "1.5").returncode, 2)

    def test_a_rule_about_another_program_is_a_note(self):
        self.rules('keys = ["deliver:weight", "deliver:parcels", "collect:parcels"]\nignore = ["drives"]\n')
        expected, _ = self.report("--no-rules", "--key", "deliver:parcels")
        found, said = self.report()
        self.assertEqual(found, expected)
        self.assertEqual(said, [
            "rdam: rules: rdam.toml",
            "rdam: rdam.toml: keys: deliver has no recorded parameter weight; it has parcels; this rule is ignored",
            "rdam: rdam.toml: keys: collect: the trace has no such function; it has drive, deliver; this rule is ignored",
            "rdam: rdam.toml: ignore: drives: the trace has no such function; similar: drive; this rule is ignored"])

    def test_what_is_wrong_is_said_with_its_line(self):
        for text, *words in (("\nkyes = []", "rdam.toml:2: kyes: no such rule; similar: keys"),
                             ("keys = [", "rdam.toml:1: "),
                             ('# x\nkeys = ["deliver"]', "rdam.toml:2: keys: deliver: not a parameter; write function:parameter"),
                             ('baseline = "fastest"', "rdam.toml:1: baseline is not thread"),
                             ("threshold = 20", "rdam.toml:1: threshold is not a score from 0 to 1"),
                             ("\x1b[2Jx = 1", "rdam.toml:1: ")):
            self.rules(text)
            self.assert_error(*words)
        self.assertEqual(self.report("--no-rules")[1], [])
        self.assert_error("/: cannot be read: Is a directory", options=("--rules", "/"))
        self.assert_error("none.toml: cannot be opened: No such file", options=("--rules", "none.toml"))


class SeveralTraces(Rules):
    def setUp(self):
        super().setUp()
        self.record("again.bin")

    def test_the_same_rules_for_all(self):
        self.rules('ignore = ["drive", "nobody"]\n')
        done = self.succeeded(self.rdam("analyze", "--json", "trace.bin", "again.bin"))
        self.assertEqual([f["name"] for f in json.loads(done.stdout)["functions"]], ["deliver"])
        said = ["rdam: rules: rdam.toml",
                "rdam: rdam.toml: ignore: nobody: the trace has no such function; it has drive, deliver; this rule is ignored"]
        self.assertEqual(done.stderr.decode().splitlines(), said)
        done = self.rdam("analyze", "--json", "--diff", "trace.bin", "again.bin")
        self.assertEqual([row["name"] for row in json.loads(done.stdout)["diff"]], ["deliver"], done.stderr.decode())
        self.assertEqual(done.stderr.decode().splitlines(), said)

    def test_rules_beside_each(self):
        for name in ("trace", "again"):
            self.rules('ignore = ["drive"]\n', f"{name}/rdam.toml")
            (self.folder / f"{name}.bin").rename(self.folder / name / "trace.bin")
        traces = ("again/trace.bin", "trace/trace.bin")
        done = self.rdam("analyze", *traces)
        self.assertEqual(done.stderr.decode().splitlines(), ["rdam: rules: again/rdam.toml"])
        self.rules("", "trace/rdam.toml")
        self.assert_one_line(self.rdam("analyze", *traces), 1, "again/rdam.toml and trace/rdam.toml differ", "--rules")
        self.assertEqual(self.rdam("analyze", "--no-rules", *traces).returncode, 0)


class Columns(Rules):
    def test_an_export_follows_the_same_rules(self):
        self.rules('ignore = ["drive"]\nsplit-by-context = ["deliver"]\n')
        done = self.succeeded(self.rdam("export", "--columns", "columns", "trace.bin"))
        self.assertEqual(done.stderr.decode().splitlines(), ["rdam: rules: rdam.toml", "rdam: columns: 60 calls of 2 sequences"])
        with rdam.open(self.folder / "columns") as trace:
            self.assertEqual(trace.info["settings"]["rules"], str(self.folder / "rdam.toml"))
            self.assertEqual([f["name"] for f in trace.scores], ["deliver"])
            self.assertEqual(len(trace.scores[0]["sequences"]), 2)
        with rdam.open(self.folder / "trace.bin") as trace:  # found beside it
            self.assertEqual(len(trace.sequences["name"]), 2)
        with rdam.open(self.folder / "trace.bin", rules=False) as trace:
            self.assertEqual(len(trace.calls["start"]), 120)
            self.assertEqual(len(trace.scores), 2)
        self.rules('split-by-context = ["drive"]\n', "other.toml")
        with rdam.open(self.folder / "trace.bin", rules=self.folder / "other.toml") as trace:
            self.assertEqual(sorted(trace.sequences["calls"].tolist()), [60, 60])
            self.assertEqual(len(trace.scores), 2)


class Page(Rules):
    def test_the_example_of_the_page(self):
        blocks = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
        (self.folder / "depots").symlink_to(PROGRAMS / "depots")
        (self.folder / "bin").mkdir()
        (self.folder / "bin/rdam").symlink_to(RDAM)
        env = {"PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        run = 0
        for (kind, text), (next_kind, output) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
            if kind == "toml":
                self.rules(text)
            if kind != "sh":
                continue
            done = self.succeeded(self.run_in_folder("sh", "-ec", text, env=env))
            run += 1
            if next_kind == "text":
                self.assertEqual(self.sequences_in(output), self.sequences_in((done.stderr + done.stdout).decode()), text)
        self.assertGreaterEqual(run, 2)

    def sequences_in(self, text: str) -> list[str]:
        """Names and occurrences of sequences, and which rules are in force; without what differs from compiler to compiler."""
        found = re.findall(r"^rdam: rules: .*$|  deliver[(\[].*? {2,}\d+ ", text, re.MULTILINE)
        return sorted(re.sub(r"0x[0-9a-f]+|(?<=at )\S*/|(?<=\.c:)\d+", "#", " ".join(line.split()))
                      for line in found)


if __name__ == "__main__":
    unittest.main()
