#!/usr/bin/python3
"""Every option that --help shows is in the manual page and in each completion, and their readers accept the files."""

import pathlib
import re
import subprocess
import sys
import unittest

RDAM = sys.argv[1]
FILES = {pathlib.Path(name).name: pathlib.Path(name) for name in sys.argv[2:]}
COMPLETIONS = {"bash": FILES["rdam"], "zsh": FILES["_rdam"], "fish": FILES["rdam.fish"]}
COMMANDS = [name[len("rdam-"):-len(".1")] for name in FILES if re.fullmatch(r"rdam-\w+\.1", name)]


def output(*command: str) -> str:
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def options_in_help(*command: str) -> set[str]:
    """The names at the start of the option lines: `  -f, --functions LIST   The list`."""
    found = set()
    for line in output(RDAM, *command, "--help").splitlines():
        if match := re.match(r" {2,6}(-[\w-]+(?:, -[\w-]+)*)", line):
            found.update(match[1].split(", "))
    return found


def page_text(page: pathlib.Path) -> str:
    """As a reader sees it."""
    formatted = output("env", "MANWIDTH=200", "LC_ALL=C.UTF-8", "man", "-l", "-Tutf8", "-P", "cat", str(page))
    return re.sub(r"\x1b\[[0-9;]*m|.\x08", "", formatted)


def mentions(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def fish_mentions(command: str, name: str, text: str) -> bool:
    flag = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
    lines = [line for line in text.splitlines() if f"from {command}'" in line]
    return any(re.search(rf" {flag}( |$)", line) for line in lines)


def section(command: str, text: str) -> str:
    """The part of a zsh completion that is about one command."""
    return "\n".join(re.findall(rf"^ {{8}}{command}\)\n(.*?)^ {{12}};;", text, re.MULTILINE | re.DOTALL))


class Generated(unittest.TestCase):
    def test_there_are_commands(self):
        self.assertTrue(COMMANDS)
        listed = output(RDAM, "--help").partition("Commands:")[2]
        self.assertEqual(sorted(re.findall(r"^  (\w+)", listed.partition("Options:")[0], re.MULTILINE)), sorted(COMMANDS))

    def test_every_option_is_everywhere(self):
        for command in COMMANDS:
            names = options_in_help(command)
            self.assertIn("--help", names)
            page = page_text(FILES[f"rdam-{command}.1"]).partition("OPTIONS")[2]
            zsh, fish = (COMPLETIONS[shell].read_text() for shell in ("zsh", "fish"))
            for name in names:
                with self.subTest(command=command, option=name):
                    self.assertTrue(mentions(name, page), "manual page")
                    self.assertTrue(mentions(name, section(command, zsh)), "zsh")
                    self.assertTrue(fish_mentions(command, name, fish), "fish")

    def test_manual_pages_are_well_formed(self):
        for name, path in FILES.items():
            if not name.endswith(".1"):
                continue
            with self.subTest(page=name):
                reader = subprocess.run(["man", "--warnings", "-l", "-Tutf8", path], check=False, text=True,
                                        capture_output=True)
                self.assertEqual((reader.returncode, reader.stderr), (0, ""))
                lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", path], check=False, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                complaints = [line for line in lint.stdout.splitlines() if "missing date" not in line]
                self.assertEqual(complaints, [])
                for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES"):
                    self.assertIn(heading, page_text(path))

    def test_shells_parse_their_completion(self):
        for shell, path in COMPLETIONS.items():
            with self.subTest(shell=shell):
                result = subprocess.run([shell, "-n", path], check=False, text=True, stderr=subprocess.PIPE)
                self.assertEqual((result.returncode, result.stderr), (0, ""))

    def complete_in_bash(self, *words: str) -> set[str]:
        script = (f"source '{COMPLETIONS['bash']}'; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _rdam; "
                  "printf '%s\\n' \"${COMPREPLY[@]}\"")
        return set(output("bash", "-c", script, "bash", *words).split())

    def test_bash_completes(self):
        self.assertEqual(self.complete_in_bash("rdam", ""), set(COMMANDS) | options_in_help())
        for command in COMMANDS:
            self.assertEqual(self.complete_in_bash("rdam", command, "-"), options_in_help(command))
        if "analyze" in COMMANDS:
            self.assertEqual(self.complete_in_bash("rdam", "analyze", "--baseline", ""), {"thread", "process", "minimum", "p1"})
        if "record" in COMMANDS:
            self.assertEqual(self.complete_in_bash("rdam", "record", "ls", "--hel"), set())

    def test_fish_completes(self):
        for command in COMMANDS:
            script = f"source {COMPLETIONS['fish']}; complete -C 'rdam {command} --'"
            offered = {line.split("\t")[0] for line in output("fish", "--no-config", "-c", script).splitlines()}
            self.assertEqual(offered, {name for name in options_in_help(command) if name.startswith("--")})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
