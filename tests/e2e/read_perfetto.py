"""Reads a Perfetto trace with Perfetto's own classes: tracks, slices with their track, begin, end, depth, name and annotations, checked for
strict nesting, and the points of counters. Runs in a Python of its own, which has the package, and prints JSON."""

import collections
import json
import sys

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent


def read(path: str) -> dict:
    trace = Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    names, notes, tracks, slices, counters, stacks = {}, {}, {}, [], collections.defaultdict(list), collections.defaultdict(list)
    events = []
    for order, packet in enumerate(trace.packet):
        for each in packet.interned_data.event_names:
            names[each.iid] = each.name
        for each in packet.interned_data.debug_annotation_names:
            notes[each.iid] = each.name
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            tracks[track.uuid] = {"name": track.name, "tid": track.thread.tid, "thread": track.thread.thread_name, "parent": track.parent_uuid}
        if packet.HasField("track_event"):
            events.append((packet.timestamp, order, packet.track_event))
    for time, _, event in sorted(events, key=lambda each: each[:2]):
        assert event.track_uuid in tracks
        stack = stacks[event.track_uuid]
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            values = {}
            for note in event.debug_annotations:
                values[notes[note.name_iid]] = note.int_value if note.HasField("int_value") else note.string_value
            stack.append({"track": event.track_uuid, "begin": time, "depth": len(stack), "name": event.name or names[event.name_iid], **values,
                          **({"flows": list(event.flow_ids)} if event.flow_ids else {})})
        elif event.type == TrackEvent.TYPE_SLICE_END:
            slices.append({**stack.pop(), "end": time})
        elif event.type == TrackEvent.TYPE_INSTANT:
            slices.append({"track": event.track_uuid, "begin": time, "depth": len(stack), "name": event.name, "end": time,
                           **({"flows": list(event.flow_ids)} if event.flow_ids else {})})
        else:
            counters[event.track_uuid].append((time, event.double_counter_value))
    assert not any(stacks.values()), "not nested"
    return {"tracks": tracks, "slices": slices, "counters": counters}


if __name__ == "__main__":
    json.dump(read(sys.argv[1]), sys.stdout)
