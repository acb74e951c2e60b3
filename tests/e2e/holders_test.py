#!/usr/bin/python3
"""Who waits for whom, for how long: the graph says what programs have measured themselves, and names nobody else."""

import unittest
from collections import Counter

from harness import PROGRAMS, Case

PROGRAM = PROGRAMS / "holders"
MUTEX = "pthread_mutex_lock"
UNSEEN = [("reader", "keeper", "safe", "flush_cache"), ("reader", "trier", "safe", "use_both")]
# What is recorded; and of the edges that must be there: who waits for whom, for which variable, and what the owner is inside.
PLANTED = {
    "convoy": (f"sort_table,{MUTEX}", [("adder", "adder", "outer", "sort_table")]),
    "inversion": (f"sort_table,{MUTEX}", [("urgent", "low", "outer", "sort_table")]),
    "disk": (f"ask_disk,read,{MUTEX}", [("reader", "keeper", "outer", "read")]),
    "producers": ("consume_item,pthread_cond_wait", [("producer", "consumer", "not_full", "consume_item")]),
    "pool": ("run_job,sem_wait", [("asker", "server", None, "run_job")]),
    "handover": (f"flush_cache,{MUTEX}", []),
    "recursive": (f"flush_cache,{MUTEX}", [("reader", "keeper", "twice", "flush_cache")]),
    "robust": (f"flush_cache,{MUTEX}", [("reader", "keeper", "safe", "flush_cache")]),
    "twice": (f"flush_cache,{MUTEX}", [("reader", "keeper", "safe", "flush_cache")]),
    "inherits": (f"flush_cache,{MUTEX}", [("reader", "keeper", "safe", "flush_cache")]),
    "twice_inherits": (f"flush_cache,{MUTEX}", [("reader", "keeper", "safe", "flush_cache")]),
    "died": (f"flush_cache,use_both,{MUTEX}",
             [("reader", "mortal", "safe", "flush_cache"), ("looker", "mortal", "safe", "flush_cache"),
              ("reader", "looker", "safe", "use_both"), ("looker", "reader", "safe", "use_both")]),
    "unseen": (f"flush_cache,use_both,{MUTEX}", UNSEEN),
    "unseen_inherits": (f"flush_cache,use_both,{MUTEX}", UNSEEN),
    "orders": (f"use_both,{MUTEX}", [("third", "second", "inner", "use_both"), ("third", "first", "inner", "use_both")]),
    # Who tries is recorded though nobody lists it.
    "tried": ("flush_cache,pthread_rwlock_rdlock", [("reader", "writer", "table", "flush_cache")]),
    "timed": ("flush_cache,pthread_rwlock_timedrdlock,pthread_rwlock_wrlock,pthread_cond_timedwait",
              [("reader", "writer", "table", "flush_cache"), ("hearer", "teller", "news", None)]),
    # Of signals that nobody waits for, none is recorded.
    "crier": ("cry_out,pthread_cond_wait", [("hearer", "crier", "not_empty", "cry_out")]),
    "giving_up": (f"flush_cache,pthread_mutex_timedlock,{MUTEX}",
                  [("reader", "keeper", "outer", "flush_cache")]),
    "futex": ("flush_cache,syscall", [("reader", "keeper", "own_lock", "flush_cache")]),
    "gate": ("flush_cache,syscall", [("guest", "opener", "opened", "flush_cache"), ("visitor", "opener", "opened", "flush_cache")]),
    "pipe": ("flush_cache,read,write", [("receiver", "sender", None, "flush_cache")]),
    "pair": ("flush_cache,recv,send", [("receiver", "sender", None, "flush_cache")]),
    "stream": ("flush_cache,recv,send", [("receiver", "sender", None, "flush_cache")]),
    "counter": ("flush_cache,read,write", [("receiver", "sender", None, "flush_cache")]),
    "join": ("compute_long,pthread_join", [("parent", "child", None, "compute_long")]),
}
# Of what is not known for whom, or not all of it.
UNKNOWN = {("handover", ("reader", "taker")), ("giving_up", ("patient", "keeper"))}
# Once a thread locks robust mutexes too often, none of them is recorded.
UNKNOWN |= {("often", ("reader", "keeper"))}
# Who takes a mutex by a call that is not recorded is known from when another one begins to wait.
UNKNOWN |= {(what, (waiter, "keeper")) for what in ("unseen", "unseen_inherits") for waiter in ("reader", "looker")}
TOLERANCE = 0.05  # of the waiter's life


