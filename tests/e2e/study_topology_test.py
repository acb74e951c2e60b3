#!/usr/bin/python3
"""Where `rdam study` places threads on the machines of the papers, and that threads are where it has placed them."""

import collections
import contextlib
import dataclasses
import os
import pathlib
import random
import select
import shutil
import subprocess
import sys
import unittest
import unittest.mock

from harness import PROGRAMS, RDAM, TIMEOUT, Case
from pythons import MODULE

sys.path.insert(0, str(MODULE))
sys.dont_write_bytecode = True

from rdam import Error  # noqa: E402
from rdam.study import native, readback  # noqa: E402
from rdam.study.placements import STRATEGIES, Options, coinciding, place, place_co_runners, ranges  # noqa: E402
from rdam.study.topology import SOURCES, Topology, bits, parse  # noqa: E402

LSTOPO = shutil.which("lstopo-no-graphics") or shutil.which("lstopo")

# INRIA report inria-00514548, section 2.1: L2 for the processors {0, 4}, {1, 5}, {2, 6}, {3, 7}. Which of them are in one socket it does not say;
# numbers that alternate between the sockets, then between the L2, give these pairs.
CLOVERTOWN = "Package:2 L2Cache:2(size=4MiB) L1dCache:2(size=32KiB) Core:1 PU:1(indexes=0,4,2,6,1,5,3,7)"
# HPCS 2011, section 2.1: private L2, one L3 a socket, a node each.
NEHALEM = "Package:2 [NUMANode] L3Cache:1(size=8MiB) L2Cache:4(size=256KiB) Core:1 PU:1"
# The same: IBM X3950M2.
X3950M2 = "NUMANode:4 Package:4 L3Cache:1(size=16MiB) L2Cache:3(size=3MiB) Core:2 PU:1"
# INRIA RR-7330, section 3.
OPTERON = "Package:8 [NUMANode] L2Cache:2(size=1MiB) Core:1 PU:1"
# SC-W 2023, section 4.1: Zen 2 has an L3 for four cores, and Linux counts all first siblings before the second ones.
DARDEL = "Package:2 NUMANode:4 L3Cache:4(size=16MiB) L2Cache:4(size=512KiB) Core:1 PU:2(indexes=2*128:128*1)"
VERA = "Package:2 [NUMANode] L3Cache:1(size=22MiB) L2Cache:16(size=1MiB) Core:1 PU:1"


@contextlib.contextmanager
def on(**variables):
    """With these variables of hwloc's, and no others."""
    with unittest.mock.patch.dict(os.environ):
        for name in (*dict(SOURCES), "HWLOC_THISSYSTEM"):
            os.environ.pop(name, None)
        os.environ.update(variables)
        yield


class Machines(Case):
    def setUp(self):
        super().setUp()
        if LSTOPO is None:
            self.skipTest("lstopo-no-graphics is not installed: 'apt install hwloc-nox' gets it")

    def load(self, synthetic: str | None = None) -> Topology:
        with on(**({"HWLOC_SYNTHETIC": synthetic} if synthetic else {})):
            return Topology.load()

    @contextlib.contextmanager
    def assert_error(self, *words: str):
        """What is done within fails, with one line that has these words."""
        with self.assertRaises(Error) as failed:
            yield
        self.assertNotIn("\n", str(failed.exception))
        for word in words:
            self.assertIn(word, str(failed.exception))


