// What the recorder held the threads of a trace for, as JSON: for each reason how often, and for how many
// nanoseconds (p50, p99, max, sum); and behind which events chunks were changed.
//
//     trace_pauses TRACE
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/trace/reader.h"

namespace {

using namespace rdam::trace;
using Json = nlohmann::ordered_json;

constexpr std::array kReasons{"stack_copy", "new_chunk", "buffer_full", "other"};

using Pauses = std::array<std::vector<double>, kReasons.size()>;

Json summary(std::vector<double>& values) {
    if (values.empty()) return {{"count", 0}};
    std::sort(values.begin(), values.end());
    double sum = 0;
    for (const double value : values)
        sum += value;
    const auto at = [&](double share) {
        return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
    };
    return {{"count", values.size()}, {"p50", at(0.5)}, {"p99", at(0.99)}, {"max", at(1)}, {"sum", sum}};
}

int run(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: trace_pauses TRACE\n", stderr);
        return 2;
    }
    const auto reader = TraceReader::open(argv[1]);
    if (!reader) {
        std::fprintf(stderr, "trace_pauses: %s\n", reader.error().message.c_str());
        return 1;
    }
    const double ns_a_tick = 1e9 / reader->info().clock.ticks_per_second;
    Pauses pauses;
    std::map<std::string, std::uint64_t> behind;
    std::string last;
    const auto note = [&](std::span<const Event> events) {
        for (const Event& event : events) {
            if (event.kind != EventKind::pause) {
                last = (event.kind == EventKind::leave ? "end of " : "begin of ") +
                       reader->info().functions[event.function].name;
                continue;
            }
            pauses[static_cast<std::size_t>(event.reason)].push_back(
                static_cast<double>(event.until - event.tsc) * ns_a_tick);
            if (event.reason == PauseReason::new_chunk && !last.empty()) ++behind[last];
        }
    };
    for (std::uint32_t thread = 0; thread < reader->info().threads.size(); ++thread, last.clear())
        if (const auto done = reader->read_thread(thread, note, [] {}); !done) {
            std::fprintf(stderr, "trace_pauses: %s\n", done.error().message.c_str());
            return 1;
        }
    Json all;
    for (std::size_t i = 0; i < kReasons.size(); ++i)
        all[kReasons[i]] = summary(pauses[i]);
    all["new_chunk"]["behind"] = behind;
    std::printf("%s\n", all.dump(2).c_str());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "trace_pauses: %s\n", error.what());
        return 1;
    }
}
