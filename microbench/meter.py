"""Processor time of programs and all that they start."""

import contextlib
import os
import pathlib
from collections.abc import Iterator


class Meter:
    """The processor time of all processes: of a control group where one can be made, else of the machine."""

    def __init__(self) -> None:
        self.group: pathlib.Path | None = None
        for place, file in (("cpuacct", "cpuacct.usage"), ("", "cpu.stat")):
            group = pathlib.Path("/sys/fs/cgroup") / place / f"rdam-bench-{os.getpid()}"
            with contextlib.suppress(OSError):
                group.mkdir()
                if (group / file).exists() and (group / "cgroup.procs").exists():
                    self.group, self.file = group, group / file
                    return
                group.rmdir()

    def close(self) -> None:
        if self.group:
            with contextlib.suppress(OSError):
                self.group.rmdir()

    def enter(self) -> None:
        """In a child, before it becomes the command."""
        if self.group:
            (self.group / "cgroup.procs").write_text(str(os.getpid()))

    def seconds(self) -> float:
        if self.group and self.file.name == "cpuacct.usage":
            return int(self.file.read_text()) / 1e9
        if self.group:
            return int(self.file.read_text().split()[1]) / 1e6
        return machine_seconds()


def machine_seconds() -> float:
    """The processor time of all processes of the machine, and what the host took of it."""
    busy = [int(number) for number in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return (sum(busy) - busy[3] - busy[4]) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def meter() -> Iterator[Meter]:
    made = Meter()
    try:
        yield made
    finally:
        made.close()
