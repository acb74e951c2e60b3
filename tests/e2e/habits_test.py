#!/usr/bin/python3
"""What people type without thinking, and what lies around: nothing is lost, taken for something else or waited for."""

import json
import os
import resource
import shutil
import subprocess
import time
import unittest

from harness import LIBRDAM, PROGRAMS, RDAM, Case


def report(event: str, names: list[str]) -> str:
    """What perf report prints of samples that are spread over these functions of `app`."""
    rows = "".join(f"    30.00%  app      app            [.] {name}\n" for name in names)
    return (f"# Samples: 1K of event '{event}'\n# Event count (approx.): 1000\n#\n"
            "# Overhead  Command  Shared Object  Symbol\n# ........  .......  .............  ..........\n#\n" + rows)


class Lists(Case):
    def test_a_program_of_the_functions_name_is_no_list(self):
        shutil.copy(PROGRAMS / "counts", self.folder / "work")
        done = self.preload("work", "./work", "1", "10")
        self.assertEqual((done.returncode, done.stderr), (3, b""))
        self.assertEqual(self.counts(), {"work": 10})
        self.succeeded(self.rdam("record", "-f", "work", "--", "./work", "1", "10"), 3)
        self.assertEqual(self.counts(), {"work": 10})
        done = self.preload("nothing,wrok", "./work", "1", "10")
        self.assertIn("'wrok': not found", done.stderr.decode())

    def test_what_is_no_list_is_said_with_the_way_to_mean_it(self):
        shutil.copy(PROGRAMS / "counts", self.folder / "wrok")
        said = self.preload("wrok", "./wrok", "1", "10").stderr.decode()
        self.assertRegex(said, r"'wrok': not found: .*; the file wrok is a program, a library or other data, not a list "
                               r"\(\./wrok would mean the file\)")
        # The agent of the run before may still have the usual name.
        self.assert_one_line(self.rdam("record", "-o", "other.bin", "-f", "./wrok", "--", "./wrok"), 1,
                             "./wrok: is a program, a library or other data")

    def test_a_text_file_is_a_list_unless_a_comma_says_otherwise(self):
        (self.folder / "work").write_text("stpe\n")
        said = self.preload("work", PROGRAMS / "counts", "1", "10").stderr.decode()
        self.assertRegex(said, r"'stpe': not found: .*; it is in the file work; 'work,' means the function of that name")
        self.assertEqual(self.preload("work,", PROGRAMS / "counts", "1", "10").stderr, b"")
        self.assertEqual(self.counts(), {"work": 10})

    def test_a_glob_means_the_program_and_with_a_module_the_library(self):
        done = self.succeeded(self.rdam("record", "-v", "-f", "*or?", "--", PROGRAMS / "counts", "1", "10"), 3)
        wrapped = [line for line in done.stderr.decode().splitlines() if line.startswith("rdam: '*or?': wrapped")]
        self.assertEqual(wrapped, ["rdam: '*or?': wrapped counts:work"])
        done = self.rdam("record", "-f", "*sched_yiel?", "--", PROGRAMS / "counts", "1", "10")
        self.assertEqual(done.returncode, 1)
        self.assertIn("counts has no such function; a pattern without a module matches only its own functions: "
                      "for a library's, write module:*sched_yiel?",
                      done.stderr.decode())
        done = self.rdam("record", "-v", "-f", "libc.so.6:*sched_yiel?", "--", PROGRAMS / "counts", "1", "10")
        self.assertRegex(done.stderr.decode(), r"wrapped libc.so.6:\w*sched_yield")

    def record_absent(self, globs: int, *options) -> str:
        (self.folder / "globs.txt").write_text("".join(f"libc.so.6:absent_{i}_*\n" for i in range(globs)) + "work\n")
        done = self.rdam("record", *options, "-f", "globs.txt", "--", PROGRAMS / "counts", "1", "10")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(self.counts(), {"work": 10})
        return done.stderr.decode()

    def test_very_many_globs_come_to_an_end(self):
        said = self.record_absent(100_000)
        self.assertIn("rdam: 100000 entries of the list are not found: libc.so.6 has no such symbol: libc.so.6:absent_0_*, ", said)
        self.assertIn(" and 99,995 more (--verbose prints all)\n", said)

    def test_every_entry_is_answered_for_on_request(self):
        said = self.record_absent(101, "-v")
        self.assertEqual(said.count(": not found: "), 101)
        self.assertNotIn("prints all", said)
        self.assertEqual(self.record_absent(3).count(": not found: "), 3)

    def test_a_list_with_the_name_of_a_function_is_named(self):
        (self.folder / "work").write_text("second\n")
        done = self.rdam("record", "-f", "work", "--", PROGRAMS / "counts", "1", "10")
        self.assertIn("rdam: the list is the file work; 'work,' (with a comma) is a function of that name\n", done.stderr.decode())
        done = self.rdam("record", "-f", "work,", "--", PROGRAMS / "counts", "1", "10")
        self.assertNotIn("read from", done.stderr.decode())
        self.assertEqual(self.counts(), {"work": 10})


