#!/usr/bin/python3
"""The screen of `rdam analyze --interactive`, driven through a terminal: what is seen is what `rdam analyze` says."""

import json
import os
import re
import signal
import unittest

from harness import CACHE, PROGRAMS, RDAM, Case
from screens import ALTERNATE, DOWN, ENTER, ESCAPE, LEFT, RIGHT, UP, Screen

RULES = """# Depots.
ignore = []   # none yet
keys = [
  "elsewhere:n",  # of another program
]
"""


class OnScreen(Case):
    PROGRAM, FUNCTIONS, ARGUMENTS = "depots", "deliver,drive", ()

    def setUp(self):
        super().setUp()
        # A run of milliseconds that was preempted once may have another function first.
        for _ in range(10):
            (self.folder / "trace.bin").unlink(missing_ok=True)
            self.succeeded(self.rdam("record", "-o", "trace.bin", "-f", self.FUNCTIONS, "--", PROGRAMS / self.PROGRAM, *self.ARGUMENTS))
            report = json.loads(self.rdam("analyze", "--json", "trace.bin").stdout)
            if report["functions"][0]["name"] == self.FUNCTIONS.split(",")[0]:
                break

    def open(self, *options, width=80, height=24, expect=("score", "? help"), **variables) -> Screen:
        env = {name: value for name, value in os.environ.items() if not name.startswith("RDAM_")}
        env.update({"RDAM_CACHE": CACHE, "TERM": "screen", "LC_ALL": "C.UTF-8", **variables})
        screen = Screen([RDAM, "analyze", "--interactive", *options, "trace.bin"], self.folder, width, height, env)
        self.addCleanup(screen.close)
        if expect:
            screen.expect(*expect)
        return screen

    def leave(self, screen: Screen, keys="q"):
        screen.type(keys)
        self.assertEqual(screen.ended(), 0, screen.text())
        self.assertTrue(screen.given_back(), screen.output[-200:])

    def score(self, screen: Screen, name="  deliver ") -> str:
        """Of the function in the ranking, as it is printed."""
        return re.match(r"[> ]+[?≥!°]?([01]\.\d{3}) ", next(line for line in self.rows(screen) if name in line))[1]

    @staticmethod
    def rows(screen: Screen) -> list[str]:
        """The functions of the ranking, without the findings above them."""
        return [line for line in screen.lines() if re.match(r"[> ]+[?≥!°]?[01]\.\d{3} ", line)]

    def page_score(self, screen: Screen) -> str:
        return re.search(r"score [?≥!°]?([01]\.\d{3}) ", screen.text())[1]

    def analyzed(self, *options) -> dict[str, str]:
        done = self.succeeded(self.rdam("analyze", "--json", "--top", "0", *options, "trace.bin"))
        return {f["name"]: f"{f['rdam']:.3f}" for f in json.loads(done.stdout)["functions"]}


