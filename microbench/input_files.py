"""Traces of other tools, as large as is asked for."""

import pathlib
import random
import shutil
import subprocess
import sys

# Two threads, each with half of the calls.
PROGRAM = """
#include <pthread.h>
#include <stdlib.h>
%s
int main(int argc, char **argv) {
    pthread_t threads[2];
    (void)argc;
    for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, run, (void *)(atol(argv[1]) / 2));
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    return 0;
}
"""

CALLS = """
static volatile long sum;
__attribute__((noinline)) void leaf(long i) { sum += i; }
__attribute__((noinline)) void node(long i) { leaf(i); leaf(i + 1); leaf(i + 2); }
static void *run(void *calls) {
    for (long i = 0; i < (long)calls; i += 4) node(i);
    return NULL;
}
"""

LOCKS = """
static void *run(void *calls) {
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    for (long i = 0; i < (long)calls; i += 2) {
        pthread_mutex_lock(&own);
        pthread_mutex_unlock(&own);
    }
    return NULL;
}
"""


def compiled(folder: pathlib.Path, run: str, *options: str) -> pathlib.Path:
    source, program = folder / "program.c", folder / "program"
    source.write_text(PROGRAM % run)
    subprocess.run(["gcc", "-O1", *options, "-pthread", "-o", program, source], check=True)
    return program


def recorded_by_eztrace(folder: pathlib.Path, events: int) -> pathlib.Path:
    """A program of two threads that does nothing but lock and unlock."""
    if shutil.which("eztrace") is None:
        sys.exit("inputs: eztrace is not installed: install it, or leave its format out with --formats")
    program, data = compiled(folder, LOCKS), folder / "eztrace"
    subprocess.run(["eztrace", "-t", "pthread", "-o", data, program, str(events // 2)], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return next(data.rglob("*.otf2"))


def recorded_by_uftrace(folder: pathlib.Path, events: int) -> pathlib.Path:
    """A program of two threads that does nothing but call."""
    if shutil.which("uftrace") is None:
        sys.exit("inputs: uftrace is not installed: install it, or leave its format out with --formats")
    program, data = compiled(folder, CALLS, "-pg"), folder / "uftrace.data"
    subprocess.run(["uftrace", "record", "--no-libcall", "-b", "32M", "-d", data, program, str(events // 2)], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return data


def text_of_probes(folder: pathlib.Path, events: int) -> pathlib.Path:
    """As `perf script` prints pairs of uprobes, of four threads."""
    random.seed(1)
    path = folder / "probes.txt"
    at = 1000.0
    with path.open("w") as out:
        for call in range(events // 2):
            tid = 101 + call % 4
            head = f"             app   100/{tid} [00{call % 2}] "
            at += 1e-6 * random.randrange(1, 20)
            out.write(f"{head} {at:13.6f}: probe_app:work: (5581d1a0b149) size={call % 7}\n")
            at += 1e-6 * random.randrange(1, 20)
            out.write(f"{head} {at:13.6f}: probe_app:work__return: (5581d1a0b1c2 <- 5581d1a0b149)\n")
    return path
