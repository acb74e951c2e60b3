#!/usr/bin/python3
"""What rdam study keeps, and what it leaves behind: no run is lost that ended well, no folder stays, no file is mistaken for a study's."""

import csv
import fcntl
import os
import pathlib
import sys
import types
import unittest
import unittest.mock

from pythons import MODULE
from study_test import Studies

sys.path.insert(0, str(MODULE))
sys.dont_write_bytecode = True

from rdam import Error  # noqa: E402
from rdam.study import machine, runs, scratch, watch  # noqa: E402
from rdam.study.settings import Setting  # noqa: E402


class Runs(Studies):
    def test_one_without_a_metric_is_kept_and_not_repeated(self):
        """The third of five prints none."""
        script = "echo x >> count; case $(wc -l < count) in 3) echo none 5;; *) echo v 7;; esac"
        options = ("--runs", "4", "--check", "none", "--metric", "v=v (\\d)", "--metric", "w=(\\d)$", "sh", "-c", script)
        self.assert_one_line(self.study(*options), 1, "--metric v", "The run is kept", "--resume")
        self.assertEqual([sorted(line["metrics"]) for line in self.lines()], [["v", "w"], ["v", "w"], ["w"]])
        text = self.good("--resume", "study.jsonl")
        self.assertEqual((self.folder / "count").read_text(), 5 * "x\n")
        self.assertIn("The metric 'v' is missing in 1 of 5 runs", text)
        self.assertNotIn("'w' is missing", text)
        result = self.result("--show", "study.jsonl")
        self.assertEqual([metric["rounds"] for metric in result["settings"][0]["metrics"]], [[0, 2, 3], [0, 1, 2, 3]])

    def test_metrics_that_some_settings_do_not_print_are_compared_where_they_are(self):
        self.good("--runs", "3", "--check", "none", "--metric", "v=(\\d)", "--values", "n=1,2,3", "echo", "{n}")
        text = (self.folder / "study.jsonl").read_text()
        (self.folder / "study.jsonl").write_text(text.replace('"metrics":{"v":[1.0]}', '"metrics":{}'))
        self.assertIn("The metric 'v' is missing in 4 of 12 runs", self.good("--show", "study.jsonl"))

    def test_one_whose_checker_cannot_be_run_is_kept_and_not_repeated(self):
        options = ("--runs", "3", "--check", "./checker", "sh", "-c", "echo x >> count")
        self.assert_one_line(self.study(*options), 1, "--check './checker'", "not found", "--resume")
        (self.folder / "checker").write_text("#!/bin/sh\n")
        (self.folder / "checker").chmod(0o755)
        self.assertIn("The output of 1 of 4 runs was not judged", self.good("--resume", "study.jsonl"))
        self.assertEqual((self.folder / "count").read_text(), 4 * "x\n")

    def test_on_another_machine_they_go_on_and_it_is_told(self):
        self.good("--runs", "3", "true")
        text = (self.folder / "study.jsonl").read_text()
        (self.folder / "study.jsonl").write_text("".join(text.splitlines(keepends=True)[:-2]).replace(os.uname().release, "1.0-old"))
        done = self.study("--resume", "study.jsonl")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = f"The study continued on another machine, or another kernel: kernel 1.0-old, then {os.uname().release}."
        self.assertEqual(done.stderr.decode().splitlines()[0], f"rdam: {told}")
        self.assertIn(told, done.stdout.decode())
        self.assertEqual(len(self.lines()), 4)

    def test_the_same_machine_is_not_another(self):
        state = machine.state()
        self.assertIsNone(machine.moved(state, {**state, "load": 99.0}))
        self.assertIn("number of processors 2, then 4", machine.moved({**state, "processors": 2}, {**state, "processors": 4}))

    def test_processes_are_searched_only_behind_a_runner_that_gave_no_answer(self):
        def made(*command: str) -> int:
            """How often what is left of a run was searched for before its study ended, by the journal's next line."""
            searches: list[int] = []
            setting = Setting(command=command)
            study = runs.Runs([setting], types.SimpleNamespace(append=lambda _: searches.append(search.call_count)), runs.Place([setting]), [],
                              runs.Check("none"), 0, None, None, watch.Watch(), regions=False)
            with unittest.mock.patch.object(runs, "end_adopted", wraps=runs.end_adopted) as search:
                study.make([(runs.Planned(0, number, False),) for number in range(3)], lambda *_: None)
            return searches[-1]

        self.assertEqual(made("true"), 0)
        with self.assertRaisesRegex(Error, "./missing"):
            made("./missing")


