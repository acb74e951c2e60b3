// What the analyzer makes of a second: events matched, mined and scored, without reading them from a file
// (trace_codec measures that).
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <vector>

#include "analyzer/score/thread_analysis.h"

namespace {

using namespace rdam;

constexpr std::uint32_t kFunctions = 4;
constexpr int kEvents = 1 << 20;

/// Events of one thread, and what their words refer to.
struct Thread {
    std::vector<trace::Event> events;
    std::vector<std::uint64_t> words;
    std::uint64_t now = 1;

    void enter(std::uint32_t function, std::uint64_t word, std::uint64_t place = 0) {
        words.push_back(word);
        trace::Event event;
        event.tsc = now += 50;
        event.function = function;
        event.caller = 0x1000 + function + 0x10 * place;
        event.words = {&words.back(), 1};
        events.push_back(event);
    }
    void leave(std::uint32_t function, std::uint64_t duration) {
        trace::Event event;
        event.tsc = now += duration;
        event.function = function;
        event.kind = trace::EventKind::leave;
        events.push_back(event);
    }
};

/// A worker whose calls have 4 to 7 children, each of which may have a child of its own; `keys` different
/// values of their parameter. They are called from so many places.
Thread make_thread(std::uint64_t keys, std::uint64_t callers) {
    Thread thread;
    thread.events.reserve(kEvents + 64);
    thread.words.reserve(kEvents + 64);
    std::mt19937_64 random{1};
    while (thread.events.size() < kEvents) {
        thread.enter(0, 0);
        for (std::uint64_t i = 4 + random() % 4; i > 0; --i) {
            thread.enter(1, random() % keys, callers > 1 ? random() % callers : 0);
            if (random() % 10 == 0) {
                thread.enter(2, 0);
                thread.leave(2, 2000 + random() % 1000);
            }
            thread.leave(1, 80 + random() % 20);
        }
        thread.leave(0, 50);
    }
    return thread;
}

trace::TraceInfo make_info() {
    trace::TraceInfo info;
    info.functions.resize(kFunctions);
    for (trace::FunctionInfo& function : info.functions) {
        function.enter_words = 1;
        function.parameters.resize(1);
    }
    info.functions[1].parameters[0].key = true;
    return info;
}

void analyze_events(benchmark::State& state) {
    const Thread thread =
        make_thread(static_cast<std::uint64_t>(state.range(0)), static_cast<std::uint64_t>(state.range(1)));
    const trace::TraceInfo info = make_info();
    const auto keys = sequences::make_keys(info, {});
    if (!keys) return state.SkipWithError(keys.error().message.c_str());
    const score::ResolvedSettings settings{.sequences = {},
                                           .keys = *keys,
                                           .ignored = std::vector<bool>(kFunctions),
                                           .cost = {.total = 40, .inner = 20}};
    for ([[maybe_unused]] auto _ : state) {
        score::ThreadAnalysis analysis{info, settings};
        analysis.consume(thread.events);
        benchmark::DoNotOptimize(analysis.finish()->groups.size());
    }
    const auto events = static_cast<double>(thread.events.size()) * static_cast<double>(state.iterations());
    state.counters["events/s"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
}
BENCHMARK(analyze_events)
    ->ArgsProduct({{1, 1000, 1000000}, {1, 3, 100}})
    ->ArgNames({"keys", "callers"})
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
