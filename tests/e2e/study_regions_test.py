#!/usr/bin/python3
"""`rdam study --regions`: parallel regions, and those in which a thread had moved, are counted to the last one."""

import csv
import os
import pathlib
import re
import shlex
import signal
import struct
import unittest

from harness import PROGRAMS, RDAM
from study_test import Studies

SOURCE = pathlib.Path(os.environ["SOURCE_ROOT"]) / "tests/e2e/programs/openmp_regions.c"
VARIATION = pathlib.Path(os.environ["VARIATION"])
COUNTS = ("regions", "moved_regions", "moves")
MAGIC = b"regions1"

LIBRARY = """#include <omp.h>
int sum(int rounds) {
    int sum = 0;
    for (int i = 0; i < rounds; i++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
        sum += omp_get_thread_num();
    }
    return sum;
}
"""
# As compilers before GCC 4.9 made it: the thread itself does the work as well, here in regions inside of others, too.
OLD = """#include <omp.h>
#include <stdbool.h>
void GOMP_parallel_start(void (*)(void*), void*, unsigned);
void GOMP_parallel_sections_start(void (*)(void*), void*, unsigned, unsigned);
void GOMP_parallel_loop_dynamic_start(void (*)(void*), void*, unsigned, long, long, long, long);
void GOMP_parallel_loop_runtime_start(void (*)(void*), void*, unsigned, long, long, long);
bool GOMP_loop_dynamic_next(long*, long*);
bool GOMP_loop_runtime_next(long*, long*);
void GOMP_loop_end_nowait(void);
unsigned GOMP_sections_next(void);
void GOMP_sections_end_nowait(void);
void GOMP_parallel_end(void);
static int sum;
static void add(void* value) { __atomic_fetch_add(&sum, *(int*)value, 0); }
static void begin_others(void* value) {
    GOMP_parallel_start(add, value, 2); add(value); GOMP_parallel_end();
#pragma omp parallel num_threads(2)
    add(value);
}
static void dynamic(void* value) {
    for (long a, b; GOMP_loop_dynamic_next(&a, &b);) for (; a < b; a++) add(value);
    GOMP_loop_end_nowait();
}
static void runtime(void* value) {
    for (long a, b; GOMP_loop_runtime_next(&a, &b);) for (; a < b; a++) add(value);
    GOMP_loop_end_nowait();
}
static void sections(void* value) { while (GOMP_sections_next()) add(value); GOMP_sections_end_nowait(); }
int main(void) {
    int value = 1;
    omp_set_max_active_levels(2);
    for (int i = 0; i < 10; i++) { GOMP_parallel_start(begin_others, &value, 2); begin_others(&value); GOMP_parallel_end(); }
    GOMP_parallel_loop_dynamic_start(dynamic, &value, 2, 0, 100, 1, 1); dynamic(&value); GOMP_parallel_end();
    GOMP_parallel_loop_runtime_start(runtime, &value, 2, 0, 100, 1); runtime(&value); GOMP_parallel_end();
    GOMP_parallel_sections_start(sections, &value, 2, 7); sections(&value); GOMP_parallel_end();
#pragma omp parallel num_threads(2)
    add(&value);
    return sum != 10 * 8 + 200 + 7 + 2;
}
"""
# A tool of the program's own.
TOOL = """#include <stdio.h>
typedef struct { int (*initialize)(void); void (*finalize)(void*); unsigned long long data; } Tool;
static int initialize(void) { fputs("its own tool\\n", stderr); return 1; }
static void finalize(void* data) { }
Tool* ompt_start_tool(unsigned version, const char* runtime) { static Tool tool = {initialize, finalize, 0}; return &tool; }
"""


