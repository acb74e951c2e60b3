#include "analyzer/hints/hints.h"
#include "tests/unit/catch.h"
#include "tests/unit/hints/made.h"

using namespace rdam;

namespace {

/// Of a function whose calls take `mean_ns`, of which `lost_ns` are lost.
hints::Analysis analysis_of(double mean_ns, double lost_ns, std::size_t threads) {
    constexpr std::uint64_t kOutermostCalls = 1000;
    hints::Analysis analysis;
    score::FunctionRow& row = analysis.report.functions.emplace_back();
    row.name = "work";
    row.rdam = 0.5;
    row.outermost = kOutermostCalls;
    row.mean_ns = mean_ns;
    row.lost_ns = lost_ns * static_cast<double>(kOutermostCalls);
    row.threads.resize(threads);
    analysis.functions = {{.hints = {{.kind = hints::HintKind::blocked, .text = "…"},
                                     {.kind = hints::HintKind::no_parameter, .text = "…"}}}};
    return analysis;
}

hints::Hint first(const hints::Analysis& alone, const hints::Analysis& many) {
    return hints::compare_alone(alone, many).value_or(many.functions)[0].hints[0];
}

}  // namespace

TEST_CASE("What varies alone varies by itself") {
    const hints::Analysis many = analysis_of(2000, 1500, 4);
    const hints::Hint same = first(analysis_of(1000, 740, 1), many);
    CHECK(same.kind == hints::HintKind::varies_alone);
    CHECK(same.share > 0.9);
    CHECK_THAT(same.text, Catch::StartsWith("a call loses 740 ns of 1.00 µs with 1 thread, and 1.50 µs of "
                                            "2.00 µs with 4 threads: it varies as much"));
    const hints::Hint less = first(analysis_of(540, 40, 1), many);
    CHECK(less.kind == hints::HintKind::with_threads);
    CHECK(less.share > 0.9);
    const hints::Hint part = first(analysis_of(1000, 600, 1), many);
    CHECK(part.kind == hints::HintKind::varies_alone);
    CHECK_THAT(part.text, Catch::Contains("about 50 % of the loss remains without the other threads"));
}

TEST_CASE("Preemption is no matter of threads") {
    hints::Analysis many = analysis_of(9000, 8500, 4);
    many.functions[0].off_share = {.blocked = 0, .preempted = 0.9};
    const hints::Hint hint = first(analysis_of(1200, 700, 1), many);
    CHECK(hint.kind == hints::HintKind::varies_alone);
    CHECK_THAT(hint.text, Catch::StartsWith("not counting preemption, a call loses 700 ns of 1.20 µs with 1 "
                                            "thread, and 850 ns of 1.35 µs with 4 threads"));
}

TEST_CASE("What is known by a second recording is not asked for") {
    const auto compared = hints::compare_alone(analysis_of(2000, 1500, 1), analysis_of(2000, 1500, 4));
    REQUIRE(compared);
    REQUIRE(compared->at(0).hints.size() == 2);
    CHECK(compared->at(0).hints[1].kind == hints::HintKind::blocked);
}

TEST_CASE("Recordings that cannot be compared") {
    hints::Analysis many = analysis_of(2000, 1500, 4);
    CHECK(first(analysis_of(2000, 1500, 4), many).kind == hints::HintKind::blocked);
    CHECK_FALSE(hints::compare_alone(analysis_of(2000, 1500, 4), many));
    hints::Analysis other = analysis_of(2000, 1500, 1);
    other.report.functions[0].name = "other";
    CHECK(first(other, many).kind == hints::HintKind::blocked);
    hints::Analysis few = analysis_of(2000, 1500, 1);
    few.report.functions[0].outermost = 29;
    CHECK(first(few, many).kind == hints::HintKind::blocked);
    many.report.functions[0].rdam = 0.1;
    CHECK(first(analysis_of(2000, 1500, 1), many).kind == hints::HintKind::blocked);
    CHECK(hints::compare_alone(analysis_of(2000, 1500, 1), many));
}
