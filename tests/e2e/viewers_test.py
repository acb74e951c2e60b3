#!/usr/bin/python3
"""rdam export --format: what is JSON, as the viewers' own code takes it: speedscope's schema, and the Firefox Profiler's loader."""

import json
import os
import signal
import subprocess
import time
import unittest

from exports import Exports
from harness import TIMEOUT
from packages import packages
from pythons import python_with

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


class Viewers(Exports):
    def exported(self, name, *options) -> dict:
        """As a file, which the viewers load."""
        (self.folder / name).write_bytes(self.export(name, *options))
        return json.loads((self.folder / name).read_text())

    def validate(self, document: dict) -> list[str]:
        python = python_with("jsonschema")
        (self.folder / "document").write_text(json.dumps(document))
        done = self.succeeded(self.run_in_folder(python, "-c", VALIDATE, SCHEMA, "document"))
        return done.stdout.decode().splitlines()

    def run_profiler(self, *words) -> subprocess.CompletedProcess:
        return self.run_in_folder(packages() / "bin/node", PROFILER, *words, env=self.environment)

    def profiler(self, *words) -> str:
        done = self.run_profiler(*words)
        self.assertEqual(done.returncode, 0, (words, done.stdout.decode(), done.stderr.decode()))
        return done.stdout.decode()

    def load(self, name) -> str:
        """A process that stays loads the file as the viewer does, and answers questions. What is wrong with the file, if anything.

        The viewer's own command for this gives the process half a second to start, which is not enough on a busy machine.
        """
        self.environment = {"PROFILER_CLI_SESSION_DIR": str(self.folder / ("sessions of " + name)), "PROFILER_CLI_NO_SYMBOLICATE": "1"}
        running = subprocess.Popen([packages() / "bin/node", PROFILER, "--daemon", self.folder / name, "--session", "one"],
                                   env={**os.environ, **self.environment}, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        self.addCleanup(running.wait, TIMEOUT)
        # `node` may be a script that waits for another process.
        self.addCleanup(os.killpg, running.pid, signal.SIGTERM)
        until = time.monotonic() + TIMEOUT
        while running.poll() is None and time.monotonic() < until:
            done = self.run_profiler("status")
            if done.returncode == 0:
                return ""
            if b"load failed" in done.stderr:
                return done.stderr.decode()
            time.sleep(0.1)
        self.fail(f"the profiler does not answer: {done.stderr.decode()}")

    def ask(self, *words) -> dict:
        return json.loads(self.profiler(*words, "--json"))

    def threads(self) -> dict[str, str]:
        """Handles of the profiler, with the thread's names."""
        found = self.ask("profile", "info", "--all")
        return {each["threadHandle"]: each["name"] for process in found["processes"] for each in process["threads"]}

    def need_profiler(self):
        if not PROFILER.exists() or not (packages() / "bin/node").exists():
            self.skipTest("there is no package @firefox-devtools/profiler-cli from npm (tools/setup installs it)")

    def test_speedscope(self):
        if python_with("jsonschema") is None or not SCHEMA.exists():
            self.skipTest("there is no jsonschema or no package speedscope from npm (tools/setup installs both)")
        for program, arguments in (("orders", ("700",)), ("hostile_names", ())):
            with self.subTest(program):
                self.record(program, *arguments)
                document = self.exported("speedscope")
                self.assertEqual(self.validate(document), [])
                document["profiles"][0]["unit"] = "parsecs"
                self.assertNotEqual(self.validate(document), [])

    def test_firefox(self):
        self.need_profiler()
        self.record("orders", "700", functions="serve,parse,store")
        profile = self.exported("firefox", "--weight", "time")
        self.assertEqual(self.load("firefox"), "")
        handles = self.threads()
        self.assertEqual(len(handles), len(profile["threads"]))
        for index, thread in enumerate(profile["threads"][:3]):
            handle = f"t-{index}"
            self.assertEqual(handles[handle], thread["name"])
            tree = self.ask("thread", "samples-top-down", "--thread", handle)["regularCallTree"]
            self.assertAlmostEqual(tree["totalSamples"], sum(thread["samples"]["weight"]), delta=1e-6)
            self.assertLessEqual({each["name"] for each in tree["children"]}, {"serve", "parse", "store"})
            markers = self.ask("thread", "markers", "--thread", handle)
            self.assertEqual(markers["totalMarkerCount"], thread["markers"]["length"])

    def test_json(self):
        """The same viewer reads Chrome's trace events."""
        self.need_profiler()
        self.record("hostile_names")
        events = self.exported("json")["traceEvents"]
        self.assertEqual(self.load("json"), "")
        handles = self.threads()
        self.assertEqual(set(handles.values()), {event["args"]["name"] for event in events if event.get("name") == "thread_name"})
        markers = sum(self.ask("thread", "markers", "--thread", handle)["totalMarkerCount"] for handle in handles)
        self.assertEqual(markers, sum(event["ph"] == "X" for event in events))

    def test_what_is_no_profile(self):
        self.need_profiler()
        for text in ('{"meta": {"preprocessedProfileVersion": 61}, "threads": 1}', '{"meta": {"preprocessedProfileVersion": 6100}, "threads": []}'):
            (self.folder / str(len(text))).write_text(text)
            self.assertIn("load failed", self.load(str(len(text))))


if __name__ == "__main__":
    unittest.main()