class Regions(Studies):
    def setUp(self):
        super().setUp()
        self.environment.update({name: "" for name in os.environ if name.startswith(("OMP_", "GOMP_", "KMP_"))})
        # Threads that share a processor, as they do here, would else spin for most of the time.
        self.environment["OMP_WAIT_POLICY"] = "passive"

    def build(self, compiler: str, *words, source=SOURCE, name="program") -> str:
        self.need(compiler)
        built = self.run_in_folder(compiler, "-O1", "-fopenmp", "-w", "-o", name, source, *words)
        if built.returncode != 0:
            self.skipTest(f"{compiler} cannot build a program with OpenMP here: {built.stderr.decode().strip()[-200:]}")
        return f"./{name}"

    def write(self, name: str, text: str) -> pathlib.Path:
        (self.folder / name).write_text(text)
        return self.folder / name

    def two_processors(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("there is one processor: no thread can move")

    def counted(self, *options, **commands) -> dict[str, set[tuple]]:
        """By the setting of each of these commands: what its runs in a new study have counted."""
        (self.folder / "study.jsonl").unlink(missing_ok=True)
        settings = [word for name, command in commands.items() for word in ("--setting", f"{name}={command}")]
        self.good("--runs", "3", "--warmups", "0", "--check", "none", "--regions", *options, *settings)
        found: dict[str, set[tuple]] = {name: set() for name in commands}
        for line in self.lines():
            found[list(commands)[line["setting"]]].add(tuple(line[name] for name in COUNTS))
        return found

    def regions(self, *options, **commands) -> dict[str, set[int]]:
        return {name: {regions for regions, _, _ in counts} for name, counts in self.counted(*options, **commands).items()}

    def run_alone(self, *command, file=MAGIC + bytes(24), **variables) -> tuple[int, str, bytes]:
        """Without a study: exit code, standard error, and the file with the counts."""
        path = self.folder / "counts"
        path.write_bytes(file)
        library = next(pathlib.Path(RDAM).resolve().parents[2].rglob("librdam-regions.so"))
        done = self.run_in_folder(*command, env={**self.environment, "LD_PRELOAD": str(library), "RDAM_REGIONS_FILE": str(path), **variables})
        return done.returncode, done.stderr.decode(), path.read_bytes()


class Counts(Regions):
    def check(self, compiler: str):
        program = self.build(compiler)
        self.assertEqual(self.regions(kinds=f"{program} kinds", teams=f"{program} teams"), {"kinds": {19}, "teams": {4}})

    def check_moves(self, compiler: str):
        self.two_processors()
        program = self.build(compiler)
        ways = {"none": "moves 20 0 0", "one": "moves 20 7 1", "both": "moves 30 9 2", "forks": "forks"}
        self.assertEqual(self.counted(**{name: f"{program} {way}" for name, way in ways.items()}),
                         {"none": {(20, 0, 0)}, "one": {(20, 7, 7)}, "both": {(30, 9, 18)}, "forks": {(5, 1, 1)}})

    def test_each_kind_of_region_is_counted_once_with_libgomp(self):
        self.check("gcc")

    def test_each_kind_of_region_is_counted_once_with_libomp(self):
        self.check("clang")

    def test_threads_that_move_are_counted_with_libgomp(self):
        self.check_moves("gcc")

    def test_threads_that_move_are_counted_with_libomp(self):
        self.check_moves("clang")

    def test_libomp_in_the_place_of_libgomp_is_not_counted_twice(self):
        self.two_processors()
        program = self.build("gcc")
        self.build("clang", "-shared", "-fPIC", source=self.write("sum.c", LIBRARY), name="libsum.so")
        loaded = self.run_in_folder("ldd", "libsum.so").stdout.decode()
        (self.folder / "libgomp.so.1").symlink_to(re.search(r"libomp\S* => (\S+)", loaded)[1])
        there = f"env LD_LIBRARY_PATH={self.folder} {program}"
        self.assertEqual(self.counted(moves=f"{there} moves 30 9 2"), {"moves": {(30, 9, 18)}})
        self.assertEqual(self.regions(kinds=f"{there} kinds"), {"kinds": {19}})

    def test_programs_of_the_studies_have_as_many_regions_as_their_sources_say(self):
        commands = {}
        for suffix in ("", "_libomp"):
            kernel, stream = (VARIATION / f"{name}{suffix}" for name in ("chunk_kernel", "stream"))
            if not kernel.exists():
                print(f"skipped: {kernel} was not built: {'clang or libomp-dev' if suffix else 'OpenMP'} is not installed", flush=True)
                continue
            commands[f"kernel{suffix}"] = f"{kernel} --threads 2 --passes 3 mb_2_100"
            commands[f"stream{suffix}"] = f"{stream} --threads 2 --elements 1000 --repetitions 4"
        if not commands:
            self.skipTest("no program of the studies was built with OpenMP")
        # Both start their threads and fill their arrays; stream has five kernels.
        self.assertEqual(self.regions(**commands), {name: {3 if "kernel" in name else 2 + 4 * 5} for name in commands})

    def test_threads_that_are_pinned_do_not_move(self):
        self.two_processors()
        self.need("lstopo-no-graphics")
        source = self.write("program.c", LIBRARY + "int main(void) { return sum(100) != 100; }")
        commands = {compiler: self.build(compiler, source=source, name=compiler + "-program") for compiler in ("gcc", "clang")}
        self.assertEqual(self.counted("--threads", "2", "--pin", "compact", **commands), dict.fromkeys(commands, {(100, 0, 0)}))

    def test_old_programs_are_counted_too(self):
        program = self.build("gcc", source=self.write("old.c", OLD))
        self.assertEqual(self.regions(old=program), {"old": {14}})

    def test_a_runtime_that_only_a_later_library_sees_is_counted(self):
        for compiler in ("gcc", "clang"):
            self.build(compiler, "-shared", "-fPIC", source=self.write("sum.c", LIBRARY), name=f"{compiler}.so")
        script = "import ctypes; one, other = (ctypes.CDLL(f'./{name}.so').sum for name in ('gcc', 'clang')); assert [one(50), other(7)] == [50, 7]"
        self.assertEqual(self.regions(python=shlex.join(["python3", "-c", script])), {"python": {57}})

    def test_each_process_of_a_run_is_counted_once(self):
        program = self.build("gcc")
        self.assertEqual(self.regions(shell=f"sh -c '{program} kinds; {program} kinds & wait'"), {"shell": {38}})

    def test_what_was_counted_is_there_when_the_process_is_killed(self):
        for compiler in ("gcc", "clang"):
            with self.subTest(compiler):
                program = self.build(compiler, source=self.write("killed.c", LIBRARY + """#include <signal.h>
int main(void) {
    sum(12);
#pragma omp parallel
    raise(SIGKILL);
}
"""))
                code, _, file = self.run_alone(program)
                self.assertEqual((code, struct.unpack("3Q", file[8:])[0]), (-signal.SIGKILL, 13))

    def test_a_file_that_is_none_for_counts_is_left_alone(self):
        program = self.build("gcc")
        for file in (b"", b"notes", MAGIC, b"a longer text than all counts would take"):
            self.assertEqual(self.run_alone(program, "kinds", file=file), (0, "", file))
        self.assertEqual(self.run_alone(program, "kinds", RDAM_REGIONS_FILE="/no/such/file")[:2], (0, ""))
        self.assertEqual(self.run_alone(program, "kinds", RDAM_REGIONS_FILE="/dev/null")[:2], (0, ""))

    def test_the_programs_own_tool_has_precedence(self):
        program = self.build("clang")
        self.run_in_folder("clang", "-shared", "-fPIC", "-w", "-o", "tool.so", self.write("tool.c", TOOL))
        code, said, file = self.run_alone(program, "kinds", OMP_TOOL_LIBRARIES="./tool.so")
        self.assertEqual((code, said, file[8:]), (0, "its own tool\n", bytes(24)))
        linked = self.build("clang", "./tool.so", name="linked")
        self.assertEqual(self.run_alone(linked, "kinds"), (0, "its own tool\n", file))


class Told(Regions):
    def test_how_many_regions_had_moved_threads_is_in_every_output(self):
        self.two_processors()
        program = self.build("gcc")
        self.write("study.toml", f"command = '{program} moves 20 {{moved}} 2'\nruns = 3\nregions = true\ncheck = 'none'\n")
        text = self.good("--config", "study.toml", "--values", "moved=0,5", "--csv", "runs.csv", "--html", "study.html")
        self.assertIn("moved 0: threads moved in 0 of 20 parallel regions (median of its runs).\n"
                      "moved 5: threads moved in 5 of 20 parallel regions (median of its runs).\n", text)
        with (self.folder / "runs.csv").open() as file:
            self.assertEqual({tuple(row[name] for name in ("moved", *COUNTS)) for row in csv.DictReader(file)},
                             {("0", "20", "0", "0"), ("5", "20", "5", "10")})
        page = (self.folder / "study.html").read_text()
        self.assertIn("moved 5: threads moved in 5 of 20 parallel regions", page)
        self.assertIn("<figcaption>Run time against parallel regions in which a thread had moved</figcaption>", page)

    def test_where_no_region_can_be_seen_it_is_said_and_nothing_counted(self):
        settings = {"none": "true"}
        archive = self.run_in_folder("gcc", "-print-file-name=libgomp.a").stdout.decode().strip()
        if os.path.isabs(archive):
            self.build("gcc", "-c", name="program.o")
            for name, words in (("inside", ("program.o", archive, "-pthread", "-ldl")), ("static", ("-static", "program.o", archive, "-pthread"))):
                built = self.run_in_folder("gcc", "-o", name, *words)
                self.assertEqual(built.returncode, 0, built.stderr.decode())
                settings[name] = f"./{name} {'one' if name == 'static' else 'kinds'}"
        else:
            print("skipped: gcc has no libgomp.a, so that no program has a runtime inside", flush=True)
        text = self.good("--runs", "3", "--regions", *(word for name, command in settings.items() for word in ("--setting", f"{name}={command}")))
        for name in settings:
            self.assertRegex(text, f"(?m)^{name}: no parallel region was seen: the program begins none, or has an OpenMP runtime that "
                                   "cannot be observed, ")
        self.assertEqual({tuple(line[name] for name in COUNTS) for line in self.lines()}, {(None, None, None)})
        self.assertNotIn("threads moved in", text)

    def test_without_the_option_nothing_is_preloaded_or_said(self):
        text = self.good("--runs", "3", "--", "sh", "-c", 'test -z "$LD_PRELOAD$RDAM_REGIONS_FILE"')
        self.assertNotIn("region", text)
        self.assertNotIn("regions", self.lines()[0])

    def test_an_emptied_environment_has_the_counters_beside_its_bytes(self):
        program = self.build("gcc")
        self.good("--runs", "3", "--regions", "--env-size", "0,100", "--metric", "bytes=^(\\d+)$", "--", "sh", "-c",
                  f"{program} kinds; wc -c < /proc/self/environ")
        self.assertEqual({line["regions"] for line in self.lines()}, {19})
        sizes: dict[int, set[float]] = {0: set(), 1: set()}
        for line in self.lines():
            sizes[line["setting"]].add(line["metrics"]["bytes"][-1])
        self.assertEqual([len(each) for each in sizes.values()], [1, 1])
        self.assertEqual(max(sizes[1]) - max(sizes[0]), 100)

    def test_recorded_runs_are_counted_as_well(self):
        """And libgomp's functions are recorded once, with the arguments that the program has given."""
        self.two_processors()
        program = self.build("gcc", "-g")
        self.good("--runs", "3", "--check", "none", "--regions", "--record", "go_to,GOMP_parallel", "--", program, "moves", "20", "5", "2")
        self.assertEqual({tuple(line[name] for name in COUNTS) for line in self.lines()}, {(20, 5, 10)})
        recorded = [line["functions"] for line in self.lines() if line["recorded"]]
        self.assertEqual([sorted((each["name"], each["module"], each["calls"]) for each in functions) for functions in recorded],
                         [[("GOMP_parallel", "librdam-regions.so", 20), ("go_to", "program", 11)]] * 3)

    def test_the_users_own_preloads_stay(self):
        program = self.build("gcc")
        plugin = PROGRAMS / "libplugin.so"
        self.assertEqual(self.regions("--env", f"LD_PRELOAD={plugin}", shell=f"sh -c 'grep -q {plugin} /proc/self/maps && {program} kinds'"),
                         {"shell": {19}})


if __name__ == "__main__":
    unittest.main()
