#!/usr/bin/python3
"""When threads are off the processors: context switches beside the calls."""

import json
import os
import signal
import sys
import unittest

from harness import LIBRDAM, PROGRAMS, RDAM, Case
from pythons import MODULE

os.environ["RDAM_PROGRAM"] = RDAM
sys.path.insert(0, str(MODULE))
sys.dont_write_bytecode = True

import rdam  # noqa: E402

SWITCHES = PROGRAMS / "switches"


class Switches(Case):
    def record(self, *arguments, switches="on"):
        done = self.succeeded(self.rdam("record", f"--switches={switches}", "-f", "nap,burn", "--", SWITCHES, *arguments))
        return done

    def known(self, trace="trace.bin") -> dict:
        """The report; a skip, with the kernel's reason, where this machine does not tell of context switches."""
        report = self.analyze(trace)
        switches = report["trace"]["switches"]
        if switches["state"] == "unavailable":
            self.skipTest(f"no context switches can be had here: {switches['reason']}")
        self.assertEqual(switches, {"state": "recorded", "lost": 0})
        return report

    def threads(self, trace="trace.bin") -> list[dict]:
        done = self.succeeded(self.run_in_folder(os.environ["OFF_CPU_CALLS"], trace))
        threads = json.loads(done.stdout)
        for thread in threads:
            last = 0
            for interval in thread["intervals"]:
                self.assertLessEqual(last, interval["out"])
                self.assertLess(interval["out"], interval["in"])
                last = interval["in"]
        return threads

    def assert_naps(self, thread: dict, count: int):
        self.assertEqual([call["function"] for call in thread["calls"]], ["nap"] * count)
        for call in thread["calls"]:
            self.assertGreaterEqual(call["blocked"], 1, thread)

    def assert_agrees(self, report: dict, threads: list[dict]):
        """What the report says of each thread is what its intervals add up to."""
        self.assertEqual([thread["tid"] for thread in report["threads"]], [thread["tid"] for thread in threads])
        for row, thread in zip(report["threads"], threads, strict=True):
            absences = [after for before, after in zip([None, *thread["intervals"]], thread["intervals"], strict=False)
                        if before is None or not self.same_absence(before, after)]
            preempted = sum(interval["preempted"] for interval in absences)
            off = row["off_cpu"]
            self.assertEqual((off["switches"], off["preemptions"]), (len(absences), preempted))
            self.assertLessEqual(off["blocked_ns"] + off["preempted_ns"] + off["recorder_ns"], row["duration_ns"] * 1.001)

    def same_absence(self, before: dict, after: dict) -> bool:
        return (before["in"] == after["out"] and before["preempted"] and after["preempted"]
                and before["by_recorder"] != after["by_recorder"])

    def test_the_columns_have_the_intervals(self):
        self.record("sleeps", "20", "0")
        self.known()
        self.succeeded(self.rdam("export", "--columns", "columns", "trace.bin"))
        trace = rdam.open(self.folder / "columns")
        off = trace.off_cpu
        tids = trace.threads["tid"][off["thread"]].tolist()
        self.assertEqual(list(zip(tids, off["preempted"].tolist(), off["by_recorder"].tolist(), strict=True)),
                         [(thread["tid"], each["preempted"], each["by_recorder"]) for thread in self.threads() for each in thread["intervals"]])
        self.assertTrue((off["out"] < off["in"]).all())
        starts = trace.calls["start"].tolist()
        for start, behind in zip(starts, [*starts[1:], 1 << 62], strict=True):  # each nap sleeps before the next begins
            blocked = (off["out"] >= start) & (off["out"] < behind) & ~off["preempted"]
            self.assertTrue(blocked.any(), start)
        self.record("sleeps", "2", "0", switches="off")
        self.succeeded(self.rdam("export", "--columns", "without", "trace.bin"))
        self.assertIsNone(rdam.open(self.folder / "without").off_cpu)
        self.assertFalse((self.folder / "without" / "off_cpu").exists())

    def test_sleeps_are_inside_their_calls(self):
        self.record("sleeps", "20", "0")
        report = self.known()
        threads = self.threads()
        self.assert_naps(next(thread for thread in threads if thread["main"]), 20)
        self.assert_agrees(report, threads)

    def test_threads_have_their_own(self):
        self.record("sleeps", "5", "13")
        report = self.known()
        threads = self.threads()
        for thread in threads:
            self.assert_naps(thread, 5 if thread["main"] else 13)
        self.assertEqual(len(threads), 2)
        self.assert_agrees(report, threads)

    def test_preemption_by_a_competitor(self):
        # The competitor is a thread of the program, too. Somebody else may have the processor at its end.
        self.assertTrue(any(self.crowded_by_a_competitor() > 0 for _ in range(5)))

    def crowded_by_a_competitor(self) -> float:
        cpu, preemptions = map(int, self.record("spins").stdout.split())
        report = self.known()
        threads = self.threads()
        self.assert_agrees(report, threads)
        spinner = next(thread for thread in threads if thread["main"])
        preempted = [interval for interval in spinner["intervals"] if interval["preempted"]]
        self.assertGreaterEqual(len(preempted), preemptions)
        self.assertEqual({interval["cpu"] for interval in preempted[-preemptions:]}, {cpu})
        self.assertGreater(sum(call["preempted"] for call in spinner["calls"]), 0)
        return next(row for row in report["threads"] if row["tid"] == spinner["tid"])["off_cpu"]["crowded_ns"]

    def test_fork_child_has_its_own(self):
        self.record("forks", "6", "11")
        self.known()
        counts = []
        for trace in self.traces():
            self.known(trace)
            (thread,) = self.threads(trace)
            counts.append(len(thread["calls"]))
            self.assert_naps(thread, counts[-1])
        self.assertEqual(sorted(counts), [6, 11])

    def test_every_clock(self):
        for clock in ("rdtscp", "unfenced", "rdtsc", "monotonic"):
            with self.subTest(clock):
                self.succeeded(self.rdam("record", "--clock", clock, "-f", "nap", "--", SWITCHES, "sleeps", "10", "10"))
                self.known()
                for thread in self.threads():
                    self.assert_naps(thread, 10)

    def test_killed_program(self):
        done = self.rdam("record", "--switches=on", "-f", "nap", "--", SWITCHES, "dies", "7")
        self.assertEqual(done.returncode, 128 + signal.SIGKILL)
        self.assertFalse(self.known()["trace"]["clean_end"])
        (thread,) = self.threads()
        self.assert_naps(thread, 7)

    def test_not_wanted(self):
        self.record("sleeps", "3", "2", switches="off")
        report = self.analyze()
        self.assertEqual(report["trace"]["switches"], {"state": "off", "lost": 0})
        self.assertEqual(["off_cpu" in thread for thread in report["threads"]], [False, False])
        self.assertEqual([thread["intervals"] for thread in self.threads()], [[], []])

    def test_refused(self):
        record = (RDAM, "record", "-f", "nap", "--", SWITCHES, "sleeps", "3", "2")
        done = self.run_in_folder(SWITCHES, "refused", *record)
        if done.returncode == 77:
            self.skipTest("no system call can be forbidden here (seccomp)")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertNotIn("perf", done.stderr.decode())
        report = self.analyze()
        self.assertEqual(report["functions"][0]["occurrences"], 5)
        self.assertEqual(report["trace"]["switches"]["state"], "unavailable")
        self.assertIn("perf_event_open: Permission denied", report["trace"]["switches"]["reason"])
        self.assertEqual(["off_cpu" in thread for thread in report["threads"]], [False, False])

    def test_too_many_to_be_recorded(self):
        self.record("bounces", "2", switches="auto")
        report = self.analyze()
        switches = report["trace"]["switches"]
        per_second = sum(thread.get("off_cpu", {}).get("switches", 0) for thread in report["threads"]) * 1e9 / report["trace"]["duration_ns"]
        if switches["state"] == "stopped":
            self.assertRegex(switches["reason"], r"^recording them took some \d+ % of a processor$")
            # On a busy machine the agent may stop when the last event is just over.
            self.assertLess(switches["until_ns"], report["trace"]["duration_ns"] + 1e9)
            for thread in self.threads():
                self.assertGreater(len(thread["intervals"]), 0)
        else:
            if switches["state"] == "unavailable":
                self.skipTest(f"no context switches can be had here: {switches['reason']}")
            self.assertEqual(switches["state"], "recorded")
            self.assertLess(per_second, 200_000)

    def test_any_number_if_wanted(self):
        self.record("bounces", "1", switches="on")
        report = self.analyze()
        state = report["trace"]["switches"]["state"]
        if state == "unavailable":
            self.skipTest(f"no context switches can be had here: {report['trace']['switches']['reason']}")
        self.assertEqual(state, "recorded")
        self.assertGreater(min(thread["off_cpu"]["switches"] for thread in report["threads"]), 1000)

    def test_preloaded(self):
        done = self.run_in_folder(SWITCHES, "sleeps", "4", "4",
                                  env={"LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": "nap", "RDAM_SWITCHES": "auto"})
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.known()
        for thread in self.threads():
            self.assert_naps(thread, 4)


if __name__ == "__main__":
    unittest.main()
