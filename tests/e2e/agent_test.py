#!/usr/bin/python3
"""The agent keeps out of the program's way, and says what it could not help to take."""

import os
import pathlib
import re
import subprocess
import time
import unittest
from contextlib import contextmanager

from harness import LIBRDAM, PROGRAMS, RDAM, Case, keeps_windows

BUSY = PROGRAMS / "busy"
PROCESSORS = sorted(os.sched_getaffinity(0))
THREADS = 2 * len(PROCESSORS)
CALLS = 200_000
QUOTA_MICROSECONDS = 20_000
PERIOD_MICROSECONDS = 100_000


def facts_of_agent(pid: int) -> dict | None:
    """Of a running agent: its processors, and the priorities of its threads."""
    try:
        process = pathlib.Path(f"/proc/{pid}")
        if b"rdam-agent" not in (process / "cmdline").read_bytes().split(b"\0")[0] or keeps_windows(process):
            return None
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        return {"target": int(pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[2]),
                "cpus": os.sched_getaffinity(pid),
                "policy": os.sched_getscheduler(pid),
                "nice": os.getpriority(os.PRIO_PROCESS, pid),
                "threads": int(re.search(r"^Threads:\s*(\d+)", status, re.MULTILINE)[1]),
                "autogroup": read_or_none(f"/proc/{pid}/autogroup")}
    except (OSError, IndexError, ValueError):
        return None


def read_or_none(path: str) -> str | None:
    try:
        return pathlib.Path(path).read_text()
    except OSError:
        return None


@contextmanager
def quota_group(folder: pathlib.Path):
    """The file by which a process enters a group with a fifth of a processor; None: this machine lets nobody make one."""
    name = f"rdam-e2e-{os.getpid()}-{folder.name}"
    for mount, quota in ((pathlib.Path("/sys/fs/cgroup"), {"cpu.max": f"{QUOTA_MICROSECONDS} {PERIOD_MICROSECONDS}"}),
                         (pathlib.Path("/sys/fs/cgroup/cpu"), {"cpu.cfs_period_us": str(PERIOD_MICROSECONDS),
                                                               "cpu.cfs_quota_us": str(QUOTA_MICROSECONDS)})):
        group = mount / name
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            for file, text in quota.items():
                if not (group / file).exists():
                    raise OSError
                (group / file).write_text(text)
        except OSError:
            group.rmdir()
            continue
        try:
            yield group / "cgroup.procs"
        finally:
            for _ in range(100):  # the kernel needs a moment to see that the last process has gone
                try:
                    group.rmdir()
                    break
                except OSError:
                    time.sleep(0.1)
        return
    yield None