class Topologies(Machines):
    def test_this_machine_is_what_linux_says_of_it(self):
        topology = self.load()
        self.assertTrue(topology.is_this_machine)
        self.assertEqual(topology.source, "this machine")
        self.assertEqual({each.number for each in topology.processors}, os.sched_getaffinity(0))
        for processor in topology.processors:
            folder = pathlib.Path(f"/sys/devices/system/cpu/cpu{processor.number}")
            known = {(int((cache / "level").read_text()), readback.parse_ranges((cache / "shared_cpu_list").read_text()))
                     for cache in folder.glob("cache/index*") if (cache / "type").read_text().strip() != "Instruction"}
            allowed = os.sched_getaffinity(0)
            if known:  # a virtual machine's kernel may not tell
                self.assertEqual({(cache.level, frozenset(cache.processors)) for cache in processor.caches},
                                 {(level, shared & allowed) for level, shared in known})
            siblings = readback.parse_ranges((folder / "topology/thread_siblings_list").read_text()) & allowed
            self.assertEqual(set(topology.cores[processor.core]), siblings)

    def test_only_allowed_processors_of_this_machine_are_there(self):
        before = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, before)
        os.sched_setaffinity(0, {max(before)})
        topology = self.load()
        self.assertEqual([each.number for each in topology.processors], [max(before)])
        self.assertEqual(place("compact", 3, topology).processors, (max(before),) * 3)
        self.assertEqual(len(self.load(OPTERON).processors), 16)

    def test_processors_share_what_the_machine_is_said_to_share(self):
        topology = self.load(DARDEL)
        self.assertEqual((topology.source, topology.is_this_machine), (f"HWLOC_SYNTHETIC={DARDEL}", False))
        last = topology[255]
        self.assertEqual((last.core, last.sibling, last.package, last.nodes), (127, 1, 1, (7,)))
        self.assertEqual([(cache.level, cache.size, cache.processors) for cache in last.caches],
                         [(2, 512 << 10, (127, 255)), (3, 16 << 20, (124, 125, 126, 127, 252, 253, 254, 255))])
        clovertown = self.load(CLOVERTOWN)
        self.assertEqual([(cache.size, cache.processors) for cache in clovertown[1].caches if 5 in cache.processors], [(4 << 20, (1, 5))])
        self.assertFalse([cache for cache in clovertown[1].caches if 3 in cache.processors])

    def test_either_lstopo_will_do(self):
        (self.folder / "lstopo").symlink_to(LSTOPO)
        with on(PATH=str(self.folder), HWLOC_SYNTHETIC=VERA):
            self.assertEqual(len(Topology.load().processors), 32)

    def test_another_machine_comes_from_a_file_as_well(self):
        with on(HWLOC_SYNTHETIC=X3950M2):
            synthetic = Topology.load()
            written = subprocess.run([LSTOPO, "--of", "xml"], check=True, capture_output=True)
        path = self.folder / "machine.xml"
        path.write_bytes(written.stdout)
        with on(HWLOC_XMLFILE=str(path)):
            loaded = Topology.load()
        self.assertEqual((loaded.processors, loaded.tree), (synthetic.processors, synthetic.tree))
        self.assertEqual((loaded.source, loaded.is_this_machine), (f"HWLOC_XMLFILE={path}", False))
        with on(HWLOC_XMLFILE=str(path), HWLOC_SYNTHETIC="core:2 1"):
            self.assertEqual(len(Topology.load().processors), 2)  # as hwloc itself chooses
        with on():
            own = subprocess.run([LSTOPO, "--of", "xml"], check=True, capture_output=True)
        path.write_bytes(own.stdout)
        with on(HWLOC_XMLFILE=str(path), HWLOC_THISSYSTEM="1"):
            self.assertTrue(Topology.load().is_this_machine)

    def test_kinds_of_cores_and_sets_of_more_than_a_word(self):
        self.assertEqual(bits("0x00000003,,0x80000000"), {31, 64, 65})
        pus = "".join(f'<object type="Core" cpuset="0x{1 << n:x}"><object type="PU" os_index="{n}"/></object>' for n in range(3))
        text = f'<topology><object type="Machine">{pus}</object><cpukind cpuset="0x4"/><cpukind cpuset="0x3"/></topology>'
        topology = parse(text, "a test", False)
        self.assertEqual([each.kind for each in topology.processors], [1, 1, 0])
        self.assertTrue(topology.are_symmetric([0, 1]))
        self.assertFalse(topology.are_symmetric([0, 2]))

    def test_what_cannot_be_read_is_said_in_one_line(self):
        with on(HWLOC_SYNTHETIC="sausage:3"), self.assert_error("--input sausage:3", "unknown object type"):
            Topology.load()
        with on(HWLOC_XMLFILE=str(self.folder / "none.xml")), self.assert_error("none.xml", "No such file"):
            Topology.load()
        with self.assert_error("a test: ", "no topology of hwloc 2"):
            parse("<topology", "a test", False)
        with self.assert_error("a test: ", "no processor"):
            parse('<topology><object type="Machine"><object type="PU" os_index="0"/></object></topology>', "a test", True, {1})


