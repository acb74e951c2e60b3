#!/usr/bin/python3
"""Random functions under the recorder: the programs compute what they compute without it, and every call is counted.

usage: run.py [--seed N] [--functions M] [--keep FOLDER]"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

from generate import Program

# A program for each: compiler and options. With and without debug information, that is with stack and with shadow frames.
SETTINGS = [
    "g++ -O2 -g",
    "g++ -O1 -g -fcf-protection",
    "g++ -O3 -g0 -march=x86-64-v3",
    "g++ -O0 -g",
    "g++ -Os -g0 -fno-pie -no-pie",
    "clang++ -O2 -g",
    "clang++ -O1 -g0 -fcf-protection",
    "g++ -O2 -g0 -static-libstdc++ -static-libgcc -fomit-frame-pointer",
    "clang++ -O3 -g -fno-pie -no-pie",
    "g++ -O2 -g -fno-omit-frame-pointer -fno-plt",
]
TIMEOUT = 300
MOST_REFUSED = 0.1  # of the functions: what is left alone is not tested
# All that may stand in the way of these functions; anything else is a defect, here or in the planner.
REASONS = [
    r"shorter than the patch \(\d of 5 bytes\), without padding behind it",
    r"loops back to its first instruction \(from \+\d+\)",
    r"jumps back into its first \d+ bytes at \+\d+ \(from \+\d+\)",
    r"jumps into the middle of its instruction before \+\d+ \(from \+\d+\)",  # which is data behind a jump
    r"is entered from elsewhere at \+\d+, within its first \d+ bytes",
    r"its call at \+\d+ returns into its first \d+ bytes",
]
NAME = r"(?:Class_\d+::)?fn_\d+"


class Failure(Exception):
    pass


def run(command, folder: pathlib.Path, **variables) -> subprocess.CompletedProcess:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("RDAM_")}
    clean["RDAM_CACHE"] = "0"
    return subprocess.run([str(word) for word in command], cwd=folder, env={**clean, **variables}, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=TIMEOUT, check=False)


def read_counts(path: pathlib.Path) -> dict[str, int]:
    return {name: int(count) for name, count in (line.split() for line in path.read_text().splitlines())}


def compare(folder: pathlib.Path, functions: int, *options: str) -> tuple[int, int, int]:
    plain = run([folder / "program", "plain.txt"], folder)
    if plain.returncode != 23:
        raise Failure(f"the program itself ended with {plain.returncode}: {plain.stderr.decode()[-500:]}")
    own = read_counts(folder / "plain.txt")
    (folder / "list.txt").write_text("".join(f"{name}\n" for name in own))
    done = run([os.environ["RDAM"], "record", *options, "-v", "-f", "list.txt", "-o", "trace.bin", "--", folder / "program", "recorded.txt"], folder)
    said = done.stderr.decode()
    if (done.returncode, done.stdout) != (plain.returncode, plain.stdout):
        raise Failure(f"status {done.returncode}, output {done.stdout!r} instead of {plain.stdout!r}: {said[-500:]}")
    if read_counts(folder / "recorded.txt") != own:
        raise Failure("the program counted other calls than without the recorder")
    analyzed = run([os.environ["RDAM"], "analyze", "--json", "--top", "0", "trace.bin"], folder)
    if analyzed.returncode != 0:
        raise Failure(f"rdam analyze: {analyzed.stderr.decode()}")
    seen: dict[str, int] = {}
    for function in json.loads(analyzed.stdout)["functions"]:
        name = re.search(rf"\b{NAME}\b", function["name"]).group(0)
        seen[name] = seen.get(name, 0) + function["occurrences"]
    refused = dict(re.findall(rf"rdam: '({NAME})': skipped \S+(?:\([^\n]*\))?: ([^\n]+)", said))
    for name, reason in refused.items():
        if not any(re.fullmatch(known, reason) for known in REASONS):
            raise Failure(f"{name} was left alone for a reason that is none: {reason}")
    if len(refused) > MOST_REFUSED * len(own):
        raise Failure(f"{len(refused)} of {len(own)} functions were skipped: {next(iter(refused.values()))}")
    touched = [name for name in refused if name in seen and seen[name] > 0]
    if touched:
        raise Failure(f"left alone, and in the trace all the same: {touched[:5]}")
    missing = [name for name in own if f"'{name}':" not in said]
    if missing:
        raise Failure(f"not answered for: {missing[:5]}")
    wrong = [f"{name}: {seen.get(name, 0)} instead of {count}" for name, count in own.items()
             if name not in refused and seen.get(name, 0) != count]
    if wrong:
        raise Failure(f"{len(wrong)} functions with wrong counts: {', '.join(wrong[:5])}")
    return len(own) - len(refused), len(refused), sum(seen.values())


def one_program(folder: pathlib.Path, seed: int, functions: int, setting: str) -> str:
    folder.mkdir(parents=True)
    program = Program(seed, functions)
    (folder / "program.cpp").write_text(program.source())
    (folder / "prologues.S").write_text(program.assembly())
    compiled = run([*setting.split(), "-w", "-pthread", "-o", "program", "program.cpp", "prologues.S"], folder)
    if compiled.returncode != 0:
        raise Failure(f"the compiler fails: {compiled.stderr.decode()[:800]}")
    # There are more functions than are counted where they are sampled.
    wrapped, refused, calls = compare(folder, functions, "--all-calls")
    compare(folder, functions, "--max-overhead", "100000%", "--stack-period", "3", "--clock", "rdtsc")
    compare(folder, functions, "--all-calls", "--clock", "monotonic")
    return f"{setting}: {wrapped} functions wrapped, {refused} refused, {calls} calls"


def attempt(folder: pathlib.Path, seed: int, functions: int, setting: str) -> tuple[bool, str]:
    try:
        return True, one_program(folder, seed, functions, setting)
    except (Failure, subprocess.TimeoutExpired) as error:
        again = f"{sys.argv[0]} --seed {seed} --functions {functions} --setting '{setting}' --keep FOLDER"
        return False, f"{setting}: {error}\n    to see it again: RDAM={os.environ['RDAM']} {again}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--functions", type=int, default=6_000, help="over all programs")
    parser.add_argument("--setting", help="one compiler and its options, instead of all of them")
    parser.add_argument("--keep", type=pathlib.Path, help="a new folder for the programs and their traces")
    options = parser.parse_args()
    if "RDAM" not in os.environ:
        parser.error("the variable RDAM says which rdam to test: RDAM=build/tools/rdam/rdam")
    settings = [options.setting] if options.setting else [s for s in SETTINGS if shutil.which(s.split()[0])]
    for skipped in set(SETTINGS) - set(settings) if not options.setting else ():
        print(f"skipped: {skipped}: the compiler is not installed")
    share = -(-options.functions // len(settings))
    seeds = [options.seed] if options.setting else [random.Random(options.seed * 1000 + i).randrange(10**9) for i in range(len(settings))]
    with tempfile.TemporaryDirectory(prefix="rdam-stress-") as temporary:
        folder = options.keep or pathlib.Path(temporary)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda job: attempt(folder / f"program{job[0]}", job[1][0], share, job[1][1]),
                                    enumerate(zip(seeds, settings, strict=True))))
    for good, text in results:
        print(("" if good else "FAILED ") + text)
    return 0 if all(good for good, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())
