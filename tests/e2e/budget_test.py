#!/usr/bin/python3
"""The budget for overhead: functions that are too hot for it are recorded in windows, and counted."""

import csv
import json
import os
import subprocess
import threading
import unittest

from harness import CACHE, LIBRDAM, PROGRAMS, RDAM, TIMEOUT, Case

FUNCTIONS = ("leaf", "inner", "tree", "thrower", "jumper", "summed", "first", "second", "rare")


class Budget(Case):
    def run_sampled(self, *options, functions=FUNCTIONS, arguments=("100000",)):
        """The program's own counts, and the report. Without an option the default holds."""
        plain = subprocess.run([PROGRAMS / "sampled", *arguments], capture_output=True, check=True)
        done = self.rdam("record", "-o", "trace.bin", "-f", ",".join(functions), *options,
                         "--", PROGRAMS / "sampled", *arguments, env={"RDAM_MAX_OVERHEAD": ""})
        self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr.decode())
        words = plain.stdout.split()[1:]
        return {name.decode(): int(number) for name, number in zip(words[::2], words[1::2], strict=True)}, self.analyze()

    def check_counts(self, truth: dict[str, int], report: dict) -> set[str]:
        """Every function was counted. Those that were sampled."""
        self.assertEqual(report["trace"]["dropped"], 0)
        for function in report["functions"]:
            with self.subTest(function["name"]):
                count = truth[function["name"]]
                self.assertLessEqual(function["recorded"], count)
                self.assertEqual((function["occurrences"], function["occurrences_error"]), (count, 0))
                self.assertEqual(function["sampled"], "windows_cover" in function)
                if not function["sampled"]:
                    self.assertEqual(function["recorded"], count)
        self.assertEqual({f["name"] for f in report["functions"]}, set(truth))
        return {f["name"] for f in report["functions"] if f["sampled"]}

    def test_what_is_hot_is_sampled_and_what_is_rare_is_not(self):
        for options in ((), ("--no-args", "--stack-period", "0"), ("--clock", "rdtsc")):
            with self.subTest(options):
                truth, report = self.run_sampled(*options)
                sampled = self.check_counts(truth, report)
                self.assertIn("leaf", sampled)
                self.assertNotIn("rare", sampled)
                self.assertLess(sum(f["recorded"] for f in report["functions"]), sum(truth.values()) / 5)

    def test_what_is_called_among_tiny_functions_stays_complete(self):
        truth, report = self.run_sampled(functions=("leaf", "rare"), arguments=("among", "20000000"))
        self.assertEqual(truth["rare"], 259)
        self.assertEqual(self.check_counts(truth, report), {"leaf"})

    def test_some_thousand_calls_are_recorded_whatever_they_cost(self):
        truth, report = self.run_sampled(arguments=("10",))
        self.assertEqual(self.check_counts(truth, report), set())

    def test_all_calls(self):
        truth, report = self.run_sampled("--all-calls", arguments=("20000",))
        self.assertEqual(self.check_counts(truth, report), set())
        done = self.rdam("record", "--all-calls", "--max-overhead", "5%", "-f", "leaf", "--", PROGRAMS / "sampled", "1")
        self.assertEqual((done.returncode, done.stdout), (2, b""))

    def test_where_every_call_is_recorded_a_phase_that_is_slow_is_told_while_it_lasts(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("RDAM_")}
        environment["RDAM_CACHE"] = CACHE
        with subprocess.Popen([RDAM, "record", "--all-calls", "-f", "leaf,rest", "--", PROGRAMS / "late_phase"], cwd=self.folder,
                              env=environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
            # The program goes on until its input ends.
            end = threading.Timer(TIMEOUT / 4, running.stdin.close)
            end.start()
            lines = []
            for line in running.stderr:
                lines.append(line)
                if "million times a second" in line:
                    running.stdin.close()
            end.cancel()
        self.assertEqual(running.returncode, 0, lines)
        told = [line for line in lines if "million times a second" in line]
        self.assertEqual(len(told), 1, lines)
        self.assertRegex(told[0], r"^rdam: leaf is called [0-9.]+ million times a second by a thread, and most calls take no longer than "
                                  r"their probe, [0-9]+ ns: recording every call makes its threads take at least [0-9.]+ × as long; ")
        self.assertLess(lines.index("hot\n"), lines.index(told[0]))

    def test_where_gates_cannot_be_copied_every_call_is_recorded(self):
        done = self.forbidding(["mremap"], RDAM, "record", "-f", ",".join(FUNCTIONS), "--", PROGRAMS / "sampled", "20000",
                               env={"RDAM_MAX_OVERHEAD": ""})
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        words = done.stdout.split()[1:]
        truth = {name.decode(): int(number) for name, number in zip(words[::2], words[1::2], strict=True)}
        self.assertEqual(self.check_counts(truth, self.analyze()), set())

    def test_what_is_called_in_an_endless_tree_is_recorded_in_windows(self):
        truth, report = self.run_sampled("--max-overhead=10%", functions=("endless", "leaf"), arguments=("endless", "20000000"))
        self.assertEqual(self.check_counts({**truth, "endless": 1}, report), {"leaf"})
        self.assertTrue(any("leaf" in note for note in report["trace"]["notes"]), report["trace"]["notes"])

    def test_patterns_are_those_of_complete_functions(self):
        self.run_sampled()
        done = self.rdam("analyze", "--patterns", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertNotIn("leaf", json.dumps(json.loads(done.stdout).get("patterns", [])))

    def test_a_fork_child_has_a_budget_of_its_own(self):
        truth, report = self.run_sampled(functions=("leaf",), arguments=("forks", "20000000"))
        self.assertIn("windows_cover", report["functions"][0])
        self.check_counts(truth, report)
        child = next(self.folder.glob("trace.*.bin"))
        done = self.succeeded(self.rdam("analyze", "--json", child))
        self.assertEqual([(f["name"], f["occurrences"]) for f in json.loads(done.stdout)["functions"]], [("leaf", 50)])

    def test_a_thousand_functions_are_counted(self):
        """More than threads have counters for in their own storage; one goes on calling behind its last destructor."""
        for rounds in ("300", "1"):
            with self.subTest(rounds):
                done = self.rdam("record", "-o", "trace.bin", "-f", "f[0-9]*", "--", PROGRAMS / "thousand", rounds,
                                 env={"RDAM_MAX_OVERHEAD": ""})
                self.assertEqual(done.returncode, 0, done.stderr.decode())
                counts, walks = done.stdout.splitlines()
                walked, lost = map(int, walks.split())
                self.assertEqual(lost, 0, f"of {walked + lost} stacks")
                truth = {f"f{f:03}": int(calls) for f, calls in enumerate(counts.split())}
                self.assertEqual(len(truth), 1000)
                report = self.analyze()
                self.assertEqual({f["name"] for f in report["functions"]}, set(truth))
                first_two = [thread["tid"] for thread in report["threads"][:2]]
                for function in report["functions"]:
                    # The last thread's calls behind its end are an estimate: how long they take is the machine's affair, but they are not
                    # estimated to be more than it was seen to make before, five rounds at most.
                    each = int(function["name"][1:]) // 8 + 1
                    of_thread = {thread["tid"]: thread["occurrences"] for thread in function["threads"]}
                    self.assertEqual([of_thread[tid] for tid in first_two], [int(rounds) * each] * 2, function["name"])
                    more = function["occurrences"] - truth[function["name"]]
                    self.assertLessEqual(abs(more), each + function["occurrences_error"] + 1, function["name"])
                    self.assertLessEqual(function["occurrences_error"], 5 * each, function["name"])
                if rounds == "300":
                    self.assertGreater(walked, 0)
                    self.assertGreater(sum(f["sampled"] for f in report["functions"]), 600)
                child = self.succeeded(self.rdam("analyze", "--json", next(self.folder.glob("trace.*.bin"))))
                self.assertEqual({f["name"]: f["occurrences"] for f in json.loads(child.stdout)["functions"]},
                                 {name: f // 8 + 1 for f, name in enumerate(truth)})
                next(self.folder.glob("trace.*.bin")).unlink()

    def test_within_the_budget_everything_is_recorded(self):
        done = self.succeeded(self.rdam("record", "-o", "trace.bin", "--max-overhead", "100000%", "-f", ",".join(FUNCTIONS), "--",
                                        PROGRAMS / "sampled", "2000"))
        words = done.stdout.split()[1:]
        self.assertEqual(self.counts(), {n.decode(): int(c) for n, c in zip(words[::2], words[1::2], strict=True)})

    def test_what_is_no_share(self):
        for text in ("much", "-1", "10%%", "0", "1e9", "", "10"):
            with self.subTest(text):
                done = self.rdam("record", "--max-overhead", text, "-f", "leaf", "--", PROGRAMS / "sampled", "1")
                self.assertEqual((done.returncode, done.stdout), (2, b""), done.stderr.decode())
        environment = {**os.environ, "LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": "leaf", "RDAM_MAX_OVERHEAD": "much"}
        done = subprocess.run([PROGRAMS / "sampled", "1"], cwd=self.folder, env=environment, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr, b"rdam: RDAM_MAX_OVERHEAD='much' is not a share like 10% or 0.1 (0.01% to 100000%); "
                                      b"the program continues without being recorded\n")


class Waits(Case):
    """Of a lock that is sampled, each wait is recorded: its score is as good as if every call were."""

    LOCKS = {"mutex": "pthread_mutex_lock", "rwlock": "pthread_rwlock_wrlock", "semaphore": "sem_wait", "omp": "omp_set_lock"}

    # The program counts waits that are long, and no others.
    MOST = 0.5
    # A thread that has no processor is preempted in a lock as anywhere, which it takes for waits, and windows see few of these times.
    BUSY = 0.02

    def is_busy(self, truth: dict[str, int]) -> bool:
        delayed = truth["delayed"] / truth["life"]
        if delayed > self.BUSY:
            print(f"skipped: the machine is busy: the thread had no processor for {delayed:.0%} of its life")
        return delayed > self.BUSY

    def record(self, kind: str, *options) -> tuple[dict[str, int], dict]:
        """What the program has measured itself, and the report."""
        done = self.succeeded(self.rdam("record", *options, "-o", "trace.bin", "-f", self.LOCKS[kind], "--", PROGRAMS / "waits", kind, "1000",
                                        env={"RDAM_MAX_OVERHEAD": ""}))
        self.assertIn(b"1 function was sampled in windows", done.stderr)
        self.assertIn(f"the waits of {self.LOCKS[kind]} are recorded".encode(), done.stderr)
        words = done.stdout.split()
        return {name.decode(): int(number) for name, number in zip(words[::2], words[1::2], strict=True)}, self.analyze()

    def test_scores(self):
        for kind, name in self.LOCKS.items():
            with self.subTest(kind):
                truth, report = self.record(kind)
                lock, = report["functions"]
                self.assertEqual(lock["name"], name)
                # Of the thread that holds it for long, the program knows nothing.
                user = max(lock["threads"], key=lambda thread: thread["occurrences"])
                self.assertGreaterEqual(user["occurrences"], truth["locks"])
                self.assertGreater(lock["waits"]["ns"], 0)
                self.assertNotIn("(waiting)", json.dumps(report))
                if self.is_busy(truth):
                    continue
                waited = truth["waited"] / truth["life"]
                self.assertGreater(waited, 0.01)
                self.assertLess(waited - 0.03, user["rdam_high"])
                self.assertLess(user["rdam_low"], waited + 0.03)
                self.assertAlmostEqual(user["rdam"], waited, delta=0.1)
                self.assertGreater(lock["waits"]["count"], truth["waits"] * self.MOST)
                self.assertGreater(lock["waits"]["ns"], truth["waited"] * self.MOST)

    def test_context_switches_are_not_needed(self):
        truth, report = self.record("mutex", "--switches", "off")
        self.assertGreater(report["functions"][0]["waits"]["ns"], 0 if self.is_busy(truth) else truth["waited"] * self.MOST)

    def test_complete_recordings_have_each_wait_once(self):
        done = self.rdam("record", "--all-calls", "-o", "trace.bin", "-f", "pthread_mutex_lock", "--", PROGRAMS / "waits", "mutex", "200")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        lock, = self.analyze()["functions"]
        self.assertEqual((lock["sampled"], lock.get("waits")), (False, None))
        words = done.stdout.split()
        truth = {name.decode(): int(number) for name, number in zip(words[::2], words[1::2], strict=True)}
        self.assertGreater(lock["lost_ns"], 0 if self.is_busy(truth) else truth["waited"] * self.MOST)
        # That a call waited makes it no other sequence, in exports neither, which show the waits.
        exported = self.rdam("export", "--format", "csv", "trace.bin")
        rows = list(csv.DictReader(exported.stdout.decode().splitlines()))
        calls = [row for row in rows if row["function"] == "pthread_mutex_lock"]
        of_locks = {(row["thread"], row["parameters"]) for row in calls}
        self.assertEqual(len({(row["thread"], row["sequence"]) for row in calls}), len(of_locks))
        self.assertAlmostEqual(sum(float(row["lost_ns"]) for row in calls), lock["lost_ns"], delta=lock["lost_ns"] * 0.01)
        self.assertIn("pthread_mutex_lock (waiting)", {row["function"] for row in rows})


if __name__ == "__main__":
    unittest.main()
