"""Which thread runs on which processor, and where the co-runners go.

The strategies are those of Mazouz, Touati, Barthou, "Performance evaluation and analysis of thread pinning strategies on multi-core
platforms" (HPCS 2011, section 3.1) that need no affinity graph; compact and scatter are what Intel's compiler calls so
(KMP_AFFINITY). Options follow Cui, Papadopoulou, Pericàs (SC-W 2023, section 3): with SMT siblings used, "MT", or spared, "ST".
"""

import dataclasses
import pathlib
import random as random_module
import re
from collections.abc import Sequence

from rdam.study.topology import Part, Topology, pruned
from rdam.trace import Error

STRATEGIES = ("none", "random", "compact", "scatter", "file")


@dataclasses.dataclass(frozen=True)
class Options:
    siblings: bool = True  # False: of each core only the first SMT sibling is used
    spared_cores: int = 0  # that are left to the system, the recorder and the study itself: the last ones in hwloc's order
    file: pathlib.Path | None = None  # of the strategy "file"


@dataclasses.dataclass(frozen=True)
class Placement:
    """Where the threads of one run go. Numbers of processors are the operating system's."""

    strategy: str
    threads: int
    processors: tuple[int, ...]  # one for each thread; empty if threads are free
    mask: frozenset[int]  # for sched_setaffinity() of the process: all that its threads may use
    usable: tuple[int, ...]  # by the options, in hwloc's order
    spared: tuple[int, ...]  # processors of the spared cores, in hwloc's order

    @property
    def environment(self) -> dict[str, str]:
        """OpenMP's variables. There is one place for each thread, even if several are the same, because only then `close` gives place i to
        thread i in libgomp and in libomp. They differ when there are more threads than places, and in what `true` means."""
        if not self.processors:
            return {"OMP_PROC_BIND": "false"}
        return {"OMP_PROC_BIND": "close", "OMP_PLACES": ",".join(f"{{{number}}}" for number in self.processors)}


def place(strategy: str, threads: int, topology: Topology, options: Options | None = None, random: random_module.Random | None = None) -> Placement:
    """Places `threads` threads (at least 1). Where there are more of them than processors, the order of processors begins again.

    none      threads are free among the processors that the options leave
    random    another placement at each call, drawn from `random`, which this strategy needs: the study draws one for each run. No processor
              is taken again before all have been
    compact   consecutive threads are as close as possible: a core's siblings, then what shares the smallest cache, a node, a package, ...
    scatter   consecutive threads are as far apart as possible: packages (or nodes) in turn, in each of them its caches in turn, then cores.
              A core's second sibling is used when all cores are
    file      the processors listed in options.file, whether or not they are siblings

    Raises Error for options that leave no processor, and for what is wrong with the file.
    """
    if strategy not in STRATEGIES:
        raise Error(f"'{strategy}' is no way to place threads: use one of {', '.join(STRATEGIES)}")
    if threads < 1:
        raise Error(f"{threads} threads cannot be placed: at least 1 is needed")
    options = options or Options()
    usable, spared = divide(topology, options)
    order = {"none": lambda: (),
             "random": lambda: shuffled(usable, threads, random),
             "compact": lambda: usable,
             "scatter": lambda: scattered(topology, usable),
             "file": lambda: read_file(options.file, topology, spared)}[strategy]()
    processors = tuple(order[i % len(order)] for i in range(threads)) if order else ()
    return Placement(strategy, threads, processors, frozenset(processors or usable), usable, spared)


