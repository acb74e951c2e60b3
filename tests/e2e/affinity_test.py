#!/usr/bin/python3
"""The graph of what threads share, and the pinnings that `rdam affinity` makes of it, on the machines of the papers."""

import collections
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import unittest
import unittest.mock

from harness import RDAM, TIMEOUT, Case
from pythons import MODULE

sys.path.insert(0, str(MODULE))
sys.dont_write_bytecode = True

try:
    import networkx  # noqa: F401
except ModuleNotFoundError:
    print("skipped: networkx is not installed: 'apt install python3-networkx' gets it")
    sys.exit(77)

from rdam import Error  # noqa: E402
from rdam.study import affinity, placements  # noqa: E402
from rdam.study.topology import SOURCES, Topology  # noqa: E402

# HPCS 2011, section 2.1: an L2 for two cores, two of them in each of two sockets.
CORE2 = "Package:2 L2Cache:2(size=4MiB) Core:2 PU:1"
# An L3 for the four cores of each of two sockets.
NEHALEM = "Package:2 [NUMANode] L3Cache:1(size=8MiB) L2Cache:4(size=256KiB) Core:1 PU:1"
# IBM X3950M2: an L3 for the six cores of a socket, an L2 for two of them.
X3950M2 = "NUMANode:4 Package:4 L3Cache:1(size=16MiB) L2Cache:3(size=3MiB) Core:2 PU:1"
# INRIA RR-7330, section 3: no cache is shared.
OPTERON = "Package:8 [NUMANode] L2Cache:2(size=1MiB) Core:1 PU:1"
ODD = "Package:2 L3Cache:1(size=8MiB) Core:3 PU:2"

# Four threads at two locks: 1 and 3, then 2 and 4 (the main thread is 0). Each wait is far longer than what else they share.
PAIRS = r"""
#include <pthread.h>
#include <unistd.h>

pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;

static void* work(void* lock) {
    for (int i = 0; i < 300; ++i) {
        pthread_mutex_lock(lock);
        usleep(300);
        pthread_mutex_unlock(lock);
    }
    return 0;
}

int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i) pthread_create(&threads[i], 0, work, i % 2 ? &right : &left);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], 0);
    return 0;
}
"""


def graph(threads: int, edges: dict[tuple[int, int], float]) -> affinity.Graph:
    return affinity.Graph(tuple(f"t{i}" for i in range(threads)), edges)


def planted_pairs(threads: int) -> affinity.Graph:
    """Thread i and the one half of them further on, beside noise of all."""
    half, draw = threads // 2, random.Random(threads)
    noise = {(a, b): draw.random() / threads / threads for b in range(threads) for a in range(b)}
    return graph(threads, noise | {(i, i + half): 1000.0 for i in range(half)})


@contextlib.contextmanager
def on(synthetic: str):
    with unittest.mock.patch.dict(os.environ):
        for name in (*dict(SOURCES), "HWLOC_THISSYSTEM"):
            os.environ.pop(name, None)
        os.environ["HWLOC_SYNTHETIC"] = synthetic
        yield


