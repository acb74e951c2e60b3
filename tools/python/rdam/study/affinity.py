"""`rdam affinity`: what the threads of a trace share, as a graph, and pinnings made of such a graph.

The strategies are those of Mazouz, Touati, Barthou, "Performance evaluation and analysis of thread pinning strategies on multi-core
platforms" (HPCS 2011, section 3.2). Matching and bisection are networkx's. As a program, the module takes the request as the JSON object
in argument 2.
"""

import collections
import contextlib
import dataclasses
import itertools
import json
import math
import os
import pathlib
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence

import networkx
import numpy

import rdam.trace
from rdam.study import placements
from rdam.study.topology import Topology, pruned
from rdam.trace import Error

STRATEGIES = ("compact", "scatter", "gp", "lp-compact", "lp-scatter", "lpgp", "gplp")
BY_SOCKETS = ("lpgp", "gplp")
FORMAT, VERSION = "rdam affinity graph", 1
MOST_THREADS = 1024  # a matching takes time with the cube of their number
MOST_BYTES = 256 << 20  # of a file with a graph
MOST_SHOWN = 20  # edges in the text
MOST_OBJECTS = 8  # of an edge, those of the largest weight
FIRST_FIBER = 4_194_304  # tids from here on are no threads' (docs/json.md)
NUMBERED = {**dict.fromkeys(("fd", "sockfd", "epfd", "fd_in", "out_fd"), "file"), "semid": "semaphore",
            **dict.fromkeys(("mqdes", "msqid"), "queue")}  # key parameters that name objects by number
JOINED = "thread"  # of waits: a thread that is joined is not shared


@dataclasses.dataclass(frozen=True)
class Shared:
    """An object, and what of an edge's weight is its."""

    name: str
    kind: str
    weight: float


@dataclasses.dataclass(frozen=True)
class Graph:
    """Threads are counted from 0 in the order in which they were created, as `rdam study --pin file:FILE` counts them."""

    names: tuple[str, ...]
    weights: Mapping[tuple[int, int], float]  # of edges (a, b) with a < b, all above 0
    unit: str = "ns"
    objects: Mapping[tuple[int, int], Sequence[Shared]] = dataclasses.field(default_factory=dict)  # heaviest first

    def between(self, one: Iterable[int], other: Iterable[int]) -> float:
        return math.fsum(self.weights.get((min(a, b), max(a, b)), 0.0) for a, b in itertools.product(one, other))

    def within(self, threads: Iterable[int]) -> float:
        return math.fsum(self.weights.get(pair, 0.0) for pair in itertools.combinations(sorted(threads), 2))


# From a trace

class Edges:
    """Adds up what pairs of threads share."""

    def __init__(self):
        self._sums: dict[tuple[int, int], dict[tuple[str, str], float]] = collections.defaultdict(lambda: collections.defaultdict(float))

    def add(self, one: int, other: int, name: str, kind: str, weight: float) -> None:
        if weight > 0 and one != other:
            self._sums[min(one, other), max(one, other)][name, kind] += weight

    def graph(self, names: Sequence[str], unit: str) -> Graph:
        edges = sorted(self._sums.items())
        return Graph(tuple(names), {pair: math.fsum(found.values()) for pair, found in edges}, unit,
                     {pair: sorted((Shared(*what, weight) for what, weight in found.items()), key=lambda each: (-each.weight, each.name))
                      for pair, found in edges})


