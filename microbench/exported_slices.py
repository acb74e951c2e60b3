"""What is in a file of `rdam export --format perfetto` or json, printed as JSON; perfetto is read with Perfetto's own classes.
  exported_slices.py FILE.pftrace|FILE.json
slices: [tid, function, begin, end, lost] of each call that is one, in nanoseconds; merged: how many calls are in others, and what they lost;
lost: the points of each thread's counter."""

import collections
import json
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
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

    trace = Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    names, notes, tids, counters = {}, {}, {}, {}
    slices, merged, open_slices = [], [0, 0.0], collections.defaultdict(list)
    events = []
    for order, packet in enumerate(trace.packet):
        for each in packet.interned_data.event_names:
            names[each.iid] = each.name
        for each in packet.interned_data.debug_annotation_names:
            notes[each.iid] = each.name
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            if track.HasField("thread"):
                tids[track.uuid] = track.thread.tid
            if track.HasField("counter") and track.name == "lost time":
                counters[track.uuid] = []
        if packet.HasField("track_event"):
            events.append((packet.timestamp, order, packet.track_event))
    for time, _, event in sorted(events, key=lambda each: each[:2]):
        if event.type == TrackEvent.TYPE_COUNTER:
            if event.track_uuid in counters:
                counters[event.track_uuid].append((time, event.double_counter_value))
        elif event.type == TrackEvent.TYPE_SLICE_BEGIN:
            values = {notes[note.name_iid]: note.int_value for note in event.debug_annotations}
            open_slices[event.track_uuid].append((time, event.name or names[event.name_iid], values))
        else:
            begin, name, values = open_slices[event.track_uuid].pop()
            if event.track_uuid in tids:
                slices.append((tids[event.track_uuid], name, begin, time, values.get("lost_ns", 0)))
            elif "calls" in values:
                merged[0] += values["calls"]
                merged[1] += values["lost_ns"]
    return {"slices": slices, "merged": merged, "lost": list(counters.values())}


if __name__ == "__main__":
    json.dump((in_json if sys.argv[1].endswith(".json") else in_perfetto)(sys.argv[1]), sys.stdout)
