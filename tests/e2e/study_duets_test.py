#!/usr/bin/python3
"""`rdam study --duet`: two settings at once, each on its half of the processors, in pairs that are kept together or not at all."""

import collections
import json
import os
import pathlib
import random
import time
import unittest

from harness import PROGRAMS
from study_test import Studies, running

ROUNDS = 12


class Duets(Studies):
    def setUp(self):
        super().setUp()
        self.need("lstopo-no-graphics")
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one processor: a duet needs two")

    def pairs(self) -> list[list[dict]]:
        lines = map(json.loads, (self.folder / "study.jsonl").read_text().splitlines())
        return [line["duet"] for line in lines if "duet" in line]

    def script(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return f"./{name}"

    def test_both_run_at_once_each_on_a_drawn_half(self):
        """Each waits for the other: a pipe is opened for writing when it is for reading."""
        os.mkfifo(self.folder / "pipe")
        where = "sed -n 's/Cpus_allowed_list:.//p' /proc/self/status"
        scripts = {"one": f"echo x > pipe; {where}", "two": f"read x < pipe; {where}"}
        settings = [f"--setting={name}={self.script(name, text)}" for name, text in scripts.items()]
        text = self.good("--duet", "--runs", str(ROUNDS), "--seed", "3", *settings, "--time-limit", "200s", "--check", "none",
                         "--metric", "first=^(\\d+)")
        self.assertEqual([(pair[0]["round"], pair[0]["warm_up"]) for pair in self.pairs()], [(0, True), *((i, False) for i in range(ROUNDS))])
        firsts = set()
        for one, other in self.pairs():
            self.assertEqual({one["setting"], other["setting"]}, {0, 1})
            self.assertEqual((one["round"], one["warm_up"]), (other["round"], other["warm_up"]))
            self.assertEqual(set(one["half"]) & set(other["half"]), set())
            self.assertEqual(len(one["half"]), len(other["half"]))
            for run in (one, other):
                self.assertEqual(run["metrics"]["first"], [run["half"][0]])
            firsts.add(one["setting"])
        self.assertEqual(firsts, {0, 1})
        self.assertIn("The times are those of two simultaneous runs (duets): each setting ran on one half of the processors, ", text)
        self.assertRegex(text, r"(?m)^two: ")

    def test_recorded_runs_are_duets_as_well(self):
        program = PROGRAMS / "moody_naps"
        self.good("--duet", "--runs", "3", "--record", "nap", "--record-every", "2", f"--setting=one={program}", f"--setting=two={program}")
        self.assertEqual(collections.Counter((one["recorded"], other["recorded"]) for one, other in self.pairs()),
                         {(False, False): 4, (True, True): 2})
        for pair in self.pairs():
            for run in pair:
                self.assertEqual([each["calls"] for each in run.get("functions", [])], [8] if run["recorded"] else [])

    def test_each_program_has_its_duets(self):
        self.good("--duet", "--runs", "3", "--program", "a=true", "--program", "b=sh -c :", "--env", "X=1,2")
        head = json.loads((self.folder / "study.jsonl").read_text().splitlines()[0])
        of = [dict(levels) for levels in head["levels"]]
        self.assertEqual(collections.Counter((of[one["setting"]]["program"], of[other["setting"]]["program"]) for one, other in self.pairs()),
                         {("a", "a"): 4, ("b", "b"): 4})
        for one, other in self.pairs():
            self.assertEqual({of[one["setting"]]["X"], of[other["setting"]]["X"]}, {"1", "2"})

    def test_threads_are_pinned_in_each_half(self):
        self.good("--duet", "--runs", "3", "--pin", "compact", "--threads", "1", "--values", "n=1,2", "--check", "none", "echo", "{n}")
        for pair in self.pairs():
            for run in pair:
                self.assertLessEqual(set(run["processors"]), set(run["half"]))

    def test_a_pair_is_complete_or_run_again(self):
        drawn = random.Random(20)
        options = ["--duet", "--runs", str(ROUNDS), "--setting", "a=true", "--setting", "b=sh -c :"]
        kept: list[list[dict]] = []
        for kill in range(4):
            study = self.begun(*(["--resume", "study.jsonl"] if kill else options))
            self.until(self.is_begun, "no study was begun")
            time.sleep(drawn.random())
            study.kill()
            study.wait()
            if (self.folder / "study.jsonl").read_bytes().endswith(b"\n"):
                self.assertEqual(self.pairs()[:len(kept)], kept)
                kept = self.pairs()
        text = (self.folder / "study.jsonl").read_text()
        self.good("--resume", "study.jsonl")
        self.assertTrue((self.folder / "study.jsonl").read_text().startswith(text))
        every = [(run["setting"], run["warm_up"], run["round"]) for pair in self.pairs() for run in pair]
        self.assertEqual(sorted(every), sorted((setting, warm_up, number) for setting in (0, 1)
                                               for warm_up, rounds in ((True, 1), (False, ROUNDS)) for number in range(rounds)))
        cut = (self.folder / "study.jsonl").read_text()
        last = cut.rindex('{"duet"')
        (self.folder / "study.jsonl").write_text(cut[:cut.index('},{"setting"', last) + 20])
        self.good("--resume", "study.jsonl")
        self.assertEqual(sorted((run["setting"], run["warm_up"], run["round"]) for pair in self.pairs() for run in pair), sorted(every))

    def test_one_that_fails_ends_both(self):
        word = f"{100000 + os.getpid()}.7"
        self.assert_one_line(self.study("--duet", "--runs", "3", "--setting", "a=false", "--setting", f"b=sleep {word}"), 1, "'a'", "exit code 1")
        self.assertEqual(running(word), [])
        self.assertEqual(self.pairs(), [])

    def test_nothing_outlives_a_study(self):
        word = f"{100000 + os.getpid()}.6"
        script = f"setsid sleep {word} & sleep {word}"
        study = self.begun("--duet", "--runs", "3", "--values", "n=1,2", "--", "sh", "-c", f"{script}; echo {{n}}")
        self.until(lambda: len(running(word)) >= 4, "the programs did not begin")
        study.kill()
        study.wait()
        self.until(lambda: not running(word), "something outlives the study")

    def test_what_is_no_duet_is_told(self):
        (self.folder / "list").write_text("0\n")
        for code, options, words in [
                (2, ["--values", "n=1,2,3", "echo", "{n}"], ["--duet", "there are 3", "give two"]),
                (1, ["--values", "n=1,2", "--osnoise", "echo", "{n}"], ["--osnoise"]),
                (2, ["--threads", "1", "true"], ["--duet", "there is 1"]),
                (2, ["--program", "a=true", "--program", "b=sh -c :"], ["--duet", "of a there is 1"]),
                (2, ["--memory", "local,first-touch", "true"], ["--duet", "'memory first-touch' is on this machine the same as 'memory local'"]),
                (1, ["--pin", "none,file:list", "true"], ["--pin file:list", "compact or scatter"])]:
            with self.subTest(options=options):
                self.assert_one_line(self.study("--duet", "--runs", "3", *options), code, *words)
        self.assertFalse((self.folder / "study.jsonl").exists())
        done = self.study("--duet", "--values", "n=1,2", "echo", "{n}", HWLOC_SYNTHETIC="Package:1 PU:1")
        self.assert_one_line(done, 1, "has one processor", "neither time is its own")

    def test_halves_have_whole_cores_that_are_neighbours(self):
        """Of three cores on a socket one is left over; siblings stay together; two siblings of one core are halves, too."""
        for topology, compact, scatter in [("Package:2 L3Cache:1 Core:2 PU:2", "0,1 or 4,5", "0,2 or 4,6"), ("Core:3 PU:2", "0,1 or 2,3", None),
                                           ("Core:1 PU:2", "0,0 or 1,1", None)]:
            with self.subTest(topology=topology):
                text = self.good("--duet", "--threads", "2", "--pin", "compact,scatter", "true", HWLOC_SYNTHETIC=topology)
                self.assertRegex(text, rf"(?m)^pin compact +{compact}$")
                if scatter:
                    self.assertRegex(text, rf"(?m)^pin scatter +{scatter}$")
                self.assertIn("free on 0", self.good("--duet", "--threads", "1,2", "--pin", "none", "true", HWLOC_SYNTHETIC=topology))

    def test_what_others_took_is_judged_by_the_half(self):
        """40 ms of 1 s: less than 2 % and a tick of two processors (60 ms), more than that of one (30 ms)."""
        run = {"warm_up": False, "recorded": False, "at": 0, "wall_ns": 10**9, "user_ns": 10**9, "system_ns": 0, "others_s": 0.04, "stolen_s": 0,
               "output": "", "output_differs": False}
        head = {"format": "rdam study 1", "request": {}, "command": ["true"], "rounds": 3, "record_every": None, "warm_ups": 0, "seed": 1,
                "processors": 2, "labels": ["n 1", "n 2"], "levels": [[["n", "1"]], [["n", "2"]]], "equal": []}
        for halves, disturbed in (((None, None), 0), (([0], [1]), 6)):
            runs = [[{**run, "setting": setting, "round": number, **({"half": half} if half else {})} for setting, half in enumerate(halves)]
                    for number in range(3)]
            pathlib.Path(self.folder / "written").write_text("".join(json.dumps(line) + "\n" for line in [head, *({"duet": pair} for pair in runs)]))
            text = self.good("--show", "written")
            self.assertEqual("in 6 of 6 runs" in text, disturbed == 6)
            self.assertEqual("0 or 1, as was drawn" in text, disturbed == 6)


if __name__ == "__main__":
    unittest.main()
