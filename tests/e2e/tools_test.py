#!/usr/bin/python3
"""The scripts that set up, build and check: what they ask for and what they leave out."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

SOURCE_ROOT = pathlib.Path(os.environ["SOURCE_ROOT"])
TOOLS = SOURCE_ROOT / "tools"
sys.path.insert(0, str(TOOLS / "testing"))
import run  # noqa: E402  # it lies in the folder that the line above names


class Folder(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="rdam-test-")
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    def program(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)


class Setup(Folder):
    """dpkg-query and apt-cache are the test's own: a machine with these packages and those sources."""

    def run_setup(self, *words: str, installed=(), known=()) -> subprocess.CompletedProcess:
        lines = "".join(f"installed {name}\\n" for name in installed)
        self.program("bin/dpkg-query", f"#!/bin/sh\nprintf '{lines}'\n")
        self.program("bin/apt-cache", f'#!/bin/sh\nfor last; do :; done\ncase " {" ".join(known)} " in *" $last "*) ;; *) exit 100 ;; esac\n')
        env = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        return subprocess.run([str(TOOLS / "setup"), *words], env=env, capture_output=True, text=True, check=False)

    def missing(self, *words: str, **machine) -> list[str]:
        done = self.run_setup("--list", *words, **machine)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_who_only_builds_needs_less_than_who_runs_the_demo_and_who_tests_most(self):
        build, demo, test = (set(self.missing(purpose)) for purpose in ("build", "demo", "test"))
        self.assertLess(build, demo)
        self.assertLess(demo, test)
        self.assertEqual(set(self.missing()), test)
        self.assertIn("meson", build)
        self.assertNotIn("catch2", demo)
        self.assertEqual(demo - build, {"linux-perf", "sysbench"})

    def test_what_is_installed_is_not_missing(self):
        self.assertNotIn("meson", self.missing("build", installed=["meson"]))

    def test_no_package_is_on_two_lists(self):
        lines = [line for name in ("build", "demo", "test")
                 for line in (TOOLS / f"packages/{name}.txt").read_text().splitlines() if not line.startswith("#")]
        self.assertEqual(len(lines), len(set(lines)))

    def test_of_several_packages_that_will_do_one_is_enough(self):
        old, new = "libpython3.11-testsuite", "libpython3.13-testsuite"
        for name in (old, new):
            self.assertFalse({old, new} & set(self.missing(installed=[name], known=[old, new])))

    def test_of_several_packages_that_will_do_the_first_that_apt_knows_is_taken(self):
        old, new = "libpython3.11-testsuite", "libpython3.13-testsuite"
        for known, taken in (([old], old), ([old, new], new), ([], new)):
            self.assertEqual({old, new} & set(self.missing(known=known)), {taken})

    def test_an_unknown_purpose_is_refused_in_one_line(self):
        done = self.run_setup("--list", "everything")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "tools/setup: unknown argument 'everything'; usage: tools/setup [--list] [build|demo|test]\n")


