"""The machine as far as it tells: what was measured on, and what could not be controlled."""

import datetime
import os
import pathlib
import platform
import re
import subprocess


ROOT = pathlib.Path(__file__).resolve().parents[2]


def _read(path: str) -> str:
    try:
        return pathlib.Path(path).read_text().strip()
    except OSError:
        return ""


def load() -> float:
    """Of the last minute: how many threads wanted a processor or waited for a disk."""
    return os.getloadavg()[0]


def virtual() -> str | None:
    """None: no virtual machine, as far as the processor tells."""
    if not re.search(r"^flags\s*:.*\bhypervisor\b", _read("/proc/cpuinfo"), re.MULTILINE):
        return None
    words = filter(None, (_read("/sys/class/dmi/id/sys_vendor"), _read("/sys/class/dmi/id/product_name")))
    return " ".join(words) or _hypervisor() or "it does not say whose"


def _hypervisor() -> str | None:
    try:
        said = subprocess.run(["lscpu"], capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C"}).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    vendor = re.search(r"^Hypervisor vendor:\s*(.*)$", said, re.MULTILINE)
    return vendor.group(1) if vendor else None


def _processor() -> str:
    named = re.search(r"^model name\s*:\s*(.*)$", _read("/proc/cpuinfo"), re.MULTILINE)
    return named.group(1) if named else platform.machine()


def _memory_gib() -> float | None:
    total = re.search(r"^MemTotal:\s*(\d+) kB$", _read("/proc/meminfo"), re.MULTILINE)
    return round(int(total.group(1)) / 2**20, 1) if total else None


def _governors() -> list[str]:
    files = pathlib.Path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
    return sorted({_read(str(file)) for file in files})


def _system() -> str:
    named = re.search(r'^PRETTY_NAME="?([^"\n]*)', _read("/etc/os-release"), re.MULTILINE)
    return named.group(1) if named else platform.system()


def file_system(place: pathlib.Path) -> str:
    """Its type, as in /proc/mounts; empty where that cannot be told."""
    if not place.exists():
        return ""
    device = place.stat().st_dev
    for line in _read("/proc/self/mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        if before.split()[2] == f"{os.major(device)}:{os.minor(device)}":
            return after.split()[0]
    return ""


def describe() -> dict:
    return {
        "processor": _processor(),
        "processors": len(os.sched_getaffinity(0)),
        "virtual": virtual(),
        "governors": _governors(),
        "memory_gib": _memory_gib(),
        "kernel": f"{platform.system()} {platform.release()}",
        "system": _system(),
    }


def revision() -> str:
    """Of the sources, as git names it; empty outside of a repository."""
    try:
        return subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=12"], capture_output=True, text=True,
                              check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def uncontrolled(machine: dict, sessions: list[dict], cache_line_ns: list[float]) -> list[str]:
    """In sentences: what else may be in the figures. `sessions` have load_start and, if they came to their end, load_end;
    `cache_line_ns` is of each round."""
    told = [f"{machine['processors']} processors: if there are more threads, they take turns, and so does anything else that runs."]
    if machine["virtual"] is not None:
        told.append(f"A virtual machine ({machine['virtual']}): it cannot see whether the host runs its processors on one core or on "
                    "two, or what else uses them and the disk.")
    governors = ", ".join(machine["governors"])
    told.append(f"Frequency governor: {governors}." if governors else "The frequency of the processors is not reported and cannot be set.")
    if cache_line_ns:
        each = ", ".join(f"{one:.0f}" for one in cache_line_ns)
        told.append(f"An increment under a lock that the other processor had last, in turns, without the recorder, round by round: {each} ns. If "
                    "this changes, the two processors are closer together or further apart; if it is short, false sharing costs little.")
    for number, session in enumerate(sessions, 1):
        end = f"{session['load_end']:.2f} at its end" if "load_end" in session else "not known at its end: it was interrupted"
        which = f"Load (one minute) of part {number} of {len(sessions)}" if len(sessions) > 1 else "Load (one minute)"
        told.append(f"{which}: {session['load_start']:.2f} at its start, {end}.")
    return told
