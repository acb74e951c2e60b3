#!/usr/bin/python3
"""The findings, and `rdam explain`, which prints them within 4096 bytes: what they say is what was planted, and what the commands print."""

import html
import json
import re
import shlex
import unittest

from harness import PROGRAMS, RDAM, Case

MOST = 4096
# Milliseconds: a spinner that shares its processor with the holder finds the lock free.
LITTLE = 300
# What the program owners does, what is recorded of it, and what the first finding must say: function, threads that lost, object, place, and who is
# behind it: the thread, where it is always the same one, and what that is inside.
PLANTED = {
    "keeper": ("look_up,flush_cache,pthread_mutex_lock",
               "pthread_mutex_lock", "reader", "mutex outer", "lock_timed", "owner", "keeper", "flush_cache"),
    "workers": ("add_under_lock,pthread_mutex_lock",
                "pthread_mutex_lock", "adder", "mutex outer", "lock_timed", "owner", None, "add_under_lock"),
    "barrier": ("compute_long,pthread_barrier_wait",
                "pthread_barrier_wait", "early", "barrier barrier", "meet", "last_to_come", "late", "compute_long"),
    "chain": ("update,write_out,pthread_mutex_lock", "pthread_mutex_lock", None, None, "lock_timed", "owner", None, None),
    "semaphore": ("make_item,sem_wait", "sem_wait", "taker", "sem posted", "take_item", "notifier", "poster", "make_item"),
    "writer": ("rebuild,pthread_rwlock_rdlock,pthread_rwlock_wrlock",
               "pthread_rwlock_rdlock", "reader", "rwlock table", "read_table", "owner", "writer", "rebuild"),
    "readers": ("scan,pthread_rwlock_rdlock,pthread_rwlock_wrlock",
                "pthread_rwlock_wrlock", "changer", "rwlock table", "change_table", "owner", "scanner", "scan"),
    "spin": ("hold_long,pthread_spin_lock,pthread_spin_unlock",
             "pthread_spin_lock", "spinner", "lock spinning", "spin", "owner", "holder", "hold_long"),
}


INSIDE = {"compute_long", "flush_cache", "hold_long", "make_item", "rebuild", "scan", "write_out"}


def calls_of(name: str, durations_us, tid: int, thread: str) -> list[dict]:
    """Trace events: calls one after the other."""
    events = [{"ph": "M", "name": "thread_name", "pid": 1, "tid": tid, "args": {"name": thread}}]
    begin = 0.0
    for duration in durations_us:
        events.append({"ph": "X", "name": name, "pid": 1, "tid": tid, "ts": begin, "dur": duration})
        begin += duration + 1
    return events


def without_texts(findings: list[dict]) -> list[dict]:
    """Long ones are cut short where there is little room."""
    return [{key: {part: each for part, each in value.items() if part != "text"} if isinstance(value, dict) else value
             for key, value in finding.items() if key not in ("command", "advice")} for finding in findings]


