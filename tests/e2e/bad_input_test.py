#!/usr/bin/python3
"""Each bad input gets one clear line and its exit code, and what was recorded stays."""

import gzip
import json
import os
import pathlib
import shutil
import subprocess
import unittest

from harness import PROGRAMS, RDAM, Case


class Traces(Case):
    def test_missing(self):
        self.assert_one_line(self.rdam("analyze", "nothing.bin"), 1, "nothing.bin")

    def test_directory(self):
        self.assert_one_line(self.rdam("analyze", "."), 1)

    def test_empty(self):
        (self.folder / "empty.bin").touch()
        self.assert_one_line(self.rdam("analyze", "empty.bin"), 1, "empty.bin")

    def test_random_bytes(self):
        (self.folder / "random.bin").write_bytes(os.urandom(100_000))
        self.assert_one_line(self.rdam("analyze", "random.bin"), 1, "random.bin")

    def test_file_of_another_program(self):
        self.assert_one_line(self.rdam("analyze", RDAM), 1)

    def test_truncated(self):
        self.rdam("record", "-f", "step,work", "--", PROGRAMS / "counts", "2", "20000")
        whole = (self.folder / "trace.bin").read_bytes()
        (self.folder / "cut.bin").write_bytes(whole[: len(whole) * 2 // 3])
        done = self.succeeded(self.rdam("analyze", "cut.bin"))
        self.assertRegex(done.stdout.decode(), "(?i)note: .*(cut|end|index|incomplete)")
        whole_calls, cut_calls = self.counts("trace.bin")["work"], self.counts("cut.bin").get("work", 0)
        self.assertEqual(whole_calls, 40000)
        self.assertLess(cut_calls, whole_calls)

    def test_usage(self):
        done = self.rdam("analyze", "--no-such-option")
        self.assertEqual(done.returncode, 2)
        self.assert_one_line(self.rdam("analyze", "--top", "-1"), 2, "--top: '-1' is not a whole number from 0 to 1000000000;")
        for period in ("1e3", "1.5", "-1", "5000000000"):
            self.assert_one_line(self.rdam("record", "--stack-period", period, "-f", "work", "--", PROGRAMS / "counts"), 2,
                                 f"--stack-period: '{period}' is not a number of calls like 10000;")


class Foreign(Case):
    """What other tools write here and now, and what rdam itself writes for others, is refused by its name."""

    def refused(self, file: str, *words: str):
        self.assert_one_line(self.rdam("analyze", file), 1, file, *words)

    def written_by(self, *command: str):
        self.need(command[0])
        done = self.run_in_folder(*command)
        if done.returncode != 0:
            self.skipTest(f"{command[0]} does not work here: {(done.stderr.decode().strip().splitlines() or ['?'])[-1]}")
        return done

    def test_strace(self):
        self.written_by("strace", "-f", "-o", "calls", "true")
        self.refused("calls", "strace")
        self.written_by("strace", "-f", "-ttt", "-T", "-o", "timed", "true")
        self.refused("timed", "strace")

    def test_ltrace(self):
        self.written_by("ltrace", "-f", "-o", "calls", PROGRAMS / "counts", "1", "10")
        self.refused("calls", "ltrace", "uftrace")

    def test_valgrind(self):
        for tool, option, word in (("callgrind", "--callgrind-out-file=sums", "--causes"), ("massif", "--massif-out-file=sums", "heap")):
            self.written_by("valgrind", "-q", f"--tool={tool}", option, "true")
            self.refused("sums", word)

    def test_node(self):
        (self.folder / "work.js").write_text("let sum = 0; for (let i = 0; i < 1e7; ++i) sum += i; console.log(sum);")
        self.written_by("node", "--cpu-prof", "--cpu-prof-name=work.cpuprofile", "work.js")
        self.refused("work.cpuprofile", ".cpuprofile", "--trace-event-categories")

    def test_python(self):
        (self.folder / "work.py").write_text("sum(range(10))")
        self.written_by("python3", "-m", "cProfile", "-o", "work.prof", "work.py")
        self.refused("work.prof", "cProfile", "viztracer")

    def test_perfetto(self):
        self.succeeded(self.rdam("record", "-f", "step,work", "--", PROGRAMS / "counts", "2", "20000"), 3)
        for budget in ("1000", "all"):
            self.succeeded(self.rdam("export", "--format", "perfetto", "--budget", budget, "--overwrite", "-o", "big.pftrace"))
            self.refused("big.pftrace", "Perfetto", "traceconv json")
        self.succeeded(self.rdam("export", "--format", "csv", "-o", "calls.csv"))
        self.refused("calls.csv", "a table of calls")
        self.succeeded(self.rdam("export", "--format", "folded", "--weight", "calls", "-o", "paths.txt"))
        self.refused("paths.txt", "flame graph")
        self.succeeded(self.rdam("report", "-o", "page.html"))
        self.refused("page.html", "a page")


class StandardInput(Case):
    def analyze(self, text: bytes, *arguments: str):
        (self.folder / "piped").write_bytes(text)
        with subprocess.Popen(["cat", self.folder / "piped"], stdout=subprocess.PIPE) as pipe:
            return self.rdam("analyze", *arguments, "-", stdin=pipe.stdout)

    def calls(self, done) -> dict[str, int]:
        return {function["name"]: function["occurrences"] for function in json.loads(self.succeeded(done).stdout)["functions"]}

    def test_traces(self):
        self.succeeded(self.rdam("record", "-f", "step,work", "--", PROGRAMS / "counts", "2", "20000"), 3)
        for form in ("json", "paje"):
            self.succeeded(self.rdam("export", "--format", form, "--budget", "all", "-o", form) if form == "json"
                           else self.rdam("export", "--format", form, "-o", form))
        for name in ("trace.bin", "json", "paje"):
            text = (self.folder / name).read_bytes()
            expected = self.calls(self.rdam("analyze", "--json", name))
            self.assertEqual(expected["work"], 40000)
            self.assertEqual(self.calls(self.analyze(text, "--json")), expected)
            if name != "trace.bin":
                self.assertEqual(self.calls(self.analyze(gzip.compress(text), "--json")), expected)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir() if path.suffix == ".rdam"), [])

    def test_refused(self):
        for text, words in ((b"", "standard input is empty"), (b"nothing", "standard input is not an rdam trace"),
                            (b"\x7fELF", "standard input is a program"), (b'{"traceEvents":[{"ph"', "standard input"),
                            (b"# tracer: nop\n", "standard input has no call"), (b"%EventDef", "standard input")):
            done = self.analyze(text)
            self.assert_one_line(done, 1, words)
            self.assertNotIn(b"/proc/", done.stderr)
        self.assert_one_line(self.analyze(b"x" * 100, "-i"), 2, "--interactive", "leave out -")


