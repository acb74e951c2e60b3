"""Programs for `microbench/field`: what each needs, how it is built where it comes as source, and how it is run."""

import dataclasses
import os
import pathlib
import random
import shutil
import subprocess
from collections.abc import Callable

SCENE = """#include "colors.inc"
camera { location <0, 6, -14> look_at <0, 1, 0> }
light_source { <10, 20, -15> White area_light <3, 0, 0>, <0, 0, 3>, 4, 4 adaptive 1 }
plane { y, 0 pigment { checker White, Gray50 } finish { reflection 0.25 } }
#declare R = seed(3);
#for (I, 1, 60)
  sphere { <rand(R) * 14 - 7, rand(R) * 4 + 0.5, rand(R) * 14 - 7>, 0.6
    pigment { rgb <rand(R), rand(R), rand(R)> } finish { reflection 0.3 phong 1 } }
#end
"""

JAVA = """import java.util.concurrent.*;
public class Work {
    static final ConcurrentHashMap<Integer, long[]> map = new ConcurrentHashMap<>();
    static long shared;
    static long part(int id, int rounds) {
        long sum = 0;
        for (int i = 0; i < rounds; i++) {
            long[] piece = new long[64 + i % 64];
            map.put((id * rounds + i) % 20000, piece);
            if (i % 16 == 0) synchronized (map) { for (int k = 0; k < 200; k++) sum += k ^ ++shared; }
        }
        return sum;
    }
    public static void main(String[] arguments) throws Exception {
        int threads = Integer.parseInt(arguments[0]), rounds = 6000000 / threads;
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        for (int t = 0; t < threads; t++) { final int id = t; pool.submit(() -> part(id, rounds)); }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.HOURS);
        System.out.println(shared);
    }
}
"""

MAKE_NPB = """F77 = gfortran
FLINK = gfortran
F_LIB =
F_INC =
FFLAGS = -O2 -g -fopenmp -std=legacy
FLINKFLAGS = -O2 -g -fopenmp
CC = gcc
CLINK = gcc
C_LIB = -lm
C_INC =
CFLAGS = -O2 -g -fopenmp
CLINKFLAGS = -O2 -g -fopenmp
UCC = gcc
BINDIR = ../bin
RAND = randi8_safe
WTIME = wtime.c
"""


@dataclasses.dataclass(frozen=True)
class Source:
    """What a suite's programs are built from: a folder below one of those given, with the name that `git clone` gives it."""

    folder: str
    origin: str
    prepare: Callable[[pathlib.Path], None] = lambda folder: None


def prepare_npb(folder: pathlib.Path) -> None:
    (folder / "NPB3.3-OMP/config/make.def").write_text(MAKE_NPB)
    (folder / "NPB3.3-OMP/bin").mkdir(exist_ok=True)
    # Class W of DC takes half a minute and 2.5 GB of disk.
    sizes = folder / "NPB3.3-OMP/sys/setparams.c"
    text = sizes.read_text(errors="surrogateescape")
    sizes.write_text(text.replace("input_tuples = 100000;   attrnum = 10;", "input_tuples = 40000;   attrnum = 9;"), errors="surrogateescape")


def prepare_leveldb(folder: pathlib.Path) -> None:
    # It asks for C++11 and needs C++17.
    settings = folder / "CMakeLists.txt"
    settings.write_text(settings.read_text().replace("CMAKE_CXX_STANDARD 11", "CMAKE_CXX_STANDARD 17"))


def prepare_parsec(folder: pathlib.Path) -> None:
    # canneal's threads start in a function without its return.
    start = folder / "pkgs/kernels/canneal/src/main.cpp"
    if start.exists() and "return NULL" not in start.read_text():
        start.write_text(start.read_text().replace("ptr->Run();", "ptr->Run(); return NULL;"))


def prepare_phoenix(folder: pathlib.Path) -> None:
    # At its end histogram-pthread frees arrays that were not allocated.
    file = folder / "phoenix-2.0/tests/histogram/histogram-pthread.c"
    if file.exists():
        file.write_text("".join(line for line in file.read_text().splitlines(keepends=True) if not line.strip().startswith("free(arg[i].")))


