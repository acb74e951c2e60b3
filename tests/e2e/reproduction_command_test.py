#!/usr/bin/python3
"""The command line of tools/reproduce, with measurements that are made up: what it keeps, refuses and ends with."""

import contextlib
import io
import json
import lzma
import pathlib
import random
import re
import shutil
import signal
import unittest
from unittest import mock

from harness import Case
from made_up import made_up

from reproduction import benchmarks, command, machine, network, options, plan, sequences
from reproduction.journal import Journal, read
from reproduction.programs import Programs
from reproduction.session import Progress

LOCK, IO = (next(one for one in benchmarks.SWEEPS if one.name == name) for name in ("lock", "io"))


def varied(sweep: benchmarks.Sweep) -> str:
    """How the mean that is made up for its points varies."""
    extent = plan.Extent((sweep.name,))
    first, last = (made_up(plan.Task("score", one.group, 0, extent.words(one))) for one in (sweep.points()[0], sweep.points()[-1]))
    return f"{first['mean_ns'] / last['mean_ns']:.1f}×"


class Command(Case):
    def setUp(self):
        super().setUp()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            self.addCleanup(signal.signal, number, signal.getsignal(number))
        self.build, self.out = self.folder / "build", self.folder / "out"
        for path in self.programs():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("#!/bin/sh\necho rdam 1.2.3\n")
            path.chmod(0o755)
        self.measured: list[str] = []  # groups, in the order in which they were
        self.replace(network, "obstacles", lambda: {})
        self.replace(sequences, "record", lambda *_: None)

    def programs(self) -> list[pathlib.Path]:
        return [self.build / place / name for name, place in Programs.NAMES.items()]

    def replace(self, place, name: str, by) -> None:
        patch = mock.patch.object(place, name, by)
        patch.start()
        self.addCleanup(patch.stop)

    def reproduce(self, *given, measure=made_up) -> tuple[int, str, str]:
        """Its status, standard output and error."""

        def noted(task):
            result = measure(task)
            self.measured.append(task.group)
            return result

        self.measured.clear()
        words = ["--build", self.build, "--output", self.out, "--quick", "--rounds", 1, *given]
        with mock.patch.object(command, "measuring", lambda *_: noted), contextlib.redirect_stdout(io.StringIO()) as said, \
                contextlib.redirect_stderr(io.StringIO()) as complained:
            try:
                status = command.main([str(word) for word in words])
            except SystemExit as ended:
                status = ended.code
        return status, said.getvalue(), complained.getvalue()

    def refused(self, status: int, *words_given, words=(), **how):
        ended, said, complained = self.reproduce(*words_given, **how)
        self.assertEqual((ended, said, complained.count("\n")), (status, "", 1), complained)
        for word in words:
            self.assertIn(word, complained)

    def keys(self) -> list[str]:
        return list(read(self.out / "measurements.jsonl").entries)


class Fresh(Command):
    def test_measures_anew(self):
        self.reproduce("--only", "lock")
        first, keys = list(self.measured), self.keys()
        self.assertEqual(self.reproduce("--only", "lock")[0], 0)
        self.assertEqual(self.measured, [])
        self.assertEqual(self.reproduce("--only", "lock", "--fresh")[0], 0)
        self.assertEqual((self.measured, self.keys()), (first, keys))

    def test_keeps_the_other_benchmarks(self):
        self.reproduce("--only", "lock,spinlock,io")
        everything = sorted(self.keys())
        self.reproduce("--only", "lock", "--fresh")
        self.assertEqual(sorted(self.keys()), everything)
        self.assertEqual({group.split()[0] for group in self.measured} - {"cost", "cache"}, {"lock"})
        self.reproduce("--only", "lock,spinlock,io")
        self.assertEqual(self.measured, [])

    def test_is_refused_beside_a_running_one_and_does_it_no_harm(self):
        self.reproduce("--only", "lock")
        path = self.out / "measurements.jsonl"
        there = path.read_bytes()
        running = Journal(path)
        self.addCleanup(running.close)
        self.refused(1, "--only", "lock", "--fresh", words=("another run",))
        self.assertEqual(path.read_bytes(), there)
        running.add_note("mine")
        self.assertEqual(json.loads(path.read_text().splitlines()[-1]), {"note": "mine"})

    def test_interrupted_it_names_the_command_that_goes_on(self):
        def interrupted(task):
            if len(self.measured) == 3:
                signal.raise_signal(signal.SIGTERM)
            return made_up(task)

        self.reproduce("--only", "lock")
        everything = list(self.measured)
        status, said, complained = self.reproduce("--only", "lock", "--fresh", measure=interrupted)
        self.assertEqual((status, said, complained.count("\n")), (128 + signal.SIGTERM, "", 1), complained)
        self.assertIn(f"'tools/reproduce --build {self.build} --output {self.out} --quick --rounds 1 --only lock' goes on", complained)
        self.assertEqual(len(self.keys()), 3)
        self.reproduce("--only", "lock")
        self.assertEqual(self.measured, everything[3:])


