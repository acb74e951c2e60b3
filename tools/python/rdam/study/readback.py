"""Reads back where the threads of a running program may run, and says which are not where the placement wants them.

The kernel's answer counts: /proc/PID/task/TID/status of every thread of the process and of its descendants, polled while they run. A
thread that begins and ends between two polls is not seen.
"""

import dataclasses
import pathlib
from collections.abc import Iterator

from rdam.study.placements import Placement, ranges
from rdam.trace import Error

PROC = pathlib.Path("/proc")
RECORDERS = ("rdam-agent", "rdam-windows")  # processes that are not the program's, by the names that the kernel keeps of them


@dataclasses.dataclass(frozen=True)
class Thread:
    """A thread as it was last seen."""

    process: int
    number: int  # the operating system's; equal to the process's for the main thread
    name: str
    allowed: frozenset[int]  # processors
    is_alone: bool  # its process had no other thread


class ReadBack:
    """What is seen of one run. `root` is the process's number; it must not have been waited for while poll() runs.

    Each thread of this process is to be bound to one of the placement's processors; those of child processes, and all threads if the
    placement leaves them free, may use any of its mask.
    """

    def __init__(self, root: int, placement: Placement):
        self.root = root
        self.placement = placement
        self.threads: dict[int, Thread] = {}  # by number

    def poll(self) -> None:
        """Looks once. What has ended meanwhile stays as it was last seen."""
        for process in descendants(self.root):
            if read(PROC / str(process) / "comm").rstrip("\n") in RECORDERS:
                continue
            tasks = numbers_in(PROC / str(process) / "task")
            for number in tasks:
                status = status_of(process, number)
                if status is not None:
                    self.threads[number] = Thread(process, number, status["Name"], parse_ranges(status["Cpus_allowed_list"]), len(tasks) == 1)

    def unplanned(self) -> list[Thread]:
        """The threads whose mask is not as planned, in the order of their numbers."""
        return [thread for _, thread in sorted(self.threads.items()) if not self.is_planned(thread)]

    def is_planned(self, thread: Thread) -> bool:
        within = thread.allowed <= self.placement.mask
        if not self.placement.processors or thread.process != self.root:
            return within
        # librdam-pin.so binds a main thread when it starts another one; OpenMP's libomp, when the first parallel region begins.
        waits = thread.is_alone and thread.allowed == self.placement.mask
        return within and (len(thread.allowed) == 1 or waits)

    def unused(self) -> list[int]:
        """Processors that the placement gives to as many threads of the process as were seen, but on which none was, because some share one.
        Empty where threads are free. Where threads end and others begin, it may be in order: the others go on counting."""
        own = [thread for thread in self.threads.values() if thread.process == self.root]
        wanted = list(dict.fromkeys(self.placement.processors[:len(own)]))
        if any(len(thread.allowed) > 1 for thread in own):
            return []
        taken = {number for thread in own for number in thread.allowed}
        return [number for number in wanted if number not in taken] if len(taken) < len(wanted) else []

    def sentence(self) -> str:
        """One line: that all is as planned, or what is not."""
        if not self.threads:
            return "no thread was seen: the program ended before its threads could be examined"
        wrong = self.unplanned()
        if wrong:
            shown = ", ".join(f"{thread.name} ({thread.number}) on {ranges(thread.allowed)}" for thread in wrong[:3])
            planned = "one each of " if self.placement.processors else ""
            return (f"{len(wrong)} of {len(self.threads)} threads are not pinned as planned, on {planned}{ranges(self.placement.mask)}: {shown}"
                    f"{', ...' if len(wrong) > 3 else ''}")
        if unused := self.unused():
            return f"no thread was seen on {ranges(unused)}, though {len(self.threads)} were seen: some share a processor"
        return f"all {len(self.threads)} threads that were seen are pinned as planned"


def descendants(root: int) -> Iterator[int]:
    """The process and all that come from it, the process itself first."""
    yield root
    for task in numbers_in(PROC / str(root) / "task"):
        for child in read(PROC / str(root) / "task" / str(task) / "children").split():
            yield from descendants(int(child))


def status_of(process: int, thread: int) -> dict[str, str] | None:
    """The fields of a thread's status; None: it has ended."""
    fields = dict(line.split(":\t", 1) for line in read(PROC / str(process) / "task" / str(thread) / "status").splitlines() if ":\t" in line)
    return fields if "Cpus_allowed_list" in fields and not fields.get("State", "").startswith(("Z", "X")) else None


def numbers_in(folder: pathlib.Path) -> list[int]:
    try:
        return sorted(int(entry.name) for entry in folder.iterdir())
    except (FileNotFoundError, ProcessLookupError):
        return []


def read(path: pathlib.Path) -> str:
    try:
        return path.read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def parse_ranges(text: str) -> frozenset[int]:
    """A list of processors as Linux writes it: 0-3,8."""
    try:
        pairs = [word.split("-") for word in text.strip().split(",")]
        return frozenset(number for pair in pairs for number in range(int(pair[0]), int(pair[-1]) + 1))
    except ValueError:
        raise Error(f"'{text}' is no list of processors as the kernel writes it") from None