def of_trace(trace: "rdam.trace.Trace") -> Graph:
    """Each object counts once: by the waits that the report has of its address, whose time every pair of a waiter and an owner has an equal
    share of; otherwise by the time that threads lost in calls with it as a key, which is shared equally by all others that use it."""
    tids, starts = trace.threads["tid"], numpy.nan_to_num(trace.threads["start"], nan=math.inf)
    rows = [row for row in range(len(tids)) if tids[row] < FIRST_FIBER]
    check_count(len(rows), trace.info["trace"]["file"])
    # As they were created: Linux counts upwards from the main thread, and begins again below FIRST_FIBER. They begin to run in any order.
    main = trace.info["trace"].get("pid")
    if main not in tids:
        main = int(tids[min(rows, key=lambda row: starts[row])])
    rows.sort(key=lambda row: ((int(tids[row]) - main) % FIRST_FIBER, starts[row]))
    threads = {row: number for number, row in enumerate(rows)}
    by_tid = {int(tids[row]): number for row, number in reversed(threads.items())}
    edges = Edges()
    waited = set()
    waits = trace.report.get("waits", {}).get("edges", [])
    for edge in waits:
        # Rows without an address stand for many locks, whose calls have them as keys.
        named = edge.get("address") or edge.get("variable")
        if edge["kind"] == JOINED or not named:
            continue
        waited.add(edge.get("address"))
        pairs = [(by_tid[waiter], by_tid[owner]) for waiter in edge["waiters"] for owner in edge["owners"]
                 if waiter in by_tid and owner in by_tid and waiter != owner]
        for pair in pairs:
            edges.add(*pair, edge.get("variable") or named, edge["kind"], edge["waited_ns"] / len(pairs))
    for (name, kind), losses in sorted(used_objects(trace, threads).items()):
        for thread, lost in losses.items() if name not in waited else ():
            for other in losses:
                edges.add(thread, other, name, kind, lost / max(1, len(losses) - 1))
    return edges.graph([str(trace.threads["name"][row]) for row in rows], "ns")


def used_objects(trace: "rdam.trace.Trace", threads: Mapping[int, int]) -> dict[tuple[str, str], dict[int, float]]:
    """Of each object that is a key parameter: the threads that use it, and how many nanoseconds they lost in these calls."""
    calls = trace.calls
    lost = numpy.zeros(len(calls["duration"]))
    scored = numpy.flatnonzero(calls["outermost"] & (calls["duration"] >= 0) & (calls["sequence"] >= 0))
    fastest = numpy.full(len(trace.sequences["sequence"]), numpy.inf)
    numpy.minimum.at(fastest, calls["sequence"][scored], (calls["duration"] + calls["doubt"])[scored])
    lost[scored] = numpy.maximum(0, calls["duration"][scored] - fastest[calls["sequence"][scored]]) * calls["weight"][scored]
    found: dict[tuple[str, str], dict[int, float]] = collections.defaultdict(lambda: collections.defaultdict(float))
    for number, function in enumerate(trace.info["functions"]):
        columns = (function.get("values") or {"columns": []})["columns"]
        for column in (each for each in columns if each.get("key")):
            kind = "address" if column["kind"] == "pointer" else NUMBERED.get(column["name"])
            if kind is None:
                continue
            values = trace.values(number)
            keys, which = numpy.unique(values[column["name"]], return_inverse=True)
            users, who = numpy.unique(calls["thread"][values["call"]], return_inverse=True)
            sums = numpy.zeros((len(keys), len(users)))
            numpy.add.at(sums, (which, who), lost[values["call"]])
            used = numpy.zeros(sums.shape, dtype=bool)
            used[which, who] = True
            for i, j in numpy.argwhere(used):
                key, thread = int(keys[i]), threads.get(int(users[j]))
                if thread is not None and (kind != "address" or key):
                    found[f"{key:#x}" if kind == "address" else f"{kind} {key}", kind][thread] += float(sums[i, j])
    return found


# As JSON

def check_count(threads: int, source: str) -> None:
    if not 1 <= threads <= MOST_THREADS:
        raise Error(f"{source}: has {threads} threads: rdam affinity takes 1 to {MOST_THREADS}")


def as_json(graph: Graph) -> str:
    edges = [{"a": a, "b": b, "weight": weight, "objects": [dataclasses.asdict(each) for each in graph.objects.get((a, b), ())[:MOST_OBJECTS]]}
             for (a, b), weight in graph.weights.items()]
    return json.dumps({"format": FORMAT, "version": VERSION, "unit": graph.unit, "threads": [{"name": name} for name in graph.names],
                       "edges": edges}, indent=1, ensure_ascii=True) + "\n"


