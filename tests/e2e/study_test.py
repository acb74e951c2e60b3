#!/usr/bin/python3
"""`rdam study`: every setting is run as it says, every run is kept, nothing outlives a study, and what fails says so in a line."""

import collections
import contextlib
import csv
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
from xml.etree import ElementTree

from harness import CACHE, PROGRAMS, RDAM, TIMEOUT, Case
from pythons import python_with

KILLS = 50
ROUNDS = 500  # of which some 18 are made between two kills: the study is not through before the last


def words_of(process: pathlib.Path) -> list[str]:
    with contextlib.suppress(OSError):
        return (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
    return []


def running(word: str) -> list[int]:
    """Processes that have this word in their command line."""
    return [int(process.name) for process in pathlib.Path("/proc").glob("[0-9]*") if word in words_of(process)]


class Studies(Case):
    def setUp(self):
        super().setUp()
        try:
            import scipy  # noqa: F401
        except ImportError:
            self.skipTest("scipy is not installed: 'apt install python3-scipy' gets it")
        temporary = self.folder / "tmp"
        temporary.mkdir()
        self.environment = {"RDAM_PYTHON": sys.executable, "TMPDIR": str(temporary)}

    def study(self, *options, **variables):
        return self.rdam("study", *options, env={**self.environment, **variables})

    def good(self, *options, **variables) -> str:
        done = self.study(*options, **variables)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode()

    def result(self, *options) -> dict:
        return json.loads(self.good("--json", *options))

    def lines(self) -> list[dict]:
        return [line for line in map(json.loads, (self.folder / "study.jsonl").read_text().splitlines()) if "setting" in line]

    def begun(self, *options) -> subprocess.Popen:
        variables = {name: value for name, value in os.environ.items() if not name.startswith("RDAM_")}
        study = subprocess.Popen([RDAM, "study", *options], cwd=self.folder, env={**variables, **self.environment, "RDAM_CACHE": CACHE},
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                 preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a script's background job ignores it
        self.addCleanup(study.stderr.close)
        return study

    def is_begun(self) -> bool:
        """Its file has a first line."""
        with contextlib.suppress(FileNotFoundError):
            return b"\n" in (self.folder / "study.jsonl").read_bytes()
        return False


class Runs(Studies):
    def test_every_setting_is_run_as_it_says_and_once_a_round(self):
        result = self.result("--runs", "3", "--warmups", "1", "--seed", "5", "--values", "n=3,4", "--threads", "1,2", "--env", "X=10,20",
                             "--metric", "n=^n (\\d+)", "--metric", "threads=^t (\\d+)", "--metric", "x=^x (\\d+)", "--metric", "omp=^o (\\d+)",
                             "--", "sh", "-c", "echo n {n}; echo t {threads}; echo x $X; echo o $OMP_NUM_THREADS")
        self.assertEqual(len(result["settings"]), 8)
        self.assertEqual(result["settings"][0]["setting"], "n 3, threads 1, X 10")
        for setting in result["settings"]:
            levels, metrics = setting["levels"], {metric["name"]: metric["medians"] for metric in setting["metrics"]}
            self.assertEqual(metrics, {"n": [int(levels["n"])] * 3, "threads": [int(levels["threads"])] * 3, "x": [int(levels["X"])] * 3,
                                       "omp": [int(levels["threads"])] * 3})
        orders = collections.defaultdict(list)
        for line in self.lines():
            orders[line["warm_up"], line["round"]].append(line["setting"])
        self.assertEqual({key: sorted(order) for key, order in orders.items()},
                         {key: list(range(8)) for key in [(True, 0), (False, 0), (False, 1), (False, 2)]})
        self.assertGreater(len({tuple(order) for order in orders.values()}), 1)
        self.assertTrue(all(line["wall_ns"] > 0 and line["first_thread_ns"] > 0 and line["minor_faults"] > 0 for line in self.lines()))

    def test_a_command_that_takes_longer_is_slower_and_equal_ones_are_not(self):
        text = self.good("--runs", "12", "--csv", "runs.csv", "--setting", "short=true", "--setting", "long=sleep 0.5", "--check", "none")
        self.assertRegex(text, r"(?m)^long: slower, median × 0\.\d")
        with (self.folder / "runs.csv").open() as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(collections.Counter((row["setting"], row["warm_up"]) for row in rows),
                         {("short", "0"): 12, ("short", "1"): 1, ("long", "0"): 12, ("long", "1"): 1})
        self.assertEqual(self.good("--show", "study.jsonl"), text)

    def test_what_a_program_prints_is_compared_as_well(self):
        """A program that always runs as long may do more in that time."""
        text = self.good("--runs", "10", "--values", "n=100,200", "--check", "none", "--metric", "rate=rate (\\d+)", "--",
                         "sh", "-c", "echo rate $(({n} + $$ % 7))")
        self.assertRegex(text, r"(?m)^rate: n 200: more, median × (2|1\.9\d|2\.0\d),")

    def test_many_values_of_a_run_are_its_own_and_runs_are_counted(self):
        # 1, 2, 3 in each run: between runs nothing varies, inside all does.
        (setting,) = self.result("--runs", "4", "--metric", "v=.kernels.*.time", "echo",
                                 '{"kernels": {"a": {"time": 1}, "b": {"time": 2}, "c": {"time": 3}}}')["settings"]
        (metric,) = setting["metrics"]
        self.assertEqual(metric["medians"], [2.0] * 4)
        for inside in metric["inside"]:
            self.assertAlmostEqual(inside, 0.5)

    def test_output_that_differs_is_counted_and_told(self):
        self.assertIn("The output of 4 of 5 runs differs", self.good("--runs", "4", "sh", "-c", "echo $$"))
        self.assertNotIn("differs", self.good("--runs", "4", "-o", "2", "--check", "none", "sh", "-c", "echo $$"))
        self.assertIn("The output of 5 of 5 runs is wrong", self.good("--runs", "4", "-o", "3", "--check", "grep -q b", "echo", "a"))
        self.assertNotIn("differs", self.good("--runs", "4", "-o", "4", "--check", "grep -q a", "echo", "a"))

    def test_the_environment_is_emptied_but_for_its_bytes(self):
        result = self.result("--runs", "3", "--env-size", "0,2,3,100..226/63", "--check", "none", "--metric", "bytes=(\\d+)",
                             "sh", "-c", "wc -c < /proc/self/environ")
        bytes_of = {setting["levels"]["environment"]: setting["metrics"][0]["medians"][0] for setting in result["settings"]}
        given = bytes_of["0 bytes"]  # what the shell itself exports
        self.assertEqual({level: value - given for level, value in bytes_of.items()},
                         {"0 bytes": 0, "2 bytes": 0, "3 bytes": 3, "100 bytes": 100, "163 bytes": 163, "226 bytes": 226})

    def test_the_environment_is_what_the_study_was_given(self):
        """Python adds LC_CTYPE to its own where the locale is C; and neither variables nor words need be UTF-8."""
        name = b"./\xff \xfe"
        path = os.path.join(os.fsencode(self.folder), name)
        pathlib.Path(os.fsdecode(path)).write_text("env\n")
        os.chmod(path, 0o755)
        given = {b"PATH": os.fsencode(os.environ["PATH"]), b"ODD": b"a\xffb", b"RDAM_PYTHON": os.fsencode(sys.executable)}
        done = subprocess.run([os.fsencode(RDAM), b"study", b"--runs", b"3", b"--check", b"cat >> said", b"--", name], cwd=self.folder, env=given,
                              capture_output=True, timeout=TIMEOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = dict(line.split(b"=", 1) for line in (self.folder / "said").read_bytes().splitlines())
        self.assertEqual({key: value for key, value in said.items() if key not in (b"PWD", b"OLDPWD", b"SHLVL", b"_")}, given)

    def test_addresses_are_drawn_or_not(self):
        if pathlib.Path("/proc/sys/kernel/randomize_va_space").read_text().strip() != "2":
            self.skipTest("kernel.randomize_va_space is not 2: addresses are not all drawn")
        if subprocess.run(["setarch", "-R", "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("personality() is forbidden here, as in a container: addresses cannot be fixed")
        self.good("--runs", "5", "--randomize", "on,off", "--check", "none", "sh", "-c", "cat /proc/self/maps")
        outputs = collections.defaultdict(set)
        for line in self.lines():
            outputs[line["setting"]].add(line["output"])
        self.assertEqual(len(outputs[0]), 6)
        self.assertEqual(len(outputs[1]), 1)

    def test_threads_are_where_they_are_pinned(self):
        self.need("lstopo-no-graphics")
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one processor: threads cannot be told apart by theirs")
        result = self.result("--runs", "3", "--threads", "2", "--pin", "none,compact,random", "true")
        self.assertEqual([setting["setting"] for setting in result["settings"]], ["pin none", "pin compact", "pin random"])
        placed = {line["setting"]: line.get("processors") for line in self.lines()}
        self.assertIsNone(placed[0])
        for processors in (placed[1], placed[2]):
            self.assertEqual(len(set(processors)), 2)
            self.assertLessEqual(set(processors), os.sched_getaffinity(0))

    def test_settings_that_are_the_same_here_are_run_once(self):
        self.need("lstopo-no-graphics")
        processors = sorted(os.sched_getaffinity(0))
        done = subprocess.run([RDAM, "study", "--runs", "3", "--threads", "1", "--pin", "compact,scatter", "true"], cwd=self.folder,
                              env={**os.environ, **self.environment}, capture_output=True, timeout=TIMEOUT, check=False,
                              preexec_fn=lambda: os.sched_setaffinity(0, processors[:1]))
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertIn("'pin scatter' is on this machine the same as 'pin compact': it was not run.", done.stdout.decode())
        self.assertEqual({line["setting"] for line in self.lines()}, {0})

    def test_memory_policies_that_are_the_same_here_are_run_once(self):
        text = self.good("--runs", "3", "-o", "0", "--memory", "local,first-touch", "true")
        self.assertIn("'memory first-touch' is on this machine the same as 'memory local': it was not run.", text)

    def test_another_machines_topology_shows_what_would_be_done(self):
        self.need("lstopo-no-graphics")
        text = self.good("--threads", "4", "--pin", "compact,scatter", "./missing", HWLOC_SYNTHETIC="Package:2 [NUMANode] L3Cache:1 Core:4 PU:1")
        self.assertRegex(text, r"(?m)^pin compact +0,1,2,3$")
        self.assertRegex(text, r"(?m)^pin scatter +0,4,1,5$")
        self.assertFalse((self.folder / "study.jsonl").exists())


class Recorded(Studies):
    """Runs that rdam has recorded besides."""

    def test_every_other_round_has_recorded_runs(self):
        text = self.good("--runs", "5", "--record", "nap,steady", "--record-every", "2", "--", PROGRAMS / "moody_naps")
        self.assertEqual({line["round"] for line in self.lines() if line["recorded"]}, {0, 2, 4})
        self.assertEqual(sum(not line["recorded"] and not line["warm_up"] for line in self.lines()), 5)
        for line in self.lines():
            if line["recorded"]:
                self.assertEqual({each["name"]: each["calls"] for each in line["functions"]}, {"nap": 8, "steady": 8})
        self.assertRegex(text, r"(?m)^nap: as it is +\d")
        said = re.search(r"(?m)^as it is, recorded beside plain: (.*)\.$", text)
        (setting,) = json.loads(self.good("--show", "study.jsonl", "--json"))["settings"]
        self.assertEqual(setting["recorded_beside_plain"]["sentence"], said[1])
        self.assertEqual((setting["wall_ns"]["runs"], setting["recorded_wall_ns"]["runs"]), (5, 3))
        self.assertIn("no cause is named: 3 recorded runs carry none", text)

    def test_what_makes_some_runs_slow_is_named(self):
        # Of 20 studies 19 are to name it. What else this machine does may be what a study's spread comes from.
        for attempt in range(3):
            text = self.good("-o", str(attempt), "--runs", "20", "--record", "nap,steady", "--", PROGRAMS / "moody_naps")
            if re.search(r"(?m)^as it is: \d+ % of the spread between runs is time lost in nap \(95 % interval", text):
                break
            print(f"not named, the machine was disturbed:\n{text}", flush=True)
            self.assertLess(attempt, 2, text)

    def test_nothing_of_a_trace_is_left(self):
        self.good("--runs", "3", "--record", "nap", "--", PROGRAMS / "moody_naps")
        self.assertEqual(list((self.folder / "tmp").iterdir()), [])
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"study.jsonl", "tmp"})

    def test_what_to_record_belongs_to_how_often(self):
        self.assert_one_line(self.study("--record-every", "2", "true"), 2, "--record-every", "--record")


class Files(Studies):
    def test_a_file_stands_for_options_which_win(self):
        (self.folder / "study.toml").write_text("""
            command = "echo {n} {m}"
            runs = 5
            warmups = 0
            [values]
            n = [1, 2]
            m = "x"
            """)
        self.good("--config", "study.toml", "--runs", "3")
        self.assertEqual(collections.Counter(line["setting"] for line in self.lines()), {0: 3, 1: 3})
        self.assertEqual(len({line["output"] for line in self.lines()}), 2)
        self.good("--config", "study.toml", "-o", "other", "--seed", "1", "echo", "{n}", "{m}")
        self.assertIn('"command":["echo","{n}","{m}"]', (self.folder / "other").read_text())
        for text, word in [("runs = 'many'", "runs = 'many'"), ("speed = 1", "speed = 1"), ("a =", "is no TOML"), ("quick = 1", "quick"),
                           ("runs = 1", "runs = 1"), ("risk = 7", "risk = 7")]:
            (self.folder / "study.toml").write_text(text)
            self.assert_one_line(self.study("--config", "study.toml", "true"), 1, "study.toml", word)
        self.assert_one_line(self.study("--config", "missing.toml"), 1, "missing.toml")
        (self.folder / "study.toml").write_text("command = []")
        self.assert_one_line(self.study("--config", "study.toml"), 2, "no program to run")

    def test_a_page_has_every_run_and_loads_nothing(self):
        program = PROGRAMS / "moody_naps"
        self.good("--runs", "4", "--setting", f"<one>={program}", "--setting", f"two={program}", "--record", "nap", "--html", "study.html")
        text = (self.folder / "study.html").read_text()
        for word in ("<script", "http:", "https:", "url(", "<one>"):
            self.assertNotIn(word, text)
        self.assertIn("&lt;one&gt;", text)
        pictures = {match[1]: ElementTree.fromstring(match[2]) for match in
                    re.finditer(r"<figcaption>([^<]*)</figcaption><div class=\"scroll\">(<svg.*?</svg>)", text)}
        for caption in ("Wall time by setting", "CPU time by setting", "Order of time", "Recorded runs: run time against time lost in nap"):
            dots = [circle for circle in pictures[caption].iter("circle") if circle.get("class") != "median"]
            self.assertEqual(len(dots), 8, caption)
            for circle in dots:
                self.assertTrue(0 <= float(circle.get("cx")) <= 640 and 0 <= float(circle.get("cy")) <= 300)

    def test_every_run_is_in_a_parquet_file(self):
        python = python_with("scipy", "pyarrow")
        if python is None:
            self.skipTest("there is no Python with both scipy and pyarrow")
        self.environment["RDAM_PYTHON"] = python
        self.good("--runs", "3", "--threads", "1,2", "--metric", "v=(\\d)", "--parquet", "runs.parquet", "--", "echo", "1 2 {threads}")
        script = "import pyarrow.parquet, json; print(json.dumps(pyarrow.parquet.read_table('runs.parquet').to_pydict(), default=str))"
        table = json.loads(self.run_in_folder(python, "-c", script).stdout)
        self.assertEqual(len(table["value"]), 8 * 3)
        self.assertEqual(collections.Counter(table["value"]), {1.0: 12, 2.0: 12})
        self.assertEqual(set(table["warm_up"]), {True, False})


class Ends(Studies):
    """Of a study, before it is through."""

    def test_killed_at_random_moments_no_run_is_lost_or_counted_twice(self):
        drawn = random.Random(36)
        options = ["--runs", str(ROUNDS), "--setting", "a=true", "--setting", "b=sh -c :"]
        kept: list[dict] = []
        for kill in range(KILLS):
            study = self.begun(*(["--resume", "study.jsonl"] if kill else options))
            # Not before there is a file to go on with, nor always in the same place.
            self.until(self.is_begun, "no study was begun")
            time.sleep(drawn.random())
            study.kill()
            study.wait()
            now = self.lines() if (self.folder / "study.jsonl").read_bytes().endswith(b"\n") else kept
            self.assertEqual(now[:len(kept)], kept)
            kept = now
        self.good("--resume", "study.jsonl")
        self.assertEqual(self.lines()[:len(kept)], kept)
        self.assertEqual(collections.Counter((line["setting"], line["warm_up"], line["round"]) for line in self.lines()),
                         collections.Counter((setting, warm_up, number) for setting in (0, 1)
                                             for warm_up, rounds in ((True, 1), (False, ROUNDS)) for number in range(rounds)))

    def test_a_line_that_was_cut_off_is_run_again(self):
        self.good("--runs", "3", "true")
        text = (self.folder / "study.jsonl").read_text()
        (self.folder / "study.jsonl").write_text(text[:text.rindex("minor_faults")])
        self.good("--resume", "study.jsonl")
        self.assertEqual([line["round"] for line in self.lines() if not line["warm_up"]], [0, 1, 2])

    def ended(self, way: int, word: str) -> subprocess.Popen:
        """By this signal, while a program that leaves something behind runs beside its co-runners."""
        script = f"setsid sleep {word} & sleep {word}"
        study = self.begun("--runs", "3", "--co-runners", f"1x'sleep {word}'@free", "--", "sh", "-c", script)
        self.until(lambda: len(running(word)) >= 3, "the program and its co-runners did not begin")
        study.send_signal(way)
        study.wait(TIMEOUT)
        return study

    def test_nothing_outlives_a_study(self):
        self.need("lstopo-no-graphics")
        for number, way in enumerate((signal.SIGKILL, signal.SIGTERM, signal.SIGINT)):
            word = f"{100000 + os.getpid()}.{number}"
            with self.subTest(way=way.name):
                study = self.ended(way, word)
                self.until(lambda: not running(word), "something outlives the study")  # noqa: B023
                if way == signal.SIGINT:
                    self.assertEqual(study.returncode, 130)
                    self.assertEqual(study.stderr.read().splitlines()[-1], b"rdam: interrupted; continue with --resume study.jsonl")
                (self.folder / "study.jsonl").unlink()

    def test_what_a_shell_began_before_it_became_the_study_lives(self):
        word = f"{100000 + os.getpid()}.8"
        done = self.run_in_folder("sh", "-c", f'sleep {word} > /dev/null 2>&1 & exec "$0" study --runs 3 true', RDAM, env=self.environment)
        alive = running(word)
        for process in alive:
            os.kill(process, signal.SIGKILL)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(alive), 1)

    def test_nothing_outlives_a_run_whose_runner_is_killed(self):
        word = f"{100000 + os.getpid()}.9"
        study = self.begun("--runs", "3", "--", "sh", "-c", f"setsid sleep {word} & sleep {word}")
        self.until(lambda: len(running(word)) >= 2, "the program did not begin")
        (runner,) = map(int, pathlib.Path(f"/proc/{study.pid}/task/{study.pid}/children").read_text().split())
        os.kill(runner, signal.SIGKILL)
        self.assertEqual(study.wait(TIMEOUT), 1)
        self.assertEqual(running(word), [])
        self.assertIn(b"rdam: rdam-study-run ended without an answer (signal 9)", study.stderr.read())


class Errors(Studies):
    def test_what_cannot_be_done_is_one_line(self):
        (self.folder / "there").write_text("")
        (self.folder / "empty").write_text("")
        (self.folder / "foreign").write_text("notes\nwithout a last line's end")
        (self.folder / "short").write_text('{"format":"rdam study 1"}\n')
        (self.folder / "prints").write_text("#!/bin/sh\necho no luck >&2; exit 3\n")
        (self.folder / "prints").chmod(0o755)
        failed = [
            (["./missing"], ["./missing", "No such file or directory"]),
            (["./prints"], ["exit code 3", "no luck", "--resume"]),
            (["sh", "-c", "kill -9 $$"], ["signal 9"]),
            (["--time-limit", "50ms", "sleep", "10"], ["longer than 0.05 s", "--time-limit"]),
            (["-o", "there", "true"], ["there", "--resume"]),
            (["-o", "no/such/place", "true"], ["no/such/place", "No such file or directory"]),
            (["--resume", "missing"], ["missing"]),
            (["--show", "there"], ["there"]),
            (["--metric", "a=(b)", "echo", "c"], ["--metric a", "printed"]),
            (["--metric", "a=(.+)", "echo", "nan"], ["--metric a", "printed"]),
            (["--resume", "foreign"], ["foreign", "line 1"]),
            (["--resume", "empty"], ["empty", "remove it"]),
            (["--show", "short"], ["short", "line 1"])]
        not_understood = [
            (["--threads", "0", "true"], ["--threads 0"]),
            (["--pin", "tight", "true"], ["--pin tight", "compact"]),
            (["--co-runners", "busy", "true"], ["--co-runners busy", "2xbusy"]),
            (["--co-runners", "65xbusy", "true"], ["--co-runners 65", "from 0 to 64"]),
            (["--threads", "9" * 20, "true"], ["--threads 9", "from 1 to 1000000"]),
            (["--memory", "far", "true"], ["--memory far", "interleave"]),
            (["--env-size", "9..1", "true"], ["9..1"]),
            (["--setting", "a=true", "--setting", "a=false"], ["'a'", "twice"]),
            (["--setting", "a=true", "true"], ["--setting"]),
            (["--metric", "a=b", "true"], ["--metric a=b", "group"]),
            (["--values", "n=1,2", "true"], ["{n}", "'true'"]),
            (["--values", "n=don't", "echo", "{n}"], ["don't", "quotation"]),
            (["--setting", "a='b"], ["--setting a='b", "quotation"]),
            (["--co-runners", "1x''", "true"], ["1x''", "no command"]),
            (["--resume", "there", "--seed", "1"], ["--seed", "as it was begun"]),
            (["--show", "there", "true"], ["the program", "as it was begun"])]
        for options, words, code in [*((*each, 1) for each in failed), *((*each, 2) for each in not_understood)]:
            with self.subTest(options=options):
                how_many = () if {"--resume", "--show"} & set(options) else ("--runs", "3")
                self.assert_one_line(self.study(*how_many, *options), code, *words)
                with contextlib.suppress(FileNotFoundError):
                    (self.folder / "study.jsonl").unlink()

        self.assertEqual((self.folder / "foreign").read_text(), "notes\nwithout a last line's end")

    def test_a_longer_limit_goes_on_with_a_study(self):
        self.assert_one_line(self.study("--runs", "3", "--risk", "0.01", "--time-limit", "50ms", "sleep", "0.3"), 1, "--time-limit")
        self.good("--resume", "study.jsonl", "--time-limit", "200s")
        self.assertEqual(len(self.lines()), 4)

    def test_a_co_runner_that_ends_is_told(self):
        self.need("lstopo-no-graphics")
        self.assert_one_line(self.study("--runs", "3", "--co-runners", "1x'true'", "sleep", "0.5"), 1, "co-runner true", "ended before")

    def test_a_full_disk_is_one_line_and_resumed(self):
        """/dev/full refuses what is written, and so does a limit on the size of files, which can be lifted."""
        import resource

        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        done = subprocess.run([RDAM, "study", "--runs", "20", "true"], cwd=self.folder, env={**os.environ, **self.environment},
                              capture_output=True, timeout=TIMEOUT, check=False, preexec_fn=limited)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.decode().splitlines()[-1][:31], "rdam: study.jsonl: cannot be wr")
        self.good("--resume", "study.jsonl")
        self.assertEqual(len(self.lines()), 21)

    def test_a_python_without_scipy_that_is_first_in_path_is_passed_over(self):
        if sys.executable != "/usr/bin/python3":
            self.skipTest("the tests run with another Python than the system's, which may have no scipy")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.folder / "bare"], check=True)
        self.good("--runs", "3", "true", RDAM_PYTHON="", PATH=f"{self.folder}/bare/bin:{os.environ['PATH']}")

    def test_a_missing_part_is_one_line(self):
        python = self.folder / "bare"
        python.write_text(f"#!/bin/sh\nexec {sys.executable} -S \"$@\"\n")  # without Debian's packages
        python.chmod(0o755)
        done = self.study("--runs", "3", "true", RDAM_PYTHON=str(python))
        self.assert_one_line(done, 1, "which rdam study needs, is missing", "RDAM_PYTHON")
        self.assert_one_line(self.study("true", RDAM_PYTHON="./nothing"), 1, "./nothing", "RDAM_PYTHON")
        tools = self.folder / "tools"
        tools.mkdir()
        for name in ("sh", "true"):
            (tools / name).symlink_to(shutil.which(name))
        self.assert_one_line(self.study("--pin", "compact", "true", PATH=str(tools)), 1, "lstopo", "hwloc")

    def test_a_study_is_written_by_one_at_a_time(self):
        study = self.begun("--runs", "3", "sleep", "1000")
        self.until(self.is_begun, "no study was begun")
        self.assert_one_line(self.study("--resume", "study.jsonl"), 1, "study.jsonl", "another study")
        study.terminate()
        self.assertEqual(study.wait(TIMEOUT), 128 + signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
