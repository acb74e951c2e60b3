#!/usr/bin/python3
"""Options of rdam-microbench: what each changes, told by the arguments, threads and processors that rdam recorded."""

import os
import sys
import unittest

from harness import CACHE, RDAM, Case
from pythons import MODULE

os.environ["RDAM_PROGRAM"] = RDAM
os.environ["RDAM_CACHE"] = CACHE
sys.path.insert(0, str(MODULE))
sys.dont_write_bytecode = True

import numpy  # noqa: E402
import rdam  # noqa: E402

MICROBENCH = os.environ["MICROBENCH"]
LINE = 64
APART = 2 * LINE  # processors fetch lines in pairs
COMPUTE = "rdam::microbench::Compute::rounds"  # what delays and pauses call; `count` is how much they compute
UPDATES = 512  # increments of a call, unless told otherwise


class Options(Case):
    RECORD: tuple[str, ...] = ()

    def traced(self, functions: str, *arguments, **options) -> rdam.Trace:
        self.run_recorded(functions, *arguments, **options)
        trace = rdam.open(self.folder / "trace.bin")
        self.addCleanup(trace.close)
        return trace

    def run_recorded(self, functions: str, *arguments, **options):
        (self.folder / "trace.bin").unlink(missing_ok=True)
        self.succeeded(self.rdam("record", *self.RECORD, "-f", functions, "-o", "trace.bin", "--", MICROBENCH, *arguments, **options))

    def given(self, trace: rdam.Trace, function: str, parameter: str, threads: int) -> list[list[int]]:
        """What the calls of each thread got, in the order in which the threads were started."""
        values = trace.values(function)
        thread = trace.calls["thread"][values["call"]]
        order = sorted(set(thread.tolist()), key=lambda row: trace.threads["tid"][row])
        self.assertEqual(len(order), threads)
        return [values[parameter][thread == row].tolist() for row in order]

    def places(self, trace: rdam.Trace, function: str, parameter: str, threads: int) -> list[int]:
        """Where each thread works: at one place only."""
        given = self.given(trace, function, parameter, threads)
        self.assertEqual([len(set(addresses)) for addresses in given], [1] * threads)
        return [addresses[0] for addresses in given]

    def check_apart(self, places: list[int]):
        self.assertEqual(len({place // APART for place in places}), len(places), places)


class Places(Options):
    def test_counters_are_on_one_line(self):
        trace = self.traced("shared_increment", "falsesharing", "--threads", 4, "--iterations", 20)
        places = self.places(trace, "shared_increment", "counters", 4)
        self.assertEqual(len(set(places)), 4, "nobody writes to what another one writes to")
        self.assertEqual(len({place // LINE for place in places}), 1)

    def test_padded_counters_are_apart(self):
        trace = self.traced("shared_increment", "falsesharing", "--threads", 6, "--iterations", 20, "--padded")
        self.check_apart(self.places(trace, "shared_increment", "counters", 6))

    def test_locks_are_one_for_all_or_private(self):
        for benchmark in ("lock", "spinlock"):
            with self.subTest(benchmark=benchmark):
                operation, arguments = benchmark + "_increment", (benchmark, "--threads", 3, "--iterations", 20)
                shared = self.places(self.traced(operation, *arguments), operation, "guarded", 3)
                self.assertEqual(len(set(shared)), 1)
                self.check_apart(self.places(self.traced(operation, *arguments, "--private"), operation, "guarded", 3))

    def test_barrier_and_queue_are_one_for_all(self):
        for benchmark, operation, parameter in (("barrier", "wait_for_others", "barrier"), ("condvar", "queue_write", "queue")):
            trace = self.traced(operation, benchmark, "--threads", 3, "--iterations", 20)
            self.assertEqual(len(set(self.places(trace, operation, parameter, 3))), 1, benchmark)

    def test_pinned_threads_take_turns_at_the_processors(self):
        allowed = sorted(os.sched_getaffinity(0))
        if len(allowed) < 2:
            self.skipTest("threads cannot be told apart by their processors where there is one only")
        processors = allowed[-2:]
        trace = self.traced("spinlock_increment", "spinlock", "--threads", 6, "--iterations", 200, "--private", "--pin",
                            preexec_fn=lambda: os.sched_setaffinity(0, processors))
        # Private locks are an array: their addresses number the threads.
        call = trace.values("spinlock_increment")["call"]
        lock = trace.values("spinlock_increment")["guarded"]
        for column in ("cpu_enter", "cpu_leave"):
            seen = [set(trace.calls[column][call[lock == place]].tolist()) for place in numpy.unique(lock)]
            self.assertEqual(seen, [{processors[i % 2]} for i in range(6)], column)


class Amounts(Options):
    def computed(self, function: str, *arguments) -> list[list[int]]:
        """How much each of the threads that call `function` computes between its calls."""
        trace = self.traced(f"{function},{COMPUTE}", *arguments)
        values = trace.values(COMPUTE)
        measured = set(trace.calls["thread"][trace.values(function)["call"]].tolist())
        outside = trace.calls["parent"][values["call"]] < 0
        thread = trace.calls["thread"][values["call"]]
        return [values["count"][outside & (thread == row)].tolist()
                for row in sorted(measured, key=lambda row: trace.threads["tid"][row])]

    def test_delay_is_between_the_calls_of_all_threads(self):
        none = self.computed("lock_increment", "lock", "--threads", 2, "--iterations", 30, "--delay", "0ns")
        self.assertEqual(none, [[0] * 30] * 2)
        some = self.computed("lock_increment", "lock", "--threads", 2, "--iterations", 30, "--delay", "20us")
        self.assertEqual(some, [[some[0][0]] * 30] * 2)
        self.assertGreater(some[0][0], 0)

    def test_sharing_threads_pause_and_every_second_one_is_delayed(self):
        arguments = ("falsesharing", "--threads", 4, "--iterations", 30)
        only_delay = self.computed("shared_increment", *arguments, "--delay", "20us")
        delay = only_delay[1][0]
        self.assertGreater(delay, 0)
        self.assertEqual(only_delay, [[0] * 30, [delay] * 30] * 2)
        both = self.computed("shared_increment", *arguments, "--delay", "20us", "--pause", "20us")
        pause, sum_of_both = both[0][0], both[1][0]
        self.assertGreater(pause, 0)
        self.assertEqual(both, [[pause] * 30, [sum_of_both] * 30] * 2)
        self.assertAlmostEqual(sum_of_both, 2 * pause, delta=2)

    def test_work_before_a_barrier_differs_unless_it_is_equal(self):
        arguments = ("barrier", "--threads", 2, "--iterations", 50, "--delay", "20us")
        drawn = self.computed("wait_for_others", *arguments)
        self.assertNotEqual(drawn[0], drawn[1])
        for amounts in drawn:
            self.assertGreater(max(amounts), 4 * min(amounts))
            self.assertGreater(len(set(amounts)), 40)
        equal = self.computed("wait_for_others", *arguments, "--equal")
        self.assertEqual(equal, [[equal[0][0]] * 50] * 2)
        self.assertGreater(equal[0][0], 0)

    def test_a_write_takes_as_long_as_it_is_told(self):
        """Inside the measured operation, by who writes for the others."""
        for options in (["--write", "0ns"], ["--write", "20us"]):
            trace = self.traced(f"queue_write,{COMPUTE}", "condvar", "--threads", 2, "--iterations", 30, *options)
            values = trace.values(COMPUTE)
            written = set(values["count"][trace.calls["parent"][values["call"]] >= 0].tolist())
            self.assertEqual((len(written), written == {0}), (1, options[1] == "0ns"), options)

    def updates(self, *options, benchmark="lock", operation="lock_increment") -> int:
        trace = self.traced(operation, benchmark, "--threads", 2, "--iterations", 10, *options)
        amounts = set(trace.values(operation)["updates"].tolist())
        self.assertEqual(len(amounts), 1, options)
        return amounts.pop()

    def test_updates_of_a_call(self):
        self.assertEqual(self.updates(), UPDATES)
        self.assertEqual(self.updates("--updates", 7), 7)
        self.assertEqual(self.updates("--work", "0ns"), 1)
        # Each run finds out anew how long an increment takes: not exactly a hundred times as many.
        self.assertGreater(self.updates("--work", "1ms"), self.updates("--work", "10us"))

    def test_stores_of_a_call(self):
        store = {"benchmark": "falsesharing", "operation": "shared_store"}
        self.assertEqual(self.updates("--store", **store), UPDATES)
        self.assertEqual(self.updates("--store", "--updates", 1, **store), 1)
        self.assertGreater(self.updates("--store", "--work", "1ms", **store), self.updates("--store", "--work", "10us", **store))

    def test_length_of_the_list(self):
        for length in (64, 1600):
            trace = self.traced("search_list", "falsepositive", "--length", length, "--iterations", 400)
            keys = set(trace.values("search_list")["key"].tolist())
            self.assertEqual(keys, {length * part // 16 for part in range(1, 17)})

    def test_size_of_an_answer(self):
        trace = self.traced("send_request,serve_request", "network", "--iterations", 10, "--threads", 2, "--bytes", 5000)
        for side in ("send_request", "serve_request"):
            self.assertEqual(set(trace.values(side)["answer_bytes"].tolist()), {5000}, side)

    def test_neighbours_are_threads_of_their_own(self):
        """Those that measure are as many in any case, and the main thread is always there."""
        for options, neighbours in (([], 1), (["--neighbours", 0], 0), (["--neighbours", 2], 2)):
            self.run_recorded("stream_block", "membw", "--threads", 2, "--iterations", 200, *options)
            threads = self.analyze()["threads"]
            self.assertEqual(sum(thread["events"] > 0 for thread in threads), 2, options)
            self.assertEqual(len(threads), 1 + 2 + neighbours, options)


class Exclusion(Options):
    """Work is done under the lock, and who has it keeps the others out."""
    THREADS, ITERATIONS = 2, 20
    # Calls are to last as long as by the clock, whoever had the processors.
    RECORD = ("--switches", "off")

    def inside(self, trace: rdam.Trace, function: str, calls: list[int]) -> numpy.ndarray:
        """The one call of `function` inside each of these, in their order."""
        own = numpy.flatnonzero(trace.calls["function"] == trace.function(function))
        own = own[numpy.isin(trace.calls["parent"][own], calls)]
        self.assertEqual(trace.calls["parent"][own].tolist(), calls)
        return own

    def check(self, benchmark: str, lock: str, unlock: str):
        operation = benchmark + "_increment"
        trace = self.traced(f"{operation},{lock},{unlock}", benchmark, "--threads", self.THREADS, "--iterations",
                            self.ITERATIONS, "--work", "1ms")
        start, duration = trace.calls["start"], trace.calls["duration"]
        calls = trace.values(operation)["call"].tolist()
        self.assertEqual(len(calls), self.THREADS * self.ITERATIONS)
        locks, unlocks = self.inside(trace, lock, calls), self.inside(trace, unlock, calls)
        begin, end = start[locks] + duration[locks], start[unlocks]
        under_lock = (end - begin).sum()
        self.assertGreater(under_lock, 0.5 * trace.calls["self"][calls].sum(), "it is the work that is guarded")
        order = numpy.argsort(begin)
        latest = numpy.maximum.accumulate(end[order])[:-1]
        overlap = numpy.clip(numpy.minimum(latest, end[order][1:]) - begin[order][1:], 0, None).sum()
        # None, but for what the analysis subtracts from durations: pauses of the recorder, the cost of probes.
        self.assertLess(overlap, 0.1 * under_lock)

    def test_lock(self):
        self.check("lock", "pthread_mutex_lock", "pthread_mutex_unlock")

    def test_spinlock(self):
        self.check("spinlock", "pthread_spin_lock", "pthread_spin_unlock")


if __name__ == "__main__":
    unittest.main()