class Missing(Machines):
    def setUp(self):
        Case.setUp(self)

    def test_without_lstopo_the_package_is_named(self):
        with on(PATH=str(self.folder)), self.assert_error("lstopo-no-graphics", "is not installed", "apt install hwloc-nox"):
            Topology.load()


class Placements(Machines):
    def check(self, machine: str, strategy: str, expected: list[int], **options):
        topology = self.load(machine)
        placement = place(strategy, len(expected), topology, Options(**options))
        self.assertEqual(list(placement.processors), expected, (machine, strategy, options))
        self.assertEqual(placement.mask, set(expected))

    def test_two_sockets_with_l2_for_pairs(self):
        self.check(CLOVERTOWN, "compact", [0, 4, 2, 6, 1, 5, 3, 7])
        self.check(CLOVERTOWN, "scatter", [0, 1, 2, 3, 4, 5, 6, 7])
        self.check(CLOVERTOWN, "scatter", [0, 1, 2, 3])  # share nothing, section 5.2.3
        self.check(CLOVERTOWN, "compact", [0, 4, 2, 6, 1, 5, 0, 4], spared_cores=2)
        self.check(CLOVERTOWN, "scatter", [0, 1, 2, 5, 4, 6, 0], spared_cores=2)

    def test_two_sockets_with_one_l3_each(self):
        self.check(NEHALEM, "compact", [0, 1, 2, 3, 4, 5, 6, 7, 0])
        self.check(NEHALEM, "scatter", [0, 4, 1, 5, 2, 6, 3, 7, 0, 4])
        self.check(NEHALEM, "scatter", [0, 4, 1, 5, 2, 6, 3, 0], spared_cores=1)

    def test_sixteen_sockets_on_four_nodes(self):
        self.check(X3950M2, "compact", list(range(96)))
        # 16 threads: one for each socket, nodes in turn. Then another L2 of each socket, another, and the pairs' second cores.
        one_a_socket = [0, 24, 48, 72, 6, 30, 54, 78, 12, 36, 60, 84, 18, 42, 66, 90]
        self.check(X3950M2, "scatter", one_a_socket)
        self.check(X3950M2, "scatter", [first + core for core in (0, 2, 4, 1, 3, 5) for first in one_a_socket])
        self.check(X3950M2, "compact", [*range(90), 0, 1], spared_cores=6)

    def test_eight_nodes_of_two(self):
        self.check(OPTERON, "compact", list(range(16)))
        self.check(OPTERON, "scatter", [*range(0, 16, 2), *range(1, 16, 2)])

    def test_smt_on_eight_nodes(self):
        self.check(DARDEL, "compact", [sibling for core in range(128) for sibling in (core, core + 128)])
        self.check(DARDEL, "compact", [*range(128), 0], siblings=False)
        # Packages, nodes, caches, cores.
        cores = [64 * package + 16 * node + 4 * cache + core
                 for core in range(4) for cache in range(4) for node in range(4) for package in range(2)]
        self.check(DARDEL, "scatter", cores + [core + 128 for core in cores])
        self.check(DARDEL, "scatter", cores + cores[:3], siblings=False)
        # The paper's 254 of 256: the last core, both of its siblings.
        topology = self.load(DARDEL)
        placement = place("compact", 254, topology, Options(spared_cores=1))
        self.assertEqual((placement.spared, placement.processors[-2:], len(placement.mask)), ((127, 255), (126, 254), 254))
        self.assertEqual(place("none", 4, topology, Options(siblings=False, spared_cores=1)).mask, set(range(127)))

    def test_two_nodes_of_sixteen(self):
        self.check(VERA, "compact", list(range(32)))
        self.check(VERA, "scatter", [node + core for core in range(16) for node in (0, 16)])
        self.check(VERA, "scatter", [node + core for core in range(14) for node in (0, 16)] + [14, 15, 0], spared_cores=2)

    def test_siblings_come_last_where_cores_are_left_out_too(self):
        self.check("Package:2 Core:3 PU:2", "scatter", [0, 6, 2, 4, 1, 7, 3, 5], spared_cores=2)

    def test_threads_that_are_free_have_no_place(self):
        placement = place("none", 3, self.load(OPTERON), Options(spared_cores=2))
        self.assertEqual((placement.processors, placement.mask, placement.spared), ((), set(range(14)), (14, 15)))
        self.assertEqual(placement.environment, {"OMP_PROC_BIND": "false"})
        self.assertEqual(native.pinned(placement), {})

    def test_random_takes_every_processor_before_one_again(self):
        topology = self.load(DARDEL)
        seen = collections.Counter()
        for seed in range(200):
            for threads, options in ((5, Options()), (300, Options(siblings=False, spared_cores=3))):
                drawn = place("random", threads, topology, options, random.Random(seed))
                uses = collections.Counter(drawn.processors)
                self.assertEqual(len(drawn.processors), threads)
                self.assertLessEqual(set(uses), set(drawn.usable))
                self.assertLessEqual(max(uses.values()) - min(uses[number] for number in drawn.usable), 1)
                self.assertEqual(drawn, place("random", threads, topology, options, random.Random(seed)))
            seen.update(place("random", 5, topology, random=random.Random(seed)).processors)
        self.assertGreater(len(seen), 240)  # of 256; 1,000 draws leave 5 of them out
        source = random.Random(1)
        self.assertEqual(len({place("random", 8, topology, random=source).processors for _ in range(20)}), 20)

    def test_what_is_impossible_is_said_in_one_line(self):
        topology = self.load(OPTERON)
        with self.assert_error("'spread'", *STRATEGIES):
            place("spread", 2, topology)
        with self.assert_error("0 threads"):
            place("compact", 0, topology)
        with self.assert_error("16 cores cannot be spared", "spare 0 to 15"):
            place("compact", 2, topology, Options(spared_cores=16))