class Build(Folder):
    def test_without_tests_neither_their_library_nor_their_programs_are_asked_for(self):
        build = self.folder / "build"
        command = ["meson", "setup", str(build), str(SOURCE_ROOT), "--native-file", str(TOOLS / "quick-build.ini")]
        subprocess.run([*command, "-Dtests=false"], check=True, stdout=subprocess.DEVNULL)

        def told(what: str) -> list[dict]:
            words = ["meson", "introspect", what, str(build)]
            return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)

        self.assertNotIn("catch2", {dependency["name"] for dependency in told("--dependencies")})
        self.assertEqual(told("--tests"), [])
        names = {target["name"] for target in told("--targets")}
        self.assertIn("rdam-agent", names)
        self.assertFalse(names & {"rdam-microbench", "counts", "fuzz_rules"})

    def test_the_demo_asks_for_such_a_build(self):
        self.assertIn("meson setup build --native-file tools/quick-build.ini -Dtests=false\n", (TOOLS / "demo").read_text())

    def configured(self, build: pathlib.Path, settings: dict[str, str]) -> list[list[str]]:
        """The commands with which tools/test would set `build` up."""
        commands = []
        with mock.patch.object(run, "run", lambda command, **_: commands.append(command) or 0):
            self.assertTrue(run.configure(build, settings))
        return commands

    def test_a_build_directory_that_is_not_there_becomes_a_quick_build(self):
        commands = self.configured(self.folder / "build", {"tests": "true"})
        self.assertEqual(commands, [["meson", "setup", str(self.folder / "build"), "--native-file", str(TOOLS / "quick-build.ini"),
                                     "-Dtests=true"]])

    def test_a_build_directory_that_is_there_stays_what_it_is_but_for_the_settings_that_differ(self):
        build = self.folder / "build"
        (build / "meson-info").mkdir(parents=True)
        (build / "build.ninja").touch()
        options = [{"name": "tests", "value": False}, {"name": "werror", "value": True}, {"name": "unity", "value": "off"}]
        (build / "meson-info/intro-buildoptions.json").write_text(json.dumps(options))
        self.assertEqual(self.configured(build, {"tests": "true", "werror": "true"}),
                         [["meson", "setup", "--reconfigure", str(build), "-Dtests=true"]])

    def small_project(self, text: str):
        (self.folder / "meson.build").write_text("project('small')\n" + text)
        (self.folder / "meson_options.txt").write_text("option('tests', type: 'boolean', value: true)\n")
        return mock.patch.object(run, "ROOT", self.folder)

    def test_the_tests_of_a_build_that_had_none_are_known_at_once(self):
        build = self.folder / "build"
        with self.small_project("if get_option('tests')\n  test('one', find_program('true'))\nendif\n"):
            subprocess.run(["meson", "setup", str(build), "-Dtests=false"], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
            self.assertEqual(run.tests_of(build), [])
            self.assertTrue(run.configure(build, {"tests": "true"}))
            self.assertEqual([test["name"] for test in run.tests_of(build)], ["one"])

    def test_what_only_a_test_needs_is_built(self):
        project = """needed = custom_target('needed', output: 'needed', command: ['touch', '@OUTPUT@'])
test('one', find_program('test'), args: ['-e', meson.current_build_dir() / 'needed'], depends: needed)
"""
        with self.small_project(project):
            counts = run.run_tests(self.folder / "build", {}, {"": []})
        self.assertEqual((counts.passed, counts.failed), (1, 0))

    def test_what_the_demo_has_compiled_is_not_compiled_again(self):
        build = self.folder / "build"
        (build / "meson-info").mkdir(parents=True)
        (build / "build.ninja").touch()
        options = [{"name": "tests", "value": True}, {"name": "werror", "value": False}]
        (build / "meson-info/intro-buildoptions.json").write_text(json.dumps(options))
        self.assertEqual(self.configured(build, {"tests": "true", "werror": "true"}), [])
        new = self.configured(self.folder / "new", {"tests": "true", "werror": "true"})
        self.assertEqual(new[0][-2:], ["-Dtests=true", "-Dwerror=true"])


class OnDebian(Folder):
    def test_a_release_has_to_be_named(self):
        for words, expected in (([], "which release of Debian?"), (["--in"], "--in needs a value"), (["--old", "trixie"], "unknown option '--old'")):
            done = subprocess.run([str(TOOLS / "testing/on-debian"), *words], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(done.stderr.count("\n"), 1)
            self.assertIn(expected, done.stderr)


class Lint(Folder):
    """tools/lint in a small project, which has one mistake that clang-tidy finds."""

    def setUp(self):
        super().setUp()
        for program in ("clang-format", "clang-tidy", "git", "shellcheck"):
            if shutil.which(program) is None:
                self.skipTest(f"{program} is not installed")
        self.program("tools/lint", (TOOLS / "lint").read_text())
        (self.folder / ".clang-tidy").write_text("Checks: '-*,modernize-use-nullptr'\nWarningsAsErrors: '*'\n")
        (self.folder / "meson.build").write_text("project('small', 'cpp')\nexecutable('small', 'one.cpp', 'two.cpp')\n")
        (self.folder / "meson_options.txt").write_text("option('tests', type: 'boolean', value: true)\n")
        (self.folder / "one.cpp").write_text("int main() {\n  return 0;\n}\n")
        (self.folder / "two.cpp").write_text("int *nothing() {\n  return 0;\n}\n")
        for words in (["init", "--quiet"], ["add", "--all"]):
            subprocess.run(["git", *words], cwd=self.folder, check=True)

    def lint(self, *settings: str) -> str:
        """What lint says where build/ has been set up with these settings."""
        if settings:
            subprocess.run(["meson", "setup", "build", *settings], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        done = subprocess.run(["tools/lint"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stdout)
        return done.stdout

    def test_files_that_are_compiled_as_one_are_checked_one_by_one(self):
        self.assertRegex(self.lint("-Dunity=on"), r"two\.cpp:2:\d+: error: use nullptr")
        self.assertFalse((self.folder / "build/lint").exists())

    def test_files_of_tests_that_are_not_built_are_checked_as_well(self):
        self.assertIn("use nullptr", self.lint("-Dtests=false"))
        self.assertFalse((self.folder / "build/lint").exists())

    def test_nothing_needs_to_be_built(self):
        self.assertIn("use nullptr", self.lint())

    def test_a_plain_build_is_used(self):
        self.assertIn("use nullptr", self.lint("-Dunity=off"))
        self.assertFalse((self.folder / "build-lint").exists())


if __name__ == "__main__":
    unittest.main()
