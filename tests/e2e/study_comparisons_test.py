#!/usr/bin/python3
"""Which settings `rdam study` compares: with the first one, another, all with one another, within each of several programs; and what is said of
all programs together. The studies are files that the test has written."""

import itertools
import json
import unittest

from study_test import Studies

ROUNDS = 11
WIGGLE = [(i * 7 % ROUNDS - 5) * 10_000 for i in range(ROUNDS)]  # ns; each of -5 to 5 once: the variance is 11 · 10^8 ns²


class Written(Studies):
    def write(self, request: dict, levels: list[list[tuple[str, str]]], times: list[list[int]], equal: tuple = ()) -> None:
        """A study of settings that have these levels, and took so many ns in each round."""
        labels = [", ".join(text if factor == "program" else f"{factor} {text}" for factor, text in setting) for setting in levels]
        lines = [{"format": "rdam study 1", "request": request, "command": request["command"], "rounds": ROUNDS, "record_every": None, "warm_ups": 0,
                  "seed": 1, "processors": 2, "labels": labels, "levels": levels, "equal": equal}]
        for number, wall in itertools.product(range(ROUNDS), range(len(levels))):
            lines.append({"setting": wall, "round": number, "warm_up": False, "recorded": False, "at": len(lines), "wall_ns": times[wall][number],
                          "user_ns": times[wall][number], "system_ns": 0, "others_s": 0, "stolen_s": 0, "output": "", "output_differs": False})
        (self.folder / "study.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def shown(self, *options) -> dict:
        return self.result("--show", "study.jsonl", *options)

    def compared(self, *options) -> set[tuple[str, str]]:
        return {(each["setting"], each["beside"]) for each in self.shown(*options)["comparisons"]}


class Beside(Written):
    def setUp(self):
        super().setUp()
        levels = [[("threads", threads), ("pin", pin)] for threads in ("1", "2") for pin in ("none", "compact")]
        self.write({"command": ["true"], "threads": ["1,2"], "pin": ["none,compact,scatter"]}, levels,
                   [[ms * 1_000_000 + wiggle for wiggle in WIGGLE] for ms in (40, 30, 20, 10)],
                   (("threads 1, pin scatter", "threads 1, pin compact"), ("threads 2, pin scatter", "threads 2, pin compact")))
        self.labels = [f"threads {threads}, pin {pin}" for threads in (1, 2) for pin in ("none", "compact")]

    def test_the_first_one_another_or_all(self):
        one, two, three, four = self.labels
        self.assertEqual(self.compared(), {(two, one), (three, one), (four, one)})
        self.assertEqual(self.compared("--beside", three), {(one, three), (two, three), (four, three)})
        self.assertEqual(self.compared("--beside", "all"), {(later, earlier) for earlier, later in itertools.combinations(self.labels, 2)})

    def test_a_level_is_compared_with_what_differs_in_nothing_else(self):
        one, two, three, four = self.labels
        self.assertEqual(self.compared("--beside", "pin none"), {(two, one), (four, three)})
        self.assertEqual(self.compared("--beside", "pin compact"), {(one, two), (three, four)})
        self.assertEqual(self.compared("--beside", "threads 2"), {(one, three), (two, four)})
        text = self.good("--show", "study.jsonl", "--beside", "pin none")
        self.assertIn("Compared, at a risk of 5 % for all comparisons together:\n"
                      "threads 1, pin compact beside 'threads 1, pin none': faster, median × 1.33, confidence 95 %\n"
                      "threads 2, pin compact beside 'threads 2, pin none': faster, median × 2, confidence 95 %\n", text)

    def test_a_setting_that_was_not_run_is_the_one_that_was(self):
        one, two, three, four = self.labels
        self.assertEqual(self.compared("--beside", "pin scatter"), {(one, two), (three, four)})
        self.assertEqual(self.compared("--beside", "threads 1, pin scatter"), {(one, two), (three, two), (four, two)})

    def test_all_comparisons_count_together(self):
        """Every setting's runs are faster in all 11 rounds: p is 1 / 2^11 for mean and median, of six hypotheses for each comparison."""
        for options, count in (((), 3), (("--beside", "all"), 6), (("--beside", "pin none"), 2)):
            for each in self.shown(*options)["comparisons"]:
                self.assertEqual((each["mean"], each["median"]), (1, 1))
                self.assertAlmostEqual(each["mean_p"], 6 * count / 2**11)
                self.assertAlmostEqual(each["median_p"], 6 * count / 2**11)

    def test_a_study_is_begun_and_shown_beside_what_it_names(self):
        self.good("--runs", "3", "-o", "new", "--beside", "n 3", "--values", "n=1,2,3", "--check", "none", "--", "echo", "{n}")
        shown = self.result("--show", "new")["comparisons"]
        self.assertEqual([(each["setting"], each["beside"]) for each in shown], [("n 1", "n 3"), ("n 2", "n 3")])
        self.assertEqual({each["beside"] for each in self.result("--show", "new", "--beside", "n 1")["comparisons"]}, {"n 1"})

    def test_what_is_no_setting_is_told_before_anything_is_run(self):
        for options in (["--show", "study.jsonl", "--beside", "pin tight"], ["--resume", "study.jsonl", "--beside", "pin none, threads"]):
            self.assert_one_line(self.study(*options), 2, f"--beside {options[-1]}", *self.labels)
        same = self.study("-o", "new", "--beside", "n 1", "--runs", "3", "--values", "n=1,2", "--threads", "2", "--check", "none", "echo", "{n}")
        self.assertEqual(same.returncode, 0, same.stderr)
        (self.folder / "new").unlink()
        self.assert_one_line(self.study("-o", "new", "--beside", "threads 2", "--values", "n=1,2", "--threads", "2", "echo", "{n}"), 2,
                             "all settings have it")
        self.assert_one_line(self.study("-o", "new", "--beside", "n 4", "--values", "n=1,2", "echo", "{n}"), 2, "--beside n 4", "'n 1', 'n 2'")
        self.assertFalse((self.folder / "new").exists())

    def test_too_few_runs_for_so_many_comparisons_are_told(self):
        """2^-11 of 11 rounds' swaps is more than 0.001 / (6 · 3)."""
        self.assertIn("At this risk 11 runs of each setting cannot show that a mean or a median differs among 3 comparisons: 15 can.",
                      self.good("--show", "study.jsonl", "--risk", "0.001"))
        self.assertNotIn("cannot show", self.good("--show", "study.jsonl"))

    def test_what_programs_print_is_compared_alike(self):
        text = self.good("--runs", "10", "-o", "new", "--values", "n=100,200", "--beside", "n 200", "--check", "none", "--metric", "rate=rate (\\d+)",
                         "--", "sh", "-c", "echo rate $(({n} + $$ % 7))")
        self.assertRegex(text, r"(?m)^Compared with 'n 200', at a risk of 5 % for all metrics together:\nrate: n 100: less, median × \d")


class Programs(Written):
    """As in tables 1 to 3 of Mazouz, Touati, Barthou, HPCS 2011."""

    def setUp(self):
        super().setUp()
        levels = [[("program", program), ("pin", pin)] for program in ("short", "long") for pin in ("none", "compact", "scatter")]
        times = [[ms * 1_000_000 + spread * wiggle for wiggle in WIGGLE] for ms, spread in
                 ((10, 1), (8, 1), (12, 1), (100, 1), (100, 10), (90, 1))]
        times[3] = times[3][::-1]
        self.write({"command": [], "program": ["short=true", "long=true"], "pin": ["none,compact,scatter"]}, levels, times)

    def test_settings_are_compared_within_each_program(self):
        self.assertEqual(self.compared(), {(f"{program}, pin {pin}", f"{program}, pin none") for program in ("short", "long")
                                           for pin in ("compact", "scatter")})
        self.assertEqual(self.compared(), self.compared("--beside", "pin none"))
        self.assertEqual(len(self.compared("--beside", "all")), 6)

    def test_all_programs_together(self):
        """(10 + 100) / (8 + 100) ms, (10 + 100) / (12 + 90) ms; variances of 11 and 1,100 · 10^8 ns²; scipy.stats.binomtest(1, 2)."""
        compact, scatter = self.shown()["programs"]
        self.assertEqual((compact["setting"], compact["beside"], scatter["setting"]), ("pin compact", "pin none", "pin scatter"))
        for row, speed_up in ((compact, 110 / 108), (scatter, 110 / 102)):
            self.assertAlmostEqual(row["means"], speed_up)
            self.assertAlmostEqual(row["medians"], speed_up)
            self.assertAlmostEqual(row["gain_of_means"], 1 - 1 / speed_up)
            self.assertEqual(row["programs"], 2)
        self.assertAlmostEqual(compact["least_variance"] * 1e9, 1.1)
        self.assertAlmostEqual(compact["greatest_variance"] * 1e9, 110)
        self.assertEqual([compact[name] for name in ("faster", "slower", "more_stable", "less_stable")], [1, 0, 0, 1])
        self.assertEqual([scatter[name] for name in ("faster", "slower", "more_stable", "less_stable")], [1, 1, 0, 0])
        self.assertAlmostEqual(compact["faster_share"]["low"], 0.01257911709)
        text = self.good("--show", "study.jsonl", "--html", "page.html")
        self.assertRegex(text, r"(?m)^all programs beside 'pin none': speed-up of +means +gain +medians +gain +variances, s² +faster +slower"
                               r" +more stable +less stable\npin compact +1\.019 +1\.8 % +1\.019 +1\.8 % +\[1\.1e-09; 1\.1e-07\] "
                               r"+1 of 2 +0 of 2 +0 of 2 +1 of 2$")
        self.assertIn("all programs beside &#x27;pin none&#x27;: speed-up of", (self.folder / "page.html").read_text())

    def test_all_comparisons_of_all_programs_count_together(self):
        """The three that differ in all 11 rounds have p = 1 / 2^11, and come second of 24 hypotheses: the variances of the fourth are first."""
        p_values = {each["setting"]: each["mean_p"] for each in self.shown()["comparisons"]}
        for setting in ("short, pin compact", "short, pin scatter", "long, pin scatter"):
            self.assertAlmostEqual(p_values[setting], 23 / 2**11)

    def test_programs_are_a_factor_and_a_column(self):
        self.good("--runs", "3", "-o", "new", "--program", "a=echo {n}", "--program", "b=printf {n}", "--values", "n=1,2", "--csv", "new.csv")
        rows = (self.folder / "new.csv").read_text().splitlines()
        self.assertEqual(rows[0].split(",")[:3], ["setting", "program", "n"])
        self.assertEqual({tuple(row.split('"')[1].split(", ")) + tuple(row.split('",')[1].split(",")[:2]) for row in rows[1:]},
                         {(program, f"n {n}", program, str(n)) for program in "ab" for n in (1, 2)})

    def test_programs_and_settings_are_not_crossed(self):
        for options, words in [(["--program", "a=true", "--setting", "b=true"], ["--setting and --program"]),
                               (["--program", "a=true", "true"], ["--program"]), (["--program", "a"], ["--program a", "NAME=COMMAND"]),
                               (["--values", "program=a,b", "echo", "{program}"], ["'program'", "another name"]),
                               (["--program", "a=true", "--program", "a=false"], ["'a'", "twice"])]:
            self.assert_one_line(self.study("--runs", "3", "-o", "new", *options), 2, *words)
        self.assertFalse((self.folder / "new").exists())


if __name__ == "__main__":
    unittest.main()
