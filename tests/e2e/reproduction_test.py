#!/usr/bin/python3
"""The parts of tools/reproduce that need no measurement: statistics, the file of measurements, the page and its drawings."""

import json
import math
import os
import pathlib
import random
import re
import sys
import unittest
import xml.etree.ElementTree
from unittest import mock

import numpy

from harness import Case
from made_up import MACHINE, PLACE, made_up

sys.path.insert(0, str(pathlib.Path(os.environ["SOURCE_ROOT"]) / "tools"))
from reproduction import Trouble, benchmarks, machine, measure, plan, report, results, sequences, session, units  # noqa: E402
from reproduction.journal import Journal  # noqa: E402

CONTROLS = sum(len(one.control_points()) for one in benchmarks.SWEEPS)
LOCK = benchmarks.SWEEPS[0]


class Correlation(unittest.TestCase):
    def test_of_known_data_and_where_there_is_none(self):
        # Anscombe's quartet: very different sets with the same ρ.
        xs = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5]
        self.assertAlmostEqual(results.pearson(xs, [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]), 0.81642, places=5)
        self.assertEqual([results.pearson(*both) for both in (([1], [2]), ([1, 2, 3], [5, 5, 5]), ([7, 7], [1, 2]))], [None] * 3)


class Plans(unittest.TestCase):
    def test_sweeps_have_the_thesis_s_number_of_points(self):
        self.assertEqual({one.name: (len(one.delays_ns), one.thesis_rho) for one in benchmarks.SWEEPS},
                         {"lock": (17, 0.97), "spinlock": (16, 0.95), "falsesharing": (12, 0.95), "io": (11, 0.99)})

    def test_points_are_log_spaced(self):
        for one in benchmarks.SWEEPS:
            steps = [math.log(b / a) for a, b in zip(one.delays_ns, one.delays_ns[1:], strict=False)]
            for step in steps:
                self.assertAlmostEqual(step, sum(steps) / len(steps), delta=0.05, msg=one.name)

    def test_every_round_has_every_point_in_another_order(self):
        extent = plan.Extent(benchmarks.NAMES)
        tasks = plan.tasks(extent, {})
        rounds = [[task.group for task in tasks if task.kind == "score" and task.round == i] for i in range(extent.rounds_of("score"))]
        for one in rounds:
            self.assertEqual(sorted(one), sorted(rounds[0]))
            self.assertEqual(len(set(one)), len(one))
        self.assertEqual(len({tuple(one) for one in rounds}), len(rounds))
        self.assertEqual([(task.group, task.round) for task in tasks], [(task.group, task.round) for task in plan.tasks(extent, {})])

    def test_quick_has_the_same_points(self):
        full, quick = ({task.group for task in plan.tasks(plan.Extent(benchmarks.NAMES, quick), {})} for quick in (False, True))
        self.assertEqual(full, quick)

    def test_seconds_of_different_calls_are_no_cost(self):
        said = iter(('{"operation": "f", "seconds": 1.0, "calls": 10}', '{"operation": "f", "seconds": 2.0, "calls": 10}',
                     '{"operation": "f", "seconds": 1.0, "calls": 10}', '{"operation": "f", "seconds": 2.0, "calls": 11}'))
        programs = mock.Mock(rdam="rdam", microbench="bench")
        settings = {"round": 1, "benchmark": "lock", "operation": "f", "delay_ns": 1, "threads": 2, "iterations": 5, "options": []}
        with mock.patch.object(measure, "run", lambda *_: next(said)):
            timed = measure.cost(programs, settings, pathlib.Path("/nowhere"))
            self.assertEqual(timed, {"plain_s": 2.0, "recorded_s": 1.0, "calls": 10})
            with self.assertRaisesRegex(Trouble, "lock: 11 calls of f without the recorder and 10 with it"):
                measure.cost(programs, settings, pathlib.Path("/nowhere"))

    def test_links_with_an_obstacle_are_not_measured(self):
        groups = {task.group for task in plan.tasks(plan.Extent(("network",)), {}, {"1 Gb/s": "no root"}) if task.kind == "network"}
        self.assertEqual(groups, {f"network of {link}, {clients}" for link in ("100 Mb/s", "loopback") for clients in ("1 client", "2 clients")})


class Interrupted(Exception):
    pass


