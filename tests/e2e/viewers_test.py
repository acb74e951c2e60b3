#!/usr/bin/python3
"""rdam export --format: what is JSON, as the viewers' own code takes it: speedscope's schema, and the Firefox Profiler's loader."""

import json
import subprocess
import unittest

from harness import PROGRAMS, TIMEOUT, Case
from pythons import packages, python_with

MODULES = packages() / "npm/node_modules"
SCHEMA = MODULES / "speedscope/dist/release/file-format-schema.json"
PROFILER = MODULES / "@firefox-devtools/profiler-cli/dist/profiler-cli.js"

VALIDATE = r"""
import json, sys
import jsonschema

schema, document = (json.load(open(name, encoding="utf-8")) for name in sys.argv[1:])
validator = jsonschema.validators.validator_for(schema)
validator.check_schema(schema)
for error in validator(schema).iter_errors(document):
    print(error.message[:500])
"""


class Viewers(Case):
    def record(self, program, *arguments, functions="*"):
        done = self.rdam("record", "-o", "trace.bin", "-f", functions, "--", PROGRAMS / program, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def export(self, name, *options) -> dict:
        done = self.rdam("export", "--format", name, *options, "trace.bin", "-o", name, "--overwrite")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return json.loads((self.folder / name).read_text())

    def validate(self, document: dict) -> list[str]:
        python = python_with("jsonschema")
        if python is None or not SCHEMA.exists():
            self.skipTest("there is no jsonschema or no package speedscope from npm (tools/setup installs both)")
        (self.folder / "document").write_text(json.dumps(document))
        done = self.run_in_folder(python, "-c", VALIDATE, SCHEMA, "document")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode().splitlines()

    def profiler(self, *words) -> str:
        done = self.run_in_folder(packages() / "bin/node", PROFILER, *words, env=self.environment)
        self.assertEqual(done.returncode, 0, (words, done.stdout.decode(), done.stderr.decode()))
        return done.stdout.decode()

    def load(self, name):
        """A process that stays until it is stopped loads the file as the viewer does."""
        if not PROFILER.exists() or not (packages() / "bin/node").exists():
            self.skipTest("there is no package @firefox-devtools/profiler-cli from npm (tools/setup installs it)")
        self.environment = {"PROFILER_CLI_SESSION_DIR": str(self.folder / "sessions"), "PROFILER_CLI_NO_SYMBOLICATE": "1"}
        self.profiler("load", name)
        self.addCleanup(self.profiler, "stop")

    def ask(self, *words) -> dict:
        return json.loads(self.profiler(*words, "--json"))

    def threads(self) -> dict[str, str]:
        """Handles of the profiler, with the thread's names."""
        found = self.ask("profile", "info", "--all")
        return {each["threadHandle"]: each["name"] for process in found["processes"] for each in process["threads"]}

    def test_speedscope(self):
        for program, arguments in (("orders", ("700",)), ("hostile_names", ())):
            with self.subTest(program):
                self.record(program, *arguments)
                document = self.export("speedscope")
                self.assertEqual(self.validate(document), [])
                document["profiles"][0]["unit"] = "parsecs"
                self.assertNotEqual(self.validate(document), [])

    def test_firefox(self):
        self.record("orders", "700", functions="serve,parse,store")
        profile = self.export("firefox", "--weight", "time")
        self.load("firefox")
        handles = self.threads()
        self.assertEqual(len(handles), len(profile["threads"]))
        for index, thread in enumerate(profile["threads"]):
            handle = f"t-{index}"
            self.assertEqual(handles[handle], thread["name"])
            tree = self.ask("thread", "samples-top-down", "--thread", handle)["regularCallTree"]
            self.assertAlmostEqual(tree["totalSamples"], sum(thread["samples"]["weight"]), delta=1e-6)
            self.assertLessEqual({each["name"] for each in tree["children"]}, {"serve", "parse", "store"})
            markers = self.ask("thread", "markers", "--thread", handle)
            self.assertEqual(markers["totalMarkerCount"], thread["markers"]["length"])

    def test_names_in_firefox(self):
        self.record("hostile_names")
        self.export("firefox", "--weight", "calls")
        self.load("firefox")
        handles = {name: handle for handle, name in self.threads().items()}
        self.assertEqual(set(handles), {"hostile_names", "<b>&\"'</b>", "=1+1,;"})
        tree = self.profiler("thread", "samples-top-down", "--thread", handles["=1+1,;"])
        for name in ("</script><img src=x onerror=alert(1)>", "__proto__", "=a;b,c d'e", "x\\u{202e}y"):
            self.assertIn(name, tree)

    def test_a_budget_in_firefox(self):
        self.record("orders", "20000", functions="serve,parse,store")
        profile = self.export("firefox", "--budget", "1000")
        self.load("firefox")
        markers = self.profiler("thread", "markers", "--thread", "t-0", "--list", "--limit", "0")
        self.assertRegex(markers, r"other calls .* \d+ calls, most time in (serve|parse|store)")
        self.assertRegex(markers, r"serve .* id=")
        self.assertEqual(len(self.threads()), len(profile["threads"]))

    def test_json(self):
        """The same viewer reads Chrome's trace events."""
        for program, arguments in (("orders", ("700",)), ("hostile_names", ())):
            with self.subTest(program):
                self.record(program, *arguments)
                events = self.export("json")["traceEvents"]
                self.load("json")
                named = {event["args"]["name"] for event in events if event.get("name") == "thread_name"}
                handles = self.threads()
                self.assertEqual(set(handles.values()), named)
                calls = sum(self.ask("thread", "markers", "--thread", handle)["totalMarkerCount"] for handle in handles)
                self.assertEqual(calls, sum(event["ph"] == "X" for event in events))
                self.profiler("stop")
                self.doCleanups()

    def test_what_is_no_profile(self):
        (self.folder / "firefox").write_text('{"meta": {"preprocessedProfileVersion": 61}, "threads": 1}')
        if not PROFILER.exists():
            self.skipTest("there is no package @firefox-devtools/profiler-cli from npm (tools/setup installs it)")
        with self.assertRaises(AssertionError):
            self.load("firefox")


if __name__ == "__main__":
    unittest.main()
