#!/usr/bin/python3
"""Bits of the recorder's shared memory flip while a program is recorded: neither the agent nor the program is the worse for it.

usage: flips.py [--runs N] [--seed N] [--keep FOLDER]

In each run 1 to 200 bits flip while two threads call a function whose calls are numbered, others begin and end, and, in every
other run, a library is loaded; a quarter of the programs are killed in the middle of it. Of every run must be true:

- the agent ends, and the program as it should;
- the trace can be read, and what had reached the agent before the first flip is exact;
- what is missing is said.

What flips in events that their thread has not packed yet can only be seen where it makes no sense: those that are wrong without
a word are counted, and may be in no other place."""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time

CALLS = 60_000
# What may not have left a thread before the first flip: a chunk of packs (some 6 bytes a call here) and one of records.
NOT_HANDED_OVER = 15_000
MOST_FLIPS = 200
TIMEOUT = 120
AREAS = ("control", "ring", "threads", "gates", "request", "plan", "calls", "headers", "chunks")
THREADS = 64


def agent_of(folder: pathlib.Path) -> bool:
    for process in pathlib.Path("/proc").iterdir():
        try:
            if process.name.isdigit() and b"rdam-agent" in (process / "cmdline").read_bytes().split(b"\0")[0] \
                    and os.readlink(process / "cwd") == os.path.realpath(folder):
                return True
        except OSError:
            continue
    return False


def wait_for_agent(folder: pathlib.Path) -> bool:
    for _ in range(200):
        if not agent_of(folder):
            return True
        time.sleep(0.1)
    return False


def read_counts(path: pathlib.Path) -> tuple[dict[int, int], dict[str, int]]:
    numbers = struct.unpack(f"<{2 * THREADS + len(AREAS)}Q", path.read_bytes())
    begun = {numbers[2 * i]: numbers[2 * i + 1] for i in range(THREADS) if numbers[2 * i] != 0}
    return begun, dict(zip(AREAS, numbers[2 * THREADS:], strict=True))


def environment() -> dict[str, str]:
    return {**{name: value for name, value in os.environ.items() if not name.startswith("RDAM_")}, "RDAM_CACHE": "0"}


def judge(found: dict, begun: dict[int, int], killed: bool) -> tuple[list[str], str]:
    """What must not be, and the class of the run."""
    problems = []
    said = any("damaged" in remark for remark in found["remarks"]) or found["dropped"] > 0 or any(t["unwritten"] for t in found["threads"])
    if not found["whole_file"]:
        problems.append("the file itself is damaged")
    threads = {thread["tid"]: thread for thread in found["threads"]}
    for tid in list(begun)[:2]:
        exact = threads.get(tid, {"exact": 0})["exact"]
        if exact < CALLS - NOT_HANDED_OVER:
            problems.append(f"of {CALLS} calls before the first flip only {exact} are exact")
    faults = sum(thread[kind] for thread in found["threads"] for kind in ("gaps", "wrong", "unmatched", "backwards"))
    missing = 0 if killed else sum(count - threads.get(tid, {"calls": 0})["calls"] for tid, count in begun.items())
    if faults == 0 and missing == 0:
        return problems, "exact, and damage said" if said else "exact"
    return problems, "not exact, and damage said" if said else "not exact, and nothing said"


def one_run(folder: pathlib.Path, seed: int) -> tuple[list[str], str, dict[str, int]]:
    folder.mkdir()
    chance = random.Random(seed)
    flips = int(MOST_FLIPS ** chance.random())
    killed = chance.random() < 0.25
    library = [os.environ["PLUGIN"]] if chance.random() < 0.5 else []
    options = chance.choice([["--all-calls"], ["--all-calls", "--buffer", "4M"], ["--all-calls", "--stack-period", "100"],
                             ["--max-overhead", "20%"] if not killed else ["--all-calls"]])
    command = [os.environ["RDAM"], "record", *options, "-f", "counted,plugin.so:*", "-o", "trace.bin", "--", os.environ["FLIPS"],
               seed, CALLS, flips, "counts", "kill" if killed else "return", *library]
    try:
        done = subprocess.run([str(word) for word in command], cwd=folder, env=environment(), stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return ["rdam record does not end"], "hangs", {}
    begun, hits = read_counts(folder / "counts")
    problems = []
    if not wait_for_agent(folder):
        problems.append("the agent does not end")
    if done.returncode != (137 if killed else 0):
        problems.append(f"the program ended with {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")
    checked = subprocess.run([os.environ["CHECK_FLIPS"], "trace.bin"], cwd=folder, env=environment(), capture_output=True,
                             timeout=TIMEOUT, check=False)
    if checked.returncode != 0:
        return [*problems, f"the trace cannot be read: {checked.stderr.decode()}"], "unreadable", hits
    if "--max-overhead" in options:  # its calls are sampled
        return problems, "sampled", hits
    more, kind = judge(json.loads(checked.stdout), begun, killed)
    return problems + more, kind, hits


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1, help="of the first run; each has the next")
    parser.add_argument("--keep", type=pathlib.Path, help="a new folder for the traces of all runs")
    options = parser.parse_args()
    for name in ("RDAM", "FLIPS", "CHECK_FLIPS", "PLUGIN"):
        if name not in os.environ:
            parser.error(f"the variable {name} is not set: meson test -C build flips has it")
    kinds: collections.Counter[str] = collections.Counter()
    areas: collections.Counter[str] = collections.Counter()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="rdam-flips-") as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            seeds = range(options.seed, options.seed + options.runs)
            for seed, (problems, kind, hits) in zip(seeds, pool.map(lambda seed: one_run(folder / str(seed), seed), seeds), strict=True):
                kinds[kind] += 1
                areas.update(hits)
                failed += bool(problems)
                for problem in problems:
                    print(f"FAILED run {seed}: {problem}", flush=True)
                if "nothing said" in kind:
                    print(f"run {seed}: {kind}: " + ", ".join(f"{area} {count}" for area, count in hits.items() if count), flush=True)
    print(f"{options.runs} runs, {sum(areas.values())} flips: " + ", ".join(f"{area} {areas[area]}" for area in AREAS))
    for kind, count in kinds.most_common():
        print(f"{count:6} {kind}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
