#!/usr/bin/python3
"""The programs of the studies of run-to-run variation: their results, their JSON, and that compilers leave them their work."""

import json
import math
import os
import pathlib
import re
import tempfile
import unittest

from harness import Case

VARIATION = pathlib.Path(os.environ["VARIATION"])
ROOT = pathlib.Path(os.environ["SOURCE_ROOT"])
KERNEL = ROOT / "microbench/variation/chunk_kernel.c"
RUNTIMES = {"": "libgomp", "_libomp": "libomp"}
STATISTICS = {"mean", "sd", "minimum", "maximum", "cv", "min_over_mean", "max_over_mean"}
CONSTRUCTS = ["parallel", "for", "barrier", "single", "critical", "lock", "ordered", "atomic", "reduction"]
BYTES = {"I8": 1, "I16": 2, "I32": 4, "I64": 8, "I128": 16, "F32": 4, "F64": 8, "F128": 16, "V128": 16, "V256": 32}
LISTING = """#include <stdint.h>
enum { N = 4, M = 8 };
int64_t tab[N * M];
int main(void) {
#pragma omp parallel for
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < PASSES; ++j) {
            for (int k = 0; k < M; ++k)
                tab[i * M + k]++;
            PASS_BARRIER;
        }
    return 0;
}
"""


class Programs(Case):
    def builds(self, name: str) -> list[pathlib.Path]:
        """The program as it was built with each OpenMP; of those that were not, it says so."""
        found = [VARIATION / (name + suffix) for suffix in RUNTIMES]
        for path in found:
            if not path.exists():
                print(f"skipped: {path.name} was not built: the OpenMP it needs is not installed", flush=True)
        found = [path for path in found if path.exists()]
        if not found:
            self.skipTest(f"{name} was built with no OpenMP")
        return found

    def result(self, program: pathlib.Path, *arguments, status: int = 0, **options) -> dict:
        done = self.run_in_folder(program, *arguments, **options)
        self.assertEqual((done.returncode, done.stderr.decode()), (status, ""))
        self.assertEqual(done.stdout.count(b"\n"), 1)
        return json.loads(done.stdout)

    def refused(self, program: pathlib.Path, *arguments, **options) -> str:
        done = self.run_in_folder(program, *arguments, **options)
        text = done.stderr.decode()
        self.assertEqual((done.returncode, done.stdout, text.count("\n")), (2, b"", 1), text)
        return text

    def check_statistics(self, statistics: dict, values: list[float]):
        self.assertEqual(set(statistics), STATISTICS)
        mean = math.fsum(values) / len(values)
        sd = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
        expected = {"mean": mean, "sd": sd, "minimum": min(values), "maximum": max(values), "cv": sd / mean,
                    "min_over_mean": min(values) / mean, "max_over_mean": max(values) / mean}
        for name, value in expected.items():
            # Numbers are printed with nine digits, so that small differences of large ones are known less well.
            scale = mean if name in ("mean", "sd", "minimum", "maximum") else 1
            self.assertAlmostEqual(statistics[name], value, delta=1e-6 * value + 1e-8 * scale, msg=name)