def of_json(text: str, source: str) -> Graph:
    """Raises Error for anything that as_json() does not write; objects may be missing, and an edge be there several times, or either way."""
    def wrong(what: str) -> Error:
        return Error(f"{source}: is no affinity graph: {what}; 'rdam affinity --json' writes one")

    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise wrong(f"it is no JSON ({str(error).splitlines()[0]})") from None
    if not isinstance(value, dict) or (value.get("format"), value.get("version")) != (FORMAT, VERSION):
        raise wrong(f"it does not begin with \"format\": \"{FORMAT}\", \"version\": {VERSION}")
    threads, found, unit = value.get("threads"), value.get("edges"), value.get("unit", "")
    if not isinstance(threads, list) or not all(isinstance(each, dict) and isinstance(each.get("name", ""), str) for each in threads):
        raise wrong("\"threads\" is no list of objects with names")
    if not isinstance(found, list) or not isinstance(unit, str):
        raise wrong("\"edges\" is no list, or \"unit\" no text")
    check_count(len(threads), source)
    edges = Edges()
    for number, edge in enumerate(found):
        ends = (edge.get("a"), edge.get("b")) if isinstance(edge, dict) else (None, None)
        if not all(type(end) is int and 0 <= end < len(threads) for end in ends) or ends[0] == ends[1]:
            raise wrong(f"edge {number} is not between two of the threads 0 to {len(threads) - 1}")
        weight = edge.get("weight")
        if not is_weight(weight):
            raise wrong(f"edge {number} has no weight from 0 to 1e18")
        objects = edge.get("objects", [])
        if not isinstance(objects, list) or not all(isinstance(each, dict) and isinstance(each.get("name"), str) and is_weight(each.get("weight"))
                                                    and isinstance(each.get("kind"), str) for each in objects):
            raise wrong(f"the objects of edge {number} have not all a name, a kind and a weight")
        for each in objects:
            edges.add(*ends, each["name"], each["kind"], each["weight"])
        edges.add(*ends, "", "other", weight - math.fsum(each["weight"] for each in objects))
    return edges.graph([each.get("name", "") for each in threads], unit)


def is_weight(value) -> bool:
    return type(value) in (int, float) and 0 <= value <= 1e18


# The machine, as the strategies see it