class Feedback(OnScreen):
    """The example of docs/feedback.md."""

    def test_from_a_score_to_rules(self):
        (self.folder / "rdam.toml").write_text(RULES)
        plain = self.analyzed("--no-rules")
        screen = self.open(expect=("deliver", "drive", "fastest of their thread"))
        self.assertEqual(self.score(screen), plain["deliver"])
        # Where the run was preempted, the other one may be first.
        if "deliver" not in self.rows(screen)[0]:
            screen.type(DOWN)
        screen.wait(lambda s: any(row.startswith(">") and "  deliver " in row for row in self.rows(s)), "the cursor on deliver")

        screen.press(ENTER, "[overview]", "Keys", "[ ] parcels", "[ ] caller", "min=baseline", "Possible causes")
        screen.press(" ", "[x] parcels", "deliver:parcels is a key: rescored in")
        self.assertEqual(self.page_score(screen), self.analyzed("--no-rules", "--key", "deliver:parcels")["deliver"])
        screen.press("j ", "[x] caller", "[x] parcels", "deliver:caller is a key")
        told_apart = self.analyzed("--no-rules", "--key", "deliver:parcels", "--split-by-context", "deliver")
        self.assertEqual(self.page_score(screen), told_apart["deliver"])
        self.assertLess(float(told_apart["deliver"]), float(plain["deliver"]))
        # It is no key again, and one once more.
        screen.press(" ", "[ ] caller", "[x] parcels", "deliver:caller is no key")
        screen.press("u", "[x] caller", "undone")
        screen.press("uuu", "[ ] parcels", "[ ] caller")
        self.assertEqual(self.page_score(screen), plain["deliver"])
        screen.press("u", "nothing to undo")
        screen.press("k ", "[x] parcels", "[ ] caller")
        screen.press("j ", "[x] caller")

        screen.press(ESCAPE, " calls ", "unsaved")
        screen.wait(lambda s: any("  deliver " in row for row in self.rows(s)), "the ranking")
        self.assertEqual(self.score(screen), told_apart["deliver"])
        # They may have changed places.
        screen.press(UP + UP + ("" if "drive" in self.rows(screen)[0] else DOWN), " calls ")
        screen.wait(lambda s: s.line_with("  drive ").startswith(">"), "the cursor on drive")
        screen.press("i", "drive is ignored", "1 ignored", without=["  drive "])
        screen.press("w", "write the rules to: rdam.toml")
        screen.press(ENTER, "written: rdam.toml", without=["unsaved"])
        self.leave(screen)

        rules = (self.folder / "rdam.toml").read_text()
        for text in ('# Depots.', '"elsewhere:n",  # of another program', '# none yet', '"deliver:parcels"',
                     'split-by-context', '"drive"'):
            self.assertIn(text, rules)
        self.assertEqual(self.analyzed(), {"deliver": told_apart["deliver"]})

    def test_sequences_and_callers(self):
        screen = self.open("--no-rules", "--split-by-context", "deliver")
        # Told apart by caller it loses next to nothing, and may stand below the other one.
        screen.press(UP + UP + ("" if "deliver" in self.rows(screen)[0] else DOWN) + ENTER, "[x] caller")
        screen.press(RIGHT, "[sequences]", "called from city at", "called from country at")
        screen.press("l", "[threads]", "thread", "depots", "60")
        screen.press("\t", "[callers]", "40 of 60 calls", "20 of 60 calls", "country at", "main at")
        screen.press(LEFT, "[threads]")
        screen.press("q", "drive")
        self.leave(screen)

    def test_the_other_settings(self):
        screen = self.open()
        screen.press("f", "loops are folded: rescored in")
        screen.press("d", "keys are deep: read the trace again in", "loops folded", "deep keys")
        screen.press("b", "what calls are compared with", "[x] the fastest of their thread")
        screen.press("j" * 8 + ENTER, "calls against percentile 50 of their thread")
        self.assertEqual(self.score(screen), self.analyzed("--baseline", "p50")["deliver"])
        screen.press("t", "highlight scores from: 0.2")
        screen.press("1.5" + ENTER, "a score is a number from 0 to 1")
        screen.press("t0.05" + ENTER, "highlighting scores from 0.05")
        # Asked, for there is something to lose.
        screen.press("q", "Quit without saving the rules? y/n")
        screen.press("n", "unsaved", without=["y/n"])
        screen.press("w\x15nowhere/rdam.toml" + ENTER, "nowhere/rdam.toml: cannot be written")
        screen.press("w\x15mine.toml", "write the rules to: mine.toml")
        screen.press(ENTER, "written: mine.toml")
        self.leave(screen)
        self.assertEqual(self.analyzed("--rules", "mine.toml")["deliver"], self.analyzed("--baseline", "p50")["deliver"])
        text = (self.folder / "mine.toml").read_text()
        for line in ("fold-loops = true", "deep-keys = true", 'baseline = "p50"', "threshold = 0.05"):
            self.assertIn(line, text)
        # What the file says is how the next screen begins; what it then says less is taken out of it.
        screen = self.open("--rules", "mine.toml", expect=("percentile 50", "loops folded", "deep keys"))
        screen.press("b", "[x] percentile 50")
        screen.press(UP * 9 + ENTER, "the fastest of their thread")
        screen.press("w" + ENTER, "written: mine.toml")
        self.leave(screen)
        self.assertNotIn("p50", (self.folder / "mine.toml").read_text())

    def test_finding_and_sorting(self):
        screen = self.open()
        screen.press("/RIV", "functions with: RIV")
        screen.press(ENTER, "  drive ", without=["  deliver "])  # of the ranking: the finding stays
        screen.press(ESCAPE, "  deliver ")
        screen.press("sss", "sorted by name")
        screen.press("?", "Keys")
        screen.press("?", "  deliver ")
        self.leave(screen)

