#include "analyzer/hints/hints.h"
#include "tests/unit/catch.h"
#include "tests/unit/hints/made.h"

using namespace rdam;

namespace {

/// Of a function whose calls take `mean_ns`, of which `lost_ns` are lost.
score::Report report_of(double mean_ns, double lost_ns, std::size_t threads) {
    constexpr std::uint64_t kOutermostCalls = 1000;
    score::Report report;
    score::FunctionRow& row = report.functions.emplace_back();
    row.name = "work";
    row.rdam = 0.5;
    row.outermost = kOutermostCalls;
    row.mean_ns = mean_ns;
    row.lost_ns = lost_ns * static_cast<double>(kOutermostCalls);
    row.threads.resize(threads);
    row.hints = {{.kind = score::HintKind::blocked, .text = "…"},
                 {.kind = score::HintKind::no_parameter, .text = "…"}};
    return report;
}

score::Hint first(const score::Report& alone, score::Report report) {
    hints::add_alone_hints(alone, report);
    return report.functions[0].hints[0];
}

}  // namespace

TEST_CASE("What varies alone varies by itself") {
    const score::Report many = report_of(2000, 1500, 4);
    const score::Hint same = first(report_of(1000, 740, 1), many);
    CHECK(same.kind == score::HintKind::varies_alone);
    CHECK(same.share > 0.9);
    CHECK_THAT(same.text, Catch::StartsWith("a call loses 740 ns of 1.00 µs with 1 thread, and 1.50 µs of "
                                            "2.00 µs with 4 threads: it varies as much"));
    const score::Hint less = first(report_of(540, 40, 1), many);
    CHECK(less.kind == score::HintKind::with_threads);
    CHECK(less.share > 0.9);
    const score::Hint part = first(report_of(1000, 600, 1), many);
    CHECK(part.kind == score::HintKind::varies_alone);
    CHECK_THAT(part.text, Catch::Contains("about 50 % of the loss remains without the other threads"));
}

TEST_CASE("Preemption is no matter of threads") {
    score::Report many = report_of(9000, 8500, 4);
    many.functions[0].off_share = {.blocked = 0, .preempted = 0.9};
    const score::Hint hint = first(report_of(1200, 700, 1), many);
    CHECK(hint.kind == score::HintKind::varies_alone);
    CHECK_THAT(hint.text, Catch::StartsWith("not counting preemption, a call loses 700 ns of 1.20 µs with 1 "
                                            "thread, and 850 ns of 1.35 µs with 4 threads"));
}

TEST_CASE("What is known by a second recording is not asked for") {
    score::Report many = report_of(2000, 1500, 4);
    CHECK(hints::add_alone_hints(report_of(2000, 1500, 1), many));
    REQUIRE(many.functions[0].hints.size() == 2);
    CHECK(many.functions[0].hints[1].kind == score::HintKind::blocked);
}

TEST_CASE("Recordings that cannot be compared") {
    score::Report many = report_of(2000, 1500, 4);
    CHECK(first(report_of(2000, 1500, 4), many).kind == score::HintKind::blocked);
    CHECK_FALSE(hints::add_alone_hints(report_of(2000, 1500, 4), many));
    score::Report other = report_of(2000, 1500, 1);
    other.functions[0].name = "other";
    CHECK(first(other, many).kind == score::HintKind::blocked);
    score::Report few = report_of(2000, 1500, 1);
    few.functions[0].outermost = 29;
    CHECK(first(few, many).kind == score::HintKind::blocked);
    many.functions[0].rdam = 0.1;
    CHECK(first(report_of(2000, 1500, 1), many).kind == score::HintKind::blocked);
    CHECK(hints::add_alone_hints(report_of(2000, 1500, 1), many));
}