class Files(Machines):
    def place(self, text: str, threads: int, **options):
        path = self.folder / "places"
        path.write_text(text)
        return place("file", threads, self.load(OPTERON), Options(file=path, **options)).processors

    def test_lists_and_ranges(self):
        self.assertEqual(self.place("# two nodes\n14\n\n 2-4 # three\n0,7-8\r\n", 9), (14, 2, 3, 4, 0, 7, 8, 14, 2))

    def test_what_is_wrong_is_said_with_its_line(self):
        wrong = {"1\n2\nnode 3\n": (":3: 'node 3'", "write 3, or 0-3"), "0\n4-2\n": (":2: '4-2'",), "1,,2": (":1: ''",), "-1": (":1: '-1'",),
                 "0\n16": (":2: there is no processor 16", "0-15"), "\n# none\n": ("lists no processor",)}
        for text, words in wrong.items():
            with self.subTest(text), self.assert_error("/places", *words):
                self.place(text, 2)
        with self.assert_error(":1: processor 15 is of a spared core"):
            self.place("12-15", 2, spared_cores=1)
        with self.assert_error("/nowhere/places: cannot be read", "No such file"):
            place("file", 2, self.load(OPTERON), Options(file=pathlib.Path("/nowhere/places")))
        with self.assert_error("needs the file"):
            place("file", 2, self.load(OPTERON))


class CoRunners(Machines):
    def test_so_many_for_each_processor_in_use(self):
        topology = self.load(CLOVERTOWN)
        placement = place("scatter", 4, topology)
        bound = place_co_runners(placement, 4, bound=True)
        self.assertEqual(collections.Counter(bound), {frozenset([number]): 4 for number in range(4)})
        self.assertEqual(place_co_runners(placement, 2, bound=False), [frozenset(range(8))] * 8)
        self.assertEqual(place_co_runners(placement, 0, bound=True), [])
        # 8 threads on 4 processors: the processors count.
        twice = place("scatter", 8, topology, Options(spared_cores=4))
        self.assertEqual(place_co_runners(twice, 1, bound=True), [frozenset([number]) for number in twice.processors[:4]])
        self.assertEqual(place_co_runners(place("none", 3, topology), 2, bound=True), [frozenset(range(8))] * 6)