class Planted(OnScreen):
    """Work that is proportional to the second of three parameters, in many calls."""

    PROGRAM, FUNCTIONS, ARGUMENTS = "planted", "work", ("parameter", "15000")

    def test_the_parameter_that_explains_it_becomes_a_key(self):
        plain = self.analyzed()["work"]
        screen = self.open()
        screen.press(ENTER, "[ ] first", "[ ] second", "[ ] third", "score as a key")
        explains = {name: float(re.search(rf"\[ \] {name} +explains +([0-9.]+) %", screen.text())[1])
                    for name in ("first", "second", "third")}
        self.assertEqual(max(explains, key=explains.get), "second", explains)
        left = float(re.search(r"second .*score as a key ([0-9.]+)", screen.text())[1])
        screen.press("j ", "[x] second", "work:second is a key")
        self.assertEqual(self.page_score(screen), self.analyzed("--key", "work:second")["work"])
        self.assertLess(float(self.page_score(screen)), float(plain))
        self.assertLess(left, float(plain))
        screen.press("u", "[ ] second", "undone")
        self.assertEqual(self.page_score(screen), plain)
        # Where everything is a key no call has another one to be compared with.
        screen.press("k ", "[x] first")
        screen.press("j ", "[x] second")
        screen.press("j ", "[x] third")
        self.assertEqual(self.page_score(screen), self.analyzed("--key", "work:*")["work"])
        self.leave(screen, "qqy")


class Threads(OnScreen):
    """What threads did with their lives."""

    PROGRAM, FUNCTIONS, ARGUMENTS = "holders", "pthread_mutex_lock,sort_table", ("convoy", "300")

    def test_what_matters_has_room(self):
        if json.loads(self.rdam("analyze", "--json", "trace.bin").stdout)["trace"]["switches"]["state"] != "recorded":
            self.skipTest("no context switches can be had here")
        screen = self.open(width=110, height=30)
        screen.press("T", "running  waiting  preempted  ", "recorded  ", "waits most for")
        self.assertTrue(all(len(line) <= 110 for line in screen.lines()))
        screen.resize(160, 30)
        screen.press("", "by others  by program  by recorder  ", "events")
        screen.press("q", "score")
        self.leave(screen)


