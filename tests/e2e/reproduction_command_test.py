#!/usr/bin/python3
"""The command line of tools/reproduce, with measurements that are made up: what it keeps, refuses and ends with."""

import contextlib
import io
import json
import pathlib
import signal
import unittest
from unittest import mock

from harness import Case
from made_up import made_up

from reproduction import benchmarks, command, machine, network, options, page
from reproduction.journal import Journal
from reproduction.programs import Programs

LOCK = next(one for one in benchmarks.SWEEPS if one.name == "lock")


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
        self.replace(page, "real_trace", lambda *_: None)

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
        lines = map(json.loads, (self.out / "measurements.jsonl").read_text().splitlines())
        return [line["key"] for line in lines if "key" in line]


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

    def test_nobody_is_let_in_while_it_drops(self):
        journal = Journal(self.folder / "measurements.jsonl")
        journal.add_result("a", {}, {"is": 1})
        journal.add_result("b", {}, {"is": 2})
        before = journal.path.open("rb")
        self.addCleanup(before.close)
        journal.forget({"a"})
        self.addCleanup(journal.close)
        with self.assertRaisesRegex(Exception, "another run"):
            Journal(journal.path)
        journal.add_result("c", {}, {"is": 3})
        self.assertEqual([json.loads(line)["key"] for line in journal.path.read_text().splitlines()], ["b", "c"])
        self.assertEqual((journal.result("a"), journal.result("b")), (None, {"is": 2}))
        self.assertEqual([path.name for path in self.folder.glob("measurements*")], ["measurements.jsonl"])

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