class Launchers(Case):
    def test_the_program_behind_a_launcher_answers_for_the_list(self):
        for launcher in (["env"], ["timeout", "60"], ["sh", "-c", '"$@"', "sh"], ["strace", "-o", "log"], ["perf", "stat", "-o", "log"]):
            if shutil.which(launcher[0]) is None:
                continue
            with self.subTest(launcher=launcher[0]):
                done = self.rdam("record", "-f", "wrok", "--", *launcher, PROGRAMS / "counts", "1", "10")
                said = done.stderr.decode()
                self.assertEqual(said.count("'wrok': not found"), 1, said)
                self.assertRegex(said, "none of the functions on the list can be wrapped in .*/counts: nothing is recorded")
                self.assertIn("no trace was written (the run ended with exit code 3)", said)
                self.assertEqual(done.returncode, 1)
                done = self.rdam("record", "-f", "work", "--", *launcher, PROGRAMS / "counts", "1", "10")
                self.assertEqual(self.counts(), {"work": 10}, done.stderr.decode())
                (self.folder / "trace.bin").unlink()

    def test_the_name_of_the_run_is_for_the_program_behind_the_launcher(self):
        command = ["sh", "-c", f"echo first; {PROGRAMS}/counts 1 10", "sh"]
        for record in (lambda: self.rdam("record", "-f", "write,work", "--", *command), lambda: self.preload("write,work", *command)):
            done = record()
            self.assertEqual(done.returncode, 3, done.stderr.decode())
            self.assertEqual(self.counts()["work"], 10, done.stderr.decode())
            shell, = set(self.traces()) - {"trace.bin"}
            self.assertRegex(shell, r"^trace\.\d+\.bin$")
            self.assertGreaterEqual(self.counts(shell)["write"], 1)
            (self.folder / shell).unlink()

    def test_a_launcher_is_not_recorded_alone(self):
        done = self.rdam("record", "--no-children", "-f", "write", "--", "sh", "-c", "echo first")
        self.assertEqual(done.returncode, 1, done.stderr.decode())
        self.assertIn("no trace was written: the recorder is known to have been loaded only into dash, and --no-children does not record launchers\n",
                      done.stderr.decode().replace("bash", "dash"))

    def test_a_launcher_that_starts_nothing_has_the_name_itself(self):
        for said in ("rdam: trace.bin: dash: ", ", replacing the trace of an earlier run"):
            done = self.succeeded(self.rdam("record", "-f", "write", "--", "dash", "-c", "echo first; exec true"))
            self.assertEqual(self.traces(), ["trace.bin"])
            self.assertIn(said, done.stderr.decode())

    def test_a_program_that_does_not_start(self):
        program = shutil.copy(PROGRAMS / "uses_versions", self.folder)  # without the library that it needs
        done = self.rdam("record", "-f", "main", "--", program, env={"LD_LIBRARY_PATH": ""})
        self.assertEqual(done.returncode, 127)
        self.assertTrue(done.stderr.endswith(b"rdam: the program did not start (exit code 127): no trace was written\n"), done.stderr)

    def test_nothing_wrapped_behind_a_launcher_is_a_failure(self):
        for launcher in (["env"], ["sh", "-c", '"$@" || true', "sh"]):
            with self.subTest(launcher=launcher[0]):
                done = self.rdam("record", "-f", "wrok", "--", *launcher, "/bin/true")
                self.assertEqual(done.returncode, 1, done.stderr.decode())
                self.assertRegex(done.stderr.decode(), r"no program of the run that is known to have loaded the recorder "
                                 r"contained a function on the list \(.*\): "
                                                       "no trace was written")
                done = self.rdam("record", "-f", "wrok", "-o", "x-%p.bin", "--", *launcher, "/bin/true")
                self.assertEqual(done.returncode, 1, done.stderr.decode())
        done = self.succeeded(self.rdam("record", "-f", "work", "--", "sh", "-c", f"{PROGRAMS}/counts 1 0 || true"))
        self.assertIn("no wrapped function was called", done.stderr.decode())


