#!/usr/bin/python3
"""Scores beside what valgrind, perf and Coz say of the same program: the example of docs/causes.md, and each real tool."""

import json
import os
import pathlib
import re
import shutil
import unittest

from harness import PROGRAMS, RDAM, Case

ROOT = pathlib.Path(os.environ["SOURCE_ROOT"])
PAGE = ROOT / "docs/causes.md"
SOURCE = ROOT / "tests/e2e/programs/crosscheck.c"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FUNCTIONS = "locked_update,naps,walks,races,steady"
VERDICTS = ("effect and cause agree", "effect without known cause: look further", "cause without effect: leave it")


def verdicts_in(text: str) -> dict[str, str]:
    """By function; empty where there is none. Figures differ from run to run."""
    found = {}
    for line in text.splitlines():
        if match := re.match(r" +≥?!?\d\.\d{3} +\S+ \S+ +(\w+) ", line):
            found[match[1]] = next((verdict for verdict in VERDICTS if line.endswith(verdict)), "")
    return found


def line_of(text: str, source: pathlib.Path = SOURCE) -> int:
    """The only line of the program with this text."""
    lines = [number for number, line in enumerate(source.read_text().splitlines(), 1) if text in line]
    assert len(lines) == 1, text
    return lines[0]


class CrossCheck(Case):
    def setUp(self):
        super().setUp()
        shutil.copy2(PROGRAMS / "crosscheck", self.folder / "app")

    def record(self):
        self.succeeded(self.rdam("record", "-f", FUNCTIONS, "--", "./app"))

    def check(self, *files: str) -> dict:
        causes = self.analyze("trace.bin", *[word for file in files for word in ("--causes", file)])["causes"]
        causes["by_name"] = {function["name"]: function for function in causes["functions"]}
        causes["labels"] = [report["label"] for report in causes["reports"]]
        return causes

    def verdicts(self, causes: dict) -> dict[str, str]:
        return {name: function["verdict"] for name, function in causes["by_name"].items()}

    def share(self, causes: dict, name: str, label: str) -> float:
        return causes["by_name"][name]["shares"][causes["labels"].index(label)]["share"]

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text)
        return name

    def test_the_example_of_the_page(self):
        self.need("valgrind")
        commands, shown = (text for kind, text in BLOCK.findall(PAGE.read_text())[:2])
        binaries = self.folder / "bin"
        binaries.mkdir()
        (binaries / "rdam").symlink_to(RDAM)
        done = self.succeeded(self.run_in_folder("sh", "-e", "-c", commands, env={"PATH": f"{binaries}:{os.environ['PATH']}"}))
        found = verdicts_in(done.stdout.decode())
        self.assertEqual(found, verdicts_in(shown), done.stdout.decode())
        self.assertEqual(found, {"locked_update": VERDICTS[0], "naps": VERDICTS[1], "races": VERDICTS[2],
                                 "walks": VERDICTS[2], "steady": ""})

    def test_json_of_valgrind_tools(self):
        self.need("valgrind")
        self.record()
        for tool, options in {"drd": ["--exclusive-threshold=1"], "helgrind": []}.items():
            self.succeeded(self.run_in_folder("valgrind", f"--tool={tool}", "--xml=yes", f"--xml-file={tool}.xml", *options, "./app"))
        for name, option in {"callgrind.out": "--dump-instr=yes", "branches.out": "--branch-sim=yes"}.items():
            self.succeeded(self.run_in_folder("valgrind", "--tool=callgrind", "--cache-sim=yes", option, f"--callgrind-out-file={name}", "./app"))
        causes = self.check("drd.xml", "callgrind.out")
        self.assertEqual(causes["labels"][:3], ["conflicts", "held locks", "Ir"])
        self.assertEqual(self.verdicts(causes), {"locked_update": "agree", "naps": "effect_only", "races": "cause_only",
                                                 "walks": "cause_only", "steady": "neither"})
        self.assertGreater(self.share(causes, "races", "conflicts"), 0.5)
        self.assertGreater(self.share(causes, "locked_update", "held locks"), 0.5)
        self.assertGreater(self.share(causes, "walks", "D1mr"), 0.5)
        self.assertEqual({report["label"]: report["disturbs"] for report in self.check("branches.out")["reports"]},
                         {"Ir": False, "Dr": False, "Dw": False, "I1mr": True, "D1mr": True, "D1mw": True, "ILmr": True,
                          "DLmr": True, "DLmw": True, "Bc": False, "Bcm": True, "Bi": False, "Bim": True})
        helgrind = self.check("helgrind.xml")
        self.assertGreater(self.share(helgrind, "races", "conflicts"), 0.5)
        self.assertEqual(self.verdicts(helgrind)["locked_update"], "effect_only")

    def test_perf_report_of_time_has_no_say(self):
        self.need("perf")
        self.record()
        done = self.run_in_folder("perf", "record", "-q", "-g", "-e", "cpu-clock", "-o", "perf.data", "./app")
        if done.returncode != 0 or not (self.folder / "perf.data").exists():
            self.skipTest(f"perf cannot record here: {done.stderr.decode().strip().splitlines()[-1:]}")
        self.assert_one_line(self.rdam("analyze", "--causes", "perf.data"), 1, "perf report --stdio -i perf.data")
        report = self.succeeded(self.run_in_folder("perf", "report", "--stdio", "-i", "perf.data"))
        causes = self.check(self.write("perf.txt", report.stdout.decode()))
        self.assertEqual([(r["tool"], r["disturbs"]) for r in causes["reports"]], [("perf report", False)])
        self.assertIn("cpu-clock", causes["labels"][0])
        self.assertEqual(self.verdicts(causes), {"locked_update": "effect_only", "naps": "effect_only", "races": "neither",
                                                 "walks": "neither", "steady": "neither"})

    def test_the_hot_line_of_a_long_function(self):
        self.need("perf")
        shutil.copy2(PROGRAMS / "hot_loop", self.folder / "app")
        done = self.run_in_folder("perf", "record", "-q", "-e", "cpu-clock", "-o", "perf.data", "./app")
        if done.returncode != 0 or not (self.folder / "perf.data").exists():
            self.skipTest(f"perf cannot record here: {done.stderr.decode().strip().splitlines()[-1:]}")
        self.succeeded(self.rdam("record", "-f", "bake", "--", "./app"))
        hot = line_of("/* hot */", SOURCE.with_name("hot_loop.c"))
        self.assertNotIn("the inner loop of bake around", self.rdam("analyze", "trace.bin").stdout.decode())
        for sort in ("symbol,srcline", "dso,symbol,srcline"):
            with self.subTest(sort):
                report = self.succeeded(self.run_in_folder("perf", "report", "--stdio", "--sort", sort, "-i", "perf.data"))
                self.write("perf.txt", report.stdout.decode())
                # How far behind the instruction perf sees a sample is the machine's: the loop's own line may have more of them.
                shares = re.findall(r"(\d+\.\d+)%.* bake .*hot_loop\.c:(\d+)", report.stdout.decode())
                most = max(shares, key=lambda share: float(share[0]))[1]
                self.assertIn(most, (str(hot - 1), str(hot)))
                words = f"the inner loop of bake around hot_loop.c:{most}, the line with "
                (bake,) = self.analyze("trace.bin", "--causes", "perf.txt")["functions"]
                (advice,) = [hint["text"] for hint in bake["hints"] if hint["kind"] == "few_occurrences"]
                self.assertIn(words, advice)
                # Of the samples in bake; perf rounds each line's share to a hundredth of a percent.
                of_all = {line: float(share) for share, line in shares}
                share = float(advice.split(words)[1].split(" %")[0])
                self.assertAlmostEqual(share, 100 * of_all[most] / sum(of_all.values()), delta=1)
                self.assertIn('RDAM_BEGIN("bake loop");', advice)
                self.assertIn(words, self.rdam("analyze", "--causes", "perf.txt", "trace.bin").stdout.decode())

    def test_events_of_a_group(self):
        self.need("perf")
        done = self.run_in_folder("perf", "record", "-q", "-g", "-e", "{cpu-clock,page-faults}", "-o", "perf.data", "./app")
        if done.returncode != 0 or not (self.folder / "perf.data").exists():
            self.skipTest(f"perf cannot record here: {done.stderr.decode().strip().splitlines()[-1:]}")
        self.record()
        report = self.succeeded(self.run_in_folder("perf", "report", "--stdio", "-i", "perf.data"))
        causes = self.check(self.write("perf.txt", report.stdout.decode()))
        self.assertEqual([(r["label"], r["disturbs"]) for r in causes["reports"]], [("cpu-clock", False), ("page-faults", True)])

    def test_perf_lock(self):
        self.need("perf")
        done = self.run_in_folder("perf", "lock", "record", "-o", "lock.data", "./app")
        if done.returncode != 0 or not (self.folder / "lock.data").exists():
            self.skipTest(f"perf lock cannot record here: {done.stderr.decode().strip().splitlines()[-1:]}")
        self.record()
        for command in (["report"], ["contention"], ["contention", "-v"]):
            table = self.run_in_folder("perf", "lock", *command, "-i", "lock.data")
            if table.returncode != 0:
                print(f"skipped: perf lock {command[0]}: {table.stderr.decode().strip().splitlines()[:1]}")
                continue
            # perf prints some of its tables on standard error.
            causes = self.check(self.write("lock.txt", (table.stdout or table.stderr).decode()))
            self.assertEqual([(r["tool"], r["label"]) for r in causes["reports"]], [("perf lock", "lock waits")])

    def test_lines_find_their_functions(self):
        self.record()
        experiments = "".join(
            f"experiment\tselected={SOURCE}:{line}\tspeedup={speedup}\tduration={round(1e8 * (1 - speedup * effect))}\t"
            f"selected-samples=9\nthroughput-point\tname=point\tdelta=100\n"
            for line, effect in ((line_of("each misses"), 0.5), (line_of("seen = ++updates"), -0.25), (line_of("int main(void)"), 0.3))
            for speedup in (0, 0.25, 0.5, 0.75, 1))
        coz = self.check(self.write("profile.coz", "startup\ttime=1\n" + experiments))
        self.assertAlmostEqual(self.share(coz, "walks", "Coz"), 0.5)
        self.assertAlmostEqual(self.share(coz, "locked_update", "Coz"), 0.25)
        self.assertEqual(self.verdicts(coz), {"locked_update": "agree", "naps": "effect_only", "races": "neither",
                                              "walks": "cause_only", "steady": "neither"})
        self.assertEqual([(n["line"], round(n["share"], 3)) for n in coz["not_recorded"]], [(line_of("int main(void)"), 0.3)])

        # The symbol is cut off, as perf c2c does; the line is not.
        place = f"[.] race  app  crosscheck.c:{line_of('races_seen += i')}  0"
        table = ("  Shared Cache Line Distribution Pareto\n  -----\n  0  30  10  0  0  0  0x404080\n  -----\n"
                 f"  100.00%  100.00%    0.00%    0.00%    0.00%  0x0  0  1  0x1206  1  1  1  4000  2  {place}\n")
        c2c = self.check(self.write("c2c.txt", table))
        self.assertEqual(self.share(c2c, "races", "HITM"), 1.0)
        self.assertEqual(c2c["by_name"]["races"]["shares"][0]["absolute"], 40)

    def test_a_changed_program_has_no_lines(self):
        self.record()
        (self.folder / "app").unlink()
        shutil.copy2(PROGRAMS / "counts", self.folder / "app")
        experiments = "".join(f"experiment\tselected=crosscheck.c:{line_of('each misses')}\tspeedup={speedup}\tduration={100 - speedup}\t"
                              f"selected-samples=9\nthroughput-point\tname=point\tdelta={1 + speedup}\n" for speedup in (0, 0.25, 0.5, 0.75, 1))
        causes = self.check(self.write("profile.coz", "startup\ttime=1\n" + experiments))
        self.assertEqual(self.share(causes, "walks", "Coz"), 0)
        self.assertEqual(len(causes["not_recorded"]), 1)

    def test_what_is_wrong_is_said_in_a_line(self):
        self.record()
        self.assert_one_line(self.rdam("analyze", "--causes", "nothing.txt"), 1, "nothing.txt: cannot be opened")
        self.assert_one_line(self.rdam("analyze", "--causes", "."), 1, ".: cannot be read")
        self.assert_one_line(self.rdam("analyze", "--causes", self.write("c.out", "# callgrind format\nevents: Ir\nfn=f\n1 2 3\n")), 1,
                             "c.out:4: ", "valgrind --tool=callgrind")
        self.assert_one_line(self.rdam("analyze", "--causes", self.write("evil\x1b[31m.txt", "?")), 1, "evil\\x1b[31m.txt")
        for wrong in (["--diff", "trace.bin", "trace.bin"], ["trace.bin", "other.bin"]):
            done = self.rdam("analyze", "--causes", "c.out", *wrong)
            self.assertEqual(done.returncode, 2, done.stderr.decode())
            self.assertIn(b"cross-checks one trace", done.stderr)

    def test_causes_may_come_from_a_pipe(self):
        self.record()
        done = self.succeeded(self.rdam("analyze", "--json", "--causes", "-", "trace.bin", stdin=None,
                                        input=(ROOT / "tests/unit/causes/samples/c2c.txt").read_bytes()))
        self.assertEqual(json.loads(done.stdout)["causes"]["reports"][0]["file"], "standard input")


if __name__ == "__main__":
    unittest.main()
