"""The processors of a machine and what they share, as hwloc sees them.

The machine is this one, or with HWLOC_SYNTHETIC, HWLOC_XMLFILE, HWLOC_FSROOT or HWLOC_CPUID_PATH another: what would be done there can be
shown anywhere. hwloc's program lstopo is asked rather than its library, for which Debian has no Python module.
"""

import collections
import dataclasses
import functools
import os
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator

from rdam.trace import Error

PROGRAMS = ("lstopo-no-graphics", "lstopo")
# hwloc's variables that name another machine, the one that hwloc prefers first, and what lstopo calls their formats.
SOURCES = (("HWLOC_SYNTHETIC", "synthetic"), ("HWLOC_XMLFILE", "xml"), ("HWLOC_CPUID_PATH", "cpuid"), ("HWLOC_FSROOT", "fsroot"))
LONGEST = 60  # seconds that lstopo may take

# A part of the machine that holds more than one of its processors: processors (numbers) and smaller parts, in hwloc's order.
Part = tuple["int | Part", ...]


@dataclasses.dataclass(frozen=True)
class Cache:
    """A data or unified cache."""

    level: int
    size: int  # bytes; 0: hwloc does not know it
    processors: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Processor:
    """A processor as the operating system counts them: a core, or one of its SMT siblings."""

    number: int  # the operating system's
    core: int  # cores are counted from 0 in hwloc's order
    sibling: int  # the rank among those processors of its core that the topology has: 0 without SMT
    package: int | None  # the operating system's number
    nodes: tuple[int, ...]  # NUMA nodes whose memory is local, the operating system's numbers
    caches: tuple[Cache, ...]  # nearest first
    kind: int  # of core: 0 unless the machine has several kinds


@dataclasses.dataclass(frozen=True)
class Topology:
    """A machine, restricted to what this process may use if it is this machine."""

    processors: tuple[Processor, ...]  # in hwloc's logical order: what is close is close together
    tree: Part
    source: str  # for people: "this machine", "HWLOC_SYNTHETIC=core:4 1", ...
    is_this_machine: bool

    @classmethod
    def load(cls) -> "Topology":
        """Asks lstopo. Raises Error where it is not installed, or cannot read what a variable of hwloc's names."""
        command, source, is_this_machine = question(os.environ)
        allowed = os.sched_getaffinity(0) if is_this_machine else None
        return parse(answer(command), source, is_this_machine, allowed)

    def __getitem__(self, number: int) -> Processor:
        """The processor with the operating system's number. Raises KeyError."""
        return self._by_number[number]

    def __contains__(self, number: int) -> bool:
        return number in self._by_number

    @functools.cached_property
    def _by_number(self) -> dict[int, Processor]:
        return {processor.number: processor for processor in self.processors}

    @functools.cached_property
    def cores(self) -> tuple[tuple[int, ...], ...]:
        """The processors of each core, in hwloc's order."""
        found: dict[int, list[int]] = {}
        for processor in self.processors:
            found.setdefault(processor.core, []).append(processor.number)
        return tuple(tuple(numbers) for numbers in found.values())

    def restricted(self, numbers: Iterable[int]) -> "Topology":
        """The same machine as a process sees it that may use these processors only."""
        kept = set(numbers)
        cores: dict[int, int] = {}
        siblings: collections.Counter[int] = collections.Counter()
        processors = []
        for each in self.processors:
            if each.number in kept:
                core = cores.setdefault(each.core, len(cores))
                caches = tuple(dataclasses.replace(cache, processors=tuple(n for n in cache.processors if n in kept)) for cache in each.caches)
                processors.append(dataclasses.replace(each, core=core, sibling=siblings[core], caches=caches))
                siblings[core] += 1
        tree = pruned(self.tree, kept)
        return dataclasses.replace(self, processors=tuple(processors), tree=tree if isinstance(tree, tuple) else (tree,))

    def are_symmetric(self, numbers: Iterable[int]) -> bool:
        """Whether nothing that hwloc knows distinguishes these processors: every two of them meet in the same part of the machine, so that they
        share the same with each other, and each is by itself like each other (kind, siblings, nodes, sizes of caches and how many use them)."""
        used = set(numbers)
        left = pruned(self.tree, used)
        alone = {(self[n].kind, len(self.cores[self[n].core]), len(self[n].nodes),
                  tuple((cache.level, cache.size, len(cache.processors)) for cache in self[n].caches)) for n in used}
        return len(alone) <= 1 and (not isinstance(left, tuple) or all(isinstance(each, int) for each in left))


