#!/usr/bin/python3
"""What rdam hot lists, rdam record wraps, by whatever name compilers and linkers give it; and debug information in all its forms."""

import json
import os
import pathlib
import re
import shutil
import struct
import unittest

from harness import Case

SOURCES = pathlib.Path(os.environ["SOURCE_ROOT"]) / "tests/e2e/programs"


class Built(Case):
    def build(self, compiler: str, source: str, *options: str, output="program"):
        self.need(compiler)
        built = self.run_in_folder(compiler, "-O2", "-g", *options, "-o", output, SOURCES / source)
        if built.returncode != 0:
            self.skipTest(f"{compiler} {' '.join(options)} does not work here: {built.stderr.decode().strip()[-200:]}")

    def sample(self, *command, options=("-o", "perf.data")):
        self.need("perf")
        sampled = self.run_in_folder("perf", "record", "-q", "-e", "cpu-clock", "-F", "1999", *options, "--", *command)
        if sampled.returncode != 0:
            self.skipTest("perf cannot sample here: " + sampled.stderr.decode().strip()[-200:])

    def hot(self, *options, nothing_left=False) -> str:
        """`nothing_left`: whatever is hot may have been left out, which is an error."""
        done = self.rdam("hot", "--no-waits", *options)
        self.assertIn(done.returncode, (0, 1) if nothing_left else (0,), done.stderr.decode())
        (self.folder / "hot.txt").write_bytes(done.stdout)
        self.said_by_hot = done.stderr.decode()
        return done.stdout.decode()

    def record(self, functions: str, *command, verbose=False) -> str:
        done = self.rdam("record", *(["-v"] if verbose else []), "--all-calls", "-f", functions, "--", *command)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.printed = done.stdout.decode()
        return done.stderr.decode()


