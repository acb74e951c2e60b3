"""What is seen of the machine, and changed on it, around each run: the log of frequencies, the kernel's osnoise tracer, the hardware prefetchers.

rdam-study-run does it, and sets things back. Here is whether it can be done, and what is left to be set back if rdam-study-run was killed.
"""

import contextlib
import dataclasses
import os
import pathlib
import re
import struct
from collections.abc import Mapping, Sequence

from rdam.study.machine import CPU
from rdam.study.placements import Placement
from rdam.study.settings import Setting, bytewise
from rdam.trace import Error

EVERY, LEAST_EVERY, MOST_EVERY = 0.01, 0.001, 3600  # seconds: how often frequencies are read
TRACEFS = pathlib.Path("/sys/kernel/tracing")
REGISTERS = pathlib.Path("/dev/cpu")

# MSR 0x1A4, whose bits 0 to 3 switch off the L2 prefetcher, that of the adjacent line, and the DCU's two, by the models of Intel's family 6. Nehalem,
# Westmere, Sandy Bridge, Ivy Bridge, Haswell, Broadwell: "Disclosure of Hardware Prefetcher Control on Some Intel Processors", Intel, 2014. Skylake,
# Cascade Lake, Cooper Lake, Ice Lake servers, and Sapphire and Emerald Rapids with their AMP prefetcher in bit 5: Intel's PerfSpect reads them so.
PREFETCHERS = 0x1A4
MASKS = {
    **dict.fromkeys((0x1A, 0x1E, 0x1F, 0x2E, 0x25, 0x2C, 0x2F, 0x2A, 0x2D, 0x3A, 0x3E, 0x3C, 0x3F, 0x45, 0x46, 0x3D, 0x47, 0x4F, 0x56), 0xF),
    **dict.fromkeys((0x55, 0x6A, 0x6C), 0xF), **dict.fromkeys((0x8F, 0xCF), 0x2F)}


@dataclasses.dataclass(frozen=True)
class Prefetchers:
    """Those of each processor that the study may use are off where the bits of `mask` are set in its register PREFETCHERS."""

    mask: int
    devices: pathlib.Path = REGISTERS

    @classmethod
    def of_machine(cls, cpuinfo: str, devices: pathlib.Path = REGISTERS) -> "Prefetchers":
        """As the text of /proc/cpuinfo tells it. Raises Error where they cannot be switched."""
        fields = dict(re.findall(r"^([^\t:\n]+)\t*: ?(.*)$", cpuinfo.partition("\n\n")[0], re.MULTILINE))
        mask = MASKS.get(int(fields.get("model", -1))) if (fields.get("vendor_id"), fields.get("cpu family")) == ("GenuineIntel", "6") else None
        registers = list(devices.glob("[0-9]*/msr"))
        problems = (
            ("hypervisor" in fields.get("flags", "").split(), "this is a virtual machine, and its host decides about the processors' prefetchers"),
            (mask is None, f"how the prefetchers of {fields.get('model name', 'this processor')} are switched is not known here"),
            (not registers, f"there is no {devices}/*/msr: 'modprobe msr' makes them"),
            (not all(os.access(path, os.R_OK | os.W_OK) for path in registers), f"{devices}/*/msr cannot be written: only root can"))
        for problem in (text for is_so, text in problems if is_so):
            raise Error(f"--prefetcher: {problem}; leave it out")
        return cls(mask, devices)

    def request(self, on: bool) -> dict[str, object]:
        return {"devices": bytewise(self.devices), "register": PREFETCHERS, "mask": self.mask, "on": on}

    def values(self) -> dict[int, bytes]:
        """Of the register, by processor."""
        found = {}
        for processor in os.sched_getaffinity(0):
            with contextlib.suppress(OSError), (self.devices / str(processor) / "msr").open("rb", buffering=0) as file:
                found[processor] = os.pread(file.fileno(), struct.calcsize("Q"), PREFETCHERS)
        return found

    def restore(self, values: Mapping[int, bytes]) -> None:
        """Raises Error where it cannot be."""
        for processor, value in values.items():
            path = self.devices / str(processor) / "msr"
            try:
                with path.open("r+b", buffering=0) as file:
                    os.pwrite(file.fileno(), value, PREFETCHERS)
            except OSError as error:
                raise Error(f"{path}: the prefetchers cannot be restored: {error.strerror}") from None


