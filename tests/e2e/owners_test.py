#!/usr/bin/python3
"""Who had the mutex that was waited for: the hints name the thread and what it was inside, in programs of which it is known."""

import os
import pathlib
import re
import unittest

from harness import PROGRAMS, Case

PROGRAM = PROGRAMS / "owners"
SOURCE = pathlib.Path(os.environ["SOURCE_ROOT"]) / "tests/e2e/programs/boost_locks.cpp"
# What is recorded, and what must be said of which function: the owner's name where it is always the same one, and what the owner was inside.
PLANTED = {
    "keeper": ("look_up,flush_cache,pthread_mutex_lock",
               {"look_up": ("keeper", "flush_cache"), "pthread_mutex_lock": ("keeper", "flush_cache")}),
    "workers": ("add_under_lock,pthread_mutex_lock", {"add_under_lock": (None, "add_under_lock")}),
    "barrier": ("compute_long,pthread_barrier_wait", {"pthread_barrier_wait": ("late", "compute_long")}),
    "chain": ("look_up,update,write_out,pthread_mutex_lock",
              {"look_up": ("updater", "update"), "update": ("writer", "write_out")}),
    # Who signals, posts or unlocks is recorded though nobody lists it, but for what spins.
    "condition": ("make_item,pthread_cond_wait", {"pthread_cond_wait": ("maker", "make_item")}),
    "signallers": ("make_item,pthread_cond_wait", {"pthread_cond_wait": (None, "make_item")}),
    "broadcast": ("plan_round,pthread_cond_wait", {"pthread_cond_wait": ("director", "plan_round")}),
    "semaphore": ("make_item,sem_wait", {"sem_wait": ("poster", "make_item")}),
    "writer": ("rebuild,pthread_rwlock_rdlock,pthread_rwlock_wrlock", {"pthread_rwlock_rdlock": ("writer", "rebuild")}),
    "readers": ("scan,pthread_rwlock_rdlock,pthread_rwlock_wrlock", {"pthread_rwlock_wrlock": ("scanner", "scan")}),
    "spin": ("hold_long,pthread_spin_lock,pthread_spin_unlock", {"pthread_spin_lock": ("holder", "hold_long")}),
}
# Who waits for whom, for which variable, what the owner is inside, and in which function it ends the wait. A thread that waits for its
# owner waits for what that waits for.
GRAPHS = {
    "keeper": [("reader", "keeper", "outer", "flush_cache", "keep")],
    "workers": [("adder", "adder", "outer", "add_under_lock", "add_under_lock")],
    "barrier": [("early", "late", "barrier", "compute_long", "meet")],
    "chain": [("updater", "writer", "inner", "write_out", "write_in_turn"), ("reader", "updater", "outer", "update", "update")],
    "condition": [("user", "maker", "filled", "make_item", "make")],
    "signallers": [("user", "maker", "filled", "make_item", "make")],
    "broadcast": [("follower", "director", "filled", "plan_round", "direct")],
    "semaphore": [("taker", "poster", "posted", "make_item", "post")],
    "writer": [("reader", "writer", "table", "rebuild", "write_table")],
    "readers": [("changer", "scanner", "table", "scan", "scan_table")],
    "spin": [("spinner", "holder", "spinning", "hold_long", "hold")],
}
# The same of Boost.Thread, which builds its locks of pthread's: its condition variables and shared mutexes, of a mutex and conditions.
BOOST = {
    "mutex": ("flush_cache,pthread_mutex_lock", [("reader", "keeper", "outer", "flush_cache", "keep")]),
    "condition": ("make_item,pthread_cond_wait", [("user", "maker", "filled", "make_item", "make")]),
    "shared": ("rebuild,pthread_cond_wait", [("reader", "writer", "table", "rebuild", "boost::shared_mutex::unlock")]),
    "upgrade": ("scan,pthread_cond_wait", [("changer", "scanner", "table", "scan", "boost::shared_mutex::unlock_shared")]),
}
# Milliseconds: a spinner that shares its processor with the holder finds the lock free.
LITTLE = 300
# By their own budget, and as the harness has it: every call.
BUDGETS = {"default": {"RDAM_MAX_OVERHEAD": "5%"}, "all calls": {}}