class Names(Built):
    def coroutine(self, compiler: str, body: str, readable: str, more: int):
        """`more`: calls of the body that begin or end a coroutine."""
        self.build(compiler, "coroutine.cpp", "-std=c++20")
        self.sample("./program", "200")
        listed = self.hot("perf.data")
        self.assertRegex(listed, rf"(?m)^~?program:{re.escape(body)}  # \d+\.\d %, {re.escape(readable)}")
        for functions in ("hot.txt", "worker"):
            self.record(functions, "./program", "200")
            name = re.sub(r"\(.*\)", "", readable)
            self.assertEqual(self.counts()[name], int(self.printed) + more, functions)

    def test_the_body_of_a_coroutine_by_gcc(self):
        self.coroutine("g++", "_Z6workerPZ6workeriE16_Z6workeri.Frame.actor", "worker(int) [clone .actor]", more=5)

    def test_the_body_of_a_coroutine_by_clang(self):
        self.coroutine("clang++", "_Z6workeri.resume", "worker(int) [clone .resume]", more=0)

    def test_a_function_in_c_beside_one_in_cplusplus(self):
        self.build("g++", "namesakes.cpp", "-fno-ipa-icf")
        self.sample("./program", "300")
        self.assertRegex(self.hot("--min-percent", "20", "perf.data"), r"(?m)^~?program:_Z3funi  # \d+\.\d %, fun\(int\)")
        self.record("hot.txt", "./program", "300")
        self.assertEqual(self.counts(), {"fun": 300})
        self.record("fun", "./program", "300")
        self.assertEqual(self.counts(), {"fun": 1, "fun(int)": 300})

    def test_functions_that_a_linker_has_folded(self):
        self.need("ld.lld")
        self.build("clang++", "namesakes.cpp", "-ffunction-sections", "-fuse-ld=lld", "-Wl,--icf=all")
        said = self.record("get_b", "./program", "300")
        self.assertIn("rdam: 'get_b': wrapped program:get_b: get_a is the same code: calls of both are in one row\n", said)
        self.assertEqual(self.counts(), {"get_b (also get_a)": 600})

    def test_bodies_behind_checked_calls(self):
        self.need("ld.lld")
        self.build("clang", "checked_calls.c", "-flto", "-fvisibility=hidden", "-fsanitize=cfi", "-fuse-ld=lld")
        said = self.record("twice,outer", "./program", "3000")
        self.assertNotIn("skipped", said)
        self.assertEqual(self.counts(), {"twice.cfi": 3000, "outer.cfi": 1500})

    def test_modules_by_a_pattern(self):
        self.build("gcc", "checked_calls.c")
        self.record("prog*:leaf,libc.so*:printf", "./program", "1000")
        self.assertEqual(self.counts(), {"leaf": 2000, "printf": 1})

    def test_names_of_d(self):
        self.need("gdc")
        (self.folder / "d.d").write_text("module d; import core.stdc.stdio;\n"
                                         "pragma(inline, false) long churn(long n) { long r; foreach (i; 0 .. n) r = r * 3 + i; return r; }\n"
                                         "void main() { long s; foreach (i; 0 .. 700) s += churn(i); printf(\"%ld\\n\", s); }\n")
        built = self.run_in_folder("gdc", "-O1", "d.d", "-o", "program")
        self.assertEqual(built.returncode, 0, built.stderr.decode())
        for functions in ("d.churn", "_D1d5churnFlZl", "d.churn(long)"):
            self.record(functions, "./program")
            self.assertEqual(self.counts(), {"d.churn": 700}, functions)

    def test_names_of_ocaml(self):
        self.need("ocamlopt")
        (self.folder / "ex.ml").write_text("let rec fib n = if n < 2 then n else fib (n-1) + fib (n-2)\n"
                                           "let () = Printf.printf \"%d\\n\" (fib 38)\n")
        built = self.run_in_folder("ocamlopt", "-inline", "0", "ex.ml", "-o", "program")
        self.assertEqual(built.returncode, 0, built.stderr.decode())
        self.sample("./program")
        self.hot("perf.data", nothing_left=True)
        # rdam record would refuse it (languages_test.py), so it is left out under its linkage name; both names lead to it.
        left_out = re.search(r"rdam hot: left out: program:(camlEx(?:__|\.)fib_\d+) ", self.said_by_hot)
        self.assertIsNotNone(left_out, self.said_by_hot)
        for name in (left_out[1], re.sub(r"^camlEx(__|\.)", "Ex.", left_out[1])):
            said = self.rdam("record", "-v", "-f", name, "--", "./program").stderr.decode()
            self.assertIn("OCaml", said)
            self.assertNotIn("not found", said)


class Profiles(Built):
    def test_one_process_of_several(self):
        self.build("gcc", "checked_calls.c")
        shutil.copy(self.folder / "program", self.folder / "other")
        self.sample("sh", "-c", "./program 2000000 & ./other 2000000; wait")
        listed = self.hot("--process", "other", "perf.data")
        self.assertRegex(listed, r"(?m)^~?other:leaf  # [1-9]\d")
        self.assertNotIn("program:", listed)
        done = self.rdam("hot", "--process", "nobody", "perf.data")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), r"perf.data: has no sample of a process nobody; it has those of \w+ \(\d+ samples?\)")

    def test_the_text_of_perf_script(self):
        self.build("gcc", "checked_calls.c")
        self.sample("./program", "3000000")
        for fields in ((), ("-F", "comm,pid,event,ip,sym,dso"), ("-F", "event,ip,sym,symoff,dso")):
            text = self.run_in_folder("perf", "script", *fields, "-i", "perf.data").stdout
            (self.folder / "script.txt").write_bytes(text)
            share = re.compile(r"(?m)^~?program:leaf  # (\d+\.\d) %")
            self.assertEqual(share.search(self.hot("script.txt"))[1], share.search(self.hot("perf.data"))[1], fields)

    def test_a_folder_of_several_files(self):
        self.build("gcc", "checked_calls.c")
        self.sample("./program", "3000000", options=("--threads", "-o", "perf.folder"))
        self.assertTrue((self.folder / "perf.folder").is_dir())
        self.assertRegex(self.hot("perf.folder"), r"(?m)^~?program:leaf  # [5-9]\d")


