// Any bytes as the events of a few threads: matched, mined, scored and shown. Four bytes are an event.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/calls/call_stream.h"
#include "analyzer/output/json.h"
#include "analyzer/output/text.h"
#include "analyzer/report/score_trace.h"
#include "analyzer/report/scores.h"
#include "analyzer/score/thread_analysis.h"

namespace {

using namespace rdam;

constexpr std::uint32_t kFunctions = 4;
constexpr std::uint32_t kStacks = 3;
constexpr std::size_t kThreads = 3;

void require(bool truth) {
    if (!truth) std::abort();
}

trace::TraceInfo make_info() {
    trace::TraceInfo info;
    info.clock.ticks_per_second = 1e9;
    info.clock.probe_ticks = 3.5;
    info.clock.probe_inner_ticks = 1.5;
    info.clock.error_ticks = 0.25;
    info.process.machine_share = 0.125;
    info.objects = {{.path = "/app", .build_id = {}, .base = 0x1000, .end = 0x2000}};
    info.functions.resize(kFunctions);
    for (std::uint32_t f = 0; f < kFunctions; ++f) {
        info.functions[f].name = std::string(1, static_cast<char>('a' + f));
        info.functions[f].enter_words = 1;
        info.functions[f].parameters.resize(1);
        info.functions[f].parameters[0].key = f % 2 == 0;
    }
    for (std::uint32_t s = 0; s < kStacks; ++s)
        info.stacks.push_back(
            {.function = s, .caller = 0x1000 + s, .frames = {0x1000 + s, 0x1800}, .truncated = s == 1});
    info.threads.resize(kThreads);
    return info;
}

/// Two functions are sampled in windows, one of them from the start on.
trace::TraceInfo make_windowed_info() {
    trace::TraceInfo info = make_info();
    info.clock.step_ticks = 5;
    info.functions[1].windowed_since = 1;
    info.functions[2].windowed_since = 1500;
    for (std::uint64_t begin = 1000; begin < 10000; begin += 300)
        info.windows.push_back({begin, begin + 100});
    return info;
}

/// Makes events of bytes; the clock goes on by most of them, and back at some.
class EventMaker {
  public:
    explicit EventMaker(std::span<const std::uint64_t> words) : words_(words) {}

    trace::Event make(std::span<const std::uint8_t, 4> bytes) {
        trace::Event event;
        event.kind = static_cast<trace::EventKind>(bytes[0] % 4);
        event.function = (bytes[0] >> 2) % kFunctions;
        if (bytes[0] >= 0xf0) now_ = std::uint64_t{bytes[1]} << (bytes[2] % 64);
        now_ += bytes[1];
        event.tsc = now_;
        event.until = now_ + bytes[2] - 4;
        event.caller = bytes[2] % 16 == 0 ? 0 : 0x1000 + bytes[2] % 16;
        event.stack = bytes[3] % 8 == 0 ? 1 + event.function % kStacks : 0;
        event.sampling = bytes[3] >= 0xe0 ? static_cast<std::uint8_t>(bytes[3] - 0xe0) : std::uint8_t{0};
        event.words = words_.subspan(bytes[3] % words_.size(), 1);
        return event;
    }

  private:
    std::span<const std::uint64_t> words_;
    std::uint64_t now_ = 1000;
};

/// `known`: the threads' lives hold all their events and pauses.
void check(const score::Report& report, bool known) {
    double self = 0;
    bool sampled = false;
    for (const score::FunctionRow& row : report.functions) {
        for (const double value : {row.rdam, row.rdam_all, row.rdam_self, row.rdam_flat, row.floor})
            require(value >= 0 && value <= 1);
        self += row.rdam_self;
        sampled = sampled || row.sampled;
        double shares = 0;
        std::uint64_t calls = 0;
        for (const score::CallerRow& caller : row.callers) {
            require(caller.share >= 0 && caller.share <= 1 && caller.lost_ns >= 0);
            shares += caller.share;
            calls += caller.calls;
        }
        require(shares <= 1 + 1e-6);
        // Estimates are rounded one by one, and end where a number does.
        constexpr std::uint64_t kMax = std::uint64_t{1} << 52;
        const std::uint64_t rounding = row.windowed ? row.callers.size() : 0;
        require(calls <= row.occurrences + rounding || (row.windowed && row.occurrences > kMax));
        require(row.rdam_low <= row.rdam && row.rdam <= row.rdam_high);
    }
    for (const score::PatternRow& row : report.patterns)
        require(row.rdam >= 0 && row.rdam <= 1 && row.length >= 2 && row.occurrences >= 2);
    // An estimate has no such bound; and where nobody knows when a thread ended, a pause behind its last
    // event takes more out of its life than there was.
    require(sampled || (report.counts.paused > 0 && !known) || self <= 1 + 1e-6);
}

/// By thread, in order; null: a gap.
using Events = std::vector<std::vector<std::optional<trace::Event>>>;

Events make_events(std::span<const std::uint8_t> bytes, std::span<const std::uint64_t> words) {
    Events events(kThreads);
    EventMaker maker{words};
    std::size_t thread = 0;
    for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
        const trace::Event event = maker.make(bytes.subspan(at).first<4>());
        if (bytes[at] == 0xef) thread = (thread + 1) % kThreads;
        if (bytes[at] == 0xee) events[thread].emplace_back();
        events[thread].emplace_back(event);
    }
    return events;
}

void know_lives(const Events& events, trace::TraceInfo& info) {
    for (std::size_t t = 0; t < kThreads; ++t) {
        info.threads[t].start = info.threads[t].end = 1;
        for (const auto& event : events[t])
            if (event) info.threads[t].end = std::max({info.threads[t].end, event->tsc, event->until});
    }
}

void show(const score::Report& report, const trace::TraceInfo& info) {
    output::TraceSymbols symbols{info};
    const std::string text = output::to_text({report}, symbols, {.threads = true, .sequences = true});
    for (const char c : text)
        require(static_cast<unsigned char>(c) >= 0x20 || c == '\n');
    require(nlohmann::json::parse(output::to_json({report}, symbols, {})).is_object());
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    static const trace::TraceInfo infos[] = {make_info(), make_windowed_info()};
    static const std::vector<std::uint64_t> words = {0, 1, 2, 0x7f00, ~0ULL};
    const std::uint8_t choice = data[0];
    trace::TraceInfo info = infos[(choice & 32U) != 0 ? 1 : 0];
    const Events events = make_events({data + 1, size - 1}, words);
    const bool known = (choice & 64U) != 0;
    if (known) know_lives(events, info);
    score::Settings chosen{
        .sequences = {.deep_keys = (choice & 1U) != 0, .fold_loops = (choice & 2U) != 0},
        .baseline = {.kind = static_cast<score::Baseline::Kind>(choice / 4 % 4), .fraction = 0.25},
        .patterns = true};
    if ((choice & 16U) != 0) chosen.given.ignore = {"c"};
    const auto settings = score::resolve(info, chosen);
    require(settings.has_value());

    std::vector<std::unique_ptr<score::ThreadAnalysis>> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
        threads.push_back(std::make_unique<score::ThreadAnalysis>(info, *settings));
        threads.back()->set_life(calls::life_in(info.threads[t], {}));
        for (const auto& event : events[t]) {
            if (event)
                threads[t]->consume({&*event, 1});
            else
                threads[t]->gap();
        }
    }
    score::ThreadList finished;
    for (const auto& each : threads)
        finished.push_back(each->finish());
    const score::Report report = score::make_report({info, {}}, *settings, finished, 100, 100);
    check(report, known);
    show(report, info);
    return 0;
}