class Said(Case):
    """What concerns a run is said once in it."""

    def test_by_many_processes(self):
        counts = f"{PROGRAMS}/counts 1 10"
        command = ("sh", "-c", f"{counts}; {counts}; {counts}; exit 0")
        for said in (self.preload("nix", *command), self.rdam("record", "-f", "nix", "--", *command)):
            text = said.stderr.decode()
            self.assertEqual(text.count("'nix': not found"), 1, text)
            self.assertEqual(text.count("none of the functions on the list"), 1, text)
        again = self.preload("nix", *command)
        self.assertEqual(again.stderr.decode().count("'nix': not found"), 1)
        self.assertEqual(self.rdam("record", "-v", "-f", "nix", "--", *command).stderr.decode().count("'nix': not found"), 4)

    def test_by_programs_that_have_loaded_other_libraries(self):
        said = self.rdam("record", "-f", "nix", "--", "sh", "-c", f"{PROGRAMS}/counts 1 10; {PROGRAMS}/shapes; exit 0").stderr.decode()
        lines = [line for line in said.splitlines() if "'nix': not found" in line]
        self.assertEqual(len({line.partition("; the nearest")[2] for line in lines}), len(lines), said)

    def test_of_many_functions(self):
        options = ("-f", "counts:*", "--", PROGRAMS / "counts", "1", "10")
        few = self.rdam("record", *options).stderr.decode()
        every = self.rdam("record", "-v", *options).stderr.decode()
        self.assertGreater(every.count("'counts:*': skipped "), 2)
        self.assertEqual(few.count("'counts:*': skipped "), 1, few)
        self.assertRegex(few, r"'counts:\*': skipped .*; \d+ more of that name were skipped \(--verbose says which\)\n")

    def test_a_mistyped_variable(self):
        program = f"{PROGRAMS}/counts 1 10"
        for command in ((PROGRAMS / "counts", "1", "10"), ("env", PROGRAMS / "counts", "1", "10"), ("sh", "-c", f"{program}; {program}")):
            said = self.preload("work", *command, RDAM_BUFER="1M").stderr.decode()
            self.assertEqual(said.count("rdam: RDAM_BUFER: unknown variable, the nearest is RDAM_BUFFER; it has no effect\n"), 1, said)

    def test_where_the_trace_of_a_program_goes_that_was_started_elsewhere(self):
        (self.folder / "other").mkdir()
        (self.folder / "list.txt").write_text("sh:*\nwork\n")
        command = ("bash", "-c", f"cd other; exec {PROGRAMS}/counts 1 10")
        said = self.preload("bash:execute_command,counts:work", *command).stderr.decode()
        self.assertIn(f"rdam: the trace goes to {self.folder.resolve()}/other/trace.bin: the program changed to that directory, and "
                      "RDAM_OUTPUT is not an absolute path\n", said)
        said = self.preload("bash:execute_command,counts:work", *command, RDAM_OUTPUT="mine.bin").stderr.decode()
        self.assertNotIn("the trace goes to", said)


class Unmapped(Case):
    def test_a_program_without_the_recorders_memory_ends_as_it_would(self):
        for how in ("away", "over"):
            with self.subTest(how):
                done = self.succeeded(self.rdam("record", "-f", "work", "--", PROGRAMS / "unmaps", how), 5)
                self.assertEqual(done.stderr.decode().count("the program unmapped the recorder's memory, or mapped its own over it"), 1)


class Displaced(Case):
    """Somebody else takes the trace's file away while it is written."""

    def record(self, change, *command):
        with subprocess.Popen([*command, PROGRAMS / "counts", "1", "1000", "stop"], cwd=self.folder, stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, env={**os.environ, **self.variables(command)}) as run:
            for _ in range(500):
                if (self.folder / "trace.bin").exists():
                    break
                time.sleep(0.02)
            change()
            run.terminate()
            said = run.stderr.read().decode()
        return run.returncode, said

    def variables(self, command):
        return {} if command else {"LD_PRELOAD": LIBRDAM, "RDAM_FUNCTIONS": "work"}

    def test_it_is_said(self):
        trace = self.folder / "trace.bin"

        def replace():
            (self.folder / "new").write_text("mine\n")
            (self.folder / "new").rename(trace)

        for change, words in ((trace.unlink, "trace.bin was deleted while it was being written, and is lost"),
                              (replace, "trace.bin was replaced while it was being written, and is lost"),
                              (lambda: trace.rename(self.folder / "moved"), "trace.bin was moved while it was being written")):
            with self.subTest(words):
                status, said = self.record(change, RDAM, "record", "-f", "work", "--")
                self.assertEqual(status, 143, said)
                self.assertEqual(said.count(words), 1, said)
                trace.unlink(missing_ok=True)


