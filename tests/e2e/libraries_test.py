#!/usr/bin/python3
"""Libraries that come and go while the program runs."""

import os
import pathlib
import re
import shutil
import unittest

from harness import PROGRAMS, Case

PLUGIN = PROGRAMS / "libplugin.so"
HUNDRED = PROGRAMS / "libhundred.so"
ROUNDS = 5
# In each round the constructor calls once, the program ten times; each call calls `inner` twice.
CALLS = 11 * ROUNDS


class Libraries(Case):
    def record(self, *arguments, functions="libplugin.so:plugin_work,libplugin.so:inner,malloc", library=PLUGIN):
        return self.unchanged(functions, PROGRAMS / "loads", library, str(ROUNDS), *arguments)

    def total(self, name: str, trace="trace.bin") -> int:
        return sum(f["occurrences"] for f in self.analyze(trace)["functions"] if f["name"] == name)

    def test_loaded_again(self):
        done = self.record()
        self.assertEqual((self.counts()["plugin_work"], self.counts()["inner"]), (CALLS, 2 * CALLS))
        self.assertEqual(done.stderr.decode().count("loaded later"), 1, done.stderr.decode())

    def test_loaded_again_elsewhere(self):
        self.record("elsewhere")
        self.assertEqual((self.counts()["plugin_work"], self.counts()["inner"]), (CALLS, 2 * CALLS))

    def test_other_namespaces(self):
        self.record("namespace")
        self.assertEqual((self.total("plugin_work"), self.total("inner")), (CALLS + 22, 2 * CALLS + 44))

    def test_fork_child_with_a_library_loaded_later(self):
        self.record("fork")
        self.assertEqual(self.total("plugin_work"), CALLS + 11)
        child = next(name for name in self.traces() if name != "trace.bin")
        self.assertEqual((self.total("plugin_work", child), self.total("inner", child)), (30, 60))

    def test_nothing_but_what_comes_later(self):
        done = self.record(functions="libplugin.so:plugin_work")
        self.assertEqual(self.counts(), {"plugin_work": CALLS})
        self.assertIn("rdam: libplugin.so is not loaded yet: 1 entry on the list is looked up when it is\n", done.stderr.decode())
        self.assertNotIn("nothing is recorded", done.stderr.decode())

    def test_a_pattern_for_modules_is_one_for_those_that_come_later(self):
        for pattern in ("*:plugin_work", "libplug*:plugin_work"):
            with self.subTest(pattern):
                done = self.record(functions=pattern)
                self.assertEqual(self.counts(), {"plugin_work": CALLS}, done.stderr.decode())
                self.assertNotIn("vdso", done.stderr.decode())

    def test_name_that_only_a_later_library_has(self):
        self.record(functions="malloc,plugin_work")
        self.assertEqual(self.counts()["plugin_work"], CALLS)
        self.assertNotIn("not recorded", self.rdam("analyze").stdout.decode())

    def test_name_that_a_later_library_does_not_have(self):
        done = self.record(functions="libplugin.so:inner,libplugin.so:plugin_wrok,libc.so.6:getenv")
        said = done.stderr.decode()
        self.assertEqual(said.count("rdam: 'libplugin.so:plugin_wrok': not found"), 1, said)
        self.assertIn("the nearest name is libplugin.so:plugin_work", said)
        self.assertNotIn("'libplugin.so:inner': not found", said)
        self.assertNotIn("'libc.so.6:getenv': not found", said)
        self.assertNotIn("never loaded", said)
        analysis = self.rdam("analyze").stdout.decode()
        self.assertRegex(analysis, r"libplugin.so:plugin_wrok was not recorded: not found.*the nearest name is libplugin.so:plugin_work")

    def test_library_that_never_comes(self):
        done = self.record(functions="libplugin.so:inner,libmissing.so:one,libmissing.so:two")
        self.assertRegex(done.stderr.decode(), r"rdam: process \d+ \(/[^)]*/loads\) never loaded libmissing.so: "
                         "2 entries on the list were not looked up\n")

    def test_relative_path(self):
        os.makedirs(self.folder / "lib")
        shutil.copy(PLUGIN, self.folder / "lib" / "libplugin.so")
        self.record(library="./lib/libplugin.so")
        self.assertEqual(self.counts()["plugin_work"], CALLS)

    def test_indirect_function_of_a_later_library(self):
        # Its resolver may count on relocations that have not been made yet.
        done = self.record(functions="libplugin.so:plugin_chosen,libplugin.so:inner")
        self.assertEqual(self.counts(), {"inner": 2 * CALLS})
        self.assertRegex(done.stderr.decode(), r"skipped libplugin.so:plugin_chosen: its implementation is chosen \(IFUNC\) after "
                         "[^\n]*: list the implementation itself")
        self.record(functions="libplugin.so:chosen_there")
        self.assertEqual(self.counts(), {"chosen_there": CALLS})

    def test_call_stacks_from_a_later_library(self):
        self.record(functions="libplugin.so:inner")
        inner = next(f for f in self.analyze()["functions"] if f["name"] == "inner")
        frames = [" ".join(stack["frames"]) for stack in inner["stacks"]]
        self.assertTrue(any("plugin_work" in text and "main " in text for text in frames), frames)

    def queries(self, *arguments) -> int:
        """Runs `queries` with more libraries than there are numbers for their functions, twice over, and returns how many."""
        header = pathlib.Path(__file__).parents[2] / "libprobe/format/events.h"
        most = int(re.search(r"#define RDAM_MAX_FUNCTIONS (\d+)", header.read_text()).group(1))
        copies = 2 * most // 100 + 20
        done = self.unchanged("query_*.so:fn_*", PROGRAMS / "queries", HUNDRED, str(copies), *arguments)
        self.assertNotIn("skipped", done.stderr.decode())
        return copies

    def assert_calls_of_queries(self, analysis: dict, copies: range, more: dict):
        """All calls of these copies have the right name; there are `more` than each copy's own."""
        found = {(f["module"], f["name"]): f["occurrences"] for f in analysis["functions"]}
        calls = {(f"query_{i}.so", f"fn_{j:02}"): (i + j) % 3 for i in copies for j in range(100)}
        for function, number in more.items():
            calls[function] = calls.get(function, 0) + number
        functions = sorted(set(found) | set(calls))
        wrong = [(f, found.get(f, 0), calls.get(f, 0)) for f in functions if found.get(f, 0) != calls.get(f, 0)]
        self.assertEqual((len(wrong), wrong[:10]), (0, []))

    def test_more_libraries_than_there_are_numbers_for_their_functions(self):
        copies = self.queries()
        analysis = self.analyze()
        self.assert_calls_of_queries(analysis, range(copies), {("query_1.so", "fn_42"): 5, ("query_2.so", "fn_07"): 4})
        # Functions that have got the number of others have call stacks of their own.
        called = [f for f in analysis["functions"] if f["occurrences"] > 0]
        self.assertEqual([f["name"] for f in called if not f["stacks"]], [])

    def test_fork_child_goes_on_with_more_libraries_than_there_are_numbers(self):
        at = 100
        copies = self.queries(str(at))
        self.assert_calls_of_queries(self.analyze(), range(copies), {("query_1.so", "fn_42"): 5, ("query_2.so", "fn_07"): 4})
        child = next(name for name in self.traces() if name != "trace.bin")
        self.assert_calls_of_queries(self.analyze(child), range(at, copies), {("query_1.so", "fn_42"): 5})


class Nameless(Case):
    """Programs and libraries whose file has no name, or has it no longer."""

    def test_a_program_without_a_file(self):
        for way in ("memfd", "deleted"):
            with self.subTest(way):
                self.succeeded(self.rdam("record", "-f", "work", "--", "env", PROGRAMS / "nameless", way, PROGRAMS / "counts", "2", "1000"), 3)
                trace, = self.folder.glob("trace*.bin")
                self.assertEqual(self.counts(trace.name), {"work": 2000})
                trace.unlink()

    def test_a_library_named_by_a_descriptor(self):
        self.succeeded(self.rdam("record", "-f", "*:plugin_work", "--", PROGRAMS / "nameless", "library", PROGRAMS / "libplugin.so"))
        # Its constructor calls once.
        self.assertEqual(self.counts(), {"plugin_work": 11})


if __name__ == "__main__":
    unittest.main()