class DebugInformation(Built):
    def parameters(self) -> set[str]:
        done = self.rdam("export", "--columns", "columns", "--overwrite", "trace.bin")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        functions = json.loads((self.folder / "columns/columns.json").read_text())["functions"]
        many = next(f for f in functions if f["name"] == "many")
        return {column["name"] for column in many["values"]["columns"]}

    def check_described(self):
        plain = self.run_in_folder("./program", "50").stdout.decode()
        said = self.record("many", "./program", "50", verbose=True)
        self.assertEqual(self.printed, plain)
        self.assertEqual(self.counts(), {"many": 50})
        return said

    def test_split(self):
        self.build("gcc", "described.c", "-gsplit-dwarf")
        self.assertNotIn("no parameters", self.check_described())
        self.assertGreaterEqual(self.parameters(), {"fd", "b", "name", "h"})
        packed = shutil.which("dwp") is not None and self.run_in_folder("dwp", "-e", "program", "-o", "program.dwp").returncode == 0
        for path in self.folder.glob("*.dwo"):
            path.unlink()
        if packed:
            # Not every libdw reads it.
            said = self.check_described()
            self.assertTrue("no parameters" not in said or "program.dwp, which libdw before 0.191 cannot read" in said, said)
            (self.folder / "program.dwp").unlink()
        self.assertRegex(self.check_described(), r"'many': wrapped program:many: no parameters: "
                                                 r"its debug information is in \S*\.dwo, which cannot be read")

    def test_compressed_by_zstd(self):
        self.need("objcopy")
        self.build("gcc", "described.c")
        if self.run_in_folder("objcopy", "--compress-debug-sections=zstd", "program").returncode != 0:
            self.skipTest("objcopy does not compress with zstd")
        self.assertNotIn("no parameters", self.check_described())
        self.assertGreaterEqual(self.parameters(), {"fd", "b", "name", "h"})

    def test_without_types(self):
        self.build("gcc", "described.c", "-g1")
        self.assertIn("'many': wrapped program:many: no parameters: the debug information has no parameters (-g1)\n", self.check_described())

    def test_without_section_headers(self):
        (self.folder / "main.c").write_text("long listed(long); int main(void) { long s = 0; "
                                            "for (long i = 0; i < 400000; i++) s += listed(i); return s == 1; }\n")
        (self.folder / "listed.c").write_text("long listed(long x) { for (int i = 0; i < 200; i++) x = x * 3 + i; return x; }\n")
        for command in ("gcc -O1 -shared -fPIC listed.c -o liblisted.so", "gcc -O1 main.c -o program -L. -llisted -Wl,-rpath,."):
            built = self.run_in_folder(*command.split())
            self.assertEqual(built.returncode, 0, built.stderr.decode())
        library = bytearray((self.folder / "liblisted.so").read_bytes())
        begin, = struct.unpack_from("<Q", library, 0x28)
        struct.pack_into("<Q", library, 0x28, 0)
        struct.pack_into("<HH", library, 0x3c, 0, 0)
        (self.folder / "liblisted.so").write_bytes(library[:begin])
        self.record("liblisted.so:listed", "./program")
        self.assertEqual(self.counts(), {"listed": 400000})
        self.sample("./program")
        self.assertRegex(self.hot("perf.data"), r"(?m)^~?liblisted\.so:listed  # [5-9]\d")

    def test_small_tables_of_symbols(self):
        self.need("objcopy", "xz", "nm")
        self.build("gcc", "checked_calls.c", "-fno-ipa-ra")
        for command in ("objcopy --only-keep-debug program debug", "objcopy -S --remove-section .comment debug mini --keep-symbol=leaf",
                        "strip program", "xz -k mini", "objcopy --add-section .gnu_debugdata=mini.xz program"):
            done = self.run_in_folder(*command.split())
            self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.record("leaf", "./program", "1000")
        self.assertEqual(self.counts(), {"leaf": 2000})
        self.sample("./program", "3000000")
        self.assertRegex(self.hot("perf.data"), r"(?m)^~?program:leaf  # [5-9]\d")


if __name__ == "__main__":
    unittest.main()
