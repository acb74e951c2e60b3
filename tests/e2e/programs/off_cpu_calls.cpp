// Prints which calls of a trace were off the processor, as JSON: for each thread its intervals, and for each
// of its calls those that lie inside.
//   off_cpu_calls TRACE
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/trace/reader.h"

namespace {

using namespace rdam;
using Json = nlohmann::json;

struct Call {
    std::uint32_t function = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

/// Those that were seen to end, without tail calls.
Result<std::vector<Call>> calls_of(const trace::TraceReader& reader, std::uint32_t thread) {
    std::vector<Call> calls;
    std::vector<Call> open;
    const auto sink = [&](std::span<const trace::Event> events) {
        for (const trace::Event& event : events) {
            if (event.kind == trace::EventKind::enter) open.push_back({event.function, event.tsc, 0});
            if (event.kind != trace::EventKind::leave || open.empty()) continue;
            open.back().end = event.tsc;
            calls.push_back(open.back());
            open.pop_back();
        }
    };
    if (auto read = reader.read_thread(thread, sink, [] {}); !read) return tl::unexpected{read.error()};
    return calls;
}

Json call_json(const trace::TraceInfo& info, const Call& call, const std::vector<trace::OffCpu>& intervals) {
    std::uint64_t blocked = 0;
    std::uint64_t preempted = 0;
    for (const trace::OffCpu& each : intervals) {
        if (each.out < call.begin || each.in > call.end) continue;
        ++(each.preempted ? preempted : blocked);
    }
    return {{"function", info.functions[call.function].name}, {"blocked", blocked}, {"preempted", preempted}};
}

Result<Json> thread_json(const trace::TraceReader& reader, std::uint32_t thread) {
    const trace::TraceInfo& info = reader.info();
    const auto intervals = reader.off_cpu(thread);
    if (!intervals) return tl::unexpected{intervals.error()};
    const auto calls = calls_of(reader, thread);
    if (!calls) return tl::unexpected{calls.error()};
    Json off = Json::array();
    for (const trace::OffCpu& each : *intervals)
        off.push_back({{"out", each.out},
                       {"in", each.in},
                       {"cpu", each.cpu},
                       {"preempted", each.preempted},
                       {"by_recorder", each.by_recorder}});
    Json inside = Json::array();
    for (const Call& call : *calls)
        inside.push_back(call_json(info, call, *intervals));
    return Json{{"tid", info.threads[thread].tid},
                {"main", info.threads[thread].tid == info.process.pid},
                {"intervals", std::move(off)},
                {"calls", std::move(inside)}};
}

Result<Json> trace_json(const char* path) {
    const auto reader = trace::TraceReader::open(path);
    if (!reader) return tl::unexpected{reader.error()};
    Json threads = Json::array();
    for (std::uint32_t thread = 0; thread < reader->info().threads.size(); ++thread) {
        auto json = thread_json(*reader, thread);
        if (!json) return json;
        threads.push_back(std::move(*json));
    }
    return threads;
}

}  // namespace

int main(int count, char** words) {
    if (count != 2) return 2;
    const auto json = trace_json(words[1]);
    if (!json) {
        fmt::print(stderr, "off_cpu_calls: {}\n", json.error().message);
        return 1;
    }
    std::puts(json->dump().c_str());
    return 0;
}
