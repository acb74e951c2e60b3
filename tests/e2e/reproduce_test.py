#!/usr/bin/python3
"""tools/reproduce from end to end, with so few calls that it says nothing about the machine."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from harness import RDAM, Case

ROOT = pathlib.Path(os.environ["SOURCE_ROOT"])
BUILD = pathlib.Path(RDAM).resolve().parents[2]
REPRODUCE = ROOT / "tools/reproduce"
sys.path.insert(0, str(ROOT / "tools"))
from reproduction import measure, plan  # noqa: E402
from reproduction.benchmarks import COSTS, NAMES, SWEEPS  # noqa: E402
from reproduction.programs import Programs  # noqa: E402
from reproduction.units import duration  # noqa: E402

LOCK = next(sweep for sweep in SWEEPS if sweep.name == "lock")
COSTS_OF_LOCK, CACHE_LINES = 2, 1


class Reproduce(Case):
    def command(self, *options) -> list[str]:
        return [str(word) for word in (REPRODUCE, "--build", BUILD, "--output", self.folder / "out", *options)]

    def reproduce(self, *options) -> subprocess.CompletedProcess:
        return self.run_in_folder(*self.command(*options))

    def entries(self) -> list[dict]:
        text = (self.folder / "out/measurements.jsonl").read_text()
        return [entry for entry in map(json.loads, text.splitlines()) if "key" in entry]

    def test_a_sweep_that_is_interrupted_and_goes_on(self):
        options = ("--quick", "--only", "lock", "--iterations", 200, "--rounds", 1)
        path = self.folder / "out/measurements.jsonl"
        with subprocess.Popen(self.command(*options), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as run:  # a job in the background ignores it
            deadline = time.monotonic() + 100
            while time.monotonic() < deadline and not (path.exists() and path.read_text().count('"key"') >= 3):
                time.sleep(0.01)
            run.send_signal(signal.SIGINT)
            out, err = run.communicate(timeout=100)
        self.assertEqual(run.returncode, 128 + signal.SIGINT, err.decode())
        self.assertEqual((out, err.decode().count("\n")), (b"", 1), err.decode())
        self.assertIn("interrupted", err.decode())
        kept = path.read_text()
        self.assertGreaterEqual(kept.count('"key"'), 3)
        self.assertEqual(list((self.folder / "out").glob("run-*")), [], "what it worked with is removed")

        done = self.reproduce(*options)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertTrue(path.read_text().startswith(kept), "what had been measured is not measured again")
        self.assertIn(f"{kept.count(chr(34) + 'key' + chr(34))} of ", done.stderr.decode())
        self.check_results(done.stdout.decode())

        again = self.reproduce(*options)
        self.assertEqual((again.returncode, again.stdout), (0, done.stdout), again.stderr.decode())

    def check_results(self, report: str):
        entries = self.entries()
        self.assertEqual(len(entries), len(LOCK.delays_ns) + 2 * len(LOCK.controls) + COSTS_OF_LOCK + CACHE_LINES)
        points = {entry["settings"]["delay_ns"]: entry["result"] for entry in entries
                  if entry["settings"]["kind"] == "score" and entry["settings"]["options"] == list(LOCK.options)
                  and entry["settings"]["threads"] == LOCK.threads}
        self.assertEqual(sorted(points), sorted(LOCK.delays_ns))
        for result in points.values():
            self.assertEqual((result["dropped"], result["unscored"]), (0, 0))
            self.assertTrue(200 <= result["occurrences"] <= 200 * LOCK.threads, result)
            self.assertLessEqual(result["min_ns"], result["mean_ns"])
        page = (self.folder / "out/reproduction.md").read_text()
        for delay in LOCK.delays_ns:
            self.assertIn(f"\n  {duration(delay)} ", report)
            self.assertIn(f"\n| {duration(delay)} |", page)
        self.assertRegex(report, r"(?m)^  lock +17 +0\.97 ")
        self.assertRegex(report, r"(?m)^  lock, private locks +31\.6 µs +0\.\d{3} ")
        for drawing in ("lock", "sequences"):
            self.assertIn("</svg>", (self.folder / f"out/reproduction/{drawing}.svg").read_text())

    def test_page_elsewhere(self):
        done = self.reproduce("--only", "network", "--iterations", 5, "--rounds", 1, "--page", self.folder / "my.md")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertRegex(done.stdout.decode(), r"(?m)^  loopback, 2 clients +0\.\d{3} ")
        self.assertIn("](my/network.svg)", (self.folder / "my.md").read_text())
        self.assertTrue((self.folder / "my/network.svg").exists())
        # Where no network namespace can be made, it says so of each link; else both are there.
        possible = self.run_in_folder("unshare", "--net", "true").returncode == 0 and os.geteuid() == 0
        form = r"(?m)^  {}, 1 client +0\.\d{{3}} " if possible else r"(?m)^  {}: not measured: .+"
        for rate in ("100 Mb/s", "1 Gb/s"):
            self.assertRegex(done.stdout.decode(), form.format(rate))

    def refused(self, status: int, *options_and_words, words=()):
        done = self.reproduce(*options_and_words)
        self.assertEqual((done.returncode, done.stdout), (status, b""), done.stderr.decode())
        text = done.stderr.decode()
        self.assertEqual(text.count("\n"), 1, text)
        self.assertTrue(text.startswith("tools/reproduce: "), text)
        for word in words:
            self.assertIn(word, text)

    def test_errors_are_one_line(self):
        self.refused(2, "--only", "lock,luck", words=("luck", "falsesharing"))
        self.refused(2, "--rounds", "0", words=("--rounds",))
        for delays in ("lock", "lock=1us", "lock=9us..1us", "luck=1us..2us", "lock=1..2"):
            self.refused(2, "--delays", delays, words=("--delays", delays, "falsesharing"))
        (self.folder / "notes.md").write_text("Mine.\n")
        self.refused(1, "--only", "lock", "--page", self.folder / "notes.md", words=("notes.md", "another file"))
        self.refused(1, "--build", self.folder / "nowhere", words=("nowhere", "ninja"))
        self.refused(1, "--only", "io", "--rounds", 1, "--iterations", 5, "--path", self.folder / "nowhere", words=("nowhere", "--path"))
        (self.folder / "out/measurements.jsonl").write_text("nonsense\n")
        self.refused(1, "--only", "lock", words=("measurements.jsonl", "--output"))


class Costs(Case):
    def test_the_calls_are_the_same_with_the_recorder_and_without_it(self):
        programs, extent = Programs(BUILD), plan.Extent(NAMES, iterations=20)
        for task in {task.group: task for task in plan.tasks(extent, {}) if task.kind == "cost"}.values():
            with self.subTest(task.group):
                timed = measure.cost(programs, task.settings, self.folder)  # Trouble, if they are not
                self.assertGreaterEqual(timed["calls"], 20)
                if task.settings["benchmark"] in [sweep.name for sweep in SWEEPS]:
                    self.assertEqual(timed["calls"], 20 * task.settings["threads"], "none ends early")
        self.assertEqual(len({task.group for task in plan.tasks(extent, {}) if task.kind == "cost"}), len(COSTS))


if __name__ == "__main__":
    unittest.main()