@dataclasses.dataclass(frozen=True)
class Machine:
    """Cores are counted as in Topology.cores, in hwloc's order."""

    topology: Topology
    sockets: tuple[tuple[int, ...], ...]  # the cores of each socket
    caches: tuple[tuple[int, ...], ...]  # of each last-level cache that cores share; of each socket, where they share none
    seats: tuple[tuple[int, ...], ...]  # two cores that share the smallest cache that they share with any, or a socket; else one

    @classmethod
    def of(cls, topology: Topology, sockets: int | None = None) -> "Machine":
        """With the first `sockets` sockets only; None: all. Raises Error where there are not as many."""
        every = grouped(topology, lambda processor: processor.package)
        if sockets is not None:
            if sockets > len(every):
                raise Error(f"{sockets} sockets are more than the {len(every)} that {topology.source} has: give 1 to {len(every)}")
            topology = topology.restricted(number for socket in every[:sockets] for core in socket for number in topology.cores[core])
            every = every[:sockets]
        def socket_of(processor):
            return "socket", processor.package

        def shared(processor):
            return [cache.processors for cache in processor.caches if len({topology[n].core for n in cache.processors}) > 1]

        caches = grouped(topology, lambda processor: (shared(processor) or [socket_of(processor)])[-1])
        near = grouped(topology, lambda processor: (shared(processor) or [socket_of(processor)])[0])
        seats = [[group[i:i + 2] for group in near if group[0] in socket for i in range(0, len(group), 2)] for socket in every]
        return cls(topology, every, caches, tuple(seat for of_socket in seats for seat in whole(of_socket)))

    def scattered(self, seats: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Those of one socket after the other in turn, within each of its caches in turn."""
        by_first = {self.topology.cores[seat[0]][0]: seat for seat in seats}
        return [by_first[number] for number in placements.in_turn(pruned(self.topology.tree, set(by_first)))]

    def processor(self, core: int, turn: int) -> int:
        """Of the thread that is the turn-th on a core, from 0: siblings take turns."""
        siblings = self.topology.cores[core]
        return siblings[turn % len(siblings)]


def whole(seats: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """With seats of the cores that were left over alone."""
    alone = [core for seat in seats if len(seat) == 1 for core in seat]
    return [seat for seat in seats if len(seat) > 1] + [tuple(alone[i:i + 2]) for i in range(0, len(alone), 2)]


def grouped(topology: Topology, key) -> tuple[tuple[int, ...], ...]:
    groups: dict[object, list[int]] = {}
    for core, numbers in enumerate(topology.cores):
        groups.setdefault(key(topology[numbers[0]]), []).append(core)
    return tuple(map(tuple, groups.values()))


# The strategies

def assign(strategy: str, graph: Graph, topology: Topology, sockets: int | None = None) -> tuple[int, ...]:
    """The processor of each thread. Where there are more threads than cores, each core takes as many as it must, its siblings in turn.

    compact, scatter  as placements.place() has them: they do not look at the graph
    gp                a part of the threads for each last-level cache, so that the weight within parts is large
    lp-compact        pairs of threads, of the largest weight that pairs can have, on two cores that share a cache; pairs close together
    lp-scatter        the same with consecutive pairs far apart
    lpgp              these pairs, then parts of the pairs for sockets
    gplp              parts of the threads for sockets, then pairs within each

    Parts are as equal as the caches' numbers of cores permit, and never larger. `sockets`: use the first ones only.
    """
    if strategy not in STRATEGIES:
        raise Error(f"'{strategy}' is no strategy of rdam affinity: use one of {', '.join(STRATEGIES)}")
    count = len(graph.names)
    machine = Machine.of(topology, sockets)
    if strategy in ("compact", "scatter"):
        return placements.place(strategy, count, machine.topology).processors
    turns = -(-count // len(machine.topology.cores))
    threads = range(count)
    if strategy == "gp":
        parts = partition([(thread,) for thread in threads], graph, [len(cache) * turns for cache in machine.caches])
        return seated(machine, ((group, [thread for (thread,) in part]) for group, part in zip(machine.caches, parts, strict=True)), count)
    if strategy in ("lp-compact", "lp-scatter"):
        seats = whole(machine.seats)
        return seated(machine, on_seats(machine.scattered(seats) if strategy == "lp-scatter" else seats, pairs(threads, graph)), count)
    seats_of = [[seat for seat in machine.seats if set(seat) <= set(socket)] for socket in machine.sockets]
    if strategy == "lpgp":
        units = pairs(threads, graph)
        # Pairs stay whole, so that on sockets with an odd number of cores they may need more turns than threads would.
        while sum(len(socket) * turns // 2 for socket in machine.sockets) < len(units):
            turns += 1
        parts = partition(units, graph, [len(socket) * turns // 2 for socket in machine.sockets])
    else:
        inside = partition([(thread,) for thread in threads], graph, [len(socket) * turns for socket in machine.sockets])
        parts = [pairs([thread for (thread,) in part], graph) for part in inside]
    return seated(machine, itertools.chain.from_iterable(on_seats(seats, part) for seats, part in zip(seats_of, parts, strict=True)), count)


def on_seats(seats: Sequence[tuple[int, ...]], units: Sequence[tuple[int, ...]]) -> Iterable[tuple[tuple[int, ...], list[int]]]:
    """Each seat with the threads of the pairs that come to it: a pair takes the seat whose cores then have the fewest, the first of several."""
    found: list[list[int]] = [[] for _ in seats]
    for unit in units:
        least = min(range(len(seats)), key=lambda i: ((len(found[i]) + len(unit)) / len(seats[i]), -len(seats[i]), i))
        found[least] += unit
    return zip(seats, found, strict=True)


def seated(machine: Machine, groups: Iterable[tuple[Sequence[int], Sequence[int]]], count: int) -> tuple[int, ...]:
    """Each group is cores, and threads that take them in turn."""
    found = {}
    for cores, threads in groups:
        for place, thread in enumerate(threads):
            found[thread] = machine.processor(cores[place % len(cores)], place // len(cores))
    return tuple(found[thread] for thread in range(count))


def pairs(threads: Sequence[int], graph: Graph) -> list[tuple[int, ...]]:
    """All threads in twos, of the largest weight that there is, ordered by the lower number; of an odd number one is alone. Those that share
    nothing are paired as they come, which costs no weight."""
    drawn = networkx.Graph()
    drawn.add_nodes_from(threads)
    drawn.add_weighted_edges_from((a, b, weight) for (a, b), weight in graph.weights.items() if a in drawn and b in drawn)
    found = [tuple(sorted(pair)) for pair in networkx.max_weight_matching(drawn)]
    left = sorted(set(threads) - set(itertools.chain.from_iterable(found)))
    return sorted(found + [tuple(left[i:i + 2]) for i in range(0, len(left), 2)], key=lambda pair: (-len(pair), pair))


def equal_sizes(count: int, capacities: Sequence[int]) -> list[int]:
    """As equal as these capacities permit; the first parts are the larger ones."""
    sizes = [0] * len(capacities)
    for _ in range(count):
        i = min((i for i in range(len(sizes)) if sizes[i] < capacities[i]), key=lambda i: sizes[i])
        sizes[i] += 1
    return sizes


def partition(units: Sequence[tuple[int, ...]], graph: Graph, capacities: Sequence[int]) -> list[list[tuple[int, ...]]]:
    """Parts of the units (threads, or pairs of them) with much weight within each, by recursive bisection: a half is grown from its first
    unit, then Kernighan and Lin's exchanges improve it. Capacities count units, and have room for all."""
    drawn = networkx.Graph()
    drawn.add_nodes_from(range(len(units)))
    unit_of = {thread: number for number, unit in enumerate(units) for thread in unit}
    for (a, b), weight in graph.weights.items():
        one, other = unit_of.get(a), unit_of.get(b)
        if one is not None and other is not None and one != other:
            drawn.add_edge(one, other, weight=drawn.get_edge_data(one, other, {"weight": 0.0})["weight"] + weight)
    parts = bisected(drawn, equal_sizes(len(units), capacities))
    return [[units[number] for number in part] for part in parts]


def bisected(drawn: "networkx.Graph", sizes: Sequence[int]) -> list[list[int]]:
    if len(sizes) == 1:
        return [sorted(drawn)]
    middle = len(sizes) // 2
    first, second = sum(sizes[:middle]), sum(sizes[middle:])
    one = grown(drawn, first)
    other = set(drawn) - one
    if one and other:
        one, other = networkx.algorithms.community.kernighan_lin_bisection(drawn, (one, other), seed=0)
        if len(one) != first or (first == second and min(other) < min(one)):
            one, other = other, one
    return bisected(drawn.subgraph(one), sizes[:middle]) + bisected(drawn.subgraph(other), sizes[middle:])


def grown(drawn: "networkx.Graph", size: int) -> set[int]:
    """The lowest unit, and again and again the one with the most weight to those that are in; of equal ones the lowest."""
    inside: set[int] = set()
    weight = dict.fromkeys(sorted(drawn), 0.0)
    while len(inside) < size:
        taken = max(weight, key=lambda unit: (weight[unit], -unit))
        inside.add(taken)
        del weight[taken]
        for neighbour, data in drawn[taken].items():
            if neighbour in weight:
                weight[neighbour] += data["weight"]
    return inside


# For people

def table(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    rows = [head, *body]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def printable(text: str) -> str:
    return "".join(each if each.isprintable() else "?" for each in text)


def labels(graph: Graph) -> list[str]:
    return [f"{number} {printable(name)[:24]}".rstrip() for number, name in enumerate(graph.names)]


def weight_text(weight: float, unit: str) -> str:
    return f"{weight / 1e6:.3f} ms" if unit == "ns" else f"{weight:.6g} {printable(unit)}".rstrip()


def matrix(graph: Graph) -> list[str]:
    """A row and a column for each thread; a digit is the tenth of the heaviest edge that a weight reaches, # the heaviest."""
    heaviest = max(graph.weights.values())
    width = max(map(len, labels(graph)))
    lines = []
    for a, label in enumerate(labels(graph)):
        weights = [graph.between([a], [b]) for b in range(len(graph.names))]
        lines.append(f"{label:<{width}}  " + " ".join("\\" if a == b else "." if not weight else "#" if weight == heaviest
                                                      else str(int(weight / heaviest * 10)) for b, weight in enumerate(weights)))
    return lines


def drawing(graph: Graph) -> str:
    """The edges, and the matrix of their weights."""
    total = math.fsum(graph.weights.values())
    if not total:
        return "These threads share nothing that is known: no weight, so that every strategy is as good as any other.\n"
    names = labels(graph)
    heaviest = sorted(graph.weights.items(), key=lambda edge: (-edge[1], edge[0]))
    body = [[names[a], names[b], weight_text(weight, graph.unit), f"{weight / total:.1%}",
             ", ".join(f"{printable(each.name)} ({printable(each.kind)})" for each in graph.objects.get((a, b), ())[:3] if each.name)]
            for (a, b), weight in heaviest[:MOST_SHOWN]]
    more = [f"{len(heaviest) - MOST_SHOWN} more edges"] if len(heaviest) > MOST_SHOWN else []
    return "\n".join([*table(["thread", "thread", "weight", "share", "objects"], body), *more, "",
                      "weights, in tenths of the heaviest (#):", *matrix(graph)]) + "\n"


def assignments(graph: Graph, topology: Topology, sockets: int | None) -> str:
    """What each strategy would do, and how much of the weight it has within last-level caches."""
    total, body, machine = math.fsum(graph.weights.values()), [], Machine.of(topology)
    for strategy in STRATEGIES:
        processors = assign(strategy, graph, topology, sockets)
        together = collections.defaultdict(list)
        for thread, processor in enumerate(processors):
            together[next(number for number, cores in enumerate(machine.caches) if processor in
                          [n for core in cores for n in topology.cores[core]])].append(thread)
        share = math.fsum(map(graph.within, together.values())) / total if total else 0.0
        body.append([strategy, f"{share:.1%}", ",".join(map(str, processors))])
    return "\n".join(table(["strategy", "within caches", "processors of the threads, in their order"], body)) + "\n"


def pinning(strategy: str, graph: Graph, topology: Topology, sockets: int | None) -> str:
    """A file for `rdam study --pin file:FILE`."""
    processors = assign(strategy, graph, topology, sockets)
    return "\n".join([f"# rdam affinity --strategy {strategy}, on {printable(topology.source)}",
                      *(f"{processor}  # thread {label}" for processor, label in zip(processors, labels(graph), strict=True))]) + "\n"


def read(path: str) -> Graph:
    """Of a trace, a folder of its columns, or a graph as JSON, which begins with a brace."""
    try:
        if not pathlib.Path(path).is_dir():
            with open(path, "rb") as file:
                begin = file.read(64)
                if begin.lstrip()[:1] == b"{":
                    content = begin + file.read(MOST_BYTES)
                    if len(content) > MOST_BYTES:
                        raise Error(f"{path}: is larger than {MOST_BYTES >> 20} MiB, which no graph of {MOST_THREADS} threads needs to be")
                    return of_json(content.decode(), path)
    except OSError as error:
        raise Error(f"{path}: cannot be read: {error.strerror}; name a trace, or a graph as JSON") from None
    except UnicodeDecodeError:
        raise Error(f"{path}: is no affinity graph: it is no UTF-8; 'rdam affinity --json' writes one") from None
    with rdam.trace.open(path) as trace:
        return of_trace(trace)


def main(request: dict) -> None:
    graph = read(request["trace"])
    sockets = request.get("sockets")
    if request.get("json"):
        text = as_json(graph)
    elif "strategy" in request:
        text = pinning(request["strategy"], graph, Topology.load(), sockets)
    else:
        text = drawing(graph) + "\n" + assignments(graph, Topology.load(), sockets)
    if "output" not in request:
        print(text, end="", flush=True)
        return
    try:
        pathlib.Path(request["output"]).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Error(f"{request['output']}: cannot be written: {error.strerror}; name another file") from None


if __name__ == "__main__":
    for ending in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(ending) == signal.SIG_DFL:  # nohup has it ignored
            signal.signal(ending, lambda number, _: sys.exit(128 + number))
    try:
        main(json.loads(sys.argv[2]))
    except Error as error:
        print(f"rdam: {error}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(1)
    except OSError as error:
        print(f"rdam: standard output: cannot be written: {error.strerror}", file=sys.stderr)
        sys.exit(1)
