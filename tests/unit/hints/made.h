// A trace of one function whose calls each test makes up.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "analyzer/hints/hints.h"
#include "tests/unit/catch.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::made_up {

inline constexpr std::size_t kCalls = 2000;

/// A trace with one function, `work(size)` → int, of which each test makes the sample.
struct Made {
    Made() {
        info.clock.ticks_per_second = 1e9;
        info.threads = {{.tid = 1, .name = "main", .start = 1, .end = kCalls * 1000}};
        info.functions.resize(1);
        info.functions[0].name = "work";
        info.functions[0].enter_words = 1;
        info.functions[0].parameters = {{.name = "size", .kind = kInteger, .size = 4, .type = "int"}};
        info.functions[0].result = {{.name = "", .kind = kInteger, .size = 4, .type = "int"}};
        report.switches.state = trace::SwitchInfo::State::recorded;
        report.functions.resize(1);
        row().name = "work";
        row().rdam = 0.5;
        row().sample.words_per_call = 1;
    }

    score::FunctionRow& row() { return report.functions[0]; }

    score::ScoredCall& call(double lost_ns, std::uint64_t size = 0) {
        row().sample.words.push_back(size);
        auto& calls = row().sample.calls;
        score::ScoredCall call;
        call.begin = calls.size() * 1000;
        call.end = call.begin + 100;
        call.duration_ns = 10 + lost_ns;
        call.lost_ns = lost_ns;
        call.returned = true;
        return calls.emplace_back(call);
    }

    /// Of the hints, the first first.
    std::vector<std::string> kinds() {
        found = hints::find_hints(info, report).front();
        std::vector<std::string> kinds;
        for (const hints::Hint& hint : found.hints)
            kinds.emplace_back(hints::name_of(hint.kind));
        return kinds;
    }

    std::uint64_t below(std::uint64_t limit) { return random() % limit; }
    double noise() { return static_cast<double>(below(100)) / 100; }
    /// Most do not wait at all, the others short or long.
    double waiting() { return below(4) == 0 ? 300 + 2700 * noise() : noise(); }

    static constexpr auto kInteger = static_cast<std::uint8_t>(ValueKind::signed_integer);
    trace::TraceInfo info;
    score::Report report;
    hints::FunctionHints found;  ///< after kinds()
    std::mt19937 random;
};

using Kinds = std::vector<std::string>;

}  // namespace rdam::made_up
