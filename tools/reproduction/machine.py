"""The machine as far as it tells: what was measured on, and what could not be controlled."""

import datetime
import os
import pathlib
import platform
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def _said(*command) -> str:
    """Standard output; empty where the program is missing or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C"}).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def load() -> float:
    """Of the last minute: how many threads wanted a processor or waited for a disk."""
    return os.getloadavg()[0]


def file_system(place: pathlib.Path) -> str:
    """Its type, as stat(1) names it; empty where that cannot be told."""
    return _said("stat", "--file-system", "--format=%T", place)


def describe() -> dict:
    """`virtual` is None if there is no virtual machine, as far as the processor tells."""
    governors = pathlib.Path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
    processor = dict(re.findall(r"^\s*([^:\n]+):\s+(.*)$", _said("lscpu"), re.MULTILINE))
    is_virtual = "hypervisor" in processor.get("Flags", "").split()
    return {
        "processor": processor.get("Model name", platform.machine()),
        "processors": len(os.sched_getaffinity(0)),
        "virtual": processor.get("Hypervisor vendor", "it does not say whose") if is_virtual else None,
        "governors": sorted({file.read_text().strip() for file in governors}),
        "memory_gib": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1),
        "kernel": f"{platform.system()} {platform.release()}",
        "system": platform.freedesktop_os_release()["PRETTY_NAME"],
    }


def revision() -> str:
    """Of the sources, as git names it; empty outside of a repository."""
    return _said("git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=12")


def now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def uncontrolled(machine: dict, parts: list[dict], cache_line_ns: list[float]) -> list[str]:
    """In sentences: what else may be in the figures. `parts` of the run have load_start and, if they came to their end, load_end;
    `cache_line_ns` is of each round."""
    found = [f"{machine['processors']} processors: if there are more threads, they take turns, and so does anything else that runs."]
    if machine["virtual"] is not None:
        found.append(f"A virtual machine ({machine['virtual']}): it cannot see whether the host runs its processors on one core or on "
                     "two, or what else uses them and the disk.")
    governors = ", ".join(machine["governors"])
    found.append(f"Frequency governor: {governors}." if governors else "The frequency of the processors is not reported and cannot be set.")
    each = ", ".join(f"{one:.0f}" for one in cache_line_ns)
    found.append(f"An increment under a lock that the other processor had last, in turns, without the recorder, round by round: {each} ns. If "
                 "this changes, the two processors are closer together or further apart; if it is short, false sharing costs little.")
    for number, part in enumerate(parts, 1):
        end = f"{part['load_end']:.2f} at its end" if "load_end" in part else "not known at its end: it was interrupted"
        which = f"Load (one minute) of part {number} of {len(parts)}" if len(parts) > 1 else "Load (one minute)"
        found.append(f"{which}: {part['load_start']:.2f} at its start, {end}.")
    return found