class Planted(Case):
    """What somebody else has laid out for us in a folder that everybody may write to."""

    def setUp(self):
        super().setUp()
        self.rdam("record", "-f", "work", "-o", "old.bin", "--", PROGRAMS / "counts", "1", "10")
        (self.folder / "shared").mkdir()
        os.chmod(self.folder / "shared", 0o1777)
        (self.folder / "mine.txt").write_text("mine\n")

    def test_a_lock_that_is_a_file_of_ours_is_not_written(self):
        os.link(self.folder / "mine.txt", self.folder / "shared/.t.bin.lock")
        done = self.rdam("record", "-f", "work", "-o", "shared/t.bin", "--", PROGRAMS / "counts", "1", "10")
        self.assertEqual(self.counts("shared/t.bin"), {"work": 10}, done.stderr.decode())
        self.assertEqual((self.folder / "mine.txt").read_text(), "mine\n")

    def test_a_trace_of_ours_with_another_name_is_not_replaced(self):
        before = (self.folder / "old.bin").read_bytes()
        os.link(self.folder / "old.bin", self.folder / "shared/t.bin")
        done = self.rdam("record", "-f", "work", "-o", "shared/t.bin", "--", PROGRAMS / "counts", "1", "10")
        self.assert_one_line(done, 1, "shared/t.bin: it has another name (a hard link)")
        self.assertEqual((self.folder / "old.bin").read_bytes(), before)

    def test_a_list_and_columns(self):
        if os.geteuid() != 0:
            self.skipTest("only root makes files of others")
        (self.folder / "report.txt").write_text(report("cycles", ["work"]))
        (self.folder / "real").mkdir()
        for name, target in (("list.txt", "mine.txt"), ("columns", "real")):
            os.symlink(self.folder / target, self.folder / "shared" / name)
            os.chown(self.folder / "shared" / name, 12345, 12345, follow_symlinks=False)
        (self.folder / "shared/theirs").mkdir()
        os.chown(self.folder / "shared/theirs", 12345, 12345)
        hot = ("hot", "--no-waits", "report.txt", "--overwrite", "-o", "shared/list.txt")
        self.assert_one_line(self.rdam(*hot), 1, "shared/list.txt: cannot be written: it is another user's symbolic link")
        self.assertEqual((self.folder / "mine.txt").read_text(), "mine\n")
        for name, words in (("columns", "it is another user's symbolic link"), ("theirs", "it belongs to another user")):
            done = self.rdam("export", "old.bin", "--columns", f"shared/{name}")
            self.assert_one_line(done, 1, f"shared/{name}: cannot be written: {words}")
        self.assertEqual(os.listdir(self.folder / "real") + os.listdir(self.folder / "shared/theirs"), [])


class Pipes(Case):
    def test_nobody_writes(self):
        self.rdam("record", "-f", "work", "--", PROGRAMS / "counts", "1", "10")
        os.mkfifo(self.folder / "pipe")
        for command in (("analyze", "--causes", "pipe"), ("analyze", "--rules", "pipe"), ("hot", "pipe")):
            self.assert_one_line(self.rdam(*command), 1, "pipe: is a pipe that nobody writes to")
        self.assert_one_line(self.rdam("record", "-f", "./pipe", "--", PROGRAMS / "counts"), 1, "./pipe: is a pipe, not a list")

    def test_nothing_is_put_in_a_pipes_place(self):
        self.rdam("record", "-f", "work", "--", PROGRAMS / "counts", "1", "10")
        os.mkfifo(self.folder / "p.parquet")
        for options in ((), ("--overwrite",)):
            self.assert_one_line(self.rdam("export", "--columns", "p.parquet", *options), 1, "p.parquet: is not a regular file, and is not replaced")
        self.assertTrue((self.folder / "p.parquet").is_fifo())

    def test_somebody_writes(self):
        self.rdam("record", "-f", "work", "--", PROGRAMS / "counts", "1", "10")
        done = self.succeeded(self.run_in_folder("bash", "-c", f"{RDAM} analyze --rules <(sleep 3; echo 'threshold = 0.5')"))
        self.assertIn("look at scores from 0.50.", done.stdout.decode())


