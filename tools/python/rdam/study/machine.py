"""The state of the machine before and after a study."""

import os
import pathlib
import platform

CPU = pathlib.Path("/sys/devices/system/cpu")


def text_of(path: pathlib.Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


def values_of(pattern: str) -> list[str]:
    """Of every processor, without repetition."""
    found = (text_of(path) for path in CPU.glob(f"cpu[0-9]*/{pattern}"))
    return sorted({text for text in found if text is not None})


def stolen() -> float:
    """Seconds of all processors that the host of a virtual machine has taken since it was started."""
    return int(pathlib.Path("/proc/stat").read_text().split(maxsplit=9)[8]) / os.sysconf("SC_CLK_TCK")


def state() -> dict[str, object]:
    """What may make runs differ, as far as it can be read; what cannot is None."""
    turbo = text_of(CPU / "intel_pstate/no_turbo")
    boost = text_of(CPU / "cpufreq/boost")
    model = next((line.partition(":")[2].strip() for line in (text_of(pathlib.Path("/proc/cpuinfo")) or "").splitlines()
                  if line.startswith("model name")), None)
    throttled = [int(text) for text in values_of("thermal_throttle/core_throttle_count")]
    return {
        "model": model,
        "kernel": platform.release(),
        "processors": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "governors": values_of("cpufreq/scaling_governor") or None,
        "turbo": turbo == "0" if turbo is not None else boost == "1" if boost is not None else None,
        "frequencies_khz": values_of("cpufreq/scaling_cur_freq") or None,
        "throttled": max(throttled) if throttled else None,
        "stolen_s": stolen(),
        "smt": text_of(CPU / "smt/active") == "1",
        "large_pages": text_of(pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")),
        "randomized": text_of(pathlib.Path("/proc/sys/kernel/randomize_va_space")) != "0",
    }


def complaints(before: dict) -> list[str]:
    """Why comparisons made on this machine now may be worth less. Whole sentences."""
    found = []
    if before["load"] > 0.2 * before["processors"]:
        found.append(f"The machine is not quiet: {before['load']:.1f} processes ran on average over the last minute.")
    if before["governors"] and before["governors"] != ["performance"]:
        found.append(f"The processors' frequency follows the load (governor {', '.join(before['governors'])}); "
                     "`cpupower frequency-set -g performance` keeps it.")
    if before["turbo"]:
        found.append("The processors may run faster than their base frequency while they are cool (turbo).")
    return found


def moved(before: dict, now: dict) -> str | None:
    """A whole sentence, if the states before two parts of a study are those of different machines, or of one with another kernel."""
    different = [f"{what} {before[name]}, then {now[name]}" for name, what in (("model", "processor"), ("kernel", "kernel"),
                                                                             ("processors", "number of processors"))
                 if before.get(name) != now.get(name)]
    return f"The study continued on another machine, or another kernel: {'; '.join(different)}." if different else None