class Owners(Case):
    waited: dict[int, float]  # milliseconds, by thread: what each has measured itself

    def record(self, what: str, functions: str, env: dict, program=PROGRAM) -> dict[str, list[int]]:
        """The threads, by name."""
        self.waited = {}
        done = self.rdam("record", "-o", "trace.bin", "-f", functions, "--", program, what, "1000", env=env)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        threads: dict[str, list[int]] = {}
        for line in done.stdout.decode().splitlines():
            name, tid, milliseconds = line.split()
            self.waited[int(tid)] = float(milliseconds)
            threads.setdefault(name, []).append(int(tid))
        return threads

    def owner_hint(self, function: dict) -> dict:
        hints = [hint for hint in function["hints"] if hint["kind"] in ("owner", "last_to_come", "notifier")]
        self.assertEqual(len(hints), 1, (function["name"], function["hints"]))
        return hints[0]

    def test_planted(self):
        for what, (functions, wanted) in PLANTED.items():
            for budget, env in BUDGETS.items():
                with self.subTest(what=what, budget=budget):
                    threads = self.record(what, functions, env)
                    if what == "spin" and (waited := self.waited[threads["spinner"][0]]) < LITTLE:
                        print(f"skipped: spin: the machine is busy: the spinner has waited for {waited:.0f} ms of a second")
                        continue
                    report = self.analyze()
                    rows = {row["name"]: row for row in report["functions"]}
                    for name, (owner, inside) in wanted.items():
                        hint = self.owner_hint(rows[name])
                        self.assertGreater(hint["share"] + report["waits"]["woken"], 0.7, hint)
                        self.assertEqual(hint["concurrent_function"], inside, hint)
                        self.assertEqual(hint.get("concurrent_thread"), threads[owner][0] if owner else None, hint)
                        self.assertNotIn("concurrent", [each["kind"] for each in rows[name]["hints"]])
                    self.check_graph(report, threads, GRAPHS[what])

    def check_graph(self, report: dict, threads: dict[str, list[int]], wanted: list[tuple], sources=r"\S*owners\.c"):
        """Each waits for the one that it waited for, for as long as it has measured itself; the variable is named."""
        lives = {row["tid"]: row["duration_ns"] / 1e6 for row in report["threads"]}
        waits = report["waits"]
        self.assertGreater(waits["known"] + waits["woken"], 0.8)
        self.assertLessEqual(waits["known"] + waits["woken"], 1.001)
        for waiter, owner, mutex, inside, ended_from in wanted:
            # A part of a variable: `table+0x58`.
            edge, *more = (each for each in waits["edges"] if set(each["waiters"]) <= set(threads[waiter])
                           and set(each["owners"]) <= set(threads[owner]) and each["variable"].split("+")[0] == mutex)
            self.assertLess(sum(each["share"] for each in more), 0.01, more)
            self.assertEqual(edge.get("inside"), inside, edge)
            self.assertRegex(edge.get("ended_from", ""), rf"^{ended_from} at {sources}:\d+$", edge)
            self.assertGreater(edge["ended_from_share"], 0.9, edge)
            share = sum(self.waited[tid] for tid in threads[waiter]) / sum(lives[tid] for tid in threads[waiter])
            # Where processors are busy, who has been woken comes to run late.
            self.assertLess(edge["share"], share + 0.2, (edge, waits))
            self.assertGreater(edge["share"] + waits["woken"], share - 0.2, (edge, waits))
        text = self.rdam("analyze", "trace.bin").stdout.decode()
        self.assertIn("Who waits for whom", text)
        self.assertRegex(text, rf"(?m)^  for (?:at least )?\d+ % of .* waits?\b.*\b{wanted[0][1]}\b")

    def test_where_waits_end_is_known_though_no_function_of_the_program_is_recorded(self):
        """Those that call pthread_mutex_unlock() last jump to it, and are no less known."""
        for what, places in (("keeper", {"keeper": "keep"}), ("workers", {"adder": "add_under_lock"}),
                             ("chain", {"writer": "write_in_turn", "updater": "update"})):
            with self.subTest(what=what):
                threads = self.record(what, "pthread_mutex_lock", BUDGETS["default"])
                edges = self.analyze()["waits"]["edges"]
                for owner, place in places.items():
                    edge = next(each for each in edges if set(each["owners"]) <= set(threads[owner]))
                    self.assertRegex(edge.get("ended_from", ""), rf"^{place} at \S*owners\.c:\d+$", edges)
                text = self.rdam("analyze", "trace.bin").stdout.decode()
                self.assertRegex(text, rf"gives? it back in {list(places.values())[0]} at ")

    def test_boost(self):
        self.need("g++")
        built = self.run_in_folder("g++", "-std=c++17", "-O2", "-g", "-o", "boost_locks", SOURCE, "-lboost_thread", "-lboost_chrono", "-pthread")
        if built.returncode != 0:
            self.skipTest("Boost.Thread is not installed (libboost-thread-dev)")
        for what, (functions, graph) in BOOST.items():
            with self.subTest(what=what):
                threads = self.record(what, functions, {"RDAM_MAX_OVERHEAD": "5%"}, self.folder / "boost_locks")
                self.check_graph(self.analyze(), threads, graph, r"\S*/(?:boost_locks\.cpp|shared_mutex\.hpp)")

    def test_an_owner_that_waits_itself(self):
        functions, _ = PLANTED["chain"]
        self.record("chain", functions, {})
        rows = {row["name"]: row for row in self.analyze()["functions"]}
        waits = re.search(r"waits itself for (\d+) %", self.owner_hint(rows["look_up"])["text"])
        self.assertIsNotNone(waits, rows["look_up"]["hints"])
        self.assertGreater(int(waits.group(1)), 50)
        self.assertIn("(writer) has the mutex inner that is waited for", self.owner_hint(rows["update"])["text"])

    def test_a_lock_of_the_program(self):
        """That give() gives back what take() takes is a rule, which the command line or a file says."""
        self.record("own", "take,give,flush_cache", {})
        self.assertEqual([h["kind"] for f in self.analyze()["functions"] for h in f["hints"] if h["kind"] == "owner"], [])
        rule = "take=give"
        report = self.analyze("trace.bin", "--given-back-by", rule, "--key", "take:lock", "--key", "give:lock")
        (self.folder / "rdam.toml").write_text(f'given-back-by = ["{rule}"]\nkeys = ["take:lock", "give:lock"]\n')
        found = self.analyze()
        self.assertEqual(found["trace"]["comparison"].pop("rules_file"), "rdam.toml")
        self.assertEqual(found["waits"], report["waits"])
        self.assertEqual(found["functions"], report["functions"])
        edge, = (each for each in report["waits"]["edges"] if each["share"] > 0.1)
        self.assertEqual((edge["kind"], edge["variable"], edge["inside"]), ("lock", "own_lock", "flush_cache"))
        hint = self.owner_hint(next(row for row in report["functions"] if row["name"] == "take"))
        self.assertIn("(keeper) has the lock own_lock that is waited for; it is inside flush_cache()", hint["text"])
        self.assertEqual(report["trace"]["comparison"]["given_back_by"], [rule])
        for text, error in (("take", "take: names no partner; write it as in take=give"),
                            ("take=gives", "gives: the trace has no such function; similar: give")):
            done = self.rdam("analyze", "--no-rules", "--given-back-by", text, "trace.bin")
            self.assertEqual((done.returncode, done.stderr.decode()), (1, f"rdam: {error}\n"))

    def test_of_several_processes_the_longest_waits_are_told(self):
        done = self.rdam("record", "-o", "trace.bin", "-f", "look_up,flush_cache,pthread_mutex_lock,compute_long,pthread_barrier_wait", "--",
                         "sh", "-c", f"{PROGRAM} keeper 700 & {PROGRAM} barrier 700; wait")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        text = self.rdam("analyze", *sorted(self.folder.glob("trace*.bin"))).stdout.decode()
        section = text[text.index("Who waits for whom\n"):]
        self.assertRegex(section, r"(?m)^  in #\d, for .* threads \(reader\) wait for the mutex outer, which thread \d+ \(keeper\) has")
        self.assertRegex(section, r"(?m)^  in #\d, for .* threads \(early\) wait in pthread_barrier_wait\(\) for thread \d+ \(late\)")
        self.assertRegex(section, r"(?m)^  recorded waits for locks, .* of all threads' lives: for .* it is known for whom.*; of waits "
                                  "for threads of other processes it is never known; a time in brackets is what .* at most, .*$")
        self.assertRegex(text, r"(?m)^ process .* running +waiting +preempted ")


if __name__ == "__main__":
    unittest.main()