class Coinciding(Machines):
    def groups(self, machine: str, threads: int, *settings):
        topology = self.load(machine)
        return coinciding([place(strategy, threads, topology, Options(**options), random.Random(1)) for strategy, options in settings], topology)

    def test_two_processors_alike(self):
        self.assertEqual(self.groups("Package:1 L3:1 L2:2 core:1 1", 2, *((strategy, {}) for strategy in STRATEGIES[:4]),
                                     ("compact", {"siblings": False})), [[0], [1], [2, 3, 4]])

    def test_two_that_share_differently(self):
        both = ("compact", {}), ("scatter", {})
        self.assertEqual(self.groups("Package:2 [NUMANode] core:1 1", 2, *both), [[0, 1]])
        self.assertEqual(self.groups("Package:2 core:2 1", 2, *both), [[0], [1]])
        self.assertEqual(self.groups(CLOVERTOWN, 1, *both), [[0, 1]])
        self.assertEqual(self.groups(CLOVERTOWN, 8, *both), [[0], [1]])

    def test_names_of_processors_do_not_matter_where_all_are_alike(self):
        path = self.folder / "places"
        path.write_text("3\n1\n2\n")
        listed = ("file", {"file": path})
        self.assertEqual(self.groups("core:4 1", 3, ("compact", {}), listed), [[0, 1]])
        self.assertEqual(self.groups("core:4 1", 4, ("compact", {}), listed), [[0], [1]])  # the fourth thread is where the first is
        self.assertEqual(self.groups("L2:2 core:2 1", 3, ("compact", {}), listed), [[0], [1]])

    def test_spared_cores_matter_where_threads_are_free(self):
        self.assertEqual(self.groups("core:4 1", 2, ("none", {}), ("none", {"spared_cores": 1}), ("none", {"siblings": False}),
                                     ("compact", {"spared_cores": 1}), ("compact", {})), [[0, 2], [1], [3, 4]])
        self.assertEqual(self.groups("core:2 1", 2, ("random", {"spared_cores": 1}), ("compact", {"spared_cores": 1})), [[0, 1]])


class TwoProcessors(Machines):
    """This machine, of which two processors are used in an order that nobody would take by chance."""

    def setUp(self):
        super().setUp()
        self.own = sorted(os.sched_getaffinity(0))
        if len(self.own) < 2:
            self.skipTest("there is one processor: whether a thread is bound to it cannot be seen")
        self.places = self.own[1], self.own[0]
        path = self.folder / "places"
        path.write_text("\n".join(map(str, self.places)))
        self.placement = place("file", 5, self.load(), Options(file=path))


