"""One measurement: a benchmark is recorded as a user would do it, and analyzed; or timed without and with the recorder."""

import json
import pathlib

from . import Trouble
from .programs import Programs, run


def benchmark_words(programs: Programs, settings: dict) -> list:
    return [programs.microbench, settings["benchmark"], "--threads", settings["threads"], "--iterations", settings["iterations"],
            *settings["options"], "--delay", f"{settings['delay_ns']}ns"]


def record_words(programs: Programs, operation: str, trace: pathlib.Path) -> list:
    return [programs.rdam, "record", "--all-calls", "-f", operation, "-o", trace, "--"]


def said_by(output: str, operation: str, what: str) -> dict:
    """The line that a benchmark prints for its only point."""
    try:
        (line,) = output.splitlines()
        said = json.loads(line)
        if said["operation"] != operation or not said["seconds"] >= 0:
            raise ValueError(line)
        return said
    except (ValueError, KeyError, TypeError):
        raise Trouble(f"{what}: printed not one line about '{operation}' but {output[:200]!r}; build it anew") from None


def analyzed(programs: Programs, trace: pathlib.Path, operation: str) -> dict:
    """Of one function of a trace, the figures that the report is made of. The trace stays."""
    report = json.loads(run([programs.rdam, "analyze", "--json", "--top", "0", "--no-rules", trace], trace.parent))
    found = [function for function in report["functions"] if function["name"] == operation]
    if len(found) != 1:
        raise Trouble(f"{trace.name}: {operation} is there {len(found)} times; build the benchmark anew")
    function = found[0]
    hint = next((hint for hint in function["hints"] if "share" in hint), {"kind": ""})
    return {
        **{name: function[name] for name in ("rdam", "mean_ns", "min_ns", "median_ns", "occurrences")},
        "unscored": function["unscored"], "dropped": report["trace"]["dropped"],
        # Not its words, which differ from run to run.
        "hint": {name: hint[name] for name in ("kind", "parameter") if name in hint}, "rdam_with_key": hint.get("rdam_with_key"),
    }


def score(programs: Programs, settings: dict, folder: pathlib.Path, keep: pathlib.Path | None = None) -> dict:
    """Records and analyzes. The trace is moved to `keep`, else removed."""
    trace = folder / "trace.bin"
    operation = settings["operation"]
    try:
        output = run(record_words(programs, operation, trace) + benchmark_words(programs, settings), folder)
        said = said_by(output, operation, settings["benchmark"])
        result = analyzed(programs, trace, operation)
        if keep is not None:
            trace.replace(keep)
    finally:
        trace.unlink(missing_ok=True)
    if result["occurrences"] != said["calls"]:
        raise Trouble(f"{settings['benchmark']}: {result['occurrences']} calls of {operation} in the trace, not the {said['calls']} that were made")
    return {"seconds": said["seconds"], **result}


def cache_line(programs: Programs, settings: dict, folder: pathlib.Path) -> dict:
    """How long an operation took that needs a line from the other processor, as the program says itself."""
    said = said_by(run(benchmark_words(programs, settings), folder), settings["operation"], settings["benchmark"])
    return {"mean_ns": said["mean_ns"]}


def cost(programs: Programs, settings: dict, folder: pathlib.Path) -> dict:
    """Seconds without and with the recorder, one run behind the other, of the same calls: in every other round the recorded one first."""
    recorded_first = settings["round"] % 2 == 1
    trace = folder / "trace.bin"
    operation = settings["operation"]
    plain_words = benchmark_words(programs, settings)
    recorded_words = record_words(programs, operation, trace) + plain_words
    said = {}
    try:
        for recorded in (recorded_first, not recorded_first):
            said[recorded] = said_by(run(recorded_words if recorded else plain_words, folder), operation, settings["benchmark"])
    finally:
        trace.unlink(missing_ok=True)
    plain, recorded = said[False], said[True]
    if plain["calls"] != recorded["calls"]:
        raise Trouble(f"{settings['benchmark']}: {plain['calls']} calls of {operation} without the recorder and {recorded['calls']} with it, whose "
                      "seconds cannot be compared; take from its options what ends it early")
    return {"plain_s": plain["seconds"], "recorded_s": recorded["seconds"], "calls": plain["calls"]}