class Names(Case):
    """Names that a terminal obeys reach no output, and no list."""

    def test_json_is_harmless_and_says_the_same(self):
        name = "counts\u202e\u009b31m"
        shutil.copy(PROGRAMS / "counts", self.folder / name)
        self.succeeded(self.rdam("record", "-f", "work", "--", "./" + name, "1", "10"), 3)
        (self.folder / "causes.txt").write_text(report("cache-misses", ["evil\u202ework"]))
        for options in ((), ("--causes", "causes.txt"), ("--diff", "trace.bin")):
            traces = ["trace.bin"]
            if "--diff" in options:
                shutil.copy(self.folder / "trace.bin", self.folder / "other.bin")
                options, traces = ("--diff",), ["trace.bin", "other.bin"]
            done = self.succeeded(self.rdam("analyze", "--json", *options, *traces))
            text = done.stdout.decode()
            self.assertEqual({c for c in text if 0x7f <= ord(c) < 0xa0 or c == "\u202e"}, set())
            self.assertIn(name, json.dumps(json.loads(text), ensure_ascii=False))

    def test_so_is_what_an_export_says_of_itself(self):
        name = "counts\u202e\u009b31m"
        shutil.copy(PROGRAMS / "counts", self.folder / name)
        self.rdam("record", "-f", "work", "--", "./" + name, "1", "10")
        self.assertEqual(self.rdam("export", "--columns", "columns").returncode, 0)
        text = (self.folder / "columns/columns.json").read_text()
        self.assertEqual({c for c in text if 0x7f <= ord(c) < 0xa0 or c == "\u202e"}, set())
        self.assertEqual([f["module"] for f in json.loads(text)["functions"]], [name])

    def test_line_breaks_in_names_that_perf_prints(self):
        shutil.copy(PROGRAMS / "counts", self.folder / "co\nu\x1b[31m\tnts")
        if subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-o", "perf.data", "--", "./co\nu\x1b[31m\tnts", "1", "100000000"],
                          cwd=self.folder, capture_output=True, check=False).returncode != 3:
            self.skipTest("perf cannot record here")
        done = self.succeeded(self.rdam("hot", "--no-waits", "perf.data"))
        self.assertRegex(done.stdout.decode(), r"(?m)^~?work  # ")
        self.assertNotIn(b"\x1b", done.stdout + done.stderr)

    def test_a_list_is_text(self):
        (self.folder / "report.txt").write_bytes(report("cycles", ["w\udcffrk", "wo\u202erk", "größe"]).encode(errors="surrogateescape"))
        done = self.succeeded(self.rdam("hot", "--no-waits", "report.txt"))
        self.assertEqual(done.stdout.decode().splitlines()[1:], ["app:größe  # 30.0 %"])
        self.assertEqual(done.stderr.decode().count("its name cannot be written in a list"), 2)


