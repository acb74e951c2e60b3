"""What is in a file of `rdam export --format perfetto` or json, printed as JSON; perfetto is read with Perfetto's own classes.
  exported_slices.py FILE.pftrace|FILE.json
slices: [tid, function, begin, end, lost] of each call that is one, in nanoseconds; merged: how many calls are in others, and what they lost;
lost: the points of each thread's counter."""

import collections
import json
import pathlib
import sys


def in_json(path: str) -> dict:
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    slices, merged, counters = [], [0, 0.0], collections.defaultdict(list)
    for event in events:
        if event["ph"] == "C" and event["name"].startswith("lost time"):
            counters[event["name"]].append((event["ts"] * 1000, event["args"]["lost_ns"]))
        elif event["ph"] == "X" and event["cat"] == "merged":
            merged[0] += event["args"]["calls"]
            merged[1] += event["args"]["lost_ns"]
        elif event["ph"] == "X" and event["cat"] not in ("off the processor", "on a processor"):
            begin = event["ts"] * 1000
            slices.append((event["tid"], event["name"], begin, begin + event["dur"] * 1000, event["args"].get("lost_ns", 0)))
    return {"slices": slices, "merged": merged, "lost": list(counters.values())}


def in_perfetto(path: str) -> dict:
    # Only now: it needs Perfetto's package.
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/e2e"))
    from read_perfetto import read

    trace = read(path)
    tids = {uuid: track["tid"] for uuid, track in trace["tracks"].items() if track["tid"]}
    slices, merged = [], [0, 0.0]
    for each in trace["slices"]:
        if each["track"] in tids:
            slices.append((tids[each["track"]], each["name"], each["begin"], each["end"], each.get("lost_ns", 0)))
        elif "calls" in each:
            merged[0] += each["calls"]
            merged[1] += each["lost_ns"]
    lost = [points for uuid, points in trace["counters"].items() if trace["tracks"][uuid]["name"] == "lost time"]
    return {"slices": slices, "merged": merged, "lost": lost}


if __name__ == "__main__":
    json.dump((in_json if sys.argv[1].endswith(".json") else in_perfetto)(sys.argv[1]), sys.stdout)
