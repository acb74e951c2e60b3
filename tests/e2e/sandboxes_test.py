#!/usr/bin/python3
"""Programs that filter their own system calls (seccomp): the recorder makes none in a thread under a filter."""

import os
import re
import shutil
import unittest

from harness import PROGRAMS, RDAM, Case

CALLS = 20_000


class Sandboxed(Case):
    """Every system call whose instruction lies in librdam.so ends the program."""

    def run_plain(self, way: str, calls=CALLS) -> list[str]:
        self.command = (PROGRAMS / "sandboxed", way, calls, PROGRAMS / "libplugin.so")
        plain = self.run_in_folder(*self.command)
        if plain.returncode in (10, 11, 12, 13):
            self.skipTest("no seccomp filter can be set here")
        self.assertEqual(plain.returncode, 0, plain.stderr.decode())
        return plain.stdout.decode().split()

    def said(self, done) -> dict[str, int]:
        """What the program has counted itself."""
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        words = done.stdout.decode().split()
        return {name: int(number) for name, number in zip(words[::2], words[1::2], strict=False)}

    def noted(self, notes: list[str], words: str) -> int:
        found = [re.search(r"\(seccomp\): (\d+) " + words, note) for note in notes]
        return sum(int(match.group(1)) for match in found if match)

    def record(self, way: str, *options: str, functions="work,tiny,mix,brief,tick"):
        self.run_plain(way)
        # Its filter compares the lower halves of addresses: it gives up, with 3, where the recorder lies across a border of 4 GB.
        for _ in range(3):
            done = self.rdam("record", "--stack-period=100", *options, "-o", "trace.bin", "-f", functions, "--", *self.command)
            if done.returncode != 3:
                break
        return self.said(done)

    def check(self, way: str, *options: str):
        """Threads that begin and end, handlers, full chunks, call stacks, shadow frames, a library and a fork."""
        said = self.record(way, *options)
        report = self.analyze()
        self.assertEqual(report["trace"]["dropped"], 0)
        counts = {f["name"]: f["occurrences"] for f in report["functions"]}
        ticks, counted = said.pop("tick"), counts.pop("tick", 0)
        self.assertEqual(counts, said)
        notes = report["trace"]["notes"]
        self.assertLessEqual(counted, ticks)
        self.assertGreaterEqual(counted + self.noted(notes, "events? of"), ticks, notes)
        self.assertEqual(self.noted(notes, "process that it forked"), 1, notes)
        self.assertGreaterEqual(self.noted(notes, "changes? of its libraries"), 1, notes)
        work = next(f for f in report["functions"] if f["name"] == "work")
        self.assertTrue(any(len(stack["frames"]) > 2 for stack in work["stacks"]), work["stacks"])

    def test_filter_by_prctl(self):
        self.check("prctl")

    def test_filter_by_seccomp(self):
        self.check("seccomp")

    def test_filter_for_threads_that_are_there(self):
        self.check("tsync")

    def test_instruction_of_the_programs_own(self):
        # The agent sees the first of two filters; no chunk but those in use is accessible then.
        self.assertEqual(self.record("raw").keys(), {"work", "tiny", "mix", "brief", "tick"})

    def test_a_small_buffer_is_waited_for(self):
        self.check("prctl", "--buffer=4M")

    def test_gates_and_a_budget(self):
        said = self.record("prctl", functions="work,~tiny,mix,brief")
        counts = self.counts()
        self.assertEqual((counts["work"], counts["brief"]), (said["work"], said["brief"]))
        self.record("prctl", "--max-overhead=10%")
        self.record("prctl", "--counters=instructions")

    def test_clock_that_is_a_system_call(self):
        # What is open when the filter comes has none either: only its leave event would need the clock.
        said = self.record("prctl", "--clock=monotonic")
        report = self.analyze()
        self.assertTrue(any("monotonic clock" in note for note in report["trace"]["notes"]))
        self.assertLess(report["functions"][0]["occurrences"], said["work"])

    def test_plain_preloading(self):
        self.run_plain("prctl")
        said = self.said(self.preload("work,tiny", *self.command))
        self.until(self.finished, "the trace was never finished")
        counts = self.counts()
        self.assertEqual((counts["work"], counts["tiny"]), (said["work"], said["tiny"]))

    def finished(self) -> bool:
        return bool(self.traces()) and not list(self.folder.glob(".trace*.lock"))


class Browser(Case):
    """Chromium by an ordinary user, with its sandbox on: the processes that show pages have a root, numbers and sockets of their own."""

    NOBODY = 65534
    PAGE = "<p id=p>no</p><script>let s = 0; for (let i = 0; i < 1e6; i++) s += i % 7; p.innerText = 'sum ' + s;</script>"

    def dump(self, *launcher):
        done = self.run_in_folder(*launcher, "chromium", "--headless", "--disable-gpu", f"--user-data-dir={self.folder}/profile", "--dump-dom",
                                  f"file://{self.folder}/page.html", env={"HOME": str(self.folder), "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": ""},
                                  **self.user)
        self.said = done.stderr.decode()
        if not launcher and done.returncode != 0:
            self.skipTest("Chromium does not run with its sandbox here: " + self.said.strip()[-200:])
        self.assertEqual(done.returncode, 0, self.said)
        self.assertIn("sum 2999997", done.stdout.decode(), self.said)

    def test_all_its_processes(self):
        if shutil.which("chromium") is None:
            self.skipTest("chromium is not installed")
        self.user = {"user": self.NOBODY, "group": self.NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        self.folder.chmod(0o777)
        (self.folder / "page.html").write_text(self.PAGE)
        if self.run_in_folder(RDAM, "--version", **self.user).returncode != 0:
            self.skipTest("another user cannot read the build directory")
        self.dump()
        self.dump(RDAM, "record", "-f", "malloc,epoll_wait,read", "-o", self.folder / "trace.bin", "--")
        own = "\n".join(line for line in self.said.splitlines() if line.startswith("rdam:"))
        self.assertNotIn("without being recorded", own)
        self.assertNotIn("cannot", own)
        renderers = []
        for trace in self.folder.glob("trace*.bin"):
            report = self.analyze(trace.name)
            # What has forked them has one thread; some have changed their titles before we look.
            if "--type=zygote" in report["trace"]["command"] and len(report["threads"]) > 4:
                renderers.append(sum(function["occurrences"] for function in report["functions"]))
                self.assertNotIn(1, [thread["tid"] for thread in report["threads"]])
        self.assertGreaterEqual(len(renderers), 2)
        self.assertGreater(max(renderers), 1000, renderers)


class HandlersThatFork(Case):
    """A handler interrupts a probe, or the recorder's bookkeeping, and the child that it forks goes on with that."""

    def check(self, way: str, *options: str):
        command = (PROGRAMS / "handler_forks", way, "150")
        plain = self.run_in_folder(*command)
        if plain.returncode == 10:
            self.skipTest("no seccomp filter can be set here")
        done = self.rdam("record", *options, "-o", "trace.bin", "-f", "work", "--", *command)
        self.assertEqual((done.returncode, done.stdout), (0, b"0 of 150 children crashed\n"), done.stderr.decode())

    def test_without_a_filter(self):
        self.check("plain", "--no-children")

    def test_children_that_are_recorded(self):
        self.check("plain")
        self.assertGreater(len(self.traces()), 100)

    def test_under_a_filter(self):
        self.check("filtered")


if __name__ == "__main__":
    unittest.main()