SPLASH = Source("Splash-3", "https://github.com/SakalisC/Splash-3")
NPB = Source("NAS-Parallel-Benchmark", "https://github.com/wzzhang-HIT/NAS-Parallel-Benchmark", prepare_npb)
PHOENIX = Source("phoenix", "https://github.com/kozyraki/phoenix", prepare_phoenix)
PARSEC = Source("parsec-3.0", "https://github.com/connorimes/parsec-3.0", prepare_parsec)
LEVELDB = Source("leveldb", "https://github.com/google/leveldb", prepare_leveldb)
SOURCES = (SPLASH, NPB, PHOENIX, PARSEC, LEVELDB)


@dataclasses.dataclass(frozen=True)
class Program:
    """In `arguments`, `directory`, `environment` and `input`: {threads}; {folder}, the inputs'; {work}, an empty one for each run; {place}, where
    it was built; {path} below {place}."""

    name: str
    arguments: str
    make: Callable[[pathlib.Path], None] = lambda folder: None
    tools: tuple[str, ...] = ()  # that are needed besides
    source: Source | None = None
    place: str = ""  # below the source's folder
    executable: str = ""  # below the place; otherwise of the path, the program's name
    build: str = ""  # a shell's commands, in the place
    directory: str = "{work}"  # where it runs
    input: str = ""
    environment: tuple[tuple[str, str], ...] = ()


def make_text(folder: pathlib.Path) -> None:
    words = [f"{random.Random(3).getrandbits(24):x}"] + ["".join(random.Random(i).choices("etaoinshrdlu", k=1 + i % 9)) for i in range(4000)]
    chosen = random.Random(5)
    with (folder / "text").open("w") as out:
        for _ in range(400):
            out.write(" ".join(chosen.choices(words, k=10000)) + "\n")


def make_long_text(folder: pathlib.Path) -> None:
    make_text(folder)
    text = (folder / "text").read_bytes()
    (folder / "long").write_bytes(text * 2)
    (folder / "lines").write_bytes(text.replace(b" ", b"\n") * 6)


def make_bytes(folder: pathlib.Path) -> None:
    (folder / "bytes").write_bytes(random.Random(11).randbytes(1 << 20) * 512)


def make_picture(folder: pathlib.Path) -> None:
    """A bitmap of 24 bits a pixel, 400 MB."""
    width, height = 12000, 11111
    header = b"BM" + (54 + width * height * 3).to_bytes(4, "little") + bytes(4) + (54).to_bytes(4, "little") + (40).to_bytes(4, "little")
    header += width.to_bytes(4, "little") + height.to_bytes(4, "little") + (1).to_bytes(2, "little") + (24).to_bytes(2, "little") + bytes(24)
    with (folder / "picture.bmp").open("wb") as out:
        out.write(header)
        noise = random.Random(13).randbytes(width * 3)
        for row in range(height):
            at = row * 5 % len(noise)
            out.write(noise[at:] + noise[:at])


def make_matrices(folder: pathlib.Path) -> None:
    """Of 1,000 × 1,000 small numbers, 4 bytes each."""
    chosen = random.Random(29)
    for name in "AB":
        (folder / f"matrix_file_{name}.txt").write_bytes(b"".join(chosen.randrange(11).to_bytes(4, "little") for _ in range(1_000_000)))