class Quick(Command):
    def test_says_that_a_rho_may_be_missed(self):
        words = "a ρ may miss the thesis's by chance"
        self.assertIn(words, " ".join(self.reproduce("--help")[1].split()))
        self.reproduce("--only", "lock")
        self.assertIn(words, (self.out / "reproduction.md").read_text())


class Refusals(Command):
    def test_a_page_of_some_benchmarks_does_not_replace_that_of_all(self):
        page_of_all = self.folder / "reproduction.md"
        self.replace(options, "PAGE", page_of_all)
        self.replace(machine, "ROOT", self.folder)
        for words in (("--page",), ("--page", page_of_all), ("--page", self.out / "../reproduction.md")):
            self.refused(2, "--only", "lock", *words, words=("of lock alone over reproduction.md", "--page FILE"))
        self.assertFalse(page_of_all.exists())
        self.assertEqual(self.reproduce("--only", "lock", "--page", self.folder / "lock.md")[0], 0)
        self.assertTrue((self.folder / "lock.md").exists())
        self.assertEqual(self.reproduce("--page", page_of_all)[0], 0)
        self.assertEqual(self.reproduce("--only", ",".join(benchmarks.NAMES), "--page", page_of_all)[0], 0)
        self.assertTrue(page_of_all.exists())

    def test_io_in_memory(self):
        self.replace(machine, "file_system", lambda place: "tmpfs" if place in (self.out, pathlib.Path("/dev/a-disk")) else "ext4")
        self.refused(1, "--only", "io,lock", words=(f"{self.out}: is in memory", "--path", "--only"))
        self.assertEqual(self.measured, [])
        self.assertEqual(self.reproduce("--only", "lock")[0], 0)
        self.assertEqual(self.reproduce("--only", "io", "--path", self.folder)[0], 0)
        self.refused(1, "--only", "io", "--path", "/dev/a-disk", words=("/dev/a-disk: is in memory",))

    def test_a_disk_may_be_named_in_a_folder_that_is_in_memory(self):
        self.replace(machine, "file_system", lambda place: "tmpfs")
        self.replace(pathlib.Path, "is_block_device", lambda path: path.name == "a-disk")
        self.assertEqual(self.reproduce("--only", "io", "--path", "/dev/a-disk")[0], 0)