class Holders(Case):
    def record(self, what: str, functions: str, **env) -> Counter:
        """For how many milliseconds threads of one name waited for those of another one."""
        done = self.rdam("record", "--no-children", "-o", "trace.bin", "-f", functions, "--", PROGRAM, what, "700", env=env)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        truth = Counter()
        for line in done.stdout.decode().splitlines():
            waiter, owner, milliseconds = line.split()
            truth[waiter, owner] += float(milliseconds)
        return truth

    def check(self, what: str, wanted: list[tuple], truth: Counter):
        report = self.analyze()
        names = {row["tid"]: row["name"] for row in report["threads"]}
        lives = {row["tid"]: row["duration_ns"] / 1e6 for row in report["threads"]}
        waits = report.get("waits", {"edges": [], "known": 1, "woken": 0})
        found, all_lives = Counter(), Counter()
        edges: dict[tuple, dict] = {}
        for tid, name in names.items():
            all_lives[name] += lives[tid]
        for edge in waits["edges"]:
            (waiter,), (owner,) = ({names[tid] for tid in edge[who]} for who in ("waiters", "owners"))
            found[waiter, owner] += edge["share"] * sum(lives[tid] for tid in edge["waiters"])
            edges.setdefault((waiter, owner), edge)  # the largest
        said = (what, found, truth, waits)
        for pair, milliseconds in found.items():
            if pair[0] == "holders":  # the main thread, which joins all others
                continue
            # Nobody is named who was not waited for, nor for longer, but for the moments between a lock and its measurement.
            # Who gives back what another one has taken is taken to have had it since it was last seen to change.
            false = 0.03 if what == "handover" else 0.005
            self.assertLessEqual(milliseconds, truth[pair] * 1.02 + (TOLERANCE if truth[pair] > 0 else false) * all_lives[pair[0]], said)
        for pair, milliseconds in truth.items():
            if (what, pair) in UNKNOWN or pair[1] == "-":
                continue
            # Who has been woken on a busy machine comes to run late.
            self.assertGreaterEqual(found[pair], 0.98 * milliseconds - (TOLERANCE + waits["woken"]) * all_lives[pair[0]], said)
        for waiter, owner, variable, inside in wanted:
            self.assertIn((waiter, owner), edges, said)
            edge = edges[waiter, owner]
            if variable is not None:
                self.assertEqual(edge.get("variable"), variable, said)
            self.assertEqual(edge.get("inside"), inside, said)
        if what not in {name for name, _ in UNKNOWN}:
            nobody = sum(milliseconds for (_, owner), milliseconds in truth.items() if owner == "-")
            unknown = nobody / sum(truth.values()) * (1 - waits["woken"])
            # While a lock changes hands, it has no owner: more often where there are more threads than processors.
            self.assertAlmostEqual(1 - waits["known"] - waits["woken"], unknown, delta=2 * TOLERANCE + waits["woken"] / 2, msg=said)

    def test_planted(self):
        for what, (functions, wanted) in PLANTED.items():
            with self.subTest(what=what):
                truth = self.record(what, functions, RDAM_MAX_OVERHEAD="5%")
                self.check(what, wanted, truth)

    def test_sampled(self):
        """Waits for mutexes are recorded though most calls of the lock are not."""
        for what in ("recursive", "robust", "inherits"):
            with self.subTest(what=what):
                wanted = [("reader", "keeper", "twice" if what == "recursive" else "safe", "flush_cache")]
                truth = self.record(what, f"flush_cache,~{MUTEX}", RDAM_MAX_OVERHEAD="5%")
                self.check(what, wanted, truth)

    def test_a_futex_is_named(self):
        self.record("futex", "flush_cache,syscall")
        found = {finding["name"]: finding for finding in self.analyze("trace.bin", "--threshold", "0.001")["findings"]}
        self.assertEqual(found["syscall"]["object"]["name"], "futex own_lock")
        self.assertRegex(self.rdam("analyze", "--sequences", "trace.bin").stdout.decode(), r"syscall\(number=202, arg1=0x[0-9a-f]+, arg2=wait\)")

    def test_often(self):
        """What is recorded of robust mutexes is within the budget, and nothing is said of what is not recorded."""
        truth = self.record("often", f"flush_cache,{MUTEX}", RDAM_MAX_OVERHEAD="1%")
        self.check("often", [], truth)
        text = self.rdam("analyze", "trace.bin").stdout.decode()
        self.assertRegex(text, r"Called too often to be recorded[^.]*: .*pthread_mutex_lock \(robust or inheriting\)")
        self.assertLess(self.analyze()["trace"]["events"], 1_000_000)


if __name__ == "__main__":
    unittest.main()
