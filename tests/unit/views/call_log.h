// What a visit tells of a thread, written down, with a check that it is told in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/views/visit.h"
#include "tests/unit/analysis/recording_file.h"
#include "tests/unit/catch.h"

namespace rdam::test {

struct LoggedCall {
    views::Closed call;
    std::vector<std::uint64_t> words;     ///< its parameters
    std::optional<std::uint64_t> result;  ///< its result
};

/// Calls in the order in which they end.
class CallLog final : public views::CallVisitor {
  public:
    void opened(const views::Opened& call) override {
        check(call.depth == open_.size(), "depth of an opened call");
        check(call.tsc >= last_, "a call is opened before what ended last");
        last_ = call.tsc;
        open_.push_back({call, {call.words.begin(), call.words.end()}});
        open_.back().call.words = {};
    }
    void closed(const views::Closed& call) override {
        check(!open_.empty(), "a call is closed that was not opened");
        if (open_.empty()) return;
        const Open open = open_.back();
        open_.pop_back();
        check(call.depth == open_.size(), "depth of a closed call");
        check(call.function == open.call.function, "function of a closed call");
        check(call.weight == open.call.weight, "weight of a closed call");
        check(call.begin == open.call.tsc, "begin of a closed call");
        check(call.tsc >= last_ && call.begin <= call.tsc, "end of a closed call");
        last_ = call.tsc;
        calls.push_back({call, open.words, {}});
        if (call.result != nullptr) calls.back().result = *call.result;
        calls.back().call.result = nullptr;
    }
    /// What was told in no good order; empty: nothing.
    std::string fault() const { return fault_.empty() && !open_.empty() ? "a call is not closed" : fault_; }

    std::vector<LoggedCall> calls;

  private:
    struct Open {
        views::Opened call;
        std::vector<std::uint64_t> words;
    };

    void check(bool holds, const char* what) {
        if (!holds && fault_.empty()) fault_ = what;
    }

    std::vector<Open> open_;
    std::uint64_t last_ = 0;
    std::string fault_;
};

/// `reader` must outlive it.
inline views::Visit visit_of(const trace::TraceReader& reader, const score::Settings& settings = {}) {
    auto visit = views::Visit::prepare(reader, settings, {});
    if (!visit) FAIL(visit.error().message);
    return std::move(*visit);
}

inline std::vector<LoggedCall> calls_of(const views::Visit& visit, std::uint32_t thread) {
    CallLog log;
    REQUIRE(visit.thread(thread, log));
    CHECK(log.fault().empty());
    return log.calls;
}

/// Of the first thread.
inline std::vector<LoggedCall> calls_of(const Recording& recording, const score::Settings& settings = {}) {
    const trace::TraceReader reader = reader_of(recording);
    return calls_of(visit_of(reader, settings), 0);
}

}  // namespace rdam::test
