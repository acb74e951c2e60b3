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

from reproduction import benchmarks, command, network, page
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

    def reproduce(self, *options, measure=made_up) -> tuple[int, str, str]:
        """Its status, standard output and error."""

        def noted(task):
            result = measure(task)
            self.measured.append(task.group)
            return result

        self.measured.clear()
        words = ["--build", self.build, "--output", self.out, "--quick", "--rounds", 1, *options]
        with mock.patch.object(command, "measuring", lambda *_: noted), contextlib.redirect_stdout(io.StringIO()) as said, \
                contextlib.redirect_stderr(io.StringIO()) as complained:
            try:
                status = command.main([str(word) for word in words])
            except SystemExit as ended:
                status = ended.code
        return status, said.getvalue(), complained.getvalue()

    def refused(self, status: int, *options_and_words, words=()):
        ended, said, complained = self.reproduce(*options_and_words)
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
