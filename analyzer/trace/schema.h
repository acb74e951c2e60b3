// Field numbers of the description chunks: docs/trace.proto in C++ (a test compares the two). A number that
// has been used is never given another meaning.
#pragma once

#include <protozero/types.hpp>

namespace rdam::trace::schema {

enum class Description : protozero::pbf_tag_type {
    process = 1,
    clock = 2,
    objects = 3,
    functions = 4,
    threads = 5,
    stacks = 6,
    answers = 7,
    remarks = 8,
    dropped = 9,
    switches = 10,
    counters = 11,
    agent = 12,
};

enum class Process : protozero::pbf_tag_type {
    pid = 1,
    start_ticks = 2,
    boot_id = 3,
    command = 4,
    executable = 5,
    host = 6,
    machine = 7,
    rdam_version = 8,
    processors = 9,
    stack_period = 10,
    clean_end = 11,
    run = 12,
    max_overhead = 13,
    nodes = 14,
    machine_share = 15,
    title = 16,
};

enum class Node : protozero::pbf_tag_type {
    number = 1,
    processors = 2,
};

enum class Clock : protozero::pbf_tag_type {
    source = 1,
    ticks_per_second = 2,
    start_tsc = 3,
    start_unix_ns = 4,
    probe_ticks = 5,
    probe_inner_ticks = 6,
    floor_ticks = 7,
    step_ticks = 8,
    error_ticks = 9,
    flow_ticks = 10,
};

enum class Switches : protozero::pbf_tag_type {
    state = 1,
    reason = 2,
    until = 3,
    lost = 4,
};

enum class Counters : protozero::pbf_tag_type {
    state = 1,
    reason = 2,
    probe = 3,
    probe_inner = 4,
};

enum class Agent : protozero::pbf_tag_type {
    cpu_seconds = 1,
    running_cpu_seconds = 2,
};

enum class Object : protozero::pbf_tag_type {
    index = 1,
    path = 2,
    build_id = 3,
    base = 4,
    end = 5,
};

enum class Function : protozero::pbf_tag_type {
    index = 1,
    name = 2,
    linkage_name = 3,
    module = 4,
    source = 5,
    object = 6,
    address = 7,
    size = 8,
    enter_words = 9,
    leave_words = 10,
    inlined_copies = 11,
    parameters = 12,
    result = 13,
    switched_off = 14,
    most_rate = 15,
    waits = 16,
    busy_waits = 17,
    sampled = 18,
    windowed_since = 19,
    counted = 20,
};

enum class Parameter : protozero::pbf_tag_type {
    name = 1,
    kind = 2,
    size = 3,
    word = 4,
    key = 5,
    type = 6,
};

enum class Thread : protozero::pbf_tag_type {
    index = 1,
    tid = 2,
    name = 3,
    start = 4,
    end = 5,
    dropped = 6,
    holes = 7,
    calls = 8,
    calls_until = 9,
};

enum class CallCount : protozero::pbf_tag_type {
    function = 1,
    calls = 2,
};

enum class Stack : protozero::pbf_tag_type {
    index = 1,
    function = 2,
    caller = 3,
    frames = 4,
    truncated = 5,
};

enum class Answer : protozero::pbf_tag_type {
    index = 1,
    entry = 2,
    verdict = 3,
    function = 4,
    reason = 5,
};

enum class Remark : protozero::pbf_tag_type {
    index = 1,
    text = 2,
};

}  // namespace rdam::trace::schema
