"""Measurements for the parts of tools/reproduce that need none: of a machine on which all is as in the thesis."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(os.environ["SOURCE_ROOT"]) / "tools"))
from reproduction import benchmarks, plan  # noqa: E402

PLACE = {"programs": "0123", "processor": "a processor", "processors": 2}
MACHINE = {"processor": "a processor", "processors": 2, "virtual": "a host", "governors": [], "memory_gib": 8.0, "kernel": "Linux 1",
           "system": "a system"}


def made_up(task: plan.Task) -> dict:
    """A measurement whose mean and score fall together as the delay grows."""
    if task.kind == "cost":
        return {"plain_s": 2.0, "recorded_s": 2.0 + 0.1 * (task.round + 1), "calls": 10}
    if task.kind == "line":
        return {"mean_ns": 30.0}
    if task.kind == "network":
        one = {"mean_ns": 5e4, "min_ns": 4e4}
        share = 40 / (task.settings["rate_mbit"] or 10_000)
        alone = task.settings["options"][:2] == ["--threads", "1"]
        return {"seconds": 1, "client": {**one, "rdam": share / 10 if alone else share}, "server": {**one, "rdam": 0.03}}
    settings = task.settings
    alone = settings["threads"] == 1 or {"--private", "--padded"} & set(settings["options"])
    least = {one.name: one.delays_ns[0] for one in benchmarks.SWEEPS}.get(settings["benchmark"], settings["delay_ns"])
    share = 0.01 if alone else 0.9 * least / settings["delay_ns"]
    return {"seconds": 0.1, "rdam": share, "mean_ns": 40 + 1000 * share, "min_ns": 40.0 + task.round, "occurrences": 7, "unscored": 0, "dropped": 0,
            "hint": {"kind": "parameter", "parameter": "row" if "triangle" in settings["options"] else "key"}, "rdam_with_key": 0.001}