class Explain(Case):
    waited: dict[int, float]  # milliseconds, by thread: what each has measured itself

    def explain(self, *arguments) -> str:
        done = self.succeeded(self.rdam("explain", *arguments))
        self.assertLessEqual(len(done.stdout), MOST)
        self.assertNotRegex(done.stdout.decode(), r"[\x00-\x09\x0b-\x1f\x7f\u202e]")
        return done.stdout.decode()

    def explained(self, *arguments) -> dict:
        return json.loads(self.explain("--json", *arguments))

    def record(self, what: str) -> dict[str, list[int]]:
        """The threads, by name."""
        done = self.succeeded(self.rdam("record", "-o", "trace.bin", "-f", PLANTED[what][0], "--", PROGRAMS / "owners", what, "1000"))
        threads: dict[str, list[int]] = {}
        self.waited = {}
        for line in done.stdout.decode().splitlines():
            name, tid, milliseconds = line.split()
            threads.setdefault(name, []).append(int(tid))
            self.waited[int(tid)] = float(milliseconds)
        return threads

    def test_planted(self):
        for what, (_, function, losers, item, place, kind, partner, inside) in PLANTED.items():
            with self.subTest(what=what):
                threads = self.record(what)
                if what == "spin" and (waited := self.waited[threads["spinner"][0]]) < LITTLE:
                    print(f"skipped: spin: the machine is busy: the spinner has waited for {waited:.0f} ms of a second")
                    continue
                report = self.analyze()
                self.assertNotIn("verdict", report)
                first = report["findings"][0]
                if first["name"] in INSIDE:
                    # On a busy machine, what the others are inside may have lost more.
                    self.assertIn(function, {finding["name"] for finding in report["findings"]})
                    continue
                self.assertEqual(first["name"], function, report["findings"])
                if losers:
                    # Of two that do the same, one may have been luckier.
                    self.assertTrue(set(threads[losers]) & set(first["threads"]), first)
                    self.assertIn(losers, first["losers"])
                self.assertEqual(first.get("object", {}).get("name"), item)
                self.assertTrue(first["place"]["frame"].startswith(place + " at "), first["place"])
                self.assertGreater(first["place"]["lost_share"], 0.99)
                self.assertEqual(first["partner"]["kind"], kind)
                if partner:
                    self.assertEqual(first["partner"]["concurrent_thread"], threads[partner][0])
                    self.assertEqual(first["partner_name"], f"thread {threads[partner][0]} ({partner})")
                if inside:
                    self.assertEqual(first["partner"]["concurrent_function"], inside)
                self.assertNotIn("work", first)
                # What merely contains the loss is none. Others may have lost time on a busy machine.
                self.assertLessEqual({finding["name"] for finding in report["findings"]}, {function, *INSIDE})
                row = next(row for row in report["functions"] if row["name"] == function)
                for key in ("rdam", "rdam_low", "rdam_high", "lost_ns"):
                    self.assertEqual(first[key], row[key])
                self.check_text(first, report)
                self.check_page(first)
                self.check_explanation(first, report, what == "keeper")

    def check_text(self, first: dict, report: dict):
        """The findings come before the table."""
        text = self.succeeded(self.rdam("analyze", "trace.bin")).stdout.decode()
        found, table = text.index("\nFindings\n"), text.index("\n", text.index("  95 %"))
        self.assertLess(found, table)
        title = text[found:].splitlines()[2]
        self.assertTrue(title.startswith(f"  1. {first['name']}: {first['losers']} lost "), title)
        self.assertRegex(title, rf"score [!≥]*{first['rdam']:.3f}")
        self.assertEqual(text[found:table].count("\n     try: "), len(report["findings"]))

    def check_page(self, first: dict):
        """The findings come before all facts, with scripts and without."""
        page = self.succeeded(self.rdam("report", "-o", "-", "trace.bin")).stdout.decode()
        title = page.index(html.escape(f"{first['name']}: {first['losers']} lost "))
        self.assertLess(title, page.index("<dl>"))
        self.assertLess(page.index("<h1>"), title)
        data = json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.S)[1])
        run = data["runs"][0]
        self.assertEqual(len(run["findings"]), len(self.analyze()["findings"]))
        self.assertEqual(run["functions"][run["findings"][0]["rank"] - 1]["name"], f"{first['name']}")
        self.assertEqual(run["verdict"], "")

    def check_explanation(self, first: dict, report: dict, with_commands: bool):
        """It says what the analysis says, and its commands print that."""
        explained = self.explained("trace.bin")
        self.assertEqual(without_texts(explained["findings"]), without_texts(report["findings"]))
        ranked = sorted(report["functions"], key=lambda row: row["rank"])
        self.assertEqual([row["name"] for row in explained["functions"]["rows"]], [row["name"] for row in ranked[:5]])
        self.assertEqual({row["tid"] for row in explained["threads"]["rows"]}, {row["tid"] for row in report["threads"]})
        text = self.explain("trace.bin")
        for title in ("## Findings", "## Threads", "## Who waits for whom", "## Ranking"):
            self.assertIn(f"\n{title}\n", text)
        commands = set(re.findall(r"`(rdam analyze .*)`", text))
        of_findings = {finding["command"]: finding["rdam"] for finding in explained["findings"]}
        of_groups = {explained[group]["command"]: first["rdam"] for group in ("threads", "waits", "functions")}
        self.assertEqual(commands, {*of_findings, *of_groups})
        for command, score in {**of_groups, **of_findings}.items() if with_commands else ():
            printed = self.succeeded(self.rdam(*shlex.split(command)[1:])).stdout.decode()
            self.assertIn(f"{score:.3f}", printed)

    def test_options_are_those_of_analyze(self):
        self.record("keeper")
        text = self.explain("--threshold", "0.9", "--since", "100ms", "trace.bin")
        self.assertIn("No recorded function lost 90 % of a thread's life", text)
        self.assertIn("`rdam analyze --since 100ms --threshold 0.9 --threads trace.bin`", text)
        self.assertEqual(self.explained("--since", "100ms", "trace.bin")["warnings"], [
            note for note in self.analyze("trace.bin", "--since", "100ms")["trace"]["notes"] if "left out" in note or "beyond that time" in note
            or "Only part" in note])

    def test_what_threads_did_is_said_in_one_line(self):
        """That they waited and were preempted, and by whom, as the analysis has it."""
        self.record("keeper")
        report = self.analyze()
        if report["trace"]["switches"]["state"] != "recorded":
            self.skipTest("no context switches can be had here")
        threads = {row["tid"]: row for row in report["threads"]}
        rows = self.explained()["threads"]["rows"]
        text = self.explain()
        self.assertGreater(len(rows), 2)
        for row in rows:
            life, off = threads[row["tid"]]["duration_ns"], threads[row["tid"]]["off_cpu"]
            of = {"waiting": ["blocked_ns"], "by_others": ["preempted_ns"], "preempted": ["preempted_ns", "crowded_ns", "recorder_ns"]}
            for share, parts in of.items():
                self.assertAlmostEqual(row[share], sum(off[part] for part in parts) / life, delta=0.001)
            self.assertAlmostEqual(row["running"] + row["waiting"] + row["preempted"], 1, delta=0.001)
            by_others = ", by others for .* %" if row["by_others"] > 0.0006 else ""
            self.assertRegex(text, rf"(?m)^- {row['tid']} .*: lives for .*, runs for .* % of it, waits for .* %, is preempted for .* %{by_others}.*$")
        self.assertRegex(text, r"(?m)^- .* threads ran at a time on average; .*, waited for .* % and were preempted for .* %.*$")

    def test_a_function_is_shown_as_it_is_typed(self):
        self.record("keeper")
        self.assertEqual(self.explain(), self.explain("trace.bin"))
        one = self.explained("--function", "look_up", "trace.bin")
        self.assertEqual([row["name"] for row in one["functions"]["rows"]], ["look_up"])

    def test_nothing_found(self):
        events = [event for tid in (1, 2) for event in calls_of("steady", [100.0] * 200, tid, "worker")]
        (self.folder / "steady.json").write_text(json.dumps(events))
        report = self.analyze("steady.json")
        self.assertEqual(report["findings"], [])
        self.assertEqual(report["verdict"], "No recorded function lost 20 % of a thread's life. Recorded calls cover 99 % of the threads' lives.")
        self.assertIn(f"\nFindings\n  {report['verdict']}\n", self.rdam("analyze", "steady.json").stdout.decode())
        self.assertIn(report["verdict"], self.explain("steady.json"))
        self.assertEqual(self.explained("steady.json")["verdict"], report["verdict"])

    def test_names_of_any_length(self):
        """Of any characters, too: never more than 4096 bytes, cut at lines, and what is left out is counted."""
        cuts = 0
        for character in ("a", "<b>", "\u00e4", "\U0001f40c", "\u202e", "`", "x::y<z>"):
            events = []
            for number in range(40):
                name = f"f{number}" + character * 5000
                events += calls_of(name, [900.0 if call % 10 == 0 else 1.0 for call in range(60)], number + 1, "t" + character * 900)
            (self.folder / "long.json").write_text(json.dumps(events))
            with self.subTest(character=character):
                text = self.explain("long.json")
                self.assertTrue(text.endswith("\n"))
                self.assertEqual(len(re.findall(r"(?m)^[123]\. f\d", text)), 3)
                explained = self.explained("long.json")
                self.assertEqual(explained["threads"]["in_all"], 40)
                cut = re.search(r"\((\d+) lines? (?:is|are) left out\)\n$", text)
                cuts += cut is not None
                self.assertEqual(cut is None, "\n- Context switches were not recorded" in text, text[-200:])
                self.assertEqual(explained["left_out"] == 0, bool(explained["reservations"]["texts"]))
                self.assertEqual(re.sub(r"\\.", "", re.sub(r"`+ .*|``?.*``?", "", text)).count("<"), 0)

        self.assertGreater(cuts, 0)

    def long_names(self, length: int, count=3) -> list[str]:
        """Functions with a finding each, in the order of the findings."""
        names = [f"f{number}" + "x" * length for number in range(count)]
        events = []
        for number, name in enumerate(names):
            events += calls_of(name, [900.0 if call % 10 == 0 else 1.0 for call in range(60)], number + 1, f"worker-{number}")
        (self.folder / "long.json").write_text(json.dumps(events))
        return names

    def test_lines_are_whole_where_there_is_room(self):
        names = self.long_names(250)
        text = self.explain("long.json")
        for number, name in enumerate(names, 1):
            self.assertRegex(text, rf"(?m)^{number}\. {name}: thread {number} \(worker-{number - 1}\) lost .* of its life \(score .*\)$")
            self.assertRegex(text, rf"(?m)^- {name}: score .* calls$")
        self.assertNotIn("…", text)
        name, = self.long_names(450, count=1)
        self.assertEqual([finding["name"] for finding in self.explained("long.json")["findings"]], [name])

    def test_names_alone_lack_their_middle(self):
        self.long_names(3000)
        text = self.explain("long.json")
        for number in (1, 2, 3):
            self.assertRegex(text, rf"(?m)^{number}\. f{number - 1}x+…x+: thread {number} \(worker-{number - 1}\) lost .* of its life \(score .*\)$")
        self.assertNotIn("left out", text)

    def test_lines_end_with_a_word_where_there_is_no_room(self):
        words = [f"argument-{number}" for number in range(400)]
        self.succeeded(self.rdam("record", "-o", "trace.bin", "-f", "serve,parse", "--", PROGRAMS / "orders", "1", "100", *words))
        first = self.explain().splitlines()[0].split()
        self.assertEqual(first[-1], "…")
        self.assertEqual(first[4:-1], words[:len(first) - 5])
        self.assertGreater(len(first), 30)
        program = self.explained()["program"].split()
        self.assertEqual(program[3:-1], words[:len(program) - 4])

    def test_bad_input(self):
        (self.folder / "bad.bin").write_bytes(b"no trace at all")
        self.assert_one_line(self.rdam("explain", "bad.bin"), 1, "bad.bin")
        self.assert_one_line(self.rdam("explain", "missing.bin"), 1, "missing.bin")
        self.assert_one_line(self.rdam("explain"), 1, "trace.bin")
        self.assert_one_line(self.rdam("explain", "."), 1)
        (self.folder / "empty.bin").write_bytes(b"")
        self.assert_one_line(self.rdam("explain", "empty.bin"), 1, "empty.bin")
        self.assert_one_line(self.rdam("explain", "a.bin", "b.bin"), 2)
        self.assert_one_line(self.rdam("explain", "--top=3", "bad.bin"), 2, "--top")
        for name in ("bad.bin", "missing.bin", "empty.bin"):
            self.assertEqual(self.rdam("explain", name).stderr, self.rdam("analyze", name).stderr)

    def test_results_that_cannot_be_written(self):
        (self.folder / "steady.json").write_text(json.dumps(calls_of("steady", [100.0] * 50, 1, "worker")))
        done = self.run_in_folder("sh", "-c", '"$0" explain steady.json > /dev/full', RDAM)
        self.assert_one_line(done, 1, "No space left")

    def test_what_is_cut_is_said_first(self):
        self.record("keeper")
        whole = (self.folder / "trace.bin").read_bytes()
        (self.folder / "cut.bin").write_bytes(whole[:len(whole) * 2 // 3])
        text = self.explain("cut.bin")
        self.assertIn("note: The end of the trace is missing", text[:text.index("## Findings")])
        self.assertIn("The end of the trace is missing", self.explained("cut.bin")["warnings"][0])


if __name__ == "__main__":
    unittest.main()