@dataclasses.dataclass(frozen=True)
class Osnoise:
    """The kernel's tracer, for which rdam-study-run makes an instance of the tracing system for each run."""

    tracefs: pathlib.Path = TRACEFS

    def check(self) -> None:
        """Raises Error where the tracer cannot be used."""
        options = self.tracefs / "osnoise/options"
        try:
            tracers = (self.tracefs / "available_tracers").read_text().split()
            if "osnoise" not in tracers:
                problem = "this kernel has no osnoise tracer (CONFIG_OSNOISE_TRACER)"
            elif "OSNOISE_WORKLOAD" not in options.read_text():
                problem = f"this kernel's osnoise tracer cannot do without threads of its own (no OSNOISE_WORKLOAD in {options})"
            else:
                return
        except PermissionError:
            problem = f"{self.tracefs} cannot be read: only root can"
        except OSError:
            problem = f"{self.tracefs} has no tracers: 'mount -t tracefs tracefs {self.tracefs}' brings them, if the kernel has any"
        raise Error(f"--osnoise: {problem}; leave it out")

    @property
    def instance(self) -> str:
        """Of this study."""
        return f"rdam-study-{os.getpid()}"

    def request(self) -> dict[str, object]:
        return {"tracefs": bytewise(self.tracefs), "instance": self.instance}

    def workload(self) -> str:
        """The word in its options that says whether it has threads of its own."""
        words = (self.tracefs / "osnoise/options").read_text().split()
        return next(word for word in words if word.endswith("OSNOISE_WORKLOAD"))

    def restore(self, workload: str) -> None:
        """What rdam-study-run has left. The instance is gone with its folder."""
        (self.tracefs / "osnoise/options").write_text(workload)
        with contextlib.suppress(OSError):
            (self.tracefs / "instances" / self.instance).rmdir()


@dataclasses.dataclass(frozen=True)
class Frequencies:
    """Read every `every` seconds, while a run goes on."""

    every: float
    folder: pathlib.Path = CPU

    def check(self) -> None:
        """Raises Error where there are none."""
        if not any(self.folder.glob("cpu[0-9]*/cpufreq/scaling_cur_freq")):
            raise Error(f"--frequencies: there is no {self.folder}/cpu*/cpufreq, as on most virtual machines: the kernel does not report the "
                        "processors' frequencies; leave it out")

    def request(self, setting: Setting, placement: Placement | None) -> dict[str, object]:
        """Raises Error if the run leaves no processor from which they could be read."""
        free = sorted(os.sched_getaffinity(0) - placement.mask) if placement is not None else []
        if not free:
            raise Error(f"--frequencies: '{setting.label}' uses all processors, and the frequencies are read from one that it leaves alone: "
                        "leave it one by --spare 1, or by fewer --threads with --pin")
        return {"folder": bytewise(self.folder), "processor": free[-1], "every_ms": round(1000 * self.every)}


def how_often(request: Mapping) -> float | None:
    """Frequencies are read, in seconds; None: they are not. Raises Error for what is not understood."""
    if not request.get("frequencies"):
        return None
    if not LEAST_EVERY <= (every := request.get("frequencies-every", EVERY)) <= MOST_EVERY:
        raise Error(f"--frequencies-every: {every:g} s is not from {LEAST_EVERY:g} to {MOST_EVERY:g} s: give such a time")
    return every


@dataclasses.dataclass(frozen=True)
class Watch:
    """All of it. None: that is not wanted."""

    frequencies: Frequencies | None = None
    osnoise: Osnoise | None = None
    prefetchers: Prefetchers | None = None

    @classmethod
    def of(cls, request: Mapping, settings: Sequence[Setting]) -> "Watch":
        """By the options' names. Raises Error for what cannot be done on this machine."""
        every = how_often(request)
        found = cls(Frequencies(every) if every is not None else None,
                    Osnoise() if request.get("osnoise") else None,
                    Prefetchers.of_machine(pathlib.Path("/proc/cpuinfo").read_text())
                    if any(setting.prefetcher is not None for setting in settings) else None)
        for each in (found.frequencies, found.osnoise):
            if each is not None:
                each.check()
        return found

    def request(self, setting: Setting, placement: Placement | None) -> dict[str, object]:
        """What rdam-study-run is asked for. Raises Error."""
        wanted: dict[str, object] = {}
        if self.frequencies is not None:
            wanted["frequencies"] = self.frequencies.request(setting, placement)
        if self.osnoise is not None:
            wanted["osnoise"] = self.osnoise.request()
        if self.prefetchers is not None and setting.prefetcher is not None:
            wanted["prefetcher"] = self.prefetchers.request(setting.prefetcher)
        return wanted

    @contextlib.contextmanager
    def kept(self):
        """Around a rdam-study-run: if it ends by an exception, as when it was killed, the machine is set as it was. Raises Error where that cannot
        be."""
        values = self.prefetchers.values() if self.prefetchers is not None else {}
        workload = self.osnoise.workload() if self.osnoise is not None else ""
        try:
            yield
        except BaseException:
            if self.prefetchers is not None:
                self.prefetchers.restore(values)
            if self.osnoise is not None:
                self.osnoise.restore(workload)
            raise