class Resuming(Case):
    extent = plan.Extent(("lock", "io"), rounds=2, iterations=60)

    def measured(self, place=PLACE, extent=None, interrupt_after=None) -> tuple[int, list]:
        """Runs until all is there, or so many are: how many were there before, and what was measured."""
        journal, done = Journal(self.folder / "measurements.jsonl"), []

        def measure(task):
            if len(done) == interrupt_after:
                raise Interrupted
            done.append((task.group, task.round))
            return made_up(task)

        try:
            return session.measure_all(plan.tasks(extent or self.extent, place), journal, measure), done
        except Interrupted:
            return -1, done
        finally:
            journal.close()

    def test_half_a_line_is_measured_again(self):
        path = self.folder / "measurements.jsonl"
        _, first = self.measured(interrupt_after=5)
        text_of_five = path.read_bytes()
        path.write_bytes(text_of_five[:-9])
        before, second = self.measured()
        self.assertEqual((before, second[0]), (4, first[4]))
        for line in path.read_text().splitlines():
            json.loads(line)

    def test_other_settings_begin_anew(self):
        count = len(self.measured()[1])
        for changed in ({"place": {**PLACE, "programs": "another build"}}, {"extent": plan.Extent(("lock", "io"), rounds=2, iterations=51)},
                        {"extent": plan.Extent(("lock", "io"), quick=True, rounds=2)}):
            with self.subTest(changed):
                before, done = self.measured(**changed)
                self.assertEqual((before, len(done)), (0, count))
        self.assertEqual(self.measured(), (count, []))

    def test_more_rounds_add_to_those_there_are(self):
        count = len(self.measured()[1])
        before, done = self.measured(extent=plan.Extent(("lock", "io"), rounds=3, iterations=60))
        self.assertEqual((before, len(done), {number for _, number in done}), (count, count // 2, {2}))

    def test_parts_of_a_run_are_told(self):
        self.measured({**PLACE, "programs": "another build"})  # no part of what is asked about below
        self.measured(interrupt_after=3)
        self.measured()
        journal = Journal(self.folder / "measurements.jsonl")
        self.addCleanup(journal.close)
        parts = session.parts_of(plan.tasks(self.extent, PLACE), journal)
        self.assertEqual(["load_end" in part for part in parts], [False, True])
        told = "\n".join(machine.uncontrolled(MACHINE, parts, [30.2, 131.4]))
        self.assertIn(": 30, 131 ns", told)
        self.assertIn("it was interrupted", told)
        self.assertIn("virtual machine (a host)", told)
        self.assertRegex(session.when(parts), r"^in 2 parts \(\d+ s\), from [-\d]+ [:\d]+ to [-: \d]+ \(interrupted\), from [-\d]+ [:\d]+ to "
                                                r"[-: \d]+ UTC$")

    def test_when_it_was_measured(self):
        parts = [{"start": "2026-01-02T23:59:00+00:00", "load_start": 0, "end": "2026-01-03T01:00:01+00:00", "load_end": 0},
                 {"start": "2026-01-03T02:00:00+00:00", "load_start": 0}]
        self.assertEqual(session.when(parts[:1]), "from 2026-01-02 23:59:00 to 2026-01-03 01:00:01 UTC (1 h 1 min 1 s)")
        self.assertEqual(session.when(parts), "in 2 parts (how long is not known), from 2026-01-02 23:59:00 to 2026-01-03 01:00:01, from "
                                                "2026-01-03 02:00:00 until it was interrupted UTC")
        self.assertEqual(session.length([{**parts[1], "end": "2026-01-03T02:07:43+00:00"}] * 2), "15 min 26 s")

    def test_a_revision_is_of_the_sources_and_not_of_the_programs(self):
        for revisions, told in ((["", ""], "The revision of the sources is not known."),
                                (["ab-dirty", "ab-dirty"], "at revision ab, with uncommitted changes; whether"),
                                (["ab", "cd-dirty"], "at revision ab, without uncommitted changes; then cd, with uncommitted changes; whether")):
            self.assertIn(told, report.sources([{"revision": revision} for revision in revisions]))

    def test_keys_do_not_depend_on_order(self):
        keys = [plan.Task("score", "g", 0, settings).key for settings in ({"a": 1, "b": [2]}, {"b": [2], "a": 1}, {"a": 2, "b": [2]})]
        self.assertEqual(keys[0], keys[1])
        self.assertNotEqual(keys[0], keys[2])


def results_of(extent: plan.Extent, folder: pathlib.Path, measure=made_up, obstacles=None) -> results.Results:
    folder.mkdir(exist_ok=True)
    journal = Journal(folder / "made_up.jsonl")
    try:
        tasks = plan.tasks(extent, PLACE, obstacles or {})
        session.measure_all(tasks, journal, measure)
        return results.gather(extent, tasks, journal, obstacles or {})
    finally:
        journal.close()


def about(extent: plan.Extent) -> report.About:
    part = {"start": "2026-01-02T03:04:05+00:00", "load_start": 0.5, "revision": "0123abcd", "end": "2026-01-02T03:11:05+00:00", "load_end": 0.5}
    return report.About(MACHINE, ["Nothing was controlled."], [part], "rdam 1.2.3", "fedc", extent)


def printed(found: results.Results) -> str:
    """On the terminal."""
    return report.plain(report.compose(found, False, about(plan.Extent(benchmarks.NAMES)), "folder"))


class Summaries(Case):
    extent = plan.Extent(benchmarks.NAMES, rounds=7, iterations=10)

    def test_figures(self):
        found = results_of(self.extent, self.folder)
        for result in found.sweeps:
            self.assertAlmostEqual(result.rho, 1, places=9)
            self.assertEqual(result.series("min_ns"), [43] * len(result.points))
            self.assertEqual(result.minimum_variation, 0)
        self.assertEqual(found.failures(), [])
        self.assertAlmostEqual(found.costs[0].ratio.value, 1.2)
        self.assertEqual((found.costs[0].ratio.low, found.costs[0].ratio.high), (2.1 / 2, 2.7 / 2))

    def test_a_program_that_has_no_delay_is_one_control(self):
        tasks = plan.tasks(plan.Extent(("falsesharing",), rounds=1), {})
        alone = [task.settings for task in tasks if task.kind == "score" and task.settings["threads"] == 1]
        self.assertEqual(len(alone), 1, "only every second thread is delayed")
        found = results_of(plan.Extent(("falsesharing",), rounds=1), self.folder)
        self.assertEqual([(one.control.name, one.bounded) for one in found.sweeps[0].controls],
                         [("counters padded", False), ("counters padded", True), ("one thread", True)])
        self.assertRegex(printed(found), r"\n  falsesharing, one thread +any ")

    def test_all_controls_are_counted(self):
        def high(task):
            return {**made_up(task), "rdam": 0.07} if task.group in ("lock one thread 10000 ns", "io one thread 1000000 ns") else made_up(task)

        found = results_of(self.extent, self.folder, high)
        self.assertEqual(report.controls_in_short(found.sweeps), f"Of {CONTROLS} controls, at all delays, {CONTROLS - 2} are below 0.05 and 2 are "
                         "not: lock, one thread, 10.0 µs (0.070); io, one thread, 1.00 ms (0.070).")
        self.assertIn("are below 0.05 and 0 are not.", report.controls_in_short(results_of(self.extent, self.folder / "low").sweeps))

    def test_a_minimum_is_constant_below_a_bound_that_is_said(self):
        for minima, said in (((2, 2), "0.0 %, constant (below 10 %)"), ((100, 119, 110), "8.7 %, constant (below 10 %)"),
                             ((100, 120, 100), "10.8 %, NOT constant (not below 10 %)")):
            points = [results.Measured(point, [{"min_ns": one}]) for point, one in zip(LOCK.points(), minima, strict=False)]
            self.assertIn(said, report.of_minimum(results.SweepResult(LOCK, 1, points, [])))

    def test_a_mean_that_does_not_vary_is_not_measurable(self):
        def flat(task):
            result = made_up(task)
            return {**result, "mean_ns": 1000 + result["mean_ns"] * 0.1, "rdam": random.Random(task.group).random() * 0.04} \
                if task.kind == "score" else result

        found = results_of(plan.Extent(("lock",), rounds=1), self.folder, flat)
        self.assertEqual(found.failures(), [])
        self.assertIn("not measurable here: the mean varies 1.", printed(found))

    def test_a_false_positive_that_is_not_flagged(self):
        def blind(task):
            row = {"kind": "blocked"} if task.round > 0 else {"kind": "parameter", "parameter": "row"}
            return {**made_up(task), "hint": row} if task.group == "falsepositive, triangular loop" else made_up(task)

        found = results_of(plan.Extent(("falsepositive",), rounds=3), self.folder, blind)
        self.assertEqual(found.failures(), ["falsepositive, triangular loop: a false positive that the hints do not tell"])
        self.assertEqual([report.finding_verdict(one) for one in found.findings],
                         ["flagged as a false positive in 3 of 3 rounds", "NOT flagged as a false positive, but in 1 of 3 rounds"])
        found = results_of(plan.Extent(("falsepositive",), rounds=1), self.folder / "other", lambda task: {
            **made_up(task), "hint": {"kind": "parameter", "parameter": "another"}})
        self.assertEqual(len(found.failures()), 2)

    def test_a_finding_is_compared_with_its_control(self):
        def disturbed(task):
            share = {"barrier, unequal work": 0.3, "barrier, equal work": 0.1, "membw, a neighbour": 0.15, "membw, no neighbour": 0.1}
            return {**made_up(task), "rdam": share[task.group]} if task.group in share else made_up(task)

        found = results_of(plan.Extent(("barrier", "membw"), rounds=3), self.folder, disturbed)
        self.assertEqual([report.finding_verdict(one) for one in found.findings],
                         ["3.0 times the control's", "control, not below 0.05",
                          "not measurable here: 1.5 times the control's", "control, not below 0.05"])

    def test_durations(self):
        for nanoseconds, spoken in ((0, "0.00 ns"), (9.99, "9.99 ns"), (10.04, "10.0 ns"), (999.4, "999 ns"), (999.6, "1.00 µs"), (125_000, "125 µs"),
                                    (20e6, "20.0 ms"), (3.5e9, "3.50 s")):
            self.assertEqual(units.duration(nanoseconds), spoken)


class Pages(Case):
    extent = plan.Extent(benchmarks.NAMES, rounds=2)
    calls = numpy.arange(50.0)
    drawn = sequences.Sequences(calls * 1000, 100 + calls % 7, 100.0, (calls[:20] * 300, 100 + calls[:20] % 7), "A caption with < and & in it.")
    obstacles = {"1 Gb/s": "it takes root"}

    def write(self, name="page.md") -> pathlib.Path:
        path = self.folder / name
        report.write(path, results_of(self.extent, self.folder, obstacles=self.obstacles), self.drawn, about(self.extent))
        return path

    def texts(self, path: pathlib.Path) -> list[str]:
        root = xml.etree.ElementTree.parse(path).getroot()
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        return ["".join(element.itertext()).strip() for element in root.iter("{http://www.w3.org/2000/svg}text")]

    def test_every_point_is_on_the_page(self):
        written = self.write().read_text()
        for one in benchmarks.SWEEPS:
            self.assertIn(f"figure {one.figure}", written)
            rows = written.partition(f"(`{one.name}`, figure")[2].partition("\n### ")[0]
            for delay in one.delays_ns:
                self.assertIn(f"\n| {units.duration(delay)} | ", rows)
        for words in ("from 2026-01-02 03:04:05 to 03:11:05 UTC (7 min 0 s)", "Of rdam 1.2.3, the programs `fedc`",
                      "at revision 0123abcd, without uncommitted changes; whether", "Nothing was controlled.", "1 Gb/s: not measured: it takes root",
                      "| 100 Mb/s, 1 client | 0.040 |", f"\n\nOf {CONTROLS} controls, at all delays, {CONTROLS} are below 0.05 and 0 are not.\n",
                      "| parameter (key) 2× | 0.001 |"):
            self.assertIn(words, written)

    def test_its_links_lead_somewhere(self):
        path = self.write()
        linked = {part.partition(")")[0] for part in path.read_text().split("](")[1:]}
        self.assertEqual(linked, {f"page/{name}.svg" for name in ("sequences", "lock", "spinlock", "falsesharing", "io", "network")})
        for link in linked:
            self.assertTrue((self.folder / link).exists(), link)

    def test_drawings_have_axes_units_and_captions(self):
        self.write()
        for one in benchmarks.SWEEPS:
            words = self.texts(self.folder / f"page/{one.name}.svg")
            for label in (r"completion time \((ns|µs|ms)\)", r"score \(RDAM\)", r"delay between two operations \((ns|µs|ms)\)",
                          rf"As the thesis's figure {one.figure}"):
                self.assertTrue(any(re.match(label, word) for word in words), (label, words))
        network = self.texts(self.folder / "page/network.svg")
        for label in ("client", "server", "score (RDAM)", "100 Mb/s", "loopback"):
            self.assertIn(label, network)
        self.assertTrue("1 Gb/s was not measured" in " ".join(network), network)
        drawn = self.texts(self.folder / "page/sequences.svg")
        for label in ("duration (ns)", "time (µs)", "lost", "A caption with < and & in it."):
            self.assertIn(label, drawn)

    def test_the_same_figures_are_the_same_drawing(self):
        self.write("one.md")
        self.write("two.md")
        for drawing in (self.folder / "one").iterdir():
            self.assertEqual(drawing.read_bytes(), (self.folder / "two" / drawing.name).read_bytes(), drawing.name)

    def test_a_file_that_is_no_such_page_stays(self):
        path = self.folder / "page.md"
        for text_there in ("My notes.\n", f"{report.BEGIN}\n\nlost its end\n"):
            path.write_text(text_there)
            with self.assertRaisesRegex(Trouble, "page.md: .*another file"):
                self.write()
            self.assertEqual(path.read_text(), text_there)

    def test_what_is_written_by_hand_stays(self):
        path = self.write()
        self.assertIn(report.NOTHING_YET, path.read_text())
        path.write_text(path.read_text().replace(report.NOTHING_YET, "Two *processors*\n\n- explain it.")
                        .replace("Nothing was controlled.", "It was controlled once."))
        written = self.write().read_text()
        self.assertIn(f"{report.BEGIN}\n\nTwo *processors*\n\n- explain it.\n\n{report.END}", written)
        self.assertNotIn("It was controlled once.", written)
        self.assertEqual(self.write().read_text(), written)


if __name__ == "__main__":
    unittest.main()