class Threads(TwoProcessors):
    def start(self, *words, variables=None, program=PROGRAMS / "pinned_threads") -> subprocess.Popen:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("RDAM_", "OMP_"))}
        process = subprocess.Popen([str(word) for word in (program, *words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**kept, **(variables or {})}, bufsize=0, preexec_fn=lambda: os.sched_setaffinity(0, self.placement.mask))
        self.addCleanup(process.wait, TIMEOUT)
        for stream in (process.stdin, process.stdout, process.stderr):
            self.addCleanup(stream.close)
        return process

    def lines(self, process: subprocess.Popen, last: str) -> list[list[str]]:
        """The program's lines up to the one that begins with this word, as words."""
        found, rest = [], b""
        while not found or found[-1][0] != last:
            self.assertTrue(select.select([process.stdout], [], [], TIMEOUT)[0])
            got = os.read(process.stdout.fileno(), 4096)
            self.assertNotEqual(got, b"", (last, found, process.poll()))
            *whole, rest = (rest + got).split(b"\n")
            found += [line.decode().split() for line in whole]
        return found

    def run_all(self, *words, program=PROGRAMS / "pinned_threads"):
        """Processors by the threads' names, of a program that has all of its threads; and what /proc says of them, which agrees."""
        process = self.start(*words, variables=native.pinned(self.placement), program=program)
        seen = readback.ReadBack(process.pid, self.placement)
        said = self.lines(process, "1")
        seen.poll()
        self.assertEqual(len(seen.threads), 2)
        process.stdin.write(b"go\n")
        said += self.lines(process, "all")
        seen.poll()
        self.assertEqual(len(seen.threads), 5)
        for name, thread, *processors in said[:-1]:
            if name not in ("before", "placed", "child", "child's"):
                self.assertEqual(seen.threads[int(thread)].allowed, set(map(int, processors)), name)
        process.stdin.close()
        self.assertEqual((process.wait(TIMEOUT), process.stderr.read()), (0, b""))
        return {name: list(map(int, processors)) for name, _, *processors in said[:-1]}, seen

    def expected(self) -> dict[str, list[int]]:
        one, other = self.places
        return {"before": self.own[:2], "1": [other], "2": [one], "3": [other], "4": [one], "main": [one]}

    def test_every_thread_is_pinned_those_created_late_too(self):
        said, seen = self.run_all()
        self.assertEqual(said, self.expected())
        self.assertEqual((seen.unplanned(), seen.unused()), ([], []))
        self.assertEqual(seen.sentence(), "all 5 threads that were seen are pinned as planned")

    def test_the_program_sees_what_it_would_without(self):
        """A thread that could not be created takes no place, and errno is the program's."""
        said, _ = self.run_all("failing", "errno")
        self.assertEqual(said, self.expected())

    def test_a_place_that_is_not_to_be_had_leaves_the_others_and_is_seen(self):
        both, one, other = self.own[:2], self.own[:1], self.own[1:2]
        for places, main, expected in (((8000, *both), both, [one, other, both, one]), ((one[0], 8000, other[0]), one, [both, other, one, both])):
            with self.subTest(places):
                self.placement = dataclasses.replace(self.placement, processors=places)
                said, seen = self.run_all("errno")
                self.assertEqual(said, {"before": both, **dict(zip("1234", expected, strict=True)), "main": main})
                self.assertEqual([thread.allowed for thread in seen.unplanned()], [set(both)] * 2)

    def test_a_thread_whose_creator_has_placed_it_is_left_alone(self):
        said, _ = self.run_all("placed")
        self.assertEqual(said, {**self.expected(), "placed": self.own[:2]})

    def test_children_may_use_all_places(self):
        for how in ("forks", "executes", "spawns", "titles"):
            with self.subTest(how):
                said, seen = self.run_all(how)
                self.assertEqual(said, {**self.expected(), "child": self.own[:2], "child's": self.own[:2]})
                self.assertEqual(seen.unplanned(), [])

    def test_the_read_back_looks_at_children(self):
        process = self.start("-c", f"'{PROGRAMS}/pinned_threads'; true", program="/bin/sh", variables=native.pinned(self.placement))
        process.stdin.write(b"go\n")
        said = {name: list(map(int, processors)) for name, _, *processors in self.lines(process, "all")[:-1]}
        seen = readback.ReadBack(process.pid, self.placement)
        seen.poll()
        process.stdin.close()
        self.assertEqual(said, dict.fromkeys(said, self.own[:2]))
        self.assertEqual((len(seen.threads), seen.unplanned()), (6, []))

    def test_a_program_that_a_shell_executes_in_its_place_is_pinned(self):
        script = self.folder / "script"
        script.write_text(f'#!/bin/sh\ntrue\nexec "{PROGRAMS}/pinned_threads"\n')
        script.chmod(0o755)
        self.assertEqual(self.run_all(program=script)[0], self.expected())

    def test_a_program_that_is_recorded_is_pinned_as_without(self):
        done = self.run_in_folder(RDAM, "record", "-f", "run_once", "--", PROGRAMS / "pinned_threads", "forks", input=b"go\n", stdin=None,
                                  env=native.pinned(self.placement), preexec_fn=lambda: os.sched_setaffinity(0, self.placement.mask))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(b"unknown variable", done.stderr)
        said = {name: list(map(int, processors)) for name, _, *processors in map(str.split, done.stdout.decode().splitlines()[:-1])}
        self.assertEqual(said, {**self.expected(), "child": self.own[:2], "child's": self.own[:2]})

    def test_wrong_variables_pin_nothing_and_are_said_in_one_line(self):
        right = native.pinned(self.placement)
        for wrong in ({"RDAM_PIN_PLACES": "0,one"}, {"RDAM_PIN_PLACES": "0,"}, {"RDAM_PIN_PLACES": "8192"}, {"RDAM_PIN_ROOT": ""}):
            with self.subTest(wrong):
                process = self.start(variables={**right, **wrong})
                said = self.lines(process, "1")
                self.assertEqual(said[1][2:], [str(number) for number in self.own[:2]])
                process.stdin.close()
                line = process.stderr.read().decode()
                self.assertEqual(process.wait(TIMEOUT), 5)
                self.assertRegex(line, r"\Alibrdam-pin: nothing is pinned: .*RDAM_PIN_PLACES.*\n\Z")

    def test_of_a_static_program_only_the_mask_remains_and_the_read_back_says_so(self):
        self.need("gcc")
        source = pathlib.Path(os.environ["SOURCE_ROOT"]) / "tests/e2e/programs/pinned_threads.c"
        built = self.run_in_folder("gcc", "-static", "-pthread", "-w", "-o", "static", source)
        if built.returncode != 0:
            self.skipTest(f"gcc cannot build a static program here: {built.stderr.decode().strip()[-200:]}")
        said, seen = self.run_all(program=self.folder / "static")
        self.assertEqual(set(map(tuple, said.values())), {tuple(self.own[:2])})
        self.assertEqual(len(seen.unplanned()), 5)
        self.assertIn(f"5 of 5 threads are not pinned as planned, on one each of {ranges(self.own[:2])}: static (", seen.sentence())
        free = place("none", 2, self.load())
        self.assertEqual(readback.ReadBack(seen.root, dataclasses.replace(free, mask=self.placement.mask)).is_planned(seen.unplanned()[0]), True)

    def test_threads_of_a_run_that_has_ended_stay_as_they_were_seen(self):
        process = self.start(variables=native.pinned(place("none", 2, self.load())))
        process.stdin.write(b"go\n")
        self.lines(process, "all")
        seen = readback.ReadBack(process.pid, self.placement)
        seen.poll()
        process.stdin.close()
        self.assertEqual(process.wait(TIMEOUT), 0)
        seen.poll()
        self.assertEqual(len(seen.unplanned()), 5)

    def test_threads_that_share_a_processor_while_another_is_free_are_seen(self):
        process = self.start(variables=native.pinned(place("compact", 1, self.load())))
        process.stdin.write(b"go\n")
        self.lines(process, "all")
        seen = readback.ReadBack(process.pid, self.placement)
        seen.poll()
        process.stdin.close()
        self.assertEqual((seen.unplanned(), seen.unused()), ([], [self.own[1]]))
        self.assertIn(f"no thread was seen on {self.own[1]}", seen.sentence())


class OpenMP(TwoProcessors):
    def check(self, compiler: str):
        self.need(compiler)
        source = pathlib.Path(os.environ["SOURCE_ROOT"]) / "tests/e2e/programs/openmp_places.c"
        built = self.run_in_folder(compiler, "-O1", "-fopenmp", "-w", "-o", "program", source)
        if built.returncode != 0:
            self.skipTest(f"{compiler} cannot build a program with OpenMP here: {built.stderr.decode().strip()[-200:]}")
        topology = self.load()
        for threads in (1, 2, 3, 4, 5):
            placement = place("file", threads, topology, Options(file=self.folder / "places"))
            # Beside the library that pins other programs, or without it.
            for more in ({}, native.pinned(placement)):
                with self.subTest(threads=threads, more=more):
                    done = self.run_in_folder("./program", env={**placement.environment, **more, "OMP_NUM_THREADS": str(threads)},
                                              preexec_fn=lambda mask=placement.mask: os.sched_setaffinity(0, mask))
                    self.assertEqual((done.returncode, done.stderr), (0, b""))
                    expected = [[i, number] for i, number in enumerate(placement.processors)]
                    self.assertEqual([list(map(int, line.split())) for line in done.stdout.decode().splitlines()],
                                     expected + expected[:(threads + 1) // 2])

    def test_libgomp_binds_thread_i_to_place_i(self):
        self.check("gcc")

    def test_libomp_binds_thread_i_to_place_i(self):
        self.check("clang")


if __name__ == "__main__":
    unittest.main()