def make_film(folder: pathlib.Path) -> None:
    width, height, noise = 640, 360, random.Random(7).randbytes(1 << 20)
    with (folder / "film.y4m").open("wb") as out:
        out.write(f"YUV4MPEG2 W{width} H{height} F25:1 C420jpeg\n".encode())
        for frame in range(600):
            out.write(b"FRAME\n")
            for row in range(height):
                at = (row // 8 * 5119 + frame * 3) % (len(noise) - width)
                out.write(bytes(byte & 0x7F for byte in noise[at:at + width // 2]) + bytes([row % 256]) * (width // 2))
            out.write(bytes([128]) * (width * height // 2))


def make_scene(folder: pathlib.Path) -> None:
    (folder / "scene.pov").write_text(SCENE)


def make_java(folder: pathlib.Path) -> None:
    (folder / "Work.java").write_text(JAVA)
    subprocess.run(["javac", "-d", str(folder), str(folder / "Work.java")], check=True)


def make_go(folder: pathlib.Path) -> None:
    root = subprocess.run(["go", "env", "GOROOT"], stdout=subprocess.PIPE, check=True, text=True).stdout.strip()
    shutil.copytree(os.path.join(root, "src"), folder / "go", ignore=shutil.ignore_patterns("testdata", "cmd", "vendor", "crypto", "syscall"))


def make_bodies(folder: pathlib.Path) -> None:
    for threads in range(1, 65):
        (folder / f"bodies-{threads}").write_text(f"\n131072\n123\n\n0.025\n0.05\n1.0\n2.0\n5.0\n0.075\n0.25\n{threads}\n")
        (folder / f"clusters-{threads}").write_text(f"two cluster\nplummer\n131072\n1e-6\n{threads}\n5\n.025\n0.0\ncost zones\n")


def make_molecules(folder: pathlib.Path) -> None:
    for threads in range(1, 65):
        for molecules, steps, scale in (32768, 3, "1.5e-18"), (4096, 5, "1.5e-16"):
            (folder / f"water-{molecules}-{threads}").write_text(f"  {scale}  {molecules}  {steps}   6\n -1      3000     3  0\n{threads} 6.212752\n")


def make_bt(folder: pathlib.Path) -> None:
    (folder / "inputbt.data").write_text("500\n0.0008d0\n24 24 24\n")


def make_baskets(folder: pathlib.Path) -> None:
    chosen = random.Random(17)
    items, weights = range(1, 900), [1 / (1 + item) for item in range(1, 900)]
    with (folder / "baskets.dat").open("w") as out:
        for _ in range(200000):
            out.write(" ".join(map(str, sorted(set(chosen.choices(items, weights, k=8 + chosen.getrandbits(4)))))) + " \n")


def make_netlist(folder: pathlib.Path) -> None:
    """As canneal's inputs: elements, the grid's width and height; then a name, a type and the names of what it leads to."""
    chosen, elements = random.Random(19), 60000
    with (folder / "circuit.nets").open("w") as out:
        out.write(f"{elements}\t250\t250\n")
        for element in range(elements):
            others = "\t".join(f"e{chosen.randrange(elements)}" for _ in range(5))
            out.write(f"e{element}\t{1 + element % 2}\t{others}\tEND\n")


def make_options(folder: pathlib.Path) -> None:
    """As blackscholes's inputs."""
    chosen = random.Random(23)
    with (folder / "options").open("w") as out:
        out.write("200000\n")
        for _ in range(200000):
            rate, kind = chosen.choice(("0.1", "0.05", "0.0275")), chosen.choice("PC")
            out.write(f"{chosen.uniform(30, 110):.2f} {chosen.uniform(30, 110):.2f} {rate} 0.00 {chosen.uniform(0.1, 0.65):.2f} "
                      f"{chosen.uniform(0.1, 1):.2f} {kind} 0.00 1.0\n")


def splash(name: str, place: str, executable: str, arguments: str, **more: object) -> Program:
    # Some take inputs from where they are.
    return Program(name, arguments, source=SPLASH, place=f"codes/{place}", executable=executable, build="make", directory="{place}",
                   tools=("m4",), **more)


def npb(name: str, letter: str, **more: object) -> Program:
    return Program(name, "", source=NPB, place="NPB3.3-OMP", executable=f"bin/{name}.{letter}", build=f"make {name} CLASS={letter}",
                   tools=("gfortran",), environment=(("OMP_NUM_THREADS", "{threads}"),), **more)


def phoenix(name: str, arguments: str, more_files: str = "", **more: object) -> Program:
    """With Phoenix's MapReduce, or, of a name that ends with -pthread, without it. It takes as many threads as there are processors."""
    files = f"{name}.c {more_files}" if name.endswith("-pthread") else f"{name}.c {more_files} ../../src/*.c"
    build = f"gcc -O2 -g -w -D_LINUX_ -D__x86_64__ -I../../include -I../../src {files} -o {name} -pthread -lm"
    return Program(name, arguments, source=PHOENIX, place=f"phoenix-2.0/tests/{name.removesuffix('-pthread')}", executable=name, build=build, **more)


def parsec(name: str, place: str, build: str, arguments: str, **more: object) -> Program:
    return Program(name, arguments, source=PARSEC, place=f"pkgs/{place}/src", executable=name, build=build, **more)


CXX = "g++ -O2 -g -w -pthread -DENABLE_THREADS -fpermissive -std=c++14"
DEDUP_FILES = "hashtable.c util.c dedup.c rabin.c encoder.c decoder.c mbuffer.c sha.c queue.c binheap.c tree.c"
BUILD_LEVELDB = ("cmake -S . -B build -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS='-O2 -g' -DLEVELDB_BUILD_TESTS=OFF -DLEVELDB_BUILD_BENCHMARKS=OFF && "
                 "make -C build leveldb && g++ -O2 -g -std=c++17 -fno-rtti -Iinclude -I. -Ibuild/include -DLEVELDB_PLATFORM_POSIX=1 "
                 "benchmarks/db_bench.cc util/testutil.cc util/histogram.cc build/libleveldb.a -lgtest -lgmock -lsnappy -pthread -o build/db_bench")

PROGRAMS = (
    splash("raytrace", "apps/raytrace", "RAYTRACE", "-p{threads} -m64 -a200 inputs/teapot.env"),
    splash("barnes", "apps/barnes", "BARNES", "", make=make_bodies, input="{folder}/bodies-{threads}"),
    splash("fmm", "apps/fmm", "FMM", "", make=make_bodies, input="{folder}/clusters-{threads}"),
    splash("water-spatial", "apps/water-spatial", "WATER-SPATIAL", "", make=make_molecules, input="{folder}/water-32768-{threads}"),
    splash("water-nsquared", "apps/water-nsquared", "WATER-NSQUARED", "", make=make_molecules, input="{folder}/water-4096-{threads}"),
    splash("radiosity", "apps/radiosity", "RADIOSITY", "-p {threads} -bf 0.005 -batch -largeroom"),
    splash("volrend", "apps/volrend", "VOLREND", "{threads} inputs/head-scaleddown2 100"),
    splash("ocean", "apps/ocean/contiguous_partitions", "OCEAN", "-p{threads} -n1026 -e1e-9"),
    splash("ocean_non", "apps/ocean/non_contiguous_partitions", "OCEAN", "-p{threads} -n1026 -e1e-9"),
    splash("fft", "kernels/fft", "FFT", "-p{threads} -m24"),
    splash("radix", "kernels/radix", "RADIX", "-p{threads} -n33554432"),
    splash("lu_cb", "kernels/lu/contiguous_blocks", "LU", "-p{threads} -n2048"),
    splash("cholesky", "kernels/cholesky", "CHOLESKY", "-p{threads}", input="{place}/inputs/tk29.O"),
    npb("ep", "A"),
    npb("ua", "W"),
    npb("dc", "W"),
    npb("bt", "W", make=make_bt, directory="{folder}"),
    npb("cg", "A"),
    npb("mg", "A"),
    npb("ft", "A"),
    npb("is", "A"),
    npb("sp", "W"),
    npb("lu", "W"),
    phoenix("pca", "-r 1600 -c 1600"),
    phoenix("kmeans", ""),
    phoenix("matrix_multiply", "1000"),
    phoenix("word_count", "{folder}/long", "sort.c", make=make_long_text),
    phoenix("string_match", "{folder}/lines", make=make_long_text),
    phoenix("linear_regression", "{folder}/bytes", make=make_bytes),
    phoenix("histogram", "{folder}/picture.bmp", make=make_picture),
    phoenix("pca-pthread", "-r 1000 -c 1000"),
    phoenix("kmeans-pthread", "-p 50000"),
    phoenix("matrix_multiply-pthread", "1000", make=make_matrices, directory="{folder}"),
    phoenix("word_count-pthread", "{folder}/long", "sort-pthread.c", make=make_long_text),
    phoenix("string_match-pthread", "{folder}/lines", make=make_long_text),
    phoenix("linear_regression-pthread", "{folder}/bytes", make=make_bytes),
    phoenix("histogram-pthread", "{folder}/picture.bmp", make=make_picture),
    parsec("streamcluster", "kernels/streamcluster", f"{CXX} streamcluster.cpp parsec_barrier.cpp -o streamcluster",
           "10 20 128 8192 8192 1000 none {work}/out {threads}"),
    parsec("canneal", "kernels/canneal", f"{CXX} *.cpp -o canneal", "{threads} 15000 2000 {folder}/circuit.nets 64", make=make_netlist),
    parsec("dedup", "kernels/dedup", "gcc -O2 -g -w -pthread -I. -std=gnu99 -fcommon -fno-strict-aliasing -D_XOPEN_SOURCE=600 "
           f"-DENABLE_GZIP_COMPRESSION -DENABLE_PTHREADS {DEDUP_FILES} -o dedup -lz -lm", "-c -p -t {threads} -i {folder}/long -o {work}/out",
           make=make_long_text),
    parsec("blackscholes", "apps/blackscholes", f"m4 c.m4.pthreads blackscholes.c > made.cpp && {CXX} -DNCO=4 made.cpp -o blackscholes",
           "{threads} {folder}/options {work}/prices", make=make_options, tools=("m4",)),
    parsec("swaptions", "apps/swaptions", f"{CXX} *.cpp nr_routines.c -o swaptions", "-ns 64 -sm 60000 -nt {threads}"),
    parsec("fluidanimate", "apps/fluidanimate",
           f"{CXX} pthreads.cpp cellpool.cpp parsec_barrier.cpp -o fluidanimate && tar xf ../inputs/input_simdev.tar",
           "{threads} 250 {place}/in_15K.fluid {work}/out"),
    parsec("freqmine", "apps/freqmine", f"{CXX} -fopenmp *.cpp -o freqmine", "{folder}/baskets.dat 20", make=make_baskets,
           environment=(("OMP_NUM_THREADS", "{threads}"),)),
    Program("db_bench", "--threads={threads} --benchmarks=fillrandom,readrandom,readrandom,readrandom --num=100000 --db={work}/db",
            source=LEVELDB, executable="build/db_bench", build=BUILD_LEVELDB, tools=("cmake",)),
    Program("zstd", "-q -T{threads} -B1M -12 -f {folder}/text -o {work}/text.zst", make_text),
    Program("pbzip2", "-q -f -k -c -p{threads} {folder}/long", make_long_text),
    Program("pixz", "-k -0 -p {threads} {folder}/long {work}/long.xz", make_long_text),
    Program("x264", "--quiet --no-progress --threads {threads} --preset medium -o {work}/film.mkv {folder}/film.y4m", make_film),
    Program("povray", "+WT{threads} -D -GA +W640 +H360 +A0.3 +I{folder}/scene.pov +O{work}/scene.png", make_scene),
    Program("java", "-Xmx64m -XX:+UseParallelGC -XX:ParallelGCThreads={threads} -cp {folder} Work {threads}", make_java, ("javac",)),
    Program("gofmt", "-l {folder}/go", make_go, ("go",), environment=(("GOMAXPROCS", "{threads}"),)),
    # Not its mutexes: at the end its main thread may miss a signal, and then sleeps for a second, recorded or not.
    Program("stress-ng", "-q --pthread 1 --pthread-max 16 --pthread-ops 8000"),
    Program("rg", "--no-config -j{threads} -c -e \\w+\\s+\\w+\\s+\\w+\\s+[A-Z]{{6}} {folder}/go", make_go, ("go",)),
)