class Results(Programs):
    def test_chunks_are_incremented_in_each_pass(self):
        for program in [*self.builds("chunk_kernel"), VARIATION / "chunk_kernel_sequential"]:
            sequential = program.name == "chunk_kernel_sequential"
            for threads in (1,) if sequential else (1, 2, 3):
                with self.subTest(program.name, threads=threads):
                    result = self.result(program, "mb_5_77", "--passes", 13, "--threads", threads)
                    self.assertEqual((result["name"], result["chunks"], result["length"]), ("mb_5_77", 5, 77))
                    self.assertEqual((result["checksum"], result["right"]), (5 * 77 * 13, True))
                    self.assertEqual((result["chunk_bytes"], result["threads"], result["cache"]), (77 * 8, threads, None))
                    for name in ("seconds", "cpu_seconds", "main_thread_cpu_seconds"):
                        self.assertGreater(result[name], 0)
                    # The two clocks are read one after the other.
                    self.assertLessEqual(result["main_thread_cpu_seconds"], result["cpu_seconds"] + 1e-4)

    def test_runtime(self):
        for suffix, runtime in RUNTIMES.items():
            program = VARIATION / ("chunk_kernel" + suffix)
            if program in self.builds("chunk_kernel") and (suffix or self.gnu(program)):
                self.assertEqual(self.result(program, "mb_1_1", "--passes", 1)["runtime"], runtime)
        self.assertEqual(self.result(VARIATION / "chunk_kernel_sequential", "mb_1_1", "--passes", 1)["runtime"], "none")

    def gnu(self, program: pathlib.Path) -> bool:
        """Whether the project was built with gcc."""
        return self.result(program, "mb_1_1", "--passes", 1)["compiler"].startswith("GCC")

    def test_threads_are_those_of_the_environment(self):
        for program in self.builds("chunk_kernel"):
            self.assertEqual(self.result(program, "mb_3_3", "--passes", 1, env={"OMP_NUM_THREADS": "3"})["threads"], 3)
            self.assertIn("OMP_THREAD_LIMIT", self.refused(program, "--threads", 4, env={"OMP_THREAD_LIMIT": "2", "KMP_WARNINGS": "0"}))
        self.assertIn("without OpenMP", self.refused(VARIATION / "chunk_kernel_sequential", "--threads", 2))

    def test_sizes_of_the_report(self):
        names = self.run_in_folder(VARIATION / "chunk_kernel_sequential", "--list").stdout.decode().split()
        sizes = [tuple(map(int, re.fullmatch(r"mb_(\d+)_(\d+)", name).groups())) for name in names]
        self.assertEqual([n * m for n, m in sizes[:16]], [1572864] * 16)
        self.assertEqual([n * m for n, m in sizes[16:32]], [786432] * 16)
        self.assertEqual((sizes[0], sizes[15], sizes[16]), ((8, 196608), (196608, 8), (4, 196608)))
        self.assertEqual(names[32:], ["mb_4_190000", "mb_4_100000"])
        self.assertEqual(len(set(names)), 34)
        for name in ("mb_64_24576", "mb_256_6144", "mb_512_3072"):
            self.assertIn(name, names[:16])

    def shared_cache(self, processors: set[int]) -> int:
        """Bytes of the smallest one, by another reading of sysfs; 0 where there is none."""
        sizes = []
        for processor in processors:
            for index in pathlib.Path(f"/sys/devices/system/cpu/cpu{processor}/cache").glob("index*"):
                sharing = sum(1 << i for i in processors) & int((index / "shared_cpu_map").read_text().replace(",", ""), 16)
                if (index / "type").read_text().strip() != "Instruction" and sharing.bit_count() > 1:
                    sizes.append(int((index / "size").read_text().strip().removesuffix("K")) * 1024)
        return min(sizes, default=0)

    def test_scale_to_cache(self):
        program, allowed = VARIATION / "chunk_kernel_sequential", os.sched_getaffinity(0)
        one = min(allowed)
        text = self.refused(program, "--scale-to-cache", preexec_fn=lambda: os.sched_setaffinity(0, {one}))
        self.assertIn("share a cache", text)
        size = self.shared_cache(allowed)
        if size == 0:
            self.skipTest("no two processors share a cache here")
        result = self.result(program, "mb_8_100", "--scale-to-cache", "--passes", 1)
        self.assertEqual((result["chunks"], result["length"]), (8, size // 8 * 3 // 8 // 8))
        self.assertEqual(result["cache"]["bytes"], size)

    def test_primes(self):
        for program in self.builds("primes"):
            for up_to, expected in ((1, 0), (2, 1), (3, 2), (4, 2), (100, 25), (10000, 1229)):
                for threads in (1, 2):
                    result = self.result(program, "--up-to", up_to, "--threads", threads)
                    self.assertEqual((result["count"], result["up_to"], result["threads"]), (expected, up_to, threads))

    def test_stream(self):
        for program in self.builds("stream"):
            for threads in (1, 2, 3):
                result = self.result(program, "--elements", 10007, "--repetitions", 4, "--threads", threads)
                self.assertEqual((result["right"], result["elements"], result["threads"]), (True, 10007, threads))
                self.assertEqual(list(result["kernels"]), ["copy", "mul", "add", "triad", "dot"])
                for name, kernel in result["kernels"].items():
                    self.assertEqual(kernel["bytes"], 10007 * 8 * {"add": 3, "triad": 3}.get(name, 2))
                    self.assertEqual(len(kernel["repetitions"]), 3)
                    self.check_statistics(kernel["seconds"], kernel["repetitions"])

    def check_constructs(self, results: dict, repetitions: int):
        for name, construct in results.items():
            with self.subTest(name):
                self.assertEqual(len(construct["repetitions_us"]), repetitions)
                self.check_statistics(construct["time_us"], construct["repetitions_us"])
                self.assertGreater(construct["reference_us"], 0)
                expected = construct["time_us"]["mean"] - construct["reference_us"]
                self.assertAlmostEqual(construct["overhead_us"], expected, delta=1e-6 * construct["time_us"]["mean"] + 1e-7)

    def test_sync(self):
        for program in self.builds("omp_constructs"):
            arguments = ("sync", "--repetitions", 3, "--delay", 0.1, "--test-time", 20, "--threads", 2)
            result = self.result(program, *arguments)
            self.assertEqual(list(result["constructs"]), CONSTRUCTS)
            self.check_constructs(result["constructs"], 3)
            for name in ("critical", "lock", "atomic"):
                self.assertEqual(result["constructs"][name]["inner_repetitions"] % 2, 0, "threads divide them evenly")
            some = self.result(program, *arguments, "--constructs", "reduction,single")
            self.assertEqual(list(some["constructs"]), ["reduction", "single"])
            rounds = self.result(program, *arguments, "--constructs", "single", "--delay-rounds", 7)
            self.assertEqual((rounds["delay_rounds"], rounds["delay_us"]), (7, None))

    def test_sched(self):
        for program in self.builds("omp_constructs"):
            arguments = ("sched", "--repetitions", 2, "--delay", 0.1, "--test-time", 10, "--iterations", 4, "--threads", 2)
            result = self.result(program, *arguments)
            self.assertEqual(list(result["schedules"]), ["static_1", "dynamic_1", "guided_1"])
            self.check_constructs(result["schedules"], 2)
            every = self.result(program, *arguments, "--schedules", "all")["schedules"]
            self.assertEqual(list(every), ["static", *(f"{name}_{size}" for size in (1, 2, 4) for name in ("static", "dynamic", "guided"))])

    def test_defaults_are_those_of_the_papers(self):
        """Which the help states."""
        for program in self.builds("omp_constructs"):
            for kind, defaults in (("sync", {"repetitions": 100, "delay": 0.1, "test-time": 1000}),
                                   ("sched", {"repetitions": 100, "delay": 15, "test-time": 1000, "iterations": 8192})):
                text = self.run_in_folder(program, kind, "--help").stdout.decode()
                stated = dict(re.findall(r"--([a-z-]+) .*\(([\d.]+)\)$", text, re.MULTILINE))
                self.assertEqual({name: float(value) for name, value in stated.items()}, defaults)
        text = self.run_in_folder(VARIATION / "chunk_kernel_sequential", "--help").stdout.decode()
        self.assertIn("(10000)", text)

    def test_wrong_options(self):
        program = VARIATION / "chunk_kernel_sequential"
        for arguments, word in ((["--no-such"], "--no-such"), (["-x"], "-x"), (["--passes"], "--passes"), (["--passes", "0"], "'0'"),
                                (["--passes", "1x"], "'1x'"), (["mb_4"], "mb_4"), (["mb_1_1", "more"], "more"), (["--list=1"], "--list"),
                                (["--chunks", str(2**40), "--length", str(2**40)], "too many"), (["--length", str(2**50)], "no memory")):
            with self.subTest(arguments):
                text = self.refused(program, *arguments)
                self.assertTrue(text.startswith("chunk_kernel: "), text)
                self.assertIn(word, text)
        for program in self.builds("omp_constructs"):
            for arguments in ([], ["other"], ["sync", "--constructs", "other"], ["sched", "--schedules", "dynamic_0"], ["--delay", "1", "sched"]):
                self.refused(program, *arguments)


class Work(Programs):
    """Compilers leave out what nobody looks at. So each access is counted, in the processor's instructions as valgrind executes them."""

    def accessed(self, program: pathlib.Path, *arguments) -> tuple[int, int]:
        """Bytes that the whole program loads and stores."""
        done = self.run_in_folder("valgrind", "--tool=lackey", "--basic-counts=no", "--detailed-counts=yes", program, *arguments,
                                  env={"OMP_NUM_THREADS": "1"})
        text = done.stderr.decode()
        self.assertEqual(done.returncode, 0, text)
        loads = stores = 0
        rows = re.findall(r"(\S+) +([\d,]+) +([\d,]+) +[\d,]+$", text, re.MULTILINE)
        self.assertGreater(len(rows), 5, text)
        for kind, loaded, stored in rows:
            count = [int(number.replace(",", "")) for number in (loaded, stored)]
            if any(count):
                loads += BYTES[kind] * count[0]
                stores += BYTES[kind] * count[1]
        return loads, stores

    def difference(self, one: pathlib.Path, other: pathlib.Path, *arguments, fewer=(), more=()) -> tuple[int, int]:
        """Of bytes loaded and stored: what the repetitions take that only the other run has."""
        first, second = self.accessed(one, *arguments, *fewer), self.accessed(other, *arguments, *more)
        return second[0] - first[0], second[1] - first[1]

    def passes(self, program: pathlib.Path, length: int) -> tuple[float, float]:
        """Loads and stores of an element in each pass."""
        more = 160000 // length  # so many that what the rest of the two runs differs by counts little
        loads, stores = self.difference(program, program, f"mb_4_{length}", fewer=("--passes", 1), more=("--passes", 1 + more))
        return loads / 8 / (4 * length * more), stores / 8 / (4 * length * more)

    def test_a_pass_increments_each_element(self):
        self.need("valgrind")
        for program in [*self.builds("chunk_kernel"), VARIATION / "chunk_kernel_sequential"]:
            # Beyond the elements a pass loads and stores what it does not keep in registers.
            for length, most in ((1001, 1.05), (8, 2)):
                with self.subTest(program.name, length=length):
                    for accesses in self.passes(program, length):
                        self.assertGreaterEqual(accesses, 0.99)
                        self.assertLess(accesses, most)

    def compiled(self, compiler: str, source: pathlib.Path, *options) -> pathlib.Path:
        program = pathlib.Path(tempfile.mkdtemp(dir=self.folder)) / "program"
        self.succeeded(self.run_in_folder(compiler, "-O3", "-gdwarf-4", "-std=c11", "-D_GNU_SOURCE", "-fopenmp", "-I", ROOT, *options, source,
                                          ROOT / "microbench/variation/common.c", "-lm", "-o", program))
        return program

    def passes_of_listing(self, compiler: str, barrier: str) -> float:
        """Of loads and stores of an element in each pass, the fewer: 1 where each pass is there.

        There are so many passes that what waiting threads load and store, in one run more than in the other, counts little.
        """
        listing = self.folder / "listing.c"
        listing.write_text(LISTING)
        loads, stores = self.difference(self.compiled(compiler, listing, f"-DPASS_BARRIER={barrier}", "-DPASSES=1000"),
                                        self.compiled(compiler, listing, f"-DPASS_BARRIER={barrier}", "-DPASSES=31000"))
        return min(loads, stores) / 8 / (4 * 8 * 30000)

    def test_without_a_barrier_passes_are_missing(self):
        """The barrier is what keeps them in the listing, whose sizes are constants, and the count sees where they are missing."""
        self.need("valgrind")
        barrier = re.search(r"#define PASS_BARRIER (.*)", KERNEL.read_text()).group(1)
        for compiler, program in (("gcc", "chunk_kernel"), ("clang", "chunk_kernel_libomp")):
            if not (VARIATION / program).exists():
                print(f"skipped: {program} was not built, so {compiler} may have no OpenMP", flush=True)
                continue
            self.need(compiler)
            with self.subTest(compiler):
                self.assertGreaterEqual(self.passes_of_listing(compiler, barrier), 0.99)
                self.assertLess(self.passes_of_listing(compiler, ""), 0.6)
            if compiler == "gcc":
                self.assertGreaterEqual(min(self.passes(self.compiled(compiler, KERNEL), 8)), 0.99)
                self.assertLess(min(self.passes(self.compiled(compiler, KERNEL, "-DPASS_BARRIER="), 8)), 0.6)

    def test_kernels_of_stream_access_each_element(self):
        self.need("valgrind")
        for program in self.builds("stream"):
            loads, stores = self.difference(program, program, "--elements", 50000, fewer=("--repetitions", 2), more=("--repetitions", 6))
            # Of copy, mul, add, triad and dot. clang writes the sum of dot for each element, and what is printed counts a little.
            for accessed, least, most in ((loads, 1 + 1 + 2 + 2 + 2, 8.5), (stores, 1 + 1 + 1 + 1, 5.5)):
                accesses = accessed / 8 / (4 * 50000)
                self.assertGreaterEqual(accesses, least * 0.99)
                self.assertLess(accesses, most)

    def instructions(self, program: pathlib.Path, *arguments) -> int:
        done = self.run_in_folder("valgrind", "--tool=lackey", program, *arguments, env={"OMP_NUM_THREADS": "1"})
        text = done.stderr.decode()
        self.assertEqual(done.returncode, 0, text)
        return int(re.search(r"guest instrs: +([\d,]+)", text).group(1).replace(",", ""))

    def test_delays_compute(self):
        self.need("valgrind")
        for program in self.builds("omp_constructs"):
            arguments = ("sched", "--schedules", "static", "--iterations", 5, "--repetitions", 2, "--test-time", 1e-6, "--delay-rounds")
            # Once to begin, thrice to see that it takes the test time, and the repetitions, each with and without the construct.
            delays = 2 * (1 + 3 + 2) * 5
            more = self.instructions(program, *arguments, 3000) - self.instructions(program, *arguments, 1000)
            # A round at least multiplies, counts and jumps; counting may be shared by some rounds.
            self.assertGreater(more, delays * 2000 * 1.2)
            self.assertLess(more, delays * 2000 * 10)


if __name__ == "__main__":
    unittest.main()
