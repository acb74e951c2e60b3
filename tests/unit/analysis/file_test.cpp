// From a trace file to a report, and from events that nobody would record.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "analyzer/output/json.h"
#include "analyzer/output/text.h"
#include "analyzer/report/score_trace.h"
#include "analyzer/score/thread_analysis.h"
#include "tests/unit/analysis/random_recording.h"
#include "tests/unit/analysis/recording.h"
#include "tests/unit/analysis/recording_file.h"
#include "tests/unit/catch.h"
#include "tools/trace/format.h"

namespace rdam::test {
namespace {

std::string json_of(const score::Report& report, const trace::TraceInfo& info) {
    output::TraceSymbols symbols{info};
    return output::to_json({report}, symbols, {});
}

trace::Event wild_event(std::mt19937_64& random, std::size_t functions) {
    const std::uint64_t extremes[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, std::uint64_t{1} << 63, 1000, 2000};
    const auto number = [&] {
        return random() % 2 == 0 ? extremes[random() % 7] : random() >> (random() % 64);
    };
    trace::Event event;
    event.tsc = number();
    event.until = number();
    event.caller = number();
    event.function = static_cast<std::uint32_t>(random() % functions);
    event.kind = static_cast<trace::EventKind>(random() % 4);
    return event;
}

}  // namespace

TEST_CASE("a chunk in which thousands of functions are called is read as any other", "[file]") {
    // All of them by the same caller: what an event has in common with others differs in the function alone.
    constexpr std::uint32_t kFunctions = 20'000;
    Recording recording{kFunctions};
    ThreadRecording& thread = recording.thread(0, 10'000'000);
    for (std::uint32_t i = 0; i < 3 * kFunctions; ++i)
        thread.call(100 * i, i % kFunctions, 50);
    const trace::TraceReader reader = reader_of(recording, trace::format::kMaxEvents - 1);
    const auto report = score::score_trace(reader, {}, {});
    REQUIRE(report);
    CHECK(report->functions.size() == kFunctions);
    CHECK(report->counts.calls == 3 * kFunctions);
}

TEST_CASE("a report from a file is that of its events, however many analyze it", "[file]") {
    std::mt19937_64 random{7};
    const Recording recording = random_recording(random, {.threads = 7, .events = 3000, .accidents = false});
    const MemoryFile file;
    write_file(recording, file.path());
    const auto reader = trace::TraceReader::open(file.path());
    REQUIRE(reader);
    std::string first;
    for (const unsigned jobs : {1U, 2U, 8U}) {
        const auto report = score::score_trace(*reader, {.jobs = jobs}, {});
        REQUIRE(report);
        if (first.empty()) first = json_of(*report, reader->info());
        CHECK(json_of(*report, reader->info()) == first);
    }
    CHECK(first == json_of(analyze(recording), recording.info));
}

TEST_CASE("settings that the trace does not know are an error", "[file]") {
    std::mt19937_64 random{8};
    const MemoryFile file;
    write_file(random_recording(random, {}), file.path());
    const auto reader = trace::TraceReader::open(file.path());
    REQUIRE(reader);
    const auto report = score::score_trace(*reader, {.given = {.ignore = {"nosuch"}}}, {});
    REQUIRE_FALSE(report);
    CHECK(report.error().message.starts_with("nosuch: the trace has no such function; it has "));
}

TEST_CASE("no events whatever lead to scores beyond their range", "[file]") {
    std::mt19937_64 random{9};
    for (int round = 0; round < 3000; ++round) {
        Recording recording{3};
        recording.info.clock.probe_ticks = round % 3 == 0 ? 1e8 : std::nan("");
        recording.info.clock.ticks_per_second = round % 5 == 0 ? -1 : 1e9;
        std::vector<std::vector<trace::Event>> threads;
        for (int t = 0; t < 2; ++t) {
            recording.thread(random() >> (random() % 64), random() >> (random() % 64));
            threads.emplace_back();
            for (int i = 0; i < 60; ++i)
                threads.back().push_back(wild_event(random, 3));
        }
        const score::ResolvedSettings settings = resolved(recording);
        score::ThreadList analyzed;
        for (const auto& events : threads) {
            score::ThreadAnalysis analysis{recording.info, settings};
            analysis.consume(events);
            analyzed.push_back(analysis.finish());
        }
        const score::Report report = score::make_report({recording.info, {}}, settings, analyzed, 10);
        for (const score::FunctionRow& row : report.functions) {
            for (const double value : {row.rdam, row.rdam_all, row.rdam_self, row.rdam_flat}) {
                CHECK((value >= 0 && value <= 1));
            }
            CHECK(row.rdam <= row.rdam_flat + 1e-9);
            CHECK((std::isfinite(row.lost_ns) && row.lost_ns >= 0));
        }
        // A number that JSON cannot say would be null, too, which stands for what is unknown alone.
        auto json = nlohmann::json::parse(json_of(report, recording.info));
        for (auto& function : json["functions"])
            if (function.contains("no_score")) function = nullptr;
        json["functions"].erase(std::remove(json["functions"].begin(), json["functions"].end(), nullptr),
                                json["functions"].end());
        for (auto& function : json["functions"])
            for (auto& thread : function["threads"])
                for (const char* key : {"rdam", "rdam_low", "rdam_high", "lost_ns"})
                    if (thread[key].is_null()) thread.erase(key);
        CHECK(json.dump().find("null") == std::string::npos);
    }
}

}  // namespace rdam::test