class OnTerminal(OnScreen):
    def test_sizes(self):
        screen = self.open(width=40, height=10, expect=("  deliver ",))
        for width, height in ((80, 24), (200, 60), (41, 11), (132, 10), (40, 50)):
            screen.resize(width, height)
            screen.press("", "  deliver ")
            screen.wait(lambda s, n=height: s.lines()[n - 1].startswith("? help"), "the last line")
        screen.press(ENTER, "[overview]", "score")
        screen.resize(40, 10)
        screen.wait(lambda s: s.lines()[9].startswith("? help"), "the last line")
        while "> [ ] caller" not in screen.text():
            screen.press(DOWN, "overview")
        if "nothing stands out" in screen.text():
            screen.press("G", "Possible causes")
        else:
            screen.press("G", without=("> [ ] caller",))
        screen.resize(30, 5)
        screen.expect("rdam needs 40×10")
        screen.resize(80, 24)
        screen.expect("[overview]")
        self.leave(screen, "qq")

    def test_signals_and_keys_give_the_terminal_back(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            screen = self.open()
            screen.press("f", "unsaved")
            screen.signal(number)
            self.assertEqual(screen.ended(), -number)
            self.assertTrue(screen.given_back(), screen.output[-200:])
        for key, number in (("\x03", signal.SIGINT), ("\x1c", signal.SIGQUIT)):
            screen = self.open()
            screen.type(key)
            self.assertEqual(screen.ended(), -number)
            self.assertTrue(screen.given_back(), screen.output[-200:])
        # While the trace is read, or just after.
        screen = self.open(expect=())
        screen.wait(lambda s: b"reading the trace" in s.output, "the bar")
        screen.signal(signal.SIGINT)
        self.assertEqual(screen.ended(), -signal.SIGINT)
        self.assertTrue(screen.given_back(), screen.output[-200:])

    def test_what_is_wrong_is_said_on_the_terminal_given_back(self):
        screen = self.open("--key", "deliver:nothing", expect=())
        self.assertEqual(screen.ended(), 1)
        self.assertTrue(screen.given_back(), screen.output[-200:])
        self.assertIn(b"rdam: deliver has no recorded parameter nothing", screen.output[screen.output.rfind(ALTERNATE[1]):])

    def test_characters_and_colors(self):
        plain = self.open(LC_ALL="C", NO_COLOR="1")
        plain.press(ENTER, "min=baseline", "#", "+---")
        self.assertTrue(plain.output.isascii())
        self.assertNotIn(b"\x1b[31m", plain.output)
        self.leave(plain, "qq")
        colored = self.open("--color", "always", NO_COLOR="1")
        self.assertRegex(colored.output, rb"\x1b\[[0-9;]*31m")
        self.leave(colored)
        # ssh brings the names of locales along that are not installed.
        foreign = self.open(LC_ALL="xx_XX.UTF-8")
        foreign.press(ENTER, "█")
        self.leave(foreign, "qq")

    def test_terminals_that_cannot(self):
        for name, words in (("dumb", "cannot place its cursor"), ("nonsense", "no such terminal"), ("", "terminal")):
            screen = self.open(expect=(), TERM=name)
            self.assertEqual(screen.ended(), 1)
            self.assertRegex(screen.output.decode(), rf"\Ardam: TERM={name}: [^\n]*{words}[^\n]*\n\Z")
        self.assert_one_line(self.rdam("analyze", "-i", "trace.bin"), 1, "terminal")

    def test_usage(self):
        for words in (("--json",), ("--diff", "trace.bin"), ("--causes", "x"), ("--patterns",), ("--histogram",), ("--top", "3"), ("--threads",),
                      ("--sequences",), ("trace.bin",)):
            done = self.rdam("analyze", "-i", *words, "trace.bin")
            self.assertEqual((done.returncode, done.stdout), (2, b""), done.stderr.decode())
            self.assertIn(b"--interactive", done.stderr)


class Table(OnScreen):
    """`rdam analyze` on a terminal, without -i."""

    def table(self, width: int, *options, **variables) -> str:
        env = {**os.environ, "RDAM_CACHE": CACHE, "TERM": "screen", "LC_ALL": "C.UTF-8", **variables}
        screen = Screen([RDAM, "analyze", *options, "trace.bin"], self.folder, width, 1000, env)
        self.addCleanup(screen.close)
        self.assertEqual(screen.ended(), 0, screen.text())
        return screen.text()

    def test_bars_where_there_is_room(self):
        # Its length is up to the score, and that to what else the machine does.
        bar = r"\n +[≥!°?]?0\.[0-9]{3} [▏▎▍▌▋▊▉█].* deliver "
        self.assertRegex(self.table(140, NO_COLOR="1"), bar)
        narrow = self.table(80)
        self.assertRegex(narrow, bar)
        self.assertRegex(narrow, r"\n no room for: [^\n]*threads\n")
        self.assertNotIn("no room", self.table(140))
        self.assertNotRegex(self.table(140, TERM="dumb"), bar)
        self.assertNotRegex(self.rdam("analyze", "--color", "always", "trace.bin").stdout.decode(), bar)

    def test_lines_are_as_wide_as_the_terminal(self):
        for width in (60, 80, 100, 130):
            for text in (self.table(width, "--histogram"), self.table(200, "--histogram", COLUMNS=str(width))):
                lines = [line for line in text[text.index(" 95 %  function"):].splitlines() if re.search(r"  d(eliver|rive) ", line)]
                self.assertGreaterEqual(len(lines), 3, text)
                self.assertLessEqual(max(map(len, lines)), width, text)
                histogram = text.split("\nDurations ")[1].splitlines()[2]
                self.assertGreater(len(histogram), width - 10, text)

    def test_histograms_everywhere(self):
        for text, columns in (self.table(140, "--histogram"), "{60,}"), (self.rdam("analyze", "--histogram").stdout.decode(), "{40}"):
            self.assertRegex(text, r"\nDurations .*\n  function .*\n(?:  .*\n)*?  deliver +[0-9.]+ [nµm]s +[ ▁▂▃▄▅▆▇█]" + columns
                             + "  [0-9.]+ [nµm]?s")
        bars = json.loads(self.rdam("analyze", "--json", "--histogram").stdout)["functions"][0]["bars"]
        self.assertEqual(len(bars), 40)
        self.assertTrue(all(a["to_ns"] == b["from_ns"] for a, b in zip(bars, bars[1:], strict=False)))


if __name__ == "__main__":
    unittest.main()