class Interruptions(Command):
    def test_what_is_ignored_stays_ignored(self):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

        def hung_up(task):
            signal.raise_signal(signal.SIGHUP)
            return made_up(task)

        self.assertEqual(self.reproduce("--only", "lock", measure=hung_up)[0], 0)
        self.assertEqual(signal.getsignal(signal.SIGHUP), signal.SIG_IGN)

    def test_each_that_is_not_ignored_ends_it(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
            self.refused(128 + number, "--only", "lock", "--iterations", number, measure=lambda _, number=number: signal.raise_signal(number),
                         words=("interrupted; what has been measured is kept",))


class Check(Command):
    """0 or, with what is wrong, 1."""

    @staticmethod
    def uncorrelated(task) -> dict:
        result = made_up(task)
        return {**result, "rdam": random.Random(task.group).random()} if re.fullmatch(r"lock \d+ ns", task.group) else result

    @staticmethod
    def with_a_high_control(task) -> dict:
        """At both delays; of the least nothing is demanded."""
        return {**made_up(task), "rdam": 0.06} if task.group.startswith("io one thread ") else made_up(task)

    def test_all_is_as_it_should_be(self):
        self.assertEqual(self.reproduce("--check")[::2], (0, ""))

    def test_a_rho_below_the_thesis_s(self):
        status, said, complained = self.reproduce("--only", "lock", "--check", measure=self.uncorrelated)
        self.assertEqual(status, 1)
        self.assertRegex(complained, r"^tools/reproduce: lock: ρ -?0\.\d{3} is below the thesis's 0\.97\n$")
        self.assertRegex(said, r"(?m)^  lock +17 +0\.97 .* below the thesis's$")

    def test_a_control_that_lost(self):
        status, _, complained = self.reproduce("--only", "io", "--check", measure=self.with_a_high_control)
        self.assertEqual((status, complained), (1, "tools/reproduce: io, one thread: a control with a score of 0.060\n"))

    def test_networks_that_are_not_as_in_table_5_4(self):
        def slow(task) -> dict:
            result = made_up(task)
            if task.group == "network of 100 Mb/s, 2 clients":
                result["client"]["rdam"] = 0.07
            if task.group == "network of 1 Gb/s, 2 clients":
                result["client"]["rdam"], result["server"]["rdam"] = 0.08, 0.2
            if task.group.endswith("1 client"):
                result["client"]["rdam"] = 0.04
            return result

        status, _, complained = self.reproduce("--only", "network", "--check", measure=slow)
        self.assertEqual((status, complained.splitlines()), (1, [
            "tools/reproduce: network: the clients' score over 1 Gb/s is 0.080, not below the 0.070 over 100 Mb/s",
            "tools/reproduce: network, 100 Mb/s: the clients' score of 0.070 is not told from the 0.040 of one alone",
            "tools/reproduce: network, 1 Gb/s: the server's score is 0.200"]))

    def test_without_check_it_is_only_said(self):
        status, _, complained = self.reproduce("--only", "io", measure=self.with_a_high_control)
        self.assertEqual((status, complained), (0, "tools/reproduce: io, one thread: a control with a score of 0.060\n"))


class Delays(Command):
    def test_another_range_with_as_many_points(self):
        given = ("--only", "lock,io", "--delays", "lock=1us..0.1ms", "--delays", "io=250µs..4000us")
        status, said, complained = self.reproduce(*given)
        self.assertEqual(status, 0, complained)
        for sweep, least, greatest in ((LOCK, 1_000, 100_000), (IO, 250_000, 4_000_000)):
            swept = sorted(int(found[1]) for found in (re.fullmatch(rf"{sweep.name} (\d+) ns", group) for group in self.measured) if found)
            self.assertEqual((len(swept), swept[0], swept[-1]), (len(sweep.delays_ns), least, greatest))
        self.assertIn("\n  1.00 µs ", said)
        written = (self.out / "reproduction.md").read_text()
        self.assertIn("--only lock,io --rounds 1 --delays lock=1000ns..100000ns --delays io=250000ns..4000000ns`", written)


class Threads(Command):
    """--threads: of the sweeps in which the thesis has as many as the machine has processors, less one."""

    def threads_of(self) -> dict[str, set[int]]:
        """By group, of everything that was measured."""
        found: dict[str, set[int]] = {}
        entries = [json.loads(line) for line in (self.out / "measurements.jsonl").read_text().splitlines()]
        for settings in (entry["settings"] for entry in entries if "settings" in entry):
            if settings["kind"] in ("score", "cost"):
                alone = "alone" if settings["threads"] == 1 else "together"
                found.setdefault(f"{settings['benchmark']}, {alone}", set()).add(settings["threads"])
        return found

    def test_of_sweeps_controls_and_costs(self):
        status, said, complained = self.reproduce("--only", "lock,spinlock,falsesharing,io,condvar", "--threads", 7)
        self.assertEqual(status, 0, complained)
        found = self.threads_of()
        self.assertEqual({name: found.pop(name) for name in list(found) if name.endswith("alone")},
                         {f"{name}, alone": {1} for name in ("lock", "spinlock", "falsesharing", "io", "condvar")})
        self.assertEqual(found, {"lock, together": {7}, "spinlock, together": {7}, "io, together": {7}, "falsesharing, together": {2},
                                 "condvar, together": {2}})
        self.assertRegex(said, r"POSIX mutex \(lock, figure 5\.1\)\n\n7 threads, ")
        self.assertRegex(said, r"False sharing \(falsesharing, figure 5\.3\)\n\n2 threads, ")
        written = (self.out / "reproduction.md").read_text()
        self.assertIn("--threads 7`", " ".join(written.split()))
        self.assertNotIn("--delays lock", written)

    def test_other_numbers_are_other_measurements(self):
        self.reproduce("--only", "lock")
        usual = len(self.measured)
        self.reproduce("--only", "lock", "--threads", 5)
        self.assertEqual({group for group in self.measured if "one thread" in group or group == "cache line"}, set(), "they are the same")
        self.assertGreater(len(self.measured), len(LOCK.delays_ns))
        self.assertLess(len(self.measured), usual)
        self.reproduce("--only", "lock", "--threads", LOCK.threads)
        self.assertEqual(self.measured, [], "the default, said")

    def test_one_cannot_meet_another(self):
        for threads in (1, 0, -3, "all"):
            self.refused(2, "--threads", threads, words=(f"'{threads}' is not a number of threads", "2 or more"))


class Beside(Command):
    def setUp(self):
        super().setUp()
        self.assertEqual(self.reproduce("--only", "lock,io", "--rounds", 2)[0], 0)
        self.plain, self.packed = self.folder / "first.jsonl", self.folder / "second.jsonl.xz"
        shutil.copy(self.out / "measurements.jsonl", self.plain)
        self.first = Programs(self.build).identity()
        for path in self.programs():
            path.write_text(path.read_text() + "# another build\n")

    def rows(self, written: str) -> dict[str, list[str]]:
        lines = written.partition("\n## Several runs\n")[2].partition("\n## ")[0].splitlines()
        cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("|")]
        return {row[0]: row[1:] for row in cells}

    def test_a_table_of_runs(self):
        self.assertEqual(self.reproduce("--only", "lock,io", measure=Check.uncorrelated)[0], 0)
        self.packed.write_bytes(lzma.compress((self.out / "measurements.jsonl").read_bytes()))
        there = [path.read_bytes() for path in (self.plain, self.packed)]
        status, said, complained = self.reproduce("--only", "lock,io", "--fresh", "--beside", self.plain, "--beside", self.packed,
                                                  measure=Check.with_a_high_control)
        self.assertEqual(status, 0, complained)
        self.assertEqual([path.read_bytes() for path in (self.plain, self.packed)], there)
        rows = self.rows((self.out / "reproduction.md").read_text())
        second = Programs(self.build).identity()
        self.assertEqual(rows[""], ["run 1", "run 2", "this run"])
        self.assertEqual(rows["programs"], [self.first, second, second])
        self.assertRegex(rows["took"][0], r"^\d+ s$")
        lock = rows["lock: ρ; mean varies; rounds that reach the thesis's ρ"]
        self.assertEqual((lock[0], lock[2]), (f"1.000; {varied(LOCK)}; 2 of 2", f"1.000; {varied(LOCK)}; 1 of 1"))
        self.assertRegex(lock[1], rf"^-?0\.\d{{3}}; {varied(LOCK)}; 0 of 1$")
        controls = len(LOCK.controls) + len(IO.controls)
        low = f"0.010 of {controls}: lock, {LOCK.controls[0].name}"
        self.assertEqual(rows["highest control at the middle delay"], [low, low, f"0.060 of {controls}: io, one thread"])
        self.assertEqual(rows["highest control at the least delay"], [low, low, f"0.060 of {controls}: io, one thread"])
        self.assertEqual(rows["cost of recording, lock, least delay"], ["1.075", "1.050", "1.050"])
        self.assertRegex(said, rf"(?m)^Several runs\n\n(  .*\n)*  programs +{self.first} +{second} +{second}$")

    def test_what_a_run_did_not_measure_with_these_settings_is_left_open(self):
        self.assertEqual(self.reproduce("--only", "lock,spinlock,io", "--delays", "lock=1us..9us", "--beside", self.plain)[0], 0)
        rows = self.rows((self.out / "reproduction.md").read_text())
        rest = ": ρ; mean varies; rounds that reach the thesis's ρ"
        self.assertEqual([rows[name + rest][0] for name in ("lock", "spinlock", "io")], ["—", "—", f"1.000; {varied(IO)}; 2 of 2"])
        self.assertEqual(rows["cost of recording, spinlock, least delay"], ["—", "1.050"])

    def test_of_an_interrupted_run_the_rounds_that_are_whole(self):
        lines = list(map(json.loads, self.plain.read_text().splitlines()))
        of_second = [line for line in lines if line.get("settings", {}).get("round") == 1]
        for line in of_second:
            line["result"]["rdam"] = 0.5  # were it counted, ρ would be another one
        kept = lines[:lines.index(of_second[len(of_second) // 2])]
        self.plain.write_text("".join(json.dumps(line) + "\n" for line in kept) + '{"half a li')
        self.assertEqual(self.reproduce("--only", "lock,io", "--beside", self.plain)[0], 0)
        rows = self.rows((self.out / "reproduction.md").read_text())
        self.assertEqual(rows["lock: ρ; mean varies; rounds that reach the thesis's ρ"], [f"1.000; {varied(LOCK)}; 1 of 1"] * 2)

    def test_of_a_run_that_goes_on(self):
        running = Journal(self.plain)
        self.addCleanup(running.close)
        self.assertEqual(self.reproduce("--only", "lock,io", "--beside", self.plain)[0], 0)

    def test_no_such_journal(self):
        whole = self.plain.read_bytes()
        wrong = json.dumps({"key": "k", "notes": 1, "settings": {"round": 0}, "result": {}}) + "\n"
        for name, contents, words in (("nonsense.jsonl", b"nonsense\n", "not one that was written here"), ("empty.jsonl", b"", "nothing in it"),
                                      ("notes.jsonl", b'{"note": "start"}\n', "nothing in it"), ("wrong.jsonl", wrong.encode(), "is not as"),
                                      ("cut.jsonl.xz", lzma.compress(whole)[:200], "unpacked"), ("not.jsonl.xz", whole, "unpacked"),
                                      ("bytes.jsonl", b"\xff\xfe\n", "not one"), ("deep.jsonl", b"[" * 100_000 + b"\n", "not one")):
            (self.folder / name).write_bytes(contents)
            self.refused(1, "--only", "lock", "--beside", self.folder / name, words=(f"{name}: ", words))
        self.refused(1, "--only", "lock", "--beside", self.folder / "nowhere.jsonl", words=("nowhere.jsonl: No such file", "measurements.jsonl"))
        self.refused(1, "--only", "lock", "--beside", self.folder, words=("directory",))
        self.refused(1, "--only", "lock", "--iterations", 7, "--beside", self.plain, words=("first.jsonl: nothing in it", "settings of this run"))
        self.assertEqual(self.measured, [])


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Progresses(Case):
    def test_one_line_that_is_rewritten_and_goes(self):
        terminal = Terminal()
        with mock.patch("reproduction.session.time.monotonic", side_effect=(100.0, 130.0)):
            progress = Progress(10, 4, terminal)
            progress.starting("lock")
            progress.starting("io")
        progress.close()
        self.assertEqual(terminal.getvalue().split("\r\033[K"), ["", "[5/10] lock", "[6/10] io, 2:30 left", ""])

    def test_nothing_where_there_is_no_terminal(self):
        stream = io.StringIO()
        progress = Progress(2, 0, stream)
        progress.starting("lock")
        progress.close()
        self.assertEqual(stream.getvalue(), "")


class Identity(Command):
    def test_changes_with_each_of_the_programs(self):
        seen = {Programs(self.build).identity()}
        for path in self.programs():
            path.write_text(path.read_text() + f"# {path.name}\n")
            seen.add(Programs(self.build).identity())
        self.assertEqual(len(seen), 5)

    def test_the_agent_must_be_there(self):
        (self.build / "tools/agent/rdam-agent").unlink()
        self.refused(1, words=("rdam-agent", "ninja"))


if __name__ == "__main__":
    unittest.main()