class Folders(Studies):
    def temporary(self) -> set[str]:
        return {path.name for path in (self.folder / "tmp").iterdir()}

    def left(self, name: str, *files: str) -> pathlib.Path:
        folder = self.folder / "tmp" / name
        folder.mkdir()
        for file in files:
            (folder / file).write_text("")
        return folder

    def test_that_of_a_killed_study_goes_with_the_next(self):
        study = self.begun("--runs", "3", "sleep", str(100000 + os.getpid()))
        self.until(lambda: any("rdam-study-" in name for name in self.temporary()), "no study was begun")
        (own,) = self.temporary()
        self.assertRegex(own, scratch.NAME)
        self.good("-o", "other", "--runs", "3", "true")
        self.assertEqual(self.temporary(), {own})  # that of a study that lives
        self.until(lambda: (self.folder / "tmp" / own / "out").exists(), "no run was begun")
        study.kill()
        study.wait()
        self.good("-o", "another", "--runs", "3", "true")
        self.assertEqual(self.temporary(), set())

    def test_only_what_a_study_left_goes(self):
        gone = self.left("rdam-study-1-abcdefgh", "out", "errors", "trace.bin", "trace.bin.1")
        kept = [self.left("rdam-study-results", "out"), self.left("rdam-study-1-abcdefg1", "out", "notes"), self.left("rdam-study-1-locked__")]
        (self.folder / "tmp/rdam-study-1-linkedxx").symlink_to(self.left("elsewhere", "out"))
        lock = os.open(kept[-1], os.O_RDONLY)
        self.addCleanup(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)
        self.good("--runs", "3", "true")
        self.assertFalse(gone.exists())
        self.assertEqual(self.temporary(), {"elsewhere", "rdam-study-1-linkedxx", *(path.name for path in kept)})
        self.assertEqual([len(list(path.iterdir())) for path in kept], [1, 2, 0])
        self.assertTrue((self.folder / "tmp/elsewhere/out").exists())


class Names(Studies):
    def test_what_is_no_file_is_one_line(self):
        os.mkfifo(self.folder / "pipe")
        (self.folder / "folder").mkdir()
        for place, words in (("pipe", "is a pipe"), ("folder", "is a directory"), (".", "is a directory"), ("/dev/null", "is a device")):
            for option, program in (("-o", ["true"]), ("--resume", []), ("--show", [])):
                with self.subTest(place=place, option=option):
                    self.assert_one_line(self.study(option, place, *program), 1, place, words)
        for option in ("-o", "--resume", "--show", "--csv", "--html", "--parquet", "--config"):
            with self.subTest(option=option):
                self.assert_one_line(self.study("--runs", "3", option, "", *(["true"] if option not in ("--resume", "--show") else [])), 2,
                                     "''", "name of no file")
        self.assertFalse((self.folder / "study.jsonl").exists())

    def test_no_two_columns_have_one_name(self):
        for options, name in ((("--values", "round=1,2", "echo", "{round}"), "round"), (("--env", "wall_ns=1,2", "true"), "wall_ns"),
                              (("--env", "frequency_khz=1", "true"), "frequency_khz"), (("--env", "interrupts RES=1", "true"), "interrupts RES"),
                              (("--env", "n=1,2", "--values", "n=1,2", "echo", "{n}"), "n"), (("--env", "pin=a", "--pin", "none", "true"), "pin")):
            with self.subTest(options=options):
                self.assert_one_line(self.study("--runs", "3", *options), 2, f"'{name}'", "--setting")
        self.good("--runs", "3", "--threads", "1,2", "--env", "X=1,2", "--csv", "runs.csv", "true")
        with (self.folder / "runs.csv").open() as file:
            head = next(csv.reader(file))
        self.assertEqual(len(head), len(set(head)))
        self.assertEqual({name for name in head if name.startswith("softirqs ")},
                         {f"softirqs {name}" for line in self.lines() for name in line["softirqs"]})


if __name__ == "__main__":
    unittest.main()
