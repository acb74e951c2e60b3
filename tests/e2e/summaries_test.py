#!/usr/bin/python3
"""What an analysis keeps of a large trace: the next ones say the same without reading it, and never what another trace would say."""

import json
import os
import pathlib
import subprocess
import unittest

from harness import PROGRAMS, RDAM, Case

EVENTS = 1_000_000  # traces with fewer are read at once, and nothing is kept of them
VIEWS = [[], ["--json"], ["--json", "--top", "0", "--threads", "--sequences", "--histogram"], ["--verbose"], ["--baseline", "process"],
         ["--baseline", "minimum"], ["--threshold", "0.01"], ["--function", "constant_work"]]


class Summaries(Case):
    def record(self, trace="trace.bin", calls=270_000):
        """Two threads that make so many calls each."""
        self.succeeded(self.rdam("record", "-o", trace, "--all-calls", "-f", "constant_work,pthread_join", "--", PROGRAMS / "busy", "2", calls))
        return self.folder / trace

    def said(self, *options, trace="trace.bin", **more) -> str:
        done = self.succeeded(self.rdam("analyze", *options, trace, **more))
        return done.stdout.decode() + done.stderr.decode()

    def kept(self, trace="trace.bin") -> list[pathlib.Path]:
        return [path for path in self.folder.glob(f"{trace}.*") if path.is_file()]

    def hide_damage(self, trace: pathlib.Path):
        """Destroys events, so that whoever reads them notices, and gives the file the time that it had."""
        before = trace.stat()
        with open(trace, "r+b") as file:
            file.seek(before.st_size // 2)
            file.write(bytes(64))
        os.utime(trace, ns=(before.st_atime_ns, before.st_mtime_ns))

    def reads_events(self, *options, **more) -> bool:
        return "damaged" in self.said(*options, **more)

    def test_views_say_the_same_without_the_events(self):
        trace = self.record()
        read = {tuple(view): self.said(*view, "--no-cache") for view in VIEWS}
        explained = self.succeeded(self.rdam("explain", "--no-cache", trace)).stdout.replace(b" --no-cache", b"")
        self.succeeded(self.rdam("report", "--no-cache", "-o", "read.html", trace))
        self.assertEqual(self.kept(), [])
        self.assertEqual(self.said(), read[()])
        self.assertEqual([path.name for path in self.kept()], ["trace.bin.summary"])
        # With paths and times of calls, which the others have no use for. A page shows events around the largest losses.
        for page in ("first.html", "kept.html"):
            self.succeeded(self.rdam("report", "-o", page, trace))
        self.assertEqual(len({(self.folder / f"{name}.html").read_text() for name in ("read", "first", "kept")}), 1)
        self.hide_damage(trace)
        self.assertTrue(self.reads_events("--no-cache"))
        for view in VIEWS:
            self.assertEqual(self.said(*view), read[tuple(view)], view)
        self.assertEqual(self.succeeded(self.rdam("explain", trace)).stdout, explained)

    def test_other_settings_that_need_the_events_read_them(self):
        trace = self.record()
        self.said()
        others = (("--fold-loops",), ("--deep-keys",), ("--ignore", "constant_work"), ("--split-by-context", "constant_work"),
                  ("--no-key", "constant_work:value"), ("--baseline", "p5"), ("--since", "1ms"))
        wanted = {options: self.said("--no-cache", *options) for options in others}
        for options, text in wanted.items():
            self.assertEqual(self.said(*options), text, options)
            self.assertEqual(self.said(*options), text, options)
        self.hide_damage(trace)
        self.assertFalse(self.reads_events())
        self.assertFalse(self.reads_events("--baseline", "p5"))
        self.assertTrue(self.reads_events("--since", "1ms"))
        self.assertTrue(self.reads_events("--patterns"))

    def test_both_traces_of_a_comparison_are_kept(self):
        before, after = self.record("before.bin"), self.record("after.bin")
        read = self.said("--no-cache", "--diff", before, trace=after)
        self.assertEqual(self.said("--diff", before, trace=after), read)
        for trace in (before, after):
            self.hide_damage(trace)
        self.assertEqual(self.said("--diff", before, trace=after), read)

    def test_another_trace_of_the_same_name_is_noticed(self):
        self.record()
        self.said()
        os.replace(self.record("other.bin", 280_000), self.folder / "trace.bin")
        self.assertIn("560,000", self.said())
        self.assertIn("560,000", self.said())

    def test_a_copy_with_its_time_takes_its_summary_along(self):
        self.record()
        self.said()
        (self.folder / "there").mkdir()
        subprocess.run(["cp", "-p", "trace.bin", "trace.bin.summary", "there"], cwd=self.folder, check=True)
        self.hide_damage(self.folder / "there/trace.bin")
        self.assertFalse(self.reads_events(trace="there/trace.bin"))
        os.utime(self.folder / "there/trace.bin")
        self.assertTrue(self.reads_events(trace="there/trace.bin"))

    def test_whatever_is_wrong_with_it_the_answer_is_right(self):
        trace = self.record()
        said = self.said()
        [summary] = self.kept()
        whole = summary.read_bytes()
        summary.write_bytes(b"")
        self.assertEqual(self.said(), said)
        for at in (8, 20, len(whole) // 3, len(whole) - 1):
            for broken in (whole[:at], whole[:at] + bytes([whole[at] ^ 0x40]) + whole[at + 1:], whole[:at] + os.urandom(len(whole) - at)):
                summary.write_bytes(broken)
                self.assertEqual(self.said(), said, at)
                self.assertEqual(summary.read_bytes(), whole, at)
        summary.chmod(0o666)
        self.hide_damage(trace)
        self.assertTrue(self.reads_events())  # anybody may have written it
        summary.chmod(0o600)
        self.assertFalse(self.reads_events())

    def test_what_else_has_its_name_stays_as_it_is(self):
        self.record()
        somebodys, place = self.folder / "somebodys", self.folder / "trace.bin.summary"
        somebodys.write_text("notes")
        for make in (lambda: place.symlink_to(somebodys), lambda: place.symlink_to(self.folder / "nowhere"), lambda: place.write_text("notes")):
            make()
            self.said(env={"RDAM_CACHE": str(self.folder / "cache")})
            self.assertEqual((somebodys.read_text(), (self.folder / "nowhere").exists()), ("notes", False))
            if not place.is_symlink():
                self.assertEqual(place.read_text(), "notes")
            place.unlink()

    def test_who_cannot_read_the_trace_cannot_read_its_summary(self):
        trace = self.record()
        for mode, most in ((0o644, 0o644), (0o640, 0o600), (0o600, 0o600)):
            trace.chmod(mode)
            self.said()
            self.assertEqual(self.kept()[0].stat().st_mode & 0o777, most)
            self.hide_damage(trace)
            self.assertFalse(self.reads_events())
            if mode == 0o644 and os.geteuid() == 0:
                os.chown(self.kept()[0], 0, 12345)  # a group that is not the trace's can read what all can
                self.assertFalse(self.reads_events())
            self.record()

    def test_it_is_beside_the_trace_itself_not_beside_a_link_to_it(self):
        trace = self.record()
        (self.folder / "there").mkdir()
        (self.folder / "there/link").symlink_to(trace)
        self.said(trace="there/link")
        with open(trace, "rb") as given:
            self.said(trace="/dev/stdin", stdin=given)
        self.assertEqual([path.name for path in self.kept()], ["trace.bin.summary"])
        self.assertEqual([path.name for path in (self.folder / "there").iterdir()], ["link"])
        self.assertFalse(pathlib.Path("/dev/stdin.summary").exists())

    def test_where_none_can_be_beside_the_trace_it_is_in_the_cache(self):
        trace = self.record()
        (self.folder / "trace.bin.summary").mkdir()
        cache = {"RDAM_CACHE": str(self.folder / "cache")}
        said = self.said(env=cache)
        self.assertEqual([path.suffix for path in (self.folder / "cache").iterdir()], [".summary"])
        self.hide_damage(trace)
        self.assertEqual(self.said(env=cache), said)

    def test_on_a_full_disk_the_answer_is_all_there_is(self):
        trace = self.record()
        small = self.folder / "small"
        small.mkdir()
        room = (trace.stat().st_size // 4096 + 3) * 4096
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={room}", "none", small], stderr=subprocess.PIPE, check=False)
        if mounted.returncode != 0:
            self.skipTest("cannot mount a small file system: " + mounted.stderr.decode().strip())
        self.addCleanup(subprocess.run, ["umount", small], check=False)
        os.replace(self.folder / "trace.bin", self.folder / "kept.bin")
        subprocess.run(["cp", self.folder / "kept.bin", small / "trace.bin"], check=True)
        self.assertEqual(self.said(trace="small/trace.bin", env={"RDAM_CACHE": str(small)}).count("constant_work") > 0, True)
        self.assertEqual([path.name for path in small.iterdir()], ["trace.bin"])

    def test_nothing_is_kept_where_nobody_wants_it(self):
        self.record()
        self.said("--no-cache")
        self.said(env={"RDAM_CACHE": "0"})
        self.record("small.bin", EVENTS // 4 - 1000)
        self.said(trace="small.bin")
        self.assertEqual(self.kept() + self.kept("small.bin"), [])

    def test_two_analyses_at_once(self):
        self.record()
        wanted = self.said("--no-cache", "--json")
        for _ in range(3):
            for path in self.kept():
                path.unlink()
            command = [RDAM, "analyze", "--json", "trace.bin"]
            running = [subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, text=True) for _ in range(4)]
            self.assertEqual([each.communicate()[0] for each in running], [wanted] * 4)
            self.assertEqual([path.name for path in self.kept()], ["trace.bin.summary"])

    def test_it_is_no_trace(self):
        self.record()
        self.said()
        done = self.rdam("analyze", "trace.bin.summary")
        self.assertEqual((done.returncode, done.stderr.decode().count("\n")), (1, 1), done.stderr.decode())
        self.assertIn("is what rdam keeps of a trace: analyze the trace itself", done.stderr.decode())

    def test_it_is_smaller_than_the_events_are(self):
        self.record()
        events = json.loads(self.said("--json"))["trace"]["events"]
        [summary] = self.kept()
        self.assertGreater(events, EVENTS)
        self.assertLess(summary.stat().st_size, events)


if __name__ == "__main__":
    unittest.main(verbosity=0)