class Agent(Case):
    def check(self, done, threads=THREADS, calls=CALLS, trace="trace.bin") -> dict:
        self.assertEqual((done.returncode, done.stdout), (0, f"{threads * calls}\n".encode()), done.stderr.decode())
        report = self.analyze(trace)
        self.assertEqual(report["functions"][0]["occurrences"], threads * calls)
        self.assertEqual(report["trace"]["dropped"], 0)
        return report

    def record(self, *options, threads=THREADS, calls=CALLS, **others) -> dict:
        done = self.rdam("record", *options, "-f", "constant_work", "--", BUSY, str(threads), str(calls), **others)
        return self.check(done, threads, calls)

    def watched(self, *options, until, calls=20_000_000, before=(), **others) -> list[dict]:
        """What the agents were seen to be while a program ran that ends when `until` says so of one of them."""
        process = subprocess.Popen([*before, RDAM, "record", *options, "-f", "constant_work", "--", BUSY, str(THREADS), str(calls)],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **others)
        seen: list[dict] = []
        try:
            deadline = time.monotonic() + 120
            while time.monotonic() < deadline and process.poll() is None:
                agents = [facts_of_agent(int(entry.name)) for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit()]
                seen += [agent for agent in agents if agent is not None and self.is_ours(agent["target"])]
                if seen and until(seen[-1]):
                    break
                time.sleep(0.02)
        finally:
            if seen and self.is_ours(seen[-1]["target"]):
                os.kill(seen[-1]["target"], 9)
            process.communicate()
        self.assertTrue(seen, "no agent was seen")
        return seen

    def is_ours(self, pid: int) -> bool:
        try:
            return os.readlink(f"/proc/{pid}/cwd") == os.path.realpath(self.folder)
        except OSError:
            return False

    def test_everything_is_recorded_while_all_processors_are_busy(self):
        report = self.record("--switches=on")
        agent = report["trace"]["agent"]
        self.assertGreater(agent["cpu_seconds"], 0)
        self.assertLessEqual(agent["running_cpu_seconds"], agent["cpu_seconds"])
        if report["trace"]["switches"]["state"] != "recorded":
            self.skipTest("no context switches can be had here")
        self.assertEqual(agent["bound_ns"], 0)
        self.assertFalse(report["functions"][0]["maybe_recorder"])
        by_agent = sum(thread["off_cpu"]["recorder_ns"] for thread in report["threads"])
        self.assertGreaterEqual(by_agent * 1.000001 + 1, report["trace"]["paused_by_agent_ns"])
        # The kernel's switches to and from the agent count as the agent's, and so does what the host took meanwhile.
        self.assertLessEqual(by_agent, 2 * agent["cpu_seconds"] * 1e9 * len(report["threads"]))
        for thread in report["threads"]:
            self.assertLessEqual(thread["off_cpu"]["recorder_ns"], thread["duration_ns"])

    def test_what_a_competing_agent_takes_is_a_pause(self):
        # One processor for all: whenever the buffer is full the agent must have it.
        cpu = str(PROCESSORS[0])
        done = self.run_in_folder("taskset", "-c", cpu, RDAM, "record", "--switches=on", "--agent-cpus", cpu, "--buffer", "4M",
                                  "-f", "constant_work", "--", BUSY, "2", "1000000")
        report = self.check(done, 2, 1_000_000)
        if report["trace"]["switches"]["state"] != "recorded":
            self.skipTest("no context switches can be had here")
        self.assertGreater(report["trace"]["paused_ns"], 0)
        self.assertGreater(sum(thread["paused_ns"] for thread in report["threads"]), 0)

    def test_where_switches_are_not_recorded_the_agents_time_is_the_bound(self):
        report = self.record("--switches=off")
        agent = report["trace"]["agent"]
        self.assertAlmostEqual(agent["bound_ns"], agent["running_cpu_seconds"] * 1e9, delta=2)
        row = report["functions"][0]
        self.assertEqual(row["maybe_recorder"], 0 < row["lost_ns"] <= agent["bound_ns"])

    def test_low_priority_while_the_program_runs(self):
        seen = self.watched(until=lambda agent: agent["policy"] == os.SCHED_IDLE or agent["nice"] == 19)
        last = seen[-1]
        self.assertTrue(last["policy"] == os.SCHED_IDLE or last["nice"] == 19, last)

    def test_its_session_has_the_least_share(self):
        if (read_or_none("/proc/sys/kernel/sched_autogroup_enabled") or "0").strip() != "1":
            self.skipTest("this kernel does not share by session (sched_autogroup_enabled)")
        own = read_or_none("/proc/self/autogroup")
        seen = self.watched(until=lambda agent: "nice 19" in (agent["autogroup"] or ""))
        self.assertIn("nice 19", seen[-1]["autogroup"])
        self.assertEqual(read_or_none("/proc/self/autogroup"), own)

    def test_processors_of_its_own(self):
        for cpu in PROCESSORS:
            with self.subTest(cpu):
                seen = self.watched("--agent-cpus", str(cpu), until=lambda agent: agent["threads"] > 2)
                self.assertEqual(seen[-1]["cpus"], {cpu})

    def test_a_bound_program_leaves_it_the_others(self):
        self.need("taskset")
        online = set(range(os.cpu_count() or 1))
        others = online - {PROCESSORS[0]}
        if not others:
            self.skipTest("there is one processor only")
        seen = self.watched(before=("taskset", "-c", str(PROCESSORS[0])), until=lambda agent: agent["threads"] > 2)
        self.assertEqual(seen[-1]["cpus"], others)
        done = self.run_in_folder("taskset", "-c", str(PROCESSORS[0]), RDAM, "record", "-f", "constant_work", "--", BUSY, "2", "1000")
        self.check(done, 2, 1000)

    def test_a_list_that_is_none(self):
        done = self.rdam("record", "--agent-cpus", "1-x", "-f", "constant_work", "--", BUSY, "1", "1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'1-x' is not a list of processors like 3 or 0,2-3", done.stderr.decode())
        done = self.preload("constant_work", BUSY, "1", "7", RDAM_AGENT_CPUS="3-1")
        self.assertEqual((done.returncode, done.stdout), (0, b"7\n"))
        self.assertEqual(done.stderr, b"rdam: RDAM_AGENT_CPUS='3-1' is not a list of processors like 3 or 0,2-3; "
                                      b"the program continues without being recorded\n")
        self.assertEqual(self.traces(), [])

    def test_processors_that_are_not_there(self):
        done = self.rdam("record", "--agent-cpus", "1000", "-f", "constant_work", "--", BUSY, "1", "7")
        self.check(done, 1, 7)
        self.assertEqual(done.stderr.decode().count("rdam-agent cannot run on the processors of --agent-cpus"), 1)

    def test_libraries_are_loaded_while_all_processors_are_busy(self):
        done = self.rdam("record", "-f", "constant_work,libplugin.so:plugin_work", "--", BUSY, str(THREADS), str(CALLS),
                         PROGRAMS / "libplugin.so")
        self.check(done)
        self.assertRegex(done.stderr.decode(), r"loaded in \d+ ms")
        self.assertGreater(self.counts().get("plugin_work", 0), 0)

    def test_without_the_right_to_come_back(self):
        if os.geteuid() != 0:
            self.skipTest("who is not root has no right to give up")
        os.chmod(self.folder, 0o777)
        environment = {"LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": "constant_work,libplugin.so:plugin_work", "RDAM_CACHE": ""}
        done = self.run_in_folder(BUSY, str(THREADS), str(CALLS), PROGRAMS / "libplugin.so",
                                  env=environment, user=65534, group=65534, extra_groups=[])
        if b"cannot open shared object" in done.stderr or b"cannot be preloaded" in done.stderr:
            self.skipTest("another user cannot read the build directory")
        self.check(done)

    def test_under_a_quota_it_waits_for_the_end(self):
        with quota_group(self.folder) as enter:
            if enter is None:
                self.skipTest("no control group with a quota can be made here")

            def join():
                enter.write_text(str(os.getpid()))

            # One thread: the processors that it leaves idle cost the quota all the same.
            calls = 2_000_000
            command = ("-f", "constant_work", "--", BUSY, "1", str(calls))
            done = self.run_in_folder(RDAM, "record", *command, preexec_fn=join)
            report = self.check(done, 1, calls)
            agent = report["trace"]["agent"]
            # It has all to do when the program has ended, but for the plan, which takes long on a busy machine.
            self.assertLess(agent["running_cpu_seconds"], 0.8 * agent["cpu_seconds"])
            # A buffer that is too small for that is emptied all the same.
            done = self.run_in_folder(RDAM, "record", "--buffer", "4M", *command, preexec_fn=join)
            self.check(done, 1, calls)


if __name__ == "__main__":
    unittest.main()