class Strategies(Case):
    def setUp(self):
        super().setUp()
        if not (shutil.which("lstopo-no-graphics") or shutil.which("lstopo")):
            self.skipTest("lstopo-no-graphics is not installed: 'apt install hwloc-nox' gets it")

    def load(self, synthetic: str) -> Topology:
        with on(synthetic):
            return Topology.load()

    def assert_assigned(self, synthetic: str, drawn: affinity.Graph, expected: dict[str, tuple[int, ...]], sockets=None):
        topology = self.load(synthetic)
        for strategy, processors in expected.items():
            with self.subTest(strategy=strategy, machine=synthetic):
                self.assertEqual(affinity.assign(strategy, drawn, topology, sockets), tuple(processors))

    def test_by_hand_on_core2(self):
        # Pairs (0, 4), (1, 5), (2, 6), (3, 7); less so pairs of pairs: those with even numbers, and those with odd ones.
        drawn = graph(8, {(0, 4): 10.0, (1, 5): 10.0, (2, 6): 10.0, (3, 7): 10.0, (0, 2): 3.0, (4, 6): 3.0, (1, 3): 3.0, (5, 7): 3.0})
        by_parity = (0, 4, 2, 6, 1, 5, 3, 7)
        self.assert_assigned(CORE2, drawn, {
            "compact": range(8), "scatter": (0, 4, 2, 6, 1, 5, 3, 7),
            "gp": by_parity, "lpgp": by_parity, "gplp": by_parity,
            "lp-compact": (0, 2, 4, 6, 1, 3, 5, 7),  # the second pair beside the first
            "lp-scatter": by_parity})  # in the other socket

    def test_by_hand_on_nehalem(self):
        # Two cliques with pairs of weight 4.5 and 4; across them pairs of weight 5, which are more than those within (4 × 5 and 4 × 4.5).
        cliques = {(a + c, b + c): 4.5 if b == a + 1 and a % 2 == 0 else 4.0 for c in (0, 4) for b in range(4) for a in range(b)}
        self.assert_assigned(NEHALEM, graph(8, cliques | {(i, i + 4): 5.0 for i in range(4)}), {
            "gp": range(8), "gplp": range(8),
            "lp-compact": (0, 2, 4, 6, 1, 3, 5, 7), "lpgp": (0, 2, 4, 6, 1, 3, 5, 7),
            "lp-scatter": (0, 4, 2, 6, 1, 5, 3, 7)})

    def test_by_hand_on_x3950m2(self):
        # 16 threads: pairs (0, 1), (2, 3), …, and fours of two pairs each.
        drawn = graph(16, {(2 * i, 2 * i + 1): 10.0 for i in range(8)} | {(4 * i, 4 * i + 2): 2.0 for i in range(4)})
        fours = [6 * (i // 4) + i % 4 for i in range(16)]
        self.assert_assigned(X3950M2, drawn, {"lpgp": fours, "gplp": fours, "gp": fours}, sockets=4)
        twos = [6 * (i // 2) + i % 2 for i in range(16)]
        self.assert_assigned(X3950M2, drawn, {"lpgp": twos, "gplp": twos, "gp": twos}, sockets=8)
        ones = [6 * i for i in range(16)]
        self.assert_assigned(X3950M2, drawn, {"gp": ones, "gplp": ones, "lpgp": twos, "lp-compact": range(16),
                                              "lp-scatter": [24 * (i // 2 % 4) + 6 * (i // 8) + i % 2 for i in range(16)]}, sockets=16)

    def test_by_hand_on_opteron(self):
        drawn = graph(16, {(i, i + 8): 1.0 for i in range(8)})
        expected = [2 * (i % 8) + i // 8 for i in range(16)]
        self.assert_assigned(OPTERON, drawn, dict.fromkeys(("gp", "lp-compact", "lp-scatter", "lpgp", "gplp"), expected))

    def test_planted_graphs(self):
        for threads in (4, 8, 16, 32, 64):
            topology = self.load(f"Package:2 L3Cache:{max(1, threads // 8)}(size=8MiB) Core:{min(4, threads // 2)} PU:1")
            machine = affinity.Machine.of(topology)
            size = len(machine.caches[0])

            def within(strategy, drawn, topology=topology):
                together = collections.defaultdict(list)
                for thread, processor in enumerate(affinity.assign(strategy, drawn, topology)):
                    together[topology[processor].caches[-1].processors].append(thread)
                return sum(map(drawn.within, together.values()))

            pairs = planted_pairs(threads)
            ring = graph(threads, {(min(i, (i + 1) % threads), max(i, (i + 1) % threads)): 1.0 for i in range(threads)})
            hub = graph(threads, {(0, i): 1.0 for i in range(1, threads)})
            for strategy in ("gp", "lp-compact", "lp-scatter", "lpgp", "gplp"):
                with self.subTest(threads=threads, strategy=strategy):
                    self.assertGreaterEqual(within(strategy, pairs), 0.99 * sum(pairs.weights.values()))
            for strategy in ("gp", "lpgp"):  # segments, of which each loses one edge; the hub with all that fit beside it
                with self.subTest(threads=threads, strategy=strategy):
                    self.assertEqual(within(strategy, ring), threads - len(machine.caches))
                    self.assertEqual(within(strategy, hub), size - 1)

    def test_no_part_is_larger_than_its_cache_has_cores(self):
        for synthetic in (CORE2, NEHALEM, X3950M2, OPTERON, ODD):
            topology = self.load(synthetic)
            for threads in (1, 2, 3, 5, 6, 8, 13, 16):
                drawn = graph(threads, {(a, b): float((a * 7 + b * 5) % 11 + 1) for b in range(threads) for a in range(b)})
                turns = -(-threads // len(topology.cores))
                for strategy in affinity.STRATEGIES:
                    most = turns + (strategy == "lpgp" and synthetic == ODD)  # pairs stay whole
                    processors = affinity.assign(strategy, drawn, topology)
                    used = collections.Counter(topology[number].core for number in processors)
                    with self.subTest(machine=synthetic, threads=threads, strategy=strategy):
                        self.assertEqual(len(processors), threads)
                        if strategy != "compact" or synthetic != ODD:  # which fills the siblings of a core first
                            self.assertLessEqual(max(used.values()), most)

    def test_what_cannot_be(self):
        topology = self.load(NEHALEM)
        with self.assertRaisesRegex(Error, "3 sockets are more than the 2"):
            affinity.assign("gp", graph(2, {}), topology, 3)
        with self.assertRaisesRegex(Error, "'best' is no strategy"):
            affinity.assign("best", graph(2, {}), topology)


class Graphs(Case):
    GOOD = {"format": affinity.FORMAT, "version": 1, "unit": "accesses", "threads": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
            "edges": [{"a": 2, "b": 0, "weight": 3}, {"a": 0, "b": 2, "weight": 4, "objects": [{"name": "x", "kind": "line", "weight": 1}]}]}

    def test_json_comes_back_the_same(self):
        read = affinity.of_json(json.dumps(self.GOOD), "here")
        self.assertEqual(read.weights, {(0, 2): 7.0})
        self.assertEqual([(each.name, each.weight) for each in read.objects[0, 2]], [("", 6.0), ("x", 1.0)])
        again = affinity.of_json(affinity.as_json(read), "here")
        self.assertEqual((again.names, dict(again.weights), again.unit), (("a", "b", "c"), {(0, 2): 7.0}, "accesses"))

    def test_hostile_json_is_refused_in_a_line(self):
        def changed(**parts):
            return json.dumps({**self.GOOD, **parts})

        edge = {"a": 0, "b": 1, "weight": 1}
        for text in ("", "{", "[" * 100_000, "{" + '"a":{' * 50_000, "[]", "{}", changed(version=2), changed(threads=3), changed(threads=[]),
                     changed(threads=[1]), changed(threads=[{"name": 1}]), changed(threads=[{}] * 2000), changed(edges=None), changed(unit=1),
                     changed(edges=[1]), *(changed(edges=[{**edge, **wrong}]) for wrong in (
                         {"a": 1}, {"a": -1}, {"b": 3}, {"b": True}, {"a": 0.0}, {"weight": -1}, {"weight": float("nan")},
                         {"weight": float("inf")}, {"weight": 1e300}, {"weight": "1"}, {"objects": 1}, {"objects": [{}]},
                         {"objects": [{"name": "x", "kind": "y", "weight": -1}]}))):
            with self.subTest(text=text[:120]), self.assertRaises(Error) as failed:
                affinity.of_json(text, "here")
            self.assertRegex(str(failed.exception), r"\Ahere: [^\n]+\Z")


class Command(Case):
    def affinity(self, *words, **options):
        return self.rdam("affinity", *words, **options)

    def record_pairs(self):
        self.need("gcc")
        (self.folder / "pairs.c").write_text(PAIRS)
        subprocess.run(["gcc", "-g", "-O1", "-pthread", "pairs.c", "-o", "pairs"], cwd=self.folder, check=True, timeout=TIMEOUT)
        self.succeeded(self.rdam("record", "-f", "pthread_mutex_lock,pthread_mutex_unlock", "--", "./pairs"))

    def test_a_recording_of_pairs_becomes_a_pinning(self):
        self.record_pairs()
        self.succeeded(self.affinity("--json", "-o", "graph.json"))
        found = json.loads((self.folder / "graph.json").read_text())
        weights = {(edge["a"], edge["b"]): edge["weight"] for edge in found["edges"]}
        self.assertEqual(len(found["threads"]), 5)
        self.assertGreaterEqual(weights[1, 3] + weights[2, 4], 0.99 * sum(weights.values()))
        names = {(edge["a"], edge["b"]): edge["objects"][0]["name"] for edge in found["edges"]}
        self.assertEqual((names[1, 3], names[2, 4]), ("left", "right"))
        text = self.succeeded(self.affinity()).stdout.decode()
        for words in ("1 pairs", "left (mutex)", "lp-scatter", "weights, in tenths"):
            self.assertIn(words, text)
        with on(NEHALEM):
            self.succeeded(self.affinity("graph.json", "--strategy", "gplp", "-o", "pins.txt"))
            pins = placements.read_file(self.folder / "pins.txt", Topology.load(), ())
        sockets = [number // 4 for number in pins]
        self.assertEqual((sockets[1], sockets[2]), (sockets[3], sockets[4]))
        self.succeeded(self.affinity("--strategy", "lp-compact", "-o", "here.txt"))
        self.succeeded(self.rdam("study", "--runs", "3", "--threads", "5", "--pin", "file:here.txt", "./pairs"))

    def test_what_is_wrong_is_one_line(self):
        self.assert_one_line(self.affinity("nowhere"), 1, "nowhere", "No such file")
        (self.folder / "graph.json").write_text('{"format": 1')
        self.assert_one_line(self.affinity("graph.json"), 1, "graph.json", "no JSON")
        (self.folder / "graph.json").write_text(json.dumps(Graphs.GOOD))
        self.assert_one_line(self.affinity("graph.json", "--strategy", "gp", "-o", "no/folder"), 1, "no/folder")
        self.assert_one_line(self.affinity("graph.json", "--json", "-o", "/dev/full"), 1, "/dev/full", "No space left")
        self.assert_one_line(self.affinity("graph.json", "--strategy", "best"), 2, "best", "lp-compact")
        with open("/dev/full", "w") as full:
            done = subprocess.run([RDAM, "affinity", "graph.json", "--json"], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, timeout=TIMEOUT)
        self.assertEqual((done.returncode, done.stderr.count(b"\n")), (1, 1), done.stderr)

    def test_a_missing_library_is_named(self):
        (self.folder / "graph.json").write_text(json.dumps(Graphs.GOOD))
        (self.folder / "python").write_text(f"#!/bin/sh\nexec {sys.executable} -S \"$@\"\n")
        (self.folder / "python").chmod(0o755)
        done = self.affinity("graph.json", env={**os.environ, "RDAM_PYTHON": str(self.folder / "python")})
        self.assert_one_line(done, 1, "which rdam affinity needs, is missing", "apt install python3-")


if __name__ == "__main__":
    unittest.main()