class Lists(Case):
    def record(self, functions, **options):
        return self.rdam("record", "-f", functions, "--", PROGRAMS / "counts", **options)

    def test_empty_list(self):
        (self.folder / "empty.txt").touch()
        self.assert_one_line(self.record("empty.txt"), 1, "empty.txt")

    def test_nothing_but_comments(self):
        (self.folder / "comments.txt").write_text("# one\n\n   # two\n")
        self.assert_one_line(self.record("comments.txt"), 1, "comments.txt")

    def test_missing_list(self):
        self.assert_one_line(self.record("no/such/list.txt"), 1, "no/such/list.txt")

    def test_no_function_can_be_wrapped(self):
        done = self.record("no_such_function,setjmp")
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn("no_such_function", done.stderr.decode())
        self.assertIn("nothing is recorded", done.stderr.decode())

    def test_no_function_can_be_wrapped_under_plain_preload(self):
        done = self.preload("no_such_function", PROGRAMS / "counts", "1", "10")
        self.assertEqual(done.returncode, 3)
        self.assertNotEqual(done.stdout, b"")
        self.assertEqual(done.stderr.decode().count("nothing is recorded"), 1)

    def test_nearest_names(self):
        done = self.record("wrok,work")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr.decode(), r"'wrok': not found.*counts:work")

    def test_list_from_standard_input(self):
        with open(self.folder / "list", "w", encoding="utf-8") as text:
            text.write("work # the one\n")
        with open(self.folder / "list", "rb") as text:
            done = self.record("-", stdin=text)
        self.assertEqual(done.returncode, 3, done.stderr.decode())
        self.assertEqual(self.counts(), {"work": 1000})