def divide(topology: Topology, options: Options) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The processors that threads may use, and those of the spared cores."""
    cores = topology.cores
    if not 0 <= options.spared_cores < len(cores):
        raise Error(f"{options.spared_cores} cores cannot be spared of the {len(cores)} that {topology.source} has: spare 0 to {len(cores) - 1}")
    last = len(cores) - options.spared_cores
    usable = tuple(number for core in cores[:last] for number in (core if options.siblings else core[:1]))
    return usable, tuple(number for core in cores[last:] for number in core)


def halves(topology: Topology) -> tuple[Topology, Topology]:
    """Two parts of a machine with as many whole cores each (of one core: processors), neighbours together, so that they share little. What is
    over is in neither. Raises Error for one processor."""
    units = topology.cores if len(topology.cores) > 1 else tuple((each.number,) for each in topology.processors)
    size = len(units) // 2
    if size == 0:
        raise Error(f"{topology.source} has one processor, on which two programs take turns, so that neither time is its own: run them one by one")
    one, other = (dataclasses.replace(topology.restricted(number for unit in part for number in unit), source=f"a half of {topology.source}")
                  for part in (units[:size], units[size:2 * size]))
    return one, other


def shuffled(usable: Sequence[int], threads: int, random: random_module.Random | None) -> tuple[int, ...]:
    if random is None:
        raise ValueError("random placements are drawn from a random.Random")
    order: list[int] = []
    while len(order) < threads:
        order += random.sample(usable, len(usable))
    return tuple(order[:threads])


def scattered(topology: Topology, usable: Sequence[int]) -> tuple[int, ...]:
    """The first siblings of all cores in turn, then the second ones, ..."""
    order: list[int] = []
    for sibling in sorted({topology[number].sibling for number in usable}):
        tree = pruned(topology.tree, {number for number in usable if topology[number].sibling == sibling})
        order += in_turn(tree)
    return tuple(order)


def in_turn(tree: "int | Part") -> list[int]:
    """One processor of each part, then another of each that has more, ...; within a part likewise."""
    if isinstance(tree, int):
        return [tree]
    orders = [in_turn(each) for each in tree]
    return [order[i] for i in range(max(map(len, orders))) for order in orders if i < len(order)]


def read_file(path: pathlib.Path | None, topology: Topology, spared: Sequence[int]) -> tuple[int, ...]:
    """The processors listed in a file, for threads 0, 1, 2, ...: a number or a range (0-3) a line, or several with commas between them; '#'
    begins a remark."""
    if path is None:
        raise Error("pinning by a file needs the file: a list of processors, one for each thread, a line each")
    try:
        lines = pathlib.Path(path).read_text().splitlines()
    except (OSError, UnicodeDecodeError) as wrong:
        raise Error(f"{path}: cannot be read as a list of processors: {getattr(wrong, 'strerror', None) or 'it is no text'}") from None
    order: list[int] = []
    for place, line in enumerate(lines, 1):
        content = line.split("#")[0].strip()
        for word in content.split(",") if content else ():
            found = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", word.strip(), re.ASCII)
            if found is None or int(found[2] or found[1]) < int(found[1]):
                raise Error(f"{path}:{place}: '{word.strip()}' is neither a processor nor a range of them: write 3, or 0-3")
            for number in range(int(found[1]), int(found[2] or found[1]) + 1):
                if number not in topology:
                    raise Error(f"{path}:{place}: there is no processor {number} in {topology.source}: "
                                f"use those of {ranges(each.number for each in topology.processors)}")
                if number in spared:
                    raise Error(f"{path}:{place}: processor {number} is of a spared core: leave it out, or spare fewer cores")
                order.append(number)
    if not order:
        raise Error(f"{path}: lists no processor: write one for each thread, a line each")
    return tuple(order)


def ranges(numbers) -> str:
    """Numbers as Linux writes lists of processors: 0-3,8."""
    words: list[list[int]] = []
    for number in sorted(numbers):
        if words and words[-1][1] == number - 1:
            words[-1][1] = number
        else:
            words.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in words)


def place_co_runners(placement: Placement, count: int, bound: bool) -> list[frozenset[int]]:
    """The masks of `count` co-runners for each processor in use (INRIA report inria-00514548, section 5: 0 to 4). Bound ones stay on that
    processor, free ones on those that the options leave. Where threads are free, no processor is known to be in use: there are as many
    co-runners as threads would need, and all are free."""
    if count < 0:
        raise Error(f"{count} co-runners for each processor are too few: at least 0 are possible")
    used = tuple(dict.fromkeys(placement.processors))
    everywhere = frozenset(placement.usable)
    if not used:
        return [everywhere] * (count * min(placement.threads, len(placement.usable)))
    return [frozenset([number]) if bound else everywhere for _ in range(count) for number in used]


def coinciding(placements: Sequence[Placement], topology: Topology) -> list[list[int]]:
    """Groups of placements (their positions, in order; each is in one group) that are the same on this machine.

    Two are the same if their threads are free on the same processors; if they give the same processors to the same threads; or if they do
    so after processors are renamed, provided that nothing distinguishes any of the processors that either uses
    (Topology.are_symmetric). What is more alike than this, such as two halves of a machine, counts as different. So does `random` beside any
    other unless the processors are the same: its next draw is another one, and only it shows whether processors that look alike are.
    """
    groups: list[list[int]] = []
    for i, placement in enumerate(placements):
        group = next((group for group in groups if coincide(placements[group[0]], placement, topology)), None)
        if group is None:
            groups.append([i])
        else:
            group.append(i)
    return groups


def coincide(one: Placement, other: Placement, topology: Topology) -> bool:
    if one.threads != other.threads or bool(one.processors) != bool(other.processors):
        return False
    if not one.processors:
        return one.mask == other.mask
    if "random" in (one.strategy, other.strategy) and len(set(one.usable + other.usable)) > 1:
        return one.strategy == other.strategy and one.usable == other.usable
    return one.processors == other.processors or (renamed(one.processors) == renamed(other.processors)
                                                  and topology.are_symmetric(one.mask | other.mask))


def renamed(processors: Sequence[int]) -> list[int]:
    """Processors numbered in the order in which they first occur."""
    seen: dict[int, int] = {}
    return [seen.setdefault(number, len(seen)) for number in processors]
