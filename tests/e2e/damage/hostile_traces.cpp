// Writes a small trace that would have the analyzer take much more time or memory than its size is worth:
//
//     hostile_traces SHAPE FILE [CHUNKS EVENTS]
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tools/trace/writer.h"

namespace {

using namespace rdam;

constexpr std::uint64_t kEnd = std::uint64_t{1} << 40U;
constexpr std::uint32_t kEventsOfChunk = 1U << 17U;

struct Size {
    int chunks = 0;
    std::uint32_t events = kEventsOfChunk;  ///< of a chunk, at most
};
/// Words of a chunk, a byte each: as many as a chunk's payload has room for, and as a reader takes.
constexpr std::uint32_t kMax = 15U << 20U;
constexpr std::uint32_t kAccepted = 9U << 20U;

trace::TraceInfo make_info(std::uint32_t threads, std::uint16_t words) {
    trace::TraceInfo info;
    info.process.pid = 1000;
    info.process.command = {"./hostile"};
    info.process.clean_end = true;
    info.clock.source = "rdtscp";
    info.clock.ticks_per_second = 2e9;
    trace::FunctionInfo function;
    function.name = function.linkage_name = "work";
    function.module = "hostile";
    function.enter_words = words;
    info.functions.push_back(function);
    for (std::uint32_t t = 0; t < threads; ++t)
        info.threads.push_back({1000, "thread", 1, kEnd, 0, 0});
    return info;
}

/// The threads have tids of their own.
void tell_apart(trace::TraceInfo& info) {
    for (std::uint32_t t = 0; t < info.threads.size(); ++t)
        info.threads[t].tid += t;
}

void check(const Result<void>& done) {
    if (done) return;
    std::fprintf(stderr, "hostile_traces: %s\n", done.error().message.c_str());
    std::exit(1);
}

/// Threads of one tid, all of which live all the time.
void one_tid(trace::TraceWriter& writer, trace::TraceInfo& info, const Size& size) {
    info = make_info(500, 0);
    info.switches.state = trace::SwitchInfo::State::recorded;
    check(writer.describe(info));
    trace::ChunkEncoder events;
    events.enter(10, 0, 0, 0, false, 0, {});
    events.leave(20, 0, 0, false, {});
    check(writer.append(0, events));
    trace::OffCpuEncoder intervals;
    std::minstd_rand random;
    std::uint64_t at = 100;
    for (int chunk = 0; chunk < size.chunks; ++chunk) {
        for (std::uint32_t i = 0; i < size.events; ++i, at += 100 + random() % 16)
            intervals.add({.out = at, .in = at + 50, .cpu = 0, .preempted = true});
        check(writer.append_off_cpu(1000, intervals));
    }
}

/// Calls that never end.
void open_calls(trace::TraceWriter& writer, trace::TraceInfo& info, const Size& size, std::uint32_t threads) {
    info = make_info(threads, 0);
    tell_apart(info);
    check(writer.describe(info));
    trace::ChunkEncoder events;
    for (int chunk = 0; chunk < size.chunks; ++chunk) {
        for (std::uint32_t i = 0; i < size.events; ++i)
            events.enter(1000, 0, 0, 0, false, 0, {});
        check(writer.append(static_cast<std::uint32_t>(chunk) % threads, events));
    }
}

/// The chunks of several threads take turns.
struct Words {
    std::uint16_t declared = 0;
    std::uint16_t written = 0;
    std::uint32_t of_chunk = 0;
    std::uint32_t threads = 1;
};

void many_words(trace::TraceWriter& writer, trace::TraceInfo& info, const Size& size, const Words& shape) {
    info = make_info(shape.threads, shape.declared);
    tell_apart(info);
    check(writer.describe(info));
    const std::vector<std::uint64_t> words(shape.written);
    trace::ChunkEncoder events;
    for (int chunk = 0; chunk < size.chunks; ++chunk) {
        for (std::uint32_t i = 0; i < shape.of_chunk / shape.written && i < size.events / 2; ++i) {
            events.enter(1000, 0, 0, 0, false, 0, words);
            events.leave(1001, 0, 0, false, {});
        }
        check(writer.append(static_cast<std::uint32_t>(chunk) % shape.threads, events));
    }
}

/// A function for each chunk, with names that nobody can read.
void long_names(trace::TraceWriter& writer, trace::TraceInfo& info, const Size& size) {
    constexpr std::size_t kLength = std::size_t{1} << 18U;
    constexpr std::uint32_t kCalls = 200;
    info = make_info(1, 0);
    info.functions.clear();
    for (int function = 0; function < size.chunks; ++function) {
        trace::FunctionInfo each;
        each.name = std::string(kLength, 'n') + std::to_string(function);
        each.linkage_name = each.name;
        each.module = each.source = std::string(kLength / 4, 'm');
        info.functions.push_back(std::move(each));
    }
    check(writer.describe(info));
    trace::ChunkEncoder events;
    std::uint64_t at = 1000;
    for (std::uint32_t i = 0; i < kCalls * static_cast<std::uint32_t>(size.chunks);
         ++i, at += 1'000'000'000) {
        const std::uint32_t function = i / kCalls;
        events.enter(at, function, 0, 0, false, 0, {});
        events.leave(at + (i % 2 == 0 ? 900'000'000 : 1'000'000), function, 0, false, {});
    }
    check(writer.append(0, events));
}

struct NamedWords {
    std::string_view name;
    int chunks = 0;
    Words words;
};
constexpr NamedWords kWords[] = {
    {"many-words", 64, {60000, 60000, kMax, 1}},
    {"wide-words", 16, {255, 255, kAccepted, 1}},
    {"rejected", 64, {119, 120, kMax, 1}},
    {"many-words-of-eight", 64, {60000, 60000, kMax, 8}},
    {"wide-words-of-eight", 16, {255, 255, kAccepted, 8}},
    {"rejected-of-eight", 64, {119, 120, kMax, 8}},
};

}  // namespace

int main(int count, char** arguments) {
    if (count != 3 && count != 5) return 2;
    const std::string_view shape = arguments[1];
    const auto or_else = [&](int chunks) {
        if (count == 3) return Size{.chunks = chunks};
        return Size{std::atoi(arguments[3]), static_cast<std::uint32_t>(std::atoi(arguments[4]))};
    };
    const int fd = open(arguments[2], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    auto writer = trace::TraceWriter::create(fd, arguments[2], 1);
    if (!writer) return 2;
    trace::TraceInfo info;
    if (shape == "one-tid")
        one_tid(*writer, info, or_else(46));
    else if (shape == "open-calls")
        open_calls(*writer, info, or_else(200), 1);
    else if (shape == "long-names")
        long_names(*writer, info, or_else(30));
    else if (shape == "open-calls-of-eight")
        open_calls(*writer, info, or_else(200), 8);
    else if (const auto* found = std::find_if(std::begin(kWords), std::end(kWords),
                                              [&](const NamedWords& each) { return each.name == shape; });
             found != std::end(kWords))
        many_words(*writer, info, or_else(found->chunks), found->words);
    else
        return 2;
    check(writer->finish(info));
}
