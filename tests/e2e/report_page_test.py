#!/usr/bin/python3
"""The page of rdam report in a browser: nothing is said on the console or asked of a network, and what it offers does what it says."""

import collections
import itertools
import json
import math
import unittest

import browser
from browser import Browser
from harness import PROGRAMS, Case

HOSTILE = ["<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "__proto__", "constructor", "=a;b,c d'e", "x\\u{202e}y"]

# Nanoseconds that lie between two figures of three digits, some of them only after they are rounded to a thousandth.
HALVES = (596.5, 596.4996, 12.25, 1.125, 8125.0, 2.005, 99.9496, 999.4996)

# The columns of the comparison of two traces, and the form of what a cell says of each of them. None: it is not a pair of figures.
COMPARED = (("function", None), ("score", r"\D?\d\.\d{3}"), ("", None), ("95 %", r"\d\.\d{3}–\d\.\d{3}"), ("change", None), ("verdict", None),
            ("lost", ".* %"), ("lost/call", None), ("median", ".* [nµm]?s"), ("calls", r"~?[\d,]+"))


class Page(Case):
    idle: collections.defaultdict[tuple, list[Browser]] = collections.defaultdict(list)  # by their options
    made: dict[tuple, tuple[bytes, bytes]] = {}  # traces and their pages: to make one takes longer than most tests

    @classmethod
    def tearDownClass(cls):
        for window in itertools.chain(*cls.idle.values()):
            window.close()

    def setUp(self):
        super().setUp()
        if reason := browser.missing():
            self.skipTest(reason)

    def report(self, program, *arguments, functions, again=False):
        """`again`: another recording than the one that other tests have, too."""
        def record():
            self.succeeded(self.rdam("record", "-o", "trace.bin", "-f", functions, "--", PROGRAMS / program, *arguments))
            return self.page("trace.bin")
        return record() if again else self.once((program, *arguments, functions), record)

    def once(self, key, make):
        """The page of trace.bin that `make` makes, where no test has made it before."""
        trace, page = self.folder / "trace.bin", self.folder / "report.html"
        if key in self.made:
            for path, content in zip((trace, page), self.made[key], strict=True):
                path.write_bytes(content)
        else:
            make()
            self.made[key] = trace.read_bytes(), page.read_bytes()
        return page

    def page(self, *traces, name="report.html", threshold="0"):
        """`threshold` None: the usual one."""
        given = [] if threshold is None else ["--threshold", threshold]
        self.succeeded(self.rdam("report", "-o", name, "--overwrite", *given, *traces))
        return self.folder / name

    def browse(self, page, place="", **options):
        """A window on a page. To start a browser takes longer than most tests, so one with the same options is used again."""
        idle = self.idle[tuple(sorted(options.items()))]
        window = idle.pop() if idle else Browser(**options)
        self.addCleanup(self.put_back, window, idle)
        window.open(page, place)
        return window

    @staticmethod
    def put_back(window, idle):
        try:
            window.clear()
        except Exception:
            window.close()
            raise
        idle.append(window)

    @staticmethod
    def unfold(window):
        """The functions that lost next to nothing."""
        window.js("document.querySelectorAll('table.ranking tr.apart button').forEach((each) => each.click());")

    @staticmethod
    def run_told(window):
        """The data of the first recording, from which the page is drawn."""
        return json.loads(window.js("return document.querySelector('#data').textContent;"))["runs"][0]

    def assert_quiet(self, window):
        self.assertEqual(window.messages(), [])
        self.assertEqual(window.requests(), [])

    def assert_no_sideways(self, window):
        wide = window.js("return [document.documentElement.scrollWidth, window.innerWidth];")
        self.assertLessEqual(wide[0], wide[1])

    def test_names_are_text(self):
        window = self.browse(self.report("hostile_names", functions="*"))
        self.unfold(window)
        names = [text.removeprefix("hostile_names:") for text in window.texts("table.ranking td.name")]
        for name in HOSTILE:
            self.assertIn(name, names)
        self.assertEqual(window.js("return document.querySelectorAll('img').length;"), 0)
        cells = []
        for i in range(1, 6):
            window.js("window.location.hash = arguments[0];", f"#run-0-function-{i}")
            window.wait_for("return document.querySelector('article h2') !== null;")
            window.settle()
            cells += window.texts("article td")
        # Which of them that thread called is up to their ranks.
        self.assertIn("<b>&\"'</b>", " ".join(cells))
        self.assert_quiet(window)

    def test_ranking(self):
        window = self.browse(self.report("hostile_names", functions="*"))
        self.unfold(window)
        by_rank = window.texts("table.ranking td.name")
        window.click("table.ranking th:nth-child(5) button")
        self.assertEqual(window.texts("table.ranking td.name"), window.js("return [...arguments[0]].sort((a, b) => a.localeCompare(b));", by_rank))
        self.assertEqual(window.one("table.ranking th:nth-child(5)").get_attribute("aria-sort"), "ascending")
        window.click("table.ranking th:nth-child(5) button")
        self.assertEqual(window.texts("table.ranking td.name"), window.js("return [...arguments[0]].sort((a, b) => b.localeCompare(a));", by_rank))
        window.keys("input[type=search]", "PROTO")
        self.assertEqual(window.texts("table.ranking td.name"), ["__proto__"])
        self.assertIn("1 of ", " ".join(window.texts("[aria-live]")))
        self.assert_quiet(window)

    def test_findings_come_first(self):
        """And the ranking is in sight without scrolling; what is known of the recording is folded below them."""
        functions = "look_up,flush_cache,pthread_mutex_lock"
        self.succeeded(self.rdam("record", "-o", "trace.bin", "-f", functions, "--", PROGRAMS / "owners", "keeper", "1000"))
        page = self.page("trace.bin", threshold=None)
        window = self.browse(page)
        first, = window.texts("ol.findings > li > a")
        self.assertRegex(first, r"^pthread_mutex_lock: 2 threads \(reader\) lost ")
        self.assertIn("try: ", window.texts("ol.findings")[0])
        places = window.js("return ['h1', 'ol.findings', 'dl', 'details.about', '.lives td', 'table.ranking td'].map("
                           "(each) => document.querySelector(each).getBoundingClientRect().bottom);")
        self.assertEqual(places, sorted(places))
        self.assertLess(places[-1], 900)
        self.assertEqual(window.js("return document.querySelector('details.about').open;"), False)
        self.assertEqual(window.js("return [...document.querySelectorAll('p.states')].filter((each) => each.getClientRects().length > 0);"), [])
        self.assertIn("Trace", window.js("return [...document.querySelectorAll('details.about dt')].map((each) => each.textContent);"))
        window.click("ol.findings > li > a")
        window.wait_for("return document.querySelector('article h2') !== null;")
        self.assertEqual(window.texts("article h2"), ["pthread_mutex_lock"])
        # What is said of the caller agrees with the table of callers below.
        share = self.run_told(window)["functions"][0]["details"]["callers"][0]["share"]
        self.assertGreater(share, 0.99)
        self.assertRegex(" ".join(window.texts("figure p")), r"caller(: | \()one has (99.*|100) % of the lost time")
        self.assertNotRegex(" ".join(window.texts("figure p")), r"caller (0|< 0.01) %|caller as a key would explain (0|< 0.01) %")
        self.assert_quiet(window)
        narrow = self.browse(page, width=390, height=844)
        # A link to the page itself is not above them.
        self.assertEqual(narrow.js("return document.querySelector('nav a').getClientRects().length;"), 0)
        self.assertEqual(narrow.js("return document.querySelector('#theme').getClientRects().length;"), 1)
        if self.analyze()["trace"]["switches"]["state"] == "recorded":
            found, (top, bottom, right), line = narrow.js("""
              const states = document.querySelector('p.states');
              const box = states.getBoundingClientRect();
              const range = document.createRange();
              range.selectNodeContents(states);
              const found = document.querySelector('ol.findings').getBoundingClientRect().bottom;
              return [found, [box.top, box.bottom, range.getBoundingClientRect().right],
                      parseFloat(getComputedStyle(states).lineHeight)];""")
            self.assertRegex(narrow.texts("p.states")[0], r"^Threads: running \d+ %, waiting \d+ %, preempted \d+ %$")
            self.assertLess(top - found, line)
            self.assertLess(bottom - top, 1.5 * line)
            self.assertLess(bottom, 844)
            self.assertLess(right, 390)
        self.assertLess(narrow.js("return document.querySelector('ol.findings').getBoundingClientRect().bottom;"), 844)
        self.assert_no_sideways(narrow)

    def test_rows_of_the_heat_map_follow_the_functions(self):
        """A thread that only waited by design has a row where that is shown."""
        self.succeeded(self.rdam("record", "-o", "trace.bin", "-f", "look_up,pthread_join", "--", PROGRAMS / "owners", "keeper", "500"))
        window = self.browse(self.page("trace.bin"))
        run = self.run_told(window)
        joining = {row for row, _, place, _ in run["heat"]["cells"] if place >= 0 and run["functions"][place]["standing"] == "by_design"}
        others = {row for row, _, place, lost in run["heat"]["cells"] if lost > 0 and row not in joining}
        self.assertEqual(len(joining), 1)
        self.assertGreater(len(others), 1)
        rows = "return (document.querySelector('#heat canvas[tabindex]').clientHeight - 22) / 22;"
        self.assertEqual(window.js(rows), len(others))
        main = run["heat"]["rows"][min(joining)]
        folded = "return [...document.querySelectorAll('#heat details')].filter((each) => !each.hidden).map((each) => each.textContent);"
        self.assertRegex(window.js(folded)[0], rf"^\d threads? that lost nothing in these functions ha(s|ve) no row.*{main}")
        choose = "const s = document.querySelector('#heat select'); s.value = arguments[0]; s.dispatchEvent(new Event('change'));"
        window.js(choose, "all")
        window.settle()
        self.assertEqual(window.js(rows), len(others | joining))
        window.js(choose, str([each["standing"] for each in run["functions"]].index("by_design")))
        window.settle()
        self.assertEqual(window.js(rows), 1)
        self.assert_quiet(window)

    def changed(self, page, change, name):
        """A copy of the page whose data `change` has changed."""
        begin, end = '<script type="application/json" id="data">', "</script>"
        head, _, rest = page.read_text().partition(begin)
        data, _, tail = rest.partition(end)
        data = json.loads(data)
        change(data)
        copy = self.folder / name
        copy.write_text(begin.join([head, json.dumps(data).replace("<", "\\u003c") + end + tail]))
        return copy

    def with_longest_figures(self, page):
        """A copy in which names and figures are as long as they can be."""
        def lengthen(data):
            sides = [side for row in data.get("diff", []) for side in (row["a"], row["b"])]
            for row in [*data.get("diff", []), *(row for run in data["runs"] for row in run["functions"]), *sides]:
                row["name"] = "std::vector<std::pair<std::string,std::shared_ptr<application::Widget>>>::emplace_back"
                row["words"] = "not recorded before, before is sampled, 0.0001 × the calls"
                row["change_low"], row["change_high"] = -0.999, 0.999
                figures = {"occurrences", "min_ns", "median_ns", "p99_ns", "lost_ns", "lost_per_call_ns"}
                row.update(dict.fromkeys(figures & row.keys(), 123_456_789_012))
            for run in data["runs"]:
                lives = run["lives"]
                self.assertIn("recorded", [column["key"] for column in lives["columns"]])
                longest = {"running": "99.9 %", "waiting": "99.9 %", "preempted": "99.9 %",
                           "by_others": "99.9 %", "by_program": "99.9 %", "by_recorder": "0.099 %",
                           "recorded": "99.5–99.9 %", "events": "123,456,789,012 (short-lived: does not set the score)",
                           "waits_for": "4194303 (a-long-name-abc) and 12 threads (another-name-ab), 99.9 %", "thread": "4194303"}
                lives["rows"] = [{"name": "fifteen-letters", "life_ns": 8.64e13, "cells": longest}] * 6
        return self.changed(page, lengthen, f"longest-{page.name}")

    def assert_tables_fit(self, window, place):
        tables = window.js("return [...document.querySelectorAll('table')].filter((each) => each.getClientRects().length > 0).map((each) => {"
                           "const box = each.closest('.scroll'); return [box.getAttribute('aria-label'), box.scrollWidth, box.clientWidth]; });")
        self.assertTrue(tables, place)
        for name, inner, outer in tables:
            self.assertLessEqual(inner, outer, (name, place))

    def test_tables_fit(self):
        """Nothing of a table is cut off where there is a screen for it, and wide screens are used; on narrow ones it scrolls by itself."""
        self.succeeded(self.rdam("record", "-o", "trace.bin", "-f", "sort_table,pthread_mutex_lock", "--", PROGRAMS / "holders", "convoy", "400"))
        one = self.with_longest_figures(self.page("trace.bin"))
        self.succeeded(self.rdam("record", "-o", "after.bin", "-f", "sort_table,pthread_mutex_lock", "--", PROGRAMS / "holders", "convoy", "300"))
        both = self.with_longest_figures(self.page("trace.bin", "after.bin", name="both.html"))
        commands = "".join(f"{PROGRAMS}/orders {each};" for each in (100, 200, 300))
        self.succeeded(self.rdam("record", "-o", "run.%p.bin", "-f", "serve,parse,store", "--", "sh", "-c", commands))
        all_ = self.page(*sorted(path.name for path in self.folder.glob("run.*.bin")), name="all.html")
        for width in (1280, 1920, 390):
            for page, place in ((one, ""), (one, "#run-0-function-1"), (both, ""), (all_, "")):
                with self.subTest(width=width, page=page.name, place=place):
                    window = self.browse(page, place, width=width, height=900)
                    window.js("document.querySelectorAll('details').forEach((each) => { each.open = true; });")
                    if width > 390:
                        self.assert_tables_fit(window, place)
                    self.assert_no_sideways(window)
                    boxes = window.js("return [...document.querySelectorAll('#app table')].map((each) => each.closest('.scroll') !== null);")
                    self.assertTrue(all(boxes), boxes)
        window = self.browse(one, width=1920, height=900)
        self.assertGreater(window.js("return document.querySelector('table.ranking').clientWidth;"), 1600)

    def test_processes(self):
        commands = "".join(f"{PROGRAMS}/orders {each};" for each in range(100, 600, 100))
        self.succeeded(self.rdam("record", "-o", "run.%p.bin", "-f", "serve,parse,store", "--", "sh", "-c", commands))
        window = self.browse(self.page(*sorted(path.name for path in self.folder.glob("run.*.bin"))))
        self.assertEqual(window.texts("#app h1"), ["5 processes of orders"])
        self.assertRegex(window.texts("#functions p")[0], "^score: the share of its life that the worst thread of all processes lost; the line ")
        self.assertEqual(len(window.texts("#functions tbody tr:not(.apart)")), 3)
        self.assertEqual(len(window.texts("#processes tbody tr")), 5)
        # By name, and by the number of calls, the largest first.
        window.click("#functions th:nth-child(5) button")
        names = window.texts("#functions tbody td:nth-child(5)")
        self.assertEqual([name.split(",")[0] for name in names], ["parse", "serve", "store"])
        window.click("#processes th:nth-child(4) button")
        calls = [int(text.replace(",", "")) for text in window.texts("#processes tbody td:nth-child(4)")]
        self.assertEqual(calls, sorted(calls, reverse=True))
        self.assertEqual(window.one("#processes th:nth-child(4)").get_attribute("aria-sort"), "descending")
        self.assertIn("by process", window.one("#heat canvas:not([aria-hidden])").get_attribute("aria-label"))
        self.assert_no_sideways(window)
        window.click("#processes tbody a")
        window.wait_for("return document.querySelector('table.ranking') !== null;")
        self.assertEqual(len(window.texts("nav a")), 4)
        window.click("nav a")
        window.wait_for("return document.querySelector('#processes') !== null;")
        self.assert_quiet(window)

    def test_what_the_threads_of_processes_did_and_waited_for(self):
        run = f"{PROGRAMS}/holders convoy 400; {PROGRAMS}/holders convoy 400"
        self.succeeded(self.rdam("record", "-o", "run.%p.bin", "-f", "sort_table,pthread_mutex_lock", "--", "sh", "-c", run))
        traces = sorted(path.name for path in self.folder.glob("run.*.bin"))
        if self.analyze(traces[0])["trace"]["switches"]["state"] != "recorded":
            self.skipTest("no context switches can be had here")
        window = self.browse(self.page(*traces))
        heads = window.texts("#processes thead th")
        first = heads.index("running")
        self.assertEqual(heads[first:first + 3], ["running", "waiting", "preempted"])
        for row in range(2):
            cells = window.texts(f"#processes tbody tr:nth-child({row + 1}) td")[first:first + 3]
            shares = [float(text.lstrip("< ").removesuffix(" %")) for text in cells]
            self.assertAlmostEqual(sum(shares), 100, delta=1, msg=str(cells))
        facts = window.js("return [...document.querySelectorAll('dt')].filter((term) => term.textContent === 'Waiting').map("
                          "(term) => term.nextElementSibling.textContent);")
        self.assertRegex(facts[0], r"^in \d+ .*holders.*, for .* % of (its life \([0-9.]+ [nµm]?s|their lives \([0-9.]+ [nµm]?s in all)\), ")

    def test_a_function(self):
        window = self.browse(self.report("orders", "500", functions="serve,parse,store"))
        window.keys("table.ranking td.name a", "\n")
        window.wait_for("return document.querySelectorAll('article .chart canvas').length >= 2;")
        self.assertEqual(window.js("return document.activeElement.tagName;"), "H2")
        window.wait_for("return [...document.querySelectorAll('article .chart canvas')].every((each) => each.width > 100 && Chart.getChart(each));")
        self.assertIn("Durations", window.texts("figcaption"))
        for canvas in window.all("article canvas"):
            self.assertTrue(canvas.get_attribute("aria-label"))
        window.js("history.back();")
        window.wait_for("return document.querySelector('table.ranking') !== null;")
        self.assert_quiet(window)

    def bars(self, window, caption):
        """Of a chart by its caption: the names and lengths of its bars. None: there is no such chart."""
        return window.js("""
          const found = [...document.querySelectorAll('article figure')].find((each) => each.textContent.startsWith(arguments[0]));
          if (!found) return null;
          const {labels, datasets} = Chart.getChart(found.querySelector('canvas')).data;
          return Object.fromEntries(labels.map((label, i) => [label, datasets[0].data[i]]));""", caption)

    def browse_nodes(self, *options):
        """The page of a machine that is made up, at its only function; what calls lose on each of its two nodes, in nanoseconds."""
        done = self.succeeded(self.run_in_folder(PROGRAMS / "two_nodes_trace", "trace.bin", *options))
        window = self.browse(self.once(("two_nodes_trace", *options), lambda: self.page("trace.bin")), "#run-0-function-1")
        window.wait_for("return [...document.querySelectorAll('article .chart canvas')].some((each) => Chart.getChart(each));")
        return window, [int(each) for each in done.stdout.split()]

    def test_nodes(self):
        window, (near, far) = self.browse_nodes()
        run = self.run_told(window)
        by_node = {0: 0, 1: 0}
        for each in run["functions"][0]["details"]["processors"]:
            self.assertEqual(each["node"], each["processor"] // 2)
            by_node[each["node"]] += each["lost_ns"]
        bars = self.bars(window, "By NUMA node")
        self.assertEqual(set(bars), {"node 0", "node 1"})
        for node, lost in enumerate((near, far)):
            self.assertAlmostEqual(by_node[node] / lost, 1, delta=0.05)
            self.assertAlmostEqual(bars[f"node {node}"] / lost, 1, delta=0.05)
        by_thread = self.bars(window, "By thread")
        self.assertEqual(len(by_thread), 4)
        for lost in by_thread.values():
            self.assertAlmostEqual(lost / ((near + far) / 4), 1, delta=0.05)
        self.assertEqual(len(run["heat"]["rows"]), 4)
        self.assertIn("NUMA node 1", " ".join(window.texts("article")))
        self.assert_quiet(window)

    def test_one_node(self):
        window, _ = self.browse_nodes("one")
        self.assertEqual(len(self.bars(window, "By processor")), 4)
        self.assertIsNone(self.bars(window, "By NUMA node"))

    def test_addresses(self):
        """A bar for each of the commonest, from the least to p99, and one for the rest; in the colours of the page."""
        ink = []
        self.browse_nodes()
        for dark in (False, True):
            window = self.browse(self.folder / "report.html", "#run-0-function-1", dark=dark)
            window.wait_for("return [...document.querySelectorAll('article .chart canvas')].every((each) => Chart.getChart(each));")
            bars, label, colour = window.js("""
              const found = [...document.querySelectorAll('article figure')].find((each) => each.textContent.startsWith('list'));
              const canvas = found.querySelector('canvas');
              const {labels, datasets} = Chart.getChart(canvas).data;
              const bars = labels.map((label, i) => [label, datasets[1].data[i], datasets[0].data[i]]);
              return [bars, canvas.getAttribute('aria-label'), datasets[0].borderColor];""")
            self.assertEqual([label for label, *_ in bars][-1], "8 others")
            self.assertEqual(len({label for label, *_ in bars}), 13)
            for label_, (least, most), median in bars:
                self.assertLessEqual(least, median)
                self.assertLessEqual(median, most)
                self.assertIn(label_, label)
            self.assertNotIn("Also examined list", " ".join(window.texts("article")))
            ink.append(colour)
            self.assert_quiet(window)
        self.assertNotEqual(*ink)

    def test_pictures(self):
        window = self.browse(self.report("hostile_names", functions="*"))
        flame, heat, lanes = "#icicle canvas", "#heat canvas[tabindex]", ".timeline canvas"
        for canvas, keys in ((flame, ["\ue015", "\ue007"]), (heat, ["\ue014"]), (lanes, ["+"])):
            with self.subTest(canvas=canvas):
                before = window.picture(canvas)
                window.keys(canvas, *keys)
                self.assertNotEqual(window.picture(canvas), before)
                self.assertTrue(window.one(canvas).get_attribute("aria-label"))
        self.assertGreater(len(window.all("#icicle p button")), 1)  # zoomed in
        window.keys(flame, "\ue00c")
        self.assertEqual(len(window.all("#icicle p button")), 1)
        said = window.texts("#icicle p.said")
        window.click("#icicle button[data-weight=calls]")
        self.assertNotEqual(window.texts("#icicle p.said"), said)
        before = window.picture(heat)
        window.js("const s = document.querySelector('#heat select'); s.selectedIndex = s.options.length - 1; s.dispatchEvent(new Event('change'));")
        window.settle()
        self.assertNotEqual(window.picture(heat), before)
        before = window.picture(lanes)
        window.click(".timeline button[aria-label='Show the whole window']")
        self.assertNotEqual(window.picture(lanes), before)
        self.assert_quiet(window)

    def test_themes(self):
        page = self.report("hostile_names", functions="*")
        for dark in (False, True):
            window = self.browse(page, dark=dark)
            self.assertEqual(window.js("return document.documentElement.dataset.theme;"), "dark" if dark else "light")
            before = window.js("return getComputedStyle(document.body).backgroundColor;"), window.picture("#heat canvas[tabindex]")
            window.click("#theme")
            after = window.js("return getComputedStyle(document.body).backgroundColor;"), window.picture("#heat canvas[tabindex]")
            self.assertNotEqual(before[0], after[0])
            self.assertNotEqual(before[1], after[1])
            self.assert_quiet(window)

    def test_another_theme_keeps_the_place(self):
        window = self.browse(self.report("hostile_names", functions="*"))
        window.keys("input[type=search]", "PROTO")
        window.click("#theme")
        self.assertEqual(window.texts("table.ranking td.name"), ["__proto__"])

    def test_print(self):
        window = self.browse(self.report("hostile_names", functions="*"), dark=True)
        window.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        window.js("window.dispatchEvent(new Event('beforeprint'));")
        heads, paper = window.js("""
          const heads = [...document.querySelectorAll('table.ranking th button')].filter((each) => each.getClientRects().length > 0);
          return [heads.map((each) => each.textContent), getComputedStyle(document.body).backgroundColor];""")
        self.assertEqual(heads, ["rank", "score", "95 %", "function", "calls", "min", "median", "p99", "lost", "lost/call", "threads"])
        self.assertEqual(paper, "rgb(255, 255, 255)")
        window.js("window.dispatchEvent(new Event('afterprint'));")
        self.assertEqual(window.js("return document.documentElement.dataset.theme;"), "dark")
        self.assert_quiet(window)

    def test_what_a_thread_did(self):
        window = self.browse(self.report("hostile_names", functions="*"))
        lanes = ".timeline canvas"
        before = window.picture(lanes)
        window.keys(lanes, "\ue015")
        self.assertRegex(" ".join(window.texts(".timeline [aria-live]")), r"\d+ .*: .*work.* \d")
        self.assertNotEqual(window.picture(lanes), before)

    def test_who_had_the_processor_is_in_the_tooltip(self):
        """And what a call lost, where it is known."""
        self.browse_nodes()

        def plant(data):
            window = data["runs"][0]["timelines"][0]
            length = window["length"]
            window["names"].append("12345 rival")
            rival = len(window["names"]) - 1
            lane = window["lanes"][1]
            lane["waits"] = []
            lane["slices"] = [[0, length / 2, 0, 0, 1, 0, 1234567]]
            lane["off"] = [[length * part / 10, length * (part + 1) / 10, 1, who, length / 20]
                           for part, who in ((1, rival), (2, -1), (3, -2), (6, -3), (7, -4))] + [[length * 0.8, length * 0.9, 0]]

        window = self.browse(self.changed(self.folder / "report.html", plant, "planted.html"))
        told = []
        for part in (0.05, 0.15, 0.25, 0.35, 0.55, 0.65, 0.75, 0.85):
            told.append(window.js("""
              const canvas = document.querySelector('.timeline canvas');
              canvas.scrollIntoView({block: 'center'});
              const box = canvas.getBoundingClientRect();
              const x = 120 + (canvas.clientWidth - 120) * arguments[0];
              // The second lane begins below the first, which has a row and the line of absences, and a gap.
              canvas.dispatchEvent(new MouseEvent('mousemove', {clientX: box.left + x, clientY: box.top + 16 + 5 + 8 + 8, bubbles: true}));
              return document.querySelector('.tip').hidden ? null : document.querySelector('.tip').textContent;""", part))
        self.assertIn(", lost 1.23 ms", told[0])
        self.assertNotIn("off the processor", told[0])
        for text, who in zip(told[1:4] + told[5:], ("12345 rival had it, for ", "another program had it", "the recorder had it",
                                                    "another thread of the program had it", "something else had it", "it waited"), strict=True):
            self.assertRegex(text, f"off the processor for .*: {who}")
        self.assertIsNone(told[4])
        self.assert_quiet(window)

    def test_from_the_run_to_single_calls(self):
        """Zooming out of a window shows the run, zooming in a window; a strip of the run leads to each of them."""
        self.browse_nodes()
        window = self.browse(self.folder / "report.html")
        lanes, strip, choice = ".timeline canvas", ".overview canvas", "return document.querySelector('[id^=timelines-] select').value;"
        windows = self.run_told(window)["timelines"]
        self.assertGreater(len(windows), 1)
        self.assertEqual(window.js(choice), "0")
        self.assertIn(f"{len(windows)} windows", window.one(strip).get_attribute("aria-label"))
        before = window.picture(lanes)
        window.keys(lanes, "-")
        self.assertEqual(window.js(choice), "-1")
        self.assertNotEqual(window.picture(lanes), before)
        window.keys(lanes, *["-"] * 40)
        self.assertIn("The run by thread", window.one(lanes).get_attribute("aria-label"))
        said = " ".join(window.texts(".timeline p"))
        self.assertRegex(said, r"0 ns to \d.* of the run: lost ")
        self.assertIn("this page has no single calls", said)
        self.assertEqual(float(window.js("return document.querySelector('.timeline canvas').clientHeight;")), 14 + 2 + 4 * 16 + 20)
        window.keys(lanes, *["+"] * 40)
        self.assertIn("Timeline around a call", window.one(lanes).get_attribute("aria-label"))
        # By the strip, in the order of time.
        order = sorted(range(len(windows)), key=lambda i: windows[i]["begin"])
        window.click(".timeline button[aria-label='Show the whole run']")
        self.assertEqual(window.js(choice), "-1")
        for step, expected in enumerate(order):
            window.keys(strip, *["\ue014"] * (step + 1), "\ue007")
            self.assertEqual(window.js(choice), str(expected))
            window.click(".timeline button[aria-label='Show the whole run']")
        for i in (0, 1):
            run = window.js("const c = document.querySelector('.overview canvas').getBoundingClientRect(); return [c.left, c.top, c.width];")
            heat = self.run_told(window)["heat"]
            middle = windows[i]["begin"] + windows[i]["length"] / 2
            x = run[0] + run[2] * (middle - heat["begin"]) / (heat["bin"] * heat["bins"])
            window.js("const c = document.querySelector('.overview canvas'); c.dispatchEvent(new MouseEvent('click', "
                      "{clientX: arguments[0], clientY: arguments[1] + 20, bubbles: true}));", x, run[1])
            nearest = min(range(len(windows)), key=lambda j: abs(windows[j]["begin"] + windows[j]["length"] / 2 - middle))
            self.assertEqual(window.js(choice), str(nearest))
        self.assert_quiet(window)

    def test_the_wheel_alone_scrolls(self):
        self.browse_nodes()
        window = self.browse(self.folder / "report.html")
        lanes = ".timeline canvas"
        window.keys(lanes, "+")
        for ctrl in (False, True):
            before = window.picture(lanes)
            taken = window.js("""const event = new WheelEvent('wheel', {deltaY: 100, ctrlKey: arguments[0], cancelable: true, bubbles: true});
              document.querySelector('.timeline canvas').dispatchEvent(event); return event.defaultPrevented;""", ctrl)
            window.settle()
            self.assertEqual(taken, ctrl)
            self.assertEqual(window.picture(lanes) != before, ctrl)

    def test_from_a_cell_to_single_calls(self):
        self.browse_nodes()
        window = self.browse(self.folder / "report.html")
        data = self.run_told(window)
        last = max(range(len(data["timelines"])), key=lambda i: data["timelines"][i]["begin"])
        window.keys("#heat canvas[tabindex]", *["\ue014"] * 192, "\ue007")
        self.assertEqual(window.js("return document.querySelector('[id^=timelines-] select').value;"), str(last))
        self.assertTrue(window.js("return document.activeElement === document.querySelector('.timeline canvas');"))
        self.assertRegex(" ".join(window.texts("[id^=timelines-] > p")), "of that time")
        self.assert_quiet(window)

    def chart(self, window, caption, code):
        """What the code returns, with the chart of the caption as `chart`."""
        return window.js("const caption = [...document.querySelectorAll('article figcaption')].find((each) => each.textContent === arguments[0]);"
                         "const canvas = caption.parentNode.querySelector('canvas'); const chart = Chart.getChart(canvas);" + code, caption)

    def test_durations(self):
        """The four figures are marked where they are, and the axes have round values."""
        window, _ = self.browse_nodes()
        row = self.run_told(window)["functions"][0]
        bars = row["details"]["bars"]
        low, high = bars[0][0], bars[-1][1]
        self.assertLessEqual(row["min_ns"], row["baseline_ns"])
        self.assertAlmostEqual(row["baseline_ns"] + row["lost_ns"] / row["occurrences"], 150_950, delta=500)
        label = self.chart(window, "Durations", "return canvas.getAttribute('aria-label');")
        for key in ("baseline", "median", "p99"):
            self.assertIn(key, label)
            share = math.log(row[f"{key}_ns"] / low) / math.log(high / low)
            dark = self.chart(window, "Durations", f"""
              const x = chart.chartArea.left + (chart.chartArea.right - chart.chartArea.left) * {share};
              const data = canvas.getContext('2d').getImageData(Math.round(x) - 1, chart.chartArea.top - 8, 3, chart.chartArea.height).data;
              let most = 0;
              for (let side = 0; side < 3; side += 1) {{
                let rows = 0;
                for (let i = side * 4; i < data.length; i += 12) if (data[i] + data[i + 1] + data[i + 2] < 300 && data[i + 3] > 90) rows += 1;
                most = Math.max(most, rows);
              }}
              return most;""")
            self.assertGreater(dark, 40, key)
        for caption, scale in (("Durations", "y"), ("Over the run", "y"), ("list", "x"), ("Durations by thread", "x")):
            values = self.chart(window, caption, f"return chart.scales.{scale}.ticks.map((each) => each.value);")
            self.assertTrue(values, caption)
            for value in values:
                self.assertIn(round(value / 10 ** math.floor(math.log10(value) + 1e-9), 6), (1, 2, 5), caption)

    def test_durations_by_thread(self):
        window, _ = self.browse_nodes()
        row = self.run_told(window)["functions"][0]
        threads = row["details"]["by_thread"]
        self.assertEqual(len(threads), 4)
        for each in threads:
            # Each was on all processors, and walked all lists.
            self.assertAlmostEqual(each["min_ns"], 100_000, delta=1)
            self.assertAlmostEqual(each["max_ns"], 201_900, delta=1)
            self.assertLess(each["min_ns"], each["median_ns"])
            self.assertLess(each["median_ns"], each["p99_ns"])
        drawn = self.chart(window, "Durations by thread", "return chart.data.datasets.map((each) => each.data);")
        self.assertEqual(drawn[0], [each["median_ns"] for each in threads])
        self.assertEqual(drawn[1], [each["max_ns"] for each in threads])
        self.assertEqual(drawn[2], [[each["min_ns"], each["p99_ns"]] for each in threads])

    def test_below_the_threshold(self):
        """What lost most is looked into, whatever it scores."""
        self.browse_nodes()
        for threshold in (None, "0.99"):
            window = self.browse(self.page("trace.bin", threshold=threshold), "#run-0-function-1")
            self.assertLess(self.run_told(window)["functions"][0]["rdam"], 0.99)
            captions = window.texts("figcaption")
            for caption in ("Over the run", "By processor", "list"):
                self.assertIn(caption, captions)
            window = self.browse(self.folder / "report.html")
            self.assertEqual(len(window.all(".timeline canvas")), 1)

    def contrast(self, one, other):
        def luminance(colour):
            parts = [each / 255 for each in colour[:3]]
            parts = [each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

        light, dark = sorted((luminance(one), luminance(other)), reverse=True)
        return (light + 0.05) / (dark + 0.05)

    def test_contrast(self):
        """The least heat against an empty cell, bars against their ground, and the edges of boxes against the page."""
        self.browse_nodes()
        for dark in (False, True):
            window = self.browse(self.folder / "report.html", dark=dark)
            colour = """const of = (name) => { const d = document.createElement('i'); d.style.color = `var(${name})`; document.body.append(d);
              const found = getComputedStyle(d).color.match(/\\d+/g).map(Number); d.remove(); return found; };"""
            bar, panel, paper, edge = window.js(colour + "return ['--bar', '--panel', '--paper', '--edge'].map(of);")
            least = window.js("""const legend = document.querySelector('#heat .legend canvas');
              return [...legend.getContext('2d').getImageData(0, 5, 1, 1).data];""")
            self.assertGreaterEqual(self.contrast(least, panel), 1.5, dark)
            self.assertGreaterEqual(self.contrast(bar, panel), 3, dark)
            for box in ((0x56, 0xB4, 0xE9), (0, 0x9E, 0x73), (0xCC, 0x79, 0xA7), (0xF0, 0xE4, 0x42), (0, 0x72, 0xB2), (0xE6, 0x9F, 0)):
                self.assertGreaterEqual(max(self.contrast(box, paper), self.contrast(edge, paper)), 3, (dark, box))

    def test_focus_and_names(self):
        named = "return [...document.querySelectorAll('.scroll')].every((each) => each.matches('[role=region][aria-label]'));"
        window = self.browse(self.report("hostile_names", functions="*"))
        window.keys("#icicle canvas", "\ue015", "\ue007")
        window.keys("#icicle p button:first-child", "\ue007")
        self.assertTrue(window.js("return document.activeElement.matches('#icicle p button');"))
        self.assertTrue(window.js(named))
        # There and back: what was searched for and how rows were sorted is still there, and the focus is where it was.
        window.click("table.ranking th:nth-child(5) button")
        window.keys("input[type=search]", "s")
        names = window.texts("table.ranking td.name")
        window.js("window.scrollTo(0, 150);")
        window.settle()
        link = window.all("table.ranking td.name a")[1]
        text = link.text
        window.js("arguments[0].focus({preventScroll: true}); arguments[0].click();", link)
        window.wait_for("return document.querySelector('article h2') !== null;")
        self.assertTrue(window.js(named))
        window.keys("article p a", "\ue007")
        window.wait_for("return document.querySelector('table.ranking') !== null;")
        window.settle()
        self.assertEqual(window.texts("table.ranking td.name"), names)
        self.assertEqual(window.one("table.ranking th:nth-child(5)").get_attribute("aria-sort"), "ascending")
        self.assertEqual(window.one("input[type=search]").get_attribute("value"), "s")
        self.assertEqual(window.js("return document.activeElement.textContent;"), text)
        self.assertEqual(window.js("return window.scrollY;"), 150)
        self.assert_quiet(window)

    def test_small_windows(self):
        page = self.report("hostile_names", functions="*")
        # 640 pixels are what a window of 1280 has at 200 %.
        for width in (360, 640):
            for place in ("", "#run-0-function-1"):
                with self.subTest(width=width, place=place):
                    window = self.browse(page, place, width=width, height=800)
                    self.assert_no_sideways(window)
                    self.assert_quiet(window)

    def test_two_recordings(self):
        self.report("hostile_names", functions="*")
        (self.folder / "trace.bin").rename(self.folder / "first.bin")
        self.report("hostile_names", functions="*", again=True)
        window = self.browse(self.page("first.bin", "trace.bin", name="two.html"))
        self.assertIn("__proto__", window.texts("#diff td"))
        self.assertEqual(window.texts("nav a"), ["before and after", "before: first.bin", "after: trace.bin"])
        self.assertRegex(window.texts("#diff p")[0], "^The run took .* before and .* after: ")
        self.assertEqual(window.texts("#diff th"), [title for title, _ in COMPARED])
        for number, (title, form) in enumerate(COMPARED, 1):
            if form is None:
                continue
            both = window.texts(f"#diff tbody tr:first-child td:nth-child({number}) .pair > span")
            self.assertEqual(len(both), 2, title)
            for side in both:
                self.assertRegex(side, f"^{form}$", title)
        for pictures in (".heat canvas[tabindex]", ".icicle canvas"):
            places = [each.rect for each in window.all(f"#diff {pictures}")]
            self.assertEqual(len(places), 2, pictures)
            self.assertLess(places[0]["x"] + places[0]["width"], places[1]["x"])
        self.assert_no_sideways(window)
        window.click("#diff td a")
        self.assertEqual(len(window.all("article h2")), 1)
        window.click("nav a:nth-child(3)")
        self.assertEqual(len(window.all("table.ranking")), 1)
        self.assert_quiet(window)

    def test_without_scripts_what_waits_stands_apart(self):
        window = self.browse(self.report("orders", "500", functions="serve,parse,store,pthread_join"), scripts=False)
        apart = " ".join(each.text for each in window.all("#static tr.apart"))
        self.assertIn("by design", apart)

    def test_without_scripts(self):
        page = self.report("hostile_names", functions="*")
        window = self.browse(page, scripts=False)
        text = window.one("#static").text
        for name in HOSTILE:
            self.assertIn(name, text)
        for word in ("Command", "Functions", "score", "lost"):
            self.assertIn(word, text)
        self.assertEqual(window.all("img"), [])
        cells = "#static table tr:not(.apart) td:not(:nth-child(4))"
        without = [each.text for each in window.all(cells)]
        apart = [each.text for each in window.all("#static tr.apart")]
        marks = [each.text for each in window.all("#static p")]
        window = self.browse(page)
        self.unfold(window)
        self.assertEqual(window.texts("table.ranking tr:not(.apart) td:not(:nth-child(3)):not(.name)"), without)
        self.assertEqual(window.texts("table.ranking tr.apart"), apart)
        for said in window.texts("p.marks"):
            self.assertIn(said, marks)
        window = self.browse(page, scripts=False, dark=True)
        self.assertEqual(window.one("body").value_of_css_property("background-color"), "rgba(18, 22, 28, 1)")

    def test_figures_on_a_half_are_rounded_alike(self):
        events, at = [], 0.0
        for i, least in enumerate(HALVES):
            for more in (0, 0.5):
                events.append({"ph": "X", "name": f"of {i}", "pid": 1, "tid": 1, "ts": at / 1000, "dur": (least + more) / 1000})
                at += 20000
        # 20 of the run's 320 µs are lost: a score of 0.0625.
        events += [{"ph": "X", "name": "a sixteenth", "pid": 1, "tid": 2, "ts": ts, "dur": dur} for ts, dur in ((0, 5), (295, 25))]
        (self.folder / "halves.json").write_text(json.dumps({"traceEvents": events}))
        page = self.page("halves.json")
        window = self.browse(page, scripts=False)
        without = [each.text for each in window.all("#static table tr:not(.apart) td:not(:nth-child(4))")]
        self.assertEqual({"597 ns", "12.3 ns", "1.13 ns", "8.13 µs"} - set(without), set())
        self.assertIn("0.063", " ".join(without))
        window = self.browse(page)
        self.unfold(window)
        self.assertEqual(window.texts("table.ranking tr:not(.apart) td:not(:nth-child(3)):not(.name)"), without)


if __name__ == "__main__":
    unittest.main()