class CommandLine(Case):
    def test_help(self):
        self.assertEqual(self.rdam("help").stdout, self.rdam("--help").stdout)
        self.assertEqual(self.rdam("help", "analyze").stdout, self.rdam("analyze", "--help").stdout)
        self.assertEqual(self.rdam("help", "record").returncode, 0)
        self.assertEqual(self.rdam("help", "help").stdout, self.rdam("--help").stdout)
        self.assert_one_line(self.rdam("help", "anlyze"), 2, "unknown command 'anlyze'")

    def test_a_mistyped_variable_is_said(self):
        done = self.rdam("record", "-f", "work", "--", PROGRAMS / "counts", "1", "10", env={"RDAM_BUFER": "4M", "RDAM_BUFFER": "8M"})
        self.assertEqual(done.returncode, 3)
        self.assertIn("rdam: RDAM_BUFER: unknown variable, the nearest is RDAM_BUFFER; it has no effect\n", done.stderr.decode())
        self.assertEqual(done.stderr.decode().count("unknown variable"), 1)

    def test_what_cannot_be_recorded_is_refused_before_the_program_starts(self):
        program = ("--", PROGRAMS / "counts", "1", "1")
        done = self.rdam("record", "-f", "work", *program, env={"LD_AUDIT": "/nowhere.so"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("rdam: LD_AUDIT is set", done.stderr.decode().splitlines()[-1])
        self.assertIn("set GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384", done.stderr.decode().splitlines()[-1])
        for names in ("", ",", " , "):
            self.assert_one_line(self.rdam("record", "-f", names, *program), 1, "-f: names no function; give names")

    def test_so_is_one_of_an_export_and_a_value_that_none_takes(self):
        self.rdam("record", "-f", "work", "--", PROGRAMS / "counts", "1", "1")
        done = self.rdam("export", "--columns", "columns", env={"RDAM_PYTHN": "python3"})
        self.assertEqual(done.stderr.decode(), "rdam: RDAM_PYTHN: unknown variable, the nearest is RDAM_PYTHON; it has no effect\n"
                         "rdam: columns: 1 call of 1 sequence\n")
        done = self.rdam("record", "-f", "work", "--", PROGRAMS / "counts", env={"RDAM_ALL_CALLS": "yes"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("rdam: RDAM_ALL_CALLS='yes' is not 0 or 1; the program is not run", done.stderr.decode())
        done = self.rdam("record", "-f", "work", "--", PROGRAMS / "counts", env={"RDAM_AGENT_CPUS": "yes"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("rdam: RDAM_AGENT_CPUS='yes' is not a list of processors like 3 or 0,2-3; the program is not run", done.stderr.decode())

    def test_what_pretends_to_be_python_has_written_nothing(self):
        self.rdam("record", "-f", "work", "--", PROGRAMS / "counts", "1", "1")
        done = self.rdam("export", "--columns", "x.parquet", env={"RDAM_PYTHON": "/bin/true"})
        self.assert_one_line(done, 1, "x.parquet: /bin/true has not written it; name a Python 3 in RDAM_PYTHON")

    def test_a_variable_is_shown_without_what_a_terminal_obeys(self):
        done = self.preload("work", PROGRAMS / "counts", "1", "10", RDAM_BUFFER="\x1b[31m\u202e")
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"RDAM_BUFFER='?[31m???' is not a size of at least 1M", done.stderr)
        done = self.preload("work", PROGRAMS / "counts", "1", "10", RDAM_OUTPUT="no\x1b[31m\u202e/x.bin")
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"/no\\x1b[31m\\u{202e}/x.bin: No such file or directory", done.stderr)

    def test_a_window_behind_the_end(self):
        for trace in ("trace.bin", "other.bin"):
            self.rdam("record", "-o", trace, "-f", "work", "--", PROGRAMS / "counts", "1", "10")
        for traces in (("trace.bin",), ("trace.bin", "other.bin"), ("--diff", "trace.bin", "other.bin")):
            self.assert_one_line(self.rdam("analyze", "--since", "100s", *traces), 1, "--since 100 s: no thread runs that late: the run ends at ")
            self.assert_one_line(self.rdam("analyze", "--until", "0s", *traces), 1,
                                 "--until 0 ns: no thread runs that early: the run begins at 0 ns")
        self.assertEqual(self.rdam("analyze", "--since", "0s", "trace.bin").returncode, 0)
        self.assert_one_line(self.rdam("analyze", "--since", "5ms", "--until", "0.001s", "trace.bin"), 2,
                             "--until: is not later than --since: give a later end")
        for text in ("-1s", "1h", "1e3", "s", "nan", "1 s"):
            self.assert_one_line(self.rdam("analyze", f"--since={text}", "trace.bin"), 2, "--since: ", "is not a time; write 1.5s")

    def test_completions_offer_files_where_files_are_taken(self):
        for shell, file, no_file in (("fish", r"-l {} -r -F ", r"-l {} -x "), ("bash", r" --{}'\]='/'", r" --{}'\]='\?'")):
            text = self.rdam("generate", shell).stdout.decode()
            for option, expected in (("program", file), ("columns", file), ("alone", file), ("causes", file), ("rules", file), ("functions", file),
                                     ("output", file), ("agent-cpus", no_file), ("module", no_file), ("thread", no_file), ("since", no_file)):
                self.assertRegex(text, expected.format(option), (shell, option))

    def test_a_value_that_an_option_does_not_take(self):
        for arguments, said in (
                (("analyze", "--top", "abc"), "--top: 'abc' is not a whole number from 0 to 1000000000"),
                (("analyze", "--top", "1.5"), "--top: '1.5' is not a whole number from 0 to 1000000000"),
                (("analyze", "--top"), "--top: needs a value; give one"),
                (("analyze", "--top", "1", "--top", "2"), "--top: is given more than once; give it once"),
                (("analyze", "--jobs", "-1"), "--jobs: '-1' is not a whole number from 0 to 1024"),
                (("analyze", "--threshold", "nan"), "--threshold: 'nan' is not a number from 0 to 1"),
                (("analyze", "--threshold", "2"), "--threshold: '2' is not a number from 0 to 1"),
                (("analyze", "--color", "blue"), "--color: 'blue' is not one of auto, always, never"),
                (("analyze", "--baseline", "p99"), "--baseline: 'p99' is not thread, process, minimum or a percentile like p1 (p0 to p50)"),
                (("analyze", "--json=foo"), "--json: does not take the value 'foo'; leave it out"),
                (("analyze", "--rules", "a", "--no-rules"), "--rules: cannot be combined with --no-rules; leave one of them out"),
                (("hot", "--min-percent", "x"), "--min-percent: 'x' is not a number from 0 to 100"),
                (("export", "--columns"), "--columns: needs a value; give one"),
                (("record", "--clock", "sun", "--", "true"), "--clock: 'sun' is not one of rdtscp, unfenced, rdtsc, monotonic"),
                (("record", "-f"), "--functions: needs a value; give one")):
            self.assert_one_line(self.rdam(*arguments), 2, f"rdam: {said}; see 'rdam {arguments[0]} --help'")

    def test_a_trace_has_the_name_of_the_option_or_of_the_variable(self):
        record = ("record", "-f", "work")
        program = ("--", PROGRAMS / "counts", "1", "10")
        self.rdam(*record, *program, env={"RDAM_OUTPUT": "mine.bin"})
        self.assertEqual(self.counts("mine.bin"), {"work": 10})
        self.rdam(*record, "-o", "other.bin", *program, env={"RDAM_OUTPUT": "third.bin"})
        self.assertEqual(sorted(path.name for path in self.folder.glob("*.bin")), ["mine.bin", "other.bin"])
        self.assert_one_line(self.rdam(*record, "-o", "", *program), 1, "-o needs the name of a file")

    def test_a_signal_that_the_program_sends_to_its_group(self):
        handled = "trap '' USR1 USR2 ALRM; kill -USR1 0; kill -USR2 0; kill -ALRM 0; exit 7"
        self.succeeded(self.run_in_folder("setsid", "-w", RDAM, "record", "-f", "bash:execute_command", "--", "bash", "-c", handled), 7)

    def test_the_same_trace_twice(self):
        self.rdam("record", "-f", "work", "--", PROGRAMS / "counts", "1", "10")
        done = self.rdam("analyze", "trace.bin", "./trace.bin")
        self.assertEqual((done.returncode, done.stderr), (0, b"rdam: ./trace.bin: is the same file as trace.bin; counted once\n"))
        self.assertEqual(done.stdout, self.rdam("analyze", "trace.bin").stdout)
        done = self.rdam("analyze", "--json", "trace.bin", "trace.bin")
        self.assertEqual((done.returncode, done.stderr), (0, b"rdam: trace.bin: is given more than once; counted once\n"))
        self.assertEqual(done.stdout, self.rdam("analyze", "--json", "trace.bin").stdout)
        os.link(self.folder / "trace.bin", self.folder / "link.bin")
        done = self.rdam("analyze", "trace.bin", "link.bin")
        self.assertEqual((done.returncode, done.stderr), (0, b"rdam: link.bin: is the same file as trace.bin; counted once\n"))
        done = self.rdam("analyze", "--diff", "trace.bin", "./trace.bin")
        self.assertEqual((done.returncode, done.stderr), (0, b"rdam: ./trace.bin: is compared with itself\n"))

    def test_a_copy_is_the_same_trace(self):
        self.rdam("record", "-f", "work", "--", PROGRAMS / "counts", "1", "10")
        shutil.copy(self.folder / "trace.bin", self.folder / "copy.bin")
        done = self.rdam("analyze", "--json", "trace.bin", "copy.bin")
        self.assertEqual((done.returncode, done.stderr), (0, b"rdam: copy.bin: is the same recording as trace.bin; counted once\n"))
        report = json.loads(done.stdout)
        self.assertEqual((report["overall"]["processes"], report["functions"][0]["occurrences"]), (1, 10))
        for option in ("--diff", "--alone"):
            done = self.rdam("analyze", option, "copy.bin", "trace.bin")
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stderr.decode(), r"\Ardam: (copy|trace).bin: is compared with itself\n\Z")
        self.rdam("record", "-o", "other.bin", "-f", "work", "--", PROGRAMS / "counts", "1", "10")
        done = self.rdam("analyze", "--json", "trace.bin", "other.bin")
        self.assertEqual((done.stderr, json.loads(done.stdout)["overall"]["processes"]), (b"", 2))

    def test_what_is_there_is_not_overwritten_unasked(self):
        self.rdam("record", "-f", "work", "--", PROGRAMS / "counts", "1", "10")
        (self.folder / "report.txt").write_text(report("cycles", ["work"]))
        (self.folder / "mine.txt").write_text("mine\n")
        (self.folder / "mine").mkdir()
        (self.folder / "mine/letter").write_text("mine\n")
        hot = ("hot", "--no-waits", "report.txt", "-o", "mine.txt")
        self.assert_one_line(self.rdam(*hot), 1, "mine.txt: exists and is not empty", "--overwrite")
        self.assertEqual((self.folder / "mine.txt").read_text(), "mine\n")
        done = self.rdam(*hot, "--overwrite")
        written = (self.folder / "mine.txt").read_text().splitlines()
        self.assertEqual((done.returncode, written[1:]), (0, ["app:work  # 30.0 %"]), done.stderr.decode())
        self.assert_one_line(self.rdam("export", "--columns", "mine"), 1, "mine: exists and is not empty")
        self.assert_one_line(self.rdam("export", "--columns", "mine", "--overwrite"), 1, "mine: is not a directory of columns, and is not replaced")
        self.assertEqual(os.listdir(self.folder / "mine"), ["letter"])
        self.assertEqual(self.rdam("export", "--columns", "columns").returncode, 0)
        self.assert_one_line(self.rdam("export", "--columns", "columns"), 1, "columns: exists and is not empty")
        self.assertEqual(self.rdam("export", "--columns", "columns", "--overwrite", "--ignore", "work").returncode, 0)
        self.assertEqual(json.loads((self.folder / "columns/columns.json").read_text())["settings"]["ignore"], ["work"])
        self.assertEqual(sorted(os.listdir(self.folder)), ["columns", "mine", "mine.txt", "report.txt", "trace.bin"])

    def test_a_folder_of_columns_with_anything_else_in_it_is_kept(self):
        self.rdam("record", "-f", "work", "--", PROGRAMS / "counts", "1", "10")
        again = ("export", "--columns", "columns", "--overwrite")
        self.assertEqual(self.rdam("export", "--columns", "columns").returncode, 0)
        for stranger in ("letter", "calls/letter.npy", "values/0.99.npy", "mine/letter"):
            with self.subTest(stranger):
                path = self.folder / "columns" / stranger
                path.parent.mkdir(exist_ok=True)
                path.write_text("mine\n")
                self.assert_one_line(self.rdam(*again), 1, f"columns: {stranger.removesuffix('/letter')} does not belong to the export there",
                                     "move it away")
                self.assertEqual(path.read_text(), "mine\n")
                path.unlink()
        (self.folder / "columns/mine").rmdir()
        self.assertEqual(self.rdam(*again).returncode, 0)
        (self.folder / "columns/columns.json").write_text("{}")
        self.assert_one_line(self.rdam(*again), 1, "columns: is not a directory of columns, and is not replaced")

    def test_an_export_that_fails_leaves_the_old_one(self):
        self.rdam("record", "-f", "work", "--", PROGRAMS / "counts", "1", "100")
        self.assertEqual(self.rdam("export", "--columns", "columns").returncode, 0)
        (self.folder / "link").symlink_to("columns")
        before = {path: path.read_bytes() for path in self.folder.rglob("*.*") if path.is_file()}

        def little_room():
            resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))

        for place in ("columns", "link"):
            done = self.rdam("export", "--columns", place, "--overwrite", preexec_fn=little_room)
            self.assert_one_line(done, 1, "File too large")
            self.assertEqual({path: path.read_bytes() for path in self.folder.rglob("*.*") if path.is_file()}, before)
        self.assertEqual(self.rdam("export", "--columns", "link", "--overwrite").returncode, 0)
        self.assertTrue((self.folder / "link").is_symlink())
        self.assertEqual(sorted(os.listdir(self.folder)), ["columns", "link", "trace.bin"])

    def test_a_place_that_cannot_be_written_is_said_before_what_writes(self):
        self.rdam("record", "-f", "work", "--", PROGRAMS / "counts", "1", "10")
        done = self.rdam("export", "--columns", "no/such/calls.parquet", env={"RDAM_PYTHON": "/no/such/python"})
        self.assert_one_line(done, 1, "no/such/calls.parquet: cannot be written")


if __name__ == "__main__":
    unittest.main()