def question(environment) -> tuple[list[str], str, bool]:
    """The command that prints the topology; what it is about; whether that is this machine."""
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        raise Error(f"{PROGRAMS[0]}, which knows which processors share what, is not installed: 'apt install hwloc-nox' gets it")
    command = [program, "--no-io", "--of", "xml"]
    for variable, form in SOURCES:
        if given := environment.get(variable):
            # hwloc itself would quietly take this machine where it cannot read what the variable names.
            command += ["--input", given, "--input-format", form]
            own = environment.get("HWLOC_THISSYSTEM", "0") not in ("", "0")
            return command + (["--thissystem"] if own else []), f"{variable}={given}", own
    return command, "this machine", True


def answer(command: list[str]) -> str:
    try:
        done = subprocess.run(command, env={**os.environ, "LC_ALL": "C"}, stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        raise Error(f"{' '.join(command)}: has not answered for {LONGEST} s: run it by hand to see why") from None
    if done.returncode != 0 or not done.stdout:
        said = " ".join(done.stderr.decode(errors="replace").split())
        raise Error(f"{' '.join(command)}: failed with status {done.returncode}{': ' if said else ''}{said}; run it by hand to see why")
    return done.stdout.decode(errors="replace")


def bits(text: str | None) -> set[int]:
    """The members of a set as hwloc writes it: 32 bits a word in hexadecimal, the highest word first, "0x00000003,,0x0"."""
    words = (text or "").split(",")
    if words[0] == "0xf...f":
        raise Error(f"lstopo wrote the infinite set '{text}': report this, with what 'lstopo-no-graphics --of xml' prints")
    number = functools.reduce(lambda sum_, word: sum_ << 32 | int(word or "0", 16), words, 0)
    return {i for i in range(number.bit_length()) if number >> i & 1}


def parse(text: str, source: str, is_this_machine: bool, allowed: set[int] | None = None) -> Topology:
    """The topology that lstopo wrote as XML (hwloc 2), restricted to the processors `allowed` if they are given."""
    try:
        root = ElementTree.fromstring(text)
        machine = root.find("object")
        if machine is None:
            raise ValueError("it has no object")
        present = {int(pu.get("os_index")) for pu in machine.iter("object") if pu.get("type") == "PU"}
        kinds = {number: kind for kind, element in enumerate(root.findall("cpukind")) for number in bits(element.get("cpuset"))}
        nodes = sorted((int(node.get("os_index")), bits(node.get("cpuset"))) for node in machine.iter("object") if node.get("type") == "NUMANode")
        if not present & (present if allowed is None else allowed):
            raise ValueError("it has no processor that this process may use")
        found = Topology(tuple(read_processors(machine, kinds, nodes)), (part(machine),), source, is_this_machine)
    except (ElementTree.ParseError, TypeError, ValueError) as wrong:
        raise Error(f"{source}: the output of lstopo is no topology of hwloc 2: {wrong}") from None
    return found.restricted(present if allowed is None else allowed)


def read_processors(machine, kinds: dict[int, int], nodes: list[tuple[int, set[int]]]) -> Iterator[Processor]:
    """Their siblings are not numbered yet."""
    cores: dict[object, int] = {}
    for number, above in leaves(machine, ()):
        # Where hwloc knows no cores, each processor is one.
        core = next((each for each in reversed(above) if each.get("type") == "Core"), number)
        package = next((each for each in above if each.get("type") == "Package"), None)
        caches = tuple(Cache(int(each.get("depth")), int(each.get("cache_size", "0")), tuple(sorted(bits(each.get("cpuset")))))
                       for each in reversed(above) if each.get("type", "").endswith("Cache") and each.get("cache_type") in ("0", "1"))
        yield Processor(number, cores.setdefault(core, len(cores)), 0,
                        None if package is None or package.get("os_index") is None else int(package.get("os_index")),
                        tuple(node for node, members in nodes if number in members), caches, kinds.get(number, 0))


def leaves(element, above: tuple) -> Iterator[tuple[int, tuple]]:
    """Each processor's number with the elements that it is in, the outermost first."""
    if element.get("type") == "PU":
        yield int(element.get("os_index")), above
    for child in element.findall("object"):
        yield from leaves(child, (*above, element))


def part(element) -> "int | Part | None":
    """What an element holds of processors: nothing, one, or several parts. Memory and devices hold none."""
    if element.get("type") == "PU":
        return int(element.get("os_index"))
    return joined(map(part, element.findall("object")))


def joined(parts: "Iterable[int | Part | None]") -> "int | Part | None":
    found = tuple(each for each in parts if each is not None)
    return found if len(found) > 1 else found[0] if found else None


def pruned(tree: "int | Part", kept: set[int]) -> "int | Part | None":
    """The tree without all processors but these."""
    if isinstance(tree, int):
        return tree if tree in kept else None
    return joined(pruned(each, kept) for each in tree)