class Programs(Case):
    def record(self, *command):
        return self.rdam("record", "-f", "work", "--", *command)

    def test_none(self):
        self.assertEqual(self.rdam("record", "-f", "work").returncode, 2)

    def test_missing(self):
        self.assert_one_line(self.record("no-such-program"), 1, "no-such-program")
        self.assert_one_line(self.record("./no-such-program"), 1, "no-such-program")

    def test_not_executable(self):
        (self.folder / "data").write_text("data")
        self.assert_one_line(self.record("./data"), 1, "data")

    def compiled(self, name: str, *options: str) -> pathlib.Path:
        self.need("gcc")
        path = self.folder / name
        source = self.folder / "main.c"
        source.write_text("int main(void) { return 0; }\n")
        done = self.run_in_folder("gcc", *options, source, "-o", path)
        if done.returncode != 0:
            self.skipTest(f"gcc cannot make a program with {' '.join(options)}: {done.stderr.decode().splitlines()[0]}")
        return path

    def test_static(self):
        self.assert_one_line(self.record(self.compiled("static", "-static")), 1, "static")

    def test_32_bit(self):
        # The header is what counts, so that no 32-bit compiler is needed.
        path = self.compiled("narrow")
        image = bytearray(path.read_bytes())
        image[4], image[18] = 1, 3
        path.write_bytes(image)
        self.assert_one_line(self.record(path), 1, "32-bit")

    def test_set_user_id(self):
        if os.geteuid() != 0:
            self.skipTest("a program of another user's takes root")
        path = self.compiled("setuid")
        os.chown(path, 65534, 65534)
        os.chmod(path, 0o4755)
        if not os.stat(path).st_mode & 0o4000:
            self.skipTest("this file system keeps no set-user-ID bits")
        self.assert_one_line(self.record(path), 1, "setuid")

    def test_go(self):
        path = self.compiled("go")
        (self.folder / "note").write_bytes(b"\xff Go buildinf:" + bytes(32))
        self.succeeded(self.run_in_folder("objcopy", "--add-section", f".go.buildinfo={self.folder}/note", path))
        self.assert_one_line(self.record(path), 1, "Go")


class Outputs(Case):
    def test_unwritable(self):
        done = self.rdam("record", "-o", "no/such/folder/trace.bin", "-f", "work", "--", PROGRAMS / "counts")
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn("no/such/folder", done.stderr.decode())

    def test_no_escape_sequence_reaches_the_terminal(self):
        name = "evil\x1b]0;owned\x07\x1b[31m\u202e\x9b31m"
        shutil.copy(PROGRAMS / "counts", self.folder / name)
        done = self.succeeded(self.rdam("record", "-v", "-f", "work,no-such", "--", "./" + name, "1", "10", "\x1b[2J"), 3)
        refused = self.rdam("record", "-f", "work,no\x1b[2Jsuch", "--", "./" + name)
        shown = done.stderr + refused.stderr + self.rdam("analyze", "--threads", "--sequences", "--color=never").stdout
        allowed = {"\n", "\t"}
        bad = {c for c in shown.decode() if (ord(c) < 32 and c not in allowed) or 127 <= ord(c) < 160 or c == "\u202e"}
        self.assertEqual(bad, set())


if __name__ == "__main__":
    unittest.main()
