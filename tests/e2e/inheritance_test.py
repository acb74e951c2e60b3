#!/usr/bin/python3
"""A fork child is recorded by its parent's plan, under the run's name, whatever became of environment, directory and files."""

import os
import pathlib
import shutil
import subprocess
import unittest

from harness import LIBRDAM, PROGRAMS, TIMEOUT, Case

INHERITS = PROGRAMS / "inherits"
COUNTS = PROGRAMS / "counts"
PLUGIN = PROGRAMS / "libplugin.so"
CHILDREN = 3


class Inherits(Case):
    def work(self, pattern="trace*.bin", function="work") -> list[int]:
        return sorted(self.counts(path.name)[function] for path in self.folder.glob(pattern))

    def check(self, *command, functions="work", extra=(), env=None):
        """With `rdam record` and without."""
        expected = sorted([1, *[100] * CHILDREN, *extra])
        done = self.succeeded(self.rdam("record", "-f", functions, "-o", "run.bin", "--", *command, env=env), 5)
        self.assertEqual(self.work("run*.bin"), expected, done.stderr.decode())
        self.assertEqual(done.stderr.decode().count("run."), len(expected))
        done = self.succeeded(self.run_in_folder(*command, env={"LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": functions, **(env or {})}), 5)
        self.await_agents()
        self.assertEqual(self.work(), expected, done.stderr.decode())
        self.assertNotIn("no wrapped function", done.stderr.decode())


class Environment(Inherits):
    def test_a_title_over_it(self):
        self.check(INHERITS, CHILDREN, "title")

    def test_a_title_over_it_and_no_pointers(self):
        self.check(INHERITS, CHILDREN, "wipe")

    def test_a_child_that_becomes_another_program(self):
        # That program is started with the copy of the environment.
        self.check(INHERITS, CHILDREN, "title", COUNTS, extra=[10])

    def test_thousands_of_variables(self):
        many = {f"SERVICE_{i:05}_PORT_8080_TCP_ADDR": "10.0.0.1" for i in range(5000)}
        # The agent has what is its own of them only.
        self.check(INHERITS, CHILDREN, "none", env=many)

    def test_perl(self):
        self.need("perl")
        script = ('$0 = "a title as long as daemons have them"; for my $k (1..3) { if (!fork) { $0 = "worker $k"; '
                  'open F, ">", "/dev/null"; syswrite F, "c" for 1..50; exit 0 } wait } exit 5')
        self.succeeded(self.rdam("record", "-f", "write", "-o", "run.bin", "--", "perl", "-e", script), 5)
        self.assertEqual(self.work("run.*.bin", "write"), [50, 50, 50])


class Files(Inherits):
    def start(self, *command, functions="work") -> subprocess.Popen:
        program = subprocess.Popen([str(word) for word in command], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env={**os.environ, "LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": functions})
        self.addCleanup(program.kill)
        self.assertEqual(program.stdout.readline(), b"waiting\n")
        return program

    def finish(self, program: subprocess.Popen) -> str:
        said = program.communicate(b"go\n", timeout=TIMEOUT)[1].decode()
        self.assertEqual(program.returncode, 5, said)
        self.await_agents()
        return said

    def replace(self, name: str, by: pathlib.Path):
        shutil.copy(by, self.folder / "new")
        (self.folder / "new").rename(self.folder / name)

    def test_a_relative_list_after_another_directory(self):
        (self.folder / "hot.txt").write_text("work\n")
        self.check(INHERITS, CHILDREN, "away", functions="hot.txt")

    def test_a_relative_list_for_what_is_executed_elsewhere(self):
        (self.folder / "hot.txt").write_text("work\n")
        self.check(INHERITS, CHILDREN, "away", COUNTS, functions="hot.txt", extra=[10], env={"RDAM_OUTPUT": "trace.bin"})

    def test_a_list_with_another_content(self):
        (self.folder / "hot.txt").write_text("work\n")
        program = self.start(INHERITS, CHILDREN, "wait", functions="hot.txt")
        (self.folder / "hot.txt").write_text("step\n")
        self.assertEqual(self.finish(program), "")
        self.assertEqual(self.work(), [1, 100, 100, 100])

    def test_another_program_in_its_place(self):
        shutil.copy(INHERITS, self.folder / "server")
        program = self.start("./server", CHILDREN, "wait")
        self.replace("server", COUNTS)
        said = self.finish(program)
        self.assertEqual(self.work(), [1, 100, 100, 100])
        # Its unwind tables are not those of the code that runs.
        self.assertEqual(said.count("server was replaced while the program ran"), 1, said)

    def test_no_program_in_its_place(self):
        shutil.copy(INHERITS, self.folder / "server")
        program = self.start("./server", CHILDREN, "wait")
        (self.folder / "server").unlink()
        self.finish(program)
        self.assertEqual(self.work(), [1, 100, 100, 100])

    def test_another_library_that_was_loaded_late(self):
        shutil.copy(PLUGIN, self.folder / "libplugin.so")
        program = self.start(INHERITS, CHILDREN, "load=./libplugin.so", functions="work,libplugin.so:plugin_work")
        self.replace("libplugin.so", PROGRAMS / "libversions.so")
        self.finish(program)
        self.assertEqual(self.work(), [1, 100, 100, 100])
        # Its constructor calls it, too.
        self.assertEqual(self.work(function="plugin_work"), [1, 100, 100, 100])


if __name__ == "__main__":
    unittest.main()
