#!/usr/bin/python3
"""rdam export --arrows: from who ended a wait to who waited, in programs of which it is known who that was."""

import collections
import json
import pathlib
import re
import subprocess
import unittest
from typing import NamedTuple

import holders_test
import owners_test
from exports import Exports
from harness import PROGRAMS, TIMEOUT
from pythons import python_with

READ_PERFETTO = pathlib.Path(__file__).with_name("read_perfetto.py")
ROW = ": who waits for whom"
FIRST_ROW = 1 << 28  # of the rows beside those of threads


class Arrow(NamedTuple):
    releaser: str  # the name of the thread
    does: str
    at: int  # nanoseconds
    waiter: str
    waits: str
    begin: int
    end: int
    waited: int  # for the releaser


class Arrows(Exports):
    said: str  # by rdam export

    def trace(self, program: str, what: str, functions: str, milliseconds: int) -> list[list[str]]:
        done = self.rdam("record", "--no-children", "-o", "trace.bin", "-f", functions, "--", PROGRAMS / program, what, str(milliseconds),
                         env={"RDAM_MAX_OVERHEAD": "5%"})
        return [line.split() for line in self.succeeded(done).stdout.decode().splitlines()]

    def in_json(self) -> list[Arrow]:
        done = self.succeeded(self.rdam("export", "--format", "json", "--arrows", "trace.bin"))
        self.said = done.stderr.decode()
        events = json.loads(done.stdout)["traceEvents"]
        rows, slices, ends = {}, collections.defaultdict(list), collections.defaultdict(dict)

        def ns(value) -> int:
            return round(value * 1000)
        for event in events:
            if event.get("name") == "thread_name" and event["args"]["name"].endswith(ROW):
                rows[event["tid"]] = event["args"]["name"].removesuffix(ROW).split(" ", 1)[1]
        for event in events:
            if event.get("tid") not in rows:
                continue
            if event["ph"] == "X":
                slices[event["tid"]].append((ns(event["ts"]), ns(event["dur"]), event["name"], event["args"].get("waited_ns")))
            elif event["ph"] in "sf":
                self.assertNotIn(event["ph"], ends[event["id"]])
                ends[event["id"]][event["ph"]] = (event["tid"], ns(event["ts"]))
        self.check_nested(slices)
        self.assertEqual({len(both) for both in ends.values()} - {2}, set())
        return [self.arrow(rows, slices, both) for both in ends.values()]

    def check_nested(self, slices: dict):
        """As viewers want the slices of a row."""
        for of_row in slices.values():
            open_ends = []
            for begin, length, _, _ in sorted(of_row, key=lambda each: (each[0], -each[1])):
                while open_ends and open_ends[-1] <= begin:
                    open_ends.pop()
                if open_ends:
                    self.assertLessEqual(begin + length, open_ends[-1])
                open_ends.append(begin + length)

    def arrow(self, rows: dict, slices: dict, both: dict) -> Arrow:
        """Its ends lie at the begin of a moment; that of a wait is its end."""
        (releaser, at), (waiter, moment) = both["s"], both["f"]
        does, = {name for begin, length, name, waited in slices[releaser] if (begin, length) == (at, 1) and waited is None and name != "goes on"}
        self.assertIn((moment, 1, "goes on", None), slices[waiter])
        begin, length, waits, waited = max(each for each in slices[waiter] if each[3] is not None and each[0] + each[1] == moment + 1)
        return Arrow(rows[releaser], does, at, rows[waiter], waits, begin, begin + length, waited)

    def in_perfetto(self) -> list[Arrow]:
        python = python_with("perfetto")
        if python is None:
            self.skipTest("no Python here has the package perfetto (tools/setup installs it)")
        (self.folder / "trace.pftrace").write_bytes(self.export("perfetto", "--arrows"))
        done = subprocess.run([python, READ_PERFETTO, self.folder / "trace.pftrace"], capture_output=True, timeout=TIMEOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        found = json.loads(done.stdout)
        tracks = found["tracks"]
        rows = {int(uuid): tracks[str(track["parent"])]["thread"] for uuid, track in tracks.items() if track["name"] == "who waits for whom"}
        waits, ends = collections.defaultdict(list), collections.defaultdict(dict)
        for each in found["slices"]:
            if "waited_ns" in each:
                waits[each["track"], each["end"]].append(each)
            for number in each.get("flows", ()):
                ends[number]["waiter" if each["name"] == "goes on" else "releaser"] = each
        arrows = []
        for both in ends.values():
            moment, does = both["waiter"], both["releaser"]
            self.assertEqual({moment["begin"] - moment["end"], does["begin"] - does["end"]}, {0})
            wait = max(waits[moment["track"], moment["end"]], key=lambda each: each["begin"])
            arrows.append(Arrow(rows[does["track"]], does["name"], does["begin"], rows[moment["track"]], wait["name"], wait["begin"],
                                wait["end"], wait["waited_ns"]))
        return arrows

    def lives(self) -> collections.Counter:
        """Milliseconds, by the name of the thread."""
        lives = collections.Counter()
        for row in self.analyze()["threads"]:
            lives[row["name"]] += row["duration_ns"] / 1e6
        return lives

    def check_in_time(self, arrows: list[Arrow]):
        """From before the end of a wait to that, from a thread that this one waits for."""
        for arrow in arrows:
            self.assertLessEqual(arrow.begin, arrow.at + 1, arrow)
            self.assertLessEqual(arrow.at, arrow.end + 1, arrow)
            self.assertLessEqual(arrow.waited, arrow.end - arrow.begin + 1, arrow)
            self.assertRegex(arrow.waits, rf"^waits (?:for|until) thread \d+ \({arrow.releaser}\)")

    def test_owners_that_programs_have_measured(self):
        for what, (functions, _) in holders_test.PLANTED.items():
            with self.subTest(what=what):
                truth = collections.Counter()
                for waiter, owner, milliseconds in self.trace("holders", what, functions, 700):
                    truth[waiter, owner] += float(milliseconds)
                arrows = self.in_json()
                self.check_in_time(arrows)
                found = collections.Counter()
                for arrow in arrows:
                    if arrow.waiter != "holders":  # the main thread, which joins all others
                        found[arrow.waiter, arrow.releaser] += arrow.waited / 1e6
                lives, said = self.lives(), (what, found, truth)
                for pair, milliseconds in found.items():
                    # Who gives back what another one has taken is taken to have had it since it was last seen to change.
                    false = 0.03 if what == "handover" else 0.005
                    self.assertLessEqual(milliseconds, truth[pair] * 1.02 + (holders_test.TOLERANCE if truth[pair] > 0 else false) * lives[pair[0]],
                                         said)
                right = sum(milliseconds for pair, milliseconds in found.items() if truth[pair] > 0)
                if what != "handover":
                    self.assertGreaterEqual(right, 0.98 * sum(found.values()), said)
                if what in ("robust", "convoy", "gate"):
                    waited = sum(arrow.end - arrow.begin for arrow in arrows if arrow.waiter != "holders")
                    self.assertGreater(waited / 1e6, 0.5 * sum(truth.values()), said)

    def test_owners_by_design(self):
        for what, (functions, _) in owners_test.PLANTED.items():
            with self.subTest(what=what):
                self.trace("owners", what, functions, 500)
                arrows = self.in_json()
                self.check_in_time(arrows)
                planted = {(waiter, owner) for waiter, owner, *_ in owners_test.GRAPHS[what]}
                found = collections.Counter()
                for arrow in arrows:
                    if arrow.waiter != "owners":
                        found[arrow.waiter, arrow.releaser] += arrow.waited
                if what != "spin":  # who spins may find the lock free where processors are busy
                    self.assertTrue(found, what)
                # Who has to let others run comes late, or keeps a lock, and is waited for indeed.
                preempted = sum(row.get("off_cpu", {}).get("preempted_ns", 0) for row in self.analyze()["threads"])
                wrong = sum(waited for pair, waited in found.items() if pair not in planted)
                self.assertLessEqual(wrong, 0.02 * sum(found.values()) + 2 * preempted, (found, preempted))

    def test_what_is_said_of_each_kind(self):
        for what, does, waits in (("keeper", "gives back the mutex outer, in keep", "waits for thread N (keeper): the mutex outer"),
                                  ("condition", "signals the condition variable filled, in make",
                                   "waits for thread N (maker): the condition variable filled"),
                                  ("semaphore", "posts the semaphore posted, in post", "waits for thread N (poster): the semaphore posted"),
                                  ("barrier", "comes last to pthread_barrier_wait, in meet",
                                   "waits for thread N (late), which comes last to pthread_barrier_wait")):
            with self.subTest(what=what):
                self.trace("owners", what, owners_test.PLANTED[what][0] + ",pthread_join", 500)
                said = collections.Counter((re.sub(r" at \S*owners\.c:\d+$", "", arrow.does), re.sub(r"thread \d+", "thread N", arrow.waits))
                                           for arrow in self.in_json())
                self.assertGreater(said[does, waits], 0.2 * sum(said.values()), said)
                self.assertNotIn("librdam", str(said))
                self.assertTrue(any(each[0] == "ends" and re.match(r"^waits until thread N \(\w+\) ends$", each[1]) for each in said), said)

    def test_both_formats_draw_the_same(self):
        self.trace("owners", "broadcast", owners_test.PLANTED["broadcast"][0], 300)
        ours = self.in_json()
        self.assertTrue(ours)
        theirs = self.in_perfetto()
        # A moment of json is the last nanosecond of the wait.
        self.assertEqual(sorted(theirs), sorted(ours))
        # Who wakes several does so once.
        self.assertLess(len({(arrow.releaser, arrow.at) for arrow in ours}), len(ours))

    def test_the_share_of_what_is_known_is_said(self):
        self.trace("owners", "keeper", owners_test.PLANTED["keeper"][0], 500)
        count = len(self.in_json())
        found = re.search(r"^rdam: trace\.bin: ([\d,]+) arrows: who ended waits for locks, at barriers, for signals and for data is known "
                          r"for ([\d.]+) % of their time$", self.said, re.MULTILINE)
        self.assertIsNotNone(found, self.said)
        self.assertEqual(int(found[1].replace(",", "")), count)
        self.assertGreater(float(found[2]), 50)
        # Nobody is seen to take what is given back in another thread's place.
        self.trace("holders", "handover", "flush_cache,pthread_mutex_lock", 500)
        arrows = self.in_json()
        self.assertLess(float(re.search(r"is known for ([\d.]+) %", self.said)[1]), 98)
        self.assertNotIn("keeper", {arrow.releaser for arrow in arrows if arrow.waiter == "taker"})

    def test_nobody_waits(self):
        self.record("orders", "700", functions="serve,parse,store")
        self.assertEqual(self.in_json(), [])
        self.assertIn("rdam: trace.bin: no arrows: no wait of a thread for another one is recorded\n", self.said)

    def test_only_threads_that_are_shown(self):
        """An arrow needs both of its ends."""
        self.trace("owners", "keeper", owners_test.PLANTED["keeper"][0], 300)
        self.assertTrue(self.in_json())
        reader = next(row["tid"] for row in self.analyze()["threads"] if row["name"] == "reader")
        done = self.succeeded(self.rdam("export", "--format", "json", "--arrows", "--thread", str(reader), "trace.bin"))
        events = json.loads(done.stdout)["traceEvents"]
        self.assertEqual([event for event in events if event["ph"] in "sf"], [])


if __name__ == "__main__":
    unittest.main()
