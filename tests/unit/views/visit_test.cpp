// The calls of a trace as a visitor hears of them.
#include "analyzer/views/visit.h"

#include <cmath>
#include <string>
#include <vector>

#include "tests/unit/views/call_log.h"

namespace rdam::test {
namespace {

/// `function depth begin-end how`
std::string told(const LoggedCall& each) {
    const views::Closed& call = each.call;
    return std::string(1, static_cast<char>('a' + call.function)) + " " + std::to_string(call.depth) + " " +
           std::to_string(call.begin) + "-" + std::to_string(call.tsc) + " " +
           std::string{calls::word_of(call.end)};
}

std::vector<std::string> told(const std::vector<LoggedCall>& calls) {
    std::vector<std::string> all;
    for (const LoggedCall& each : calls)
        all.push_back(told(each));
    return all;
}
using Told = std::vector<std::string>;

/// A leave with a result, or by an exception.
void leave_with(ThreadRecording& thread, std::uint64_t tsc, std::uint32_t function, std::uint64_t result,
                bool unwound = false) {
    trace::Event event;
    event.tsc = tsc;
    event.function = function;
    event.kind = trace::EventKind::leave;
    event.unwound = unwound;
    event.words = {&result, 1};
    thread.copy({&event, 1}, 0);
}

/// Functions whose calls have a result of so many bytes.
Recording with_results(const std::vector<std::uint8_t>& sizes) {
    Recording recording{sizes.size(), 1};
    for (std::size_t f = 0; f < sizes.size(); ++f) {
        trace::ParameterInfo result;
        result.size = sizes[f];
        recording.info.functions[f].leave_words = 1;
        recording.info.functions[f].result = {result};
    }
    return recording;
}

}  // namespace

TEST_CASE("calls are told with what is around them, parameters and result", "[visit]") {
    Recording recording = with_results({8, 8});
    ThreadRecording& thread = recording.thread(1, 1000);
    thread.enter(10, kA, {7}).enter(20, kB, {8});
    leave_with(thread, 30, kB, 100);
    leave_with(thread, 50, kA, 200);
    thread.enter(60, kA, {9});
    leave_with(thread, 90, kA, 0, true);
    const auto calls = calls_of(recording);
    CHECK(told(calls) == Told{"b 1 20-30 returned", "a 0 10-50 returned", "a 0 60-90 unwound"});
    REQUIRE(calls.size() == 3);
    CHECK(calls[0].words == std::vector<std::uint64_t>{8});
    CHECK(calls[1].words == std::vector<std::uint64_t>{7});
    CHECK(calls[0].result == 100U);
    CHECK(calls[1].result == 200U);
    CHECK_FALSE(calls[2].result);
    CHECK(calls[1].call.duration == 40);
    CHECK(calls[1].call.self == 30);
    const std::uint64_t result = 5;
    CHECK(views::parameters_text(recording.info, kA, calls[1].words) == "k=7");
    CHECK(views::parameters_text(recording.info, kA, {}).empty());
    CHECK(views::result_text(recording.info, kA, &result) == "5");
    CHECK(views::result_text(recording.info, kA, nullptr).empty());
    // Texts stand for their numbers, whole.
    recording.info.texts = {"/etc/passwd", std::string(200, 'x') + "\"\\\n"};
    recording.info.functions[kA].parameters[0].is_text = true;
    recording.info.functions[kA].result[0].is_text = true;
    const std::vector<std::uint64_t> first{1};
    const std::uint64_t second = 2;
    CHECK(views::parameters_text(recording.info, kA, first) == "k=\"/etc/passwd\"");
    CHECK(views::result_text(recording.info, kA, &second) == '"' + std::string(200, 'x') + "\\\"\\\\\\n\"");
}

TEST_CASE("a tail call is inside the call whose frame it has, and ends the one before it", "[visit]") {
    Recording recording = with_results({8, 8, 4});
    ThreadRecording& thread = recording.thread(1, 1000);
    thread.enter(10, kA, {1}).tail_enter(20, kC, {2}).tail_enter(30, kB, {3});
    leave_with(thread, 45, kA, 77);
    thread.enter(50, kA, {1}).tail_enter(60, kC, {2});
    leave_with(thread, 75, kA, 78);
    const auto calls = calls_of(recording);
    CHECK(told(calls) == Told{"c 1 20-30 tail", "b 1 30-45 returned", "a 0 10-45 returned",
                              "c 1 60-75 returned", "a 0 50-75 returned"});
    REQUIRE(calls.size() == 5);
    CHECK_FALSE(calls[0].result);
    CHECK(calls[1].result == 77U);
    CHECK(calls[2].result == 77U);
    CHECK_FALSE(calls[3].result);  // a's is of another type
    CHECK(calls[4].result == 78U);
}

TEST_CASE("a call that was not seen to end ends when that is known", "[visit]") {
    Recording recording{3};
    ThreadRecording& thread = recording.thread(1, 500);
    thread.enter(10, kA).enter(20, kB).enter(30, kC).leave(60, kA);  // jumped out of
    thread.enter(70, kA).call(80, kB, 5).gap().call(100, kC, 10).enter(150, kA).enter(160, kB);
    const auto calls = calls_of(recording);
    CHECK(told(calls) == Told{"c 2 30-60 not seen", "b 1 20-60 not seen", "a 0 10-60 returned",
                              "b 1 80-85 returned", "a 0 70-85 not seen", "c 0 100-110 returned",
                              "b 1 160-500 not seen", "a 0 150-500 not seen"});
    REQUIRE(calls.size() == 8);
    for (const LoggedCall& each : calls)
        CHECK(each.call.timed == (each.call.end != calls::End::not_seen));
    CHECK(calls[2].call.duration == 50);
    CHECK(std::isnan(calls[2].call.self));
    CHECK(calls[7].call.lost == 0);
    CHECK(calls[7].call.baseline == 0);
}

TEST_CASE("what a call lost is what it took beyond the fastest of its sequence", "[visit]") {
    Recording recording{2};
    ThreadRecording& thread = recording.thread(1, 10'000);
    thread.call(100, kA, 50).call(200, kA, 90);
    thread.enter(300, kA).call(310, kB, 10).leave(500, kA);
    thread.enter(600, kA).call(610, kB, 12).leave(830, kA);
    thread.enter(900, kB).enter(910, kB).leave(920, kB).leave(1000, kB);  // recursive
    const auto calls = calls_of(recording);
    const auto of = [&](std::size_t i) { return std::pair{calls.at(i).call.lost, calls[i].call.baseline}; };
    using Pair = std::pair<double, double>;
    REQUIRE(calls.size() == 8);
    CHECK(of(0) == Pair{0, 50});
    CHECK(of(1) == Pair{40, 50});
    CHECK(of(2) == Pair{0, 10});  // b
    CHECK(of(3) == Pair{0, 200});
    CHECK(of(4) == Pair{2, 10});
    CHECK(of(5) == Pair{30, 200});
    CHECK_FALSE(calls[6].call.outermost);
    CHECK(of(6) == Pair{0, 0});
    CHECK(of(7) == Pair{0, 100});
    CHECK(calls[0].call.sequence == calls[1].call.sequence);
    CHECK(calls[0].call.sequence != calls[3].call.sequence);
    CHECK(calls[2].call.sequence == calls[6].call.sequence);
}

TEST_CASE("a call inside one of its function that never ends has lost what others of its sequence did not",
          "[visit]") {
    Recording recording{1};
    recording.thread(1, 1000).enter(10, kA).call(20, kA, 5).call(30, kA, 25);
    const auto calls = calls_of(recording);
    REQUIRE(calls.size() == 3);
    CHECK(calls[0].call.outermost);
    CHECK(calls[1].call.outermost);
    CHECK(calls[1].call.lost == 20);
    CHECK(calls[2].call.end == calls::End::not_seen);
}

TEST_CASE("a visit to a part of the run tells what lies in it", "[visit]") {
    Recording recording{2};
    ThreadRecording& thread = recording.thread(1000, 5000);
    thread.call(1100, kA, 50).enter(1900, kA).call(2050, kB, 20).leave(2100, kA).call(2200, kA, 60);
    thread.enter(2900, kA).call(2950, kB, 10).leave(3100, kA).call(3200, kB, 5);
    recording.thread(1000, 5000).call(4000, kB, 10);
    score::Settings settings;
    settings.selection.since_ns = 1000;
    settings.selection.until_ns = 2000;
    const trace::TraceReader reader = reader_of(recording);
    const views::Visit visit = visit_of(reader, settings);
    CHECK(visit.span().begin == 2000);
    CHECK(visit.span().end == 3000);
    CHECK(visit.clock().since_origin(2000) == 1000);
    const auto calls = calls_of(visit, 0);
    // The call that begins before is left out, the one that ends behind is not seen to end.
    CHECK(told(calls) == Told{"b 0 2050-2070 returned", "a 0 2200-2260 returned", "b 1 2950-2960 returned",
                              "a 0 2900-3000 not seen"});
    CHECK(calls.at(1).call.lost == 0);
    CHECK(calls[0].call.lost == 10);
    CHECK(calls_of(visit, 1).empty());
}

TEST_CASE("a visit to some threads and functions tells of no others", "[visit]") {
    Recording recording{3};
    recording.thread(1, 1000).call(10, kA, 10);
    ThreadRecording& second = recording.thread(1, 1000);
    second.enter(20, kA).enter(30, kB).call(35, kA, 1).enter(40, kC).leave(45, kC).leave(50, kB).leave(60,
                                                                                                       kA);
    second.enter(120, kA).enter(130, kB).call(135, kA, 1).enter(140, kC).leave(149, kC).leave(155, kB);
    second.leave(170, kA);
    score::Settings settings;
    settings.selection.threads = {"101"};
    settings.selection.functions = {"a", "c"};
    const trace::TraceReader reader = reader_of(recording);
    const views::Visit visit = visit_of(reader, settings);
    CHECK(visit.threads() == std::vector<std::uint32_t>{1});
    CHECK(visit.shows(kA));
    CHECK_FALSE(visit.shows(kB));
    const auto calls = calls_of(visit, 1);
    CHECK(told(calls) == Told{"a 1 35-36 returned", "c 1 40-45 returned", "a 0 20-60 returned",
                              "a 1 135-136 returned", "c 1 140-149 returned", "a 0 120-170 returned"});
    REQUIRE(calls.size() == 6);
    CHECK(calls[5].call.lost == 10);
    CHECK(calls[5].call.self == 25);  // b is no part of it, though it is not told
    CHECK(calls[4].call.lost == 4);
    CHECK(calls[0].call.outermost == false);

    settings.selection.functions = {"nosuch"};
    const auto refused = views::Visit::prepare(reader, settings, {});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("nosuch") != std::string::npos);
}

TEST_CASE("ignored functions are as if they had not been wrapped", "[visit]") {
    Recording recording{3};
    ThreadRecording& thread = recording.thread(1, 1000);
    thread.enter(20, kA).enter(30, kB).call(40, kC, 5).leave(50, kB).leave(60, kA);
    score::Settings settings;
    settings.given.ignore = {"b"};
    const auto calls = calls_of(recording, settings);
    CHECK(told(calls) == Told{"c 1 40-45 returned", "a 0 20-60 returned"});
    REQUIRE(calls.size() == 2);
    CHECK(calls[1].call.self == 35);
}

TEST_CASE("a call of a sampled tree has the weight of the tree", "[visit]") {
    Recording recording{2};
    ThreadRecording& thread = recording.thread(1, 1000);
    thread.call(10, kA, 5).tree(3).enter(20, kA).call(25, kB, 5).leave(40, kA).tree(0).call(50, kB, 5);
    std::vector<std::uint64_t> weights;
    for (const LoggedCall& each : calls_of(recording))
        weights.push_back(each.call.weight);
    CHECK(weights == std::vector<std::uint64_t>{1, 8, 8, 1});
}

TEST_CASE("wild times are told within the run and in order", "[visit]") {
    Recording recording{2};
    ThreadRecording& thread = recording.thread(1000, 2000);
    thread.enter(5, kA).call(1100, kB, 10).enter(1050, kB).leave(1060, kB).leave(1200, kA);
    thread.enter(1300, kA).leave(UINT64_MAX, kA).call(UINT64_MAX - 5, kB, 1).call(1400, kB, 10);
    const trace::TraceReader reader = reader_of(recording);
    const views::Visit visit = visit_of(reader);
    const auto calls = calls_of(visit, 0);
    REQUIRE(calls.size() == 6);
    for (const LoggedCall& each : calls) {
        CHECK(each.call.begin >= 1000);
        CHECK(each.call.tsc <= 2000);
    }
    CHECK(told(calls[0]) == "b 1 1100-1110 returned");
    CHECK(told(calls[1]) == "b 1 1110-1110 returned");
    CHECK(calls[1].call.duration == 10);
    CHECK_FALSE(calls[3].call.timed);
}

TEST_CASE("times off the processors are told within the span", "[visit]") {
    Recording recording{1};
    recording.info.switches.state = trace::SwitchInfo::State::recorded;
    recording.thread(1000, 5000)
        .call(1500, kA, 100)
        .call(2500, kA, 100)
        .off({.out = 1200, .in = 1300})
        .off({.out = 1900, .in = 2200, .preempted = true})
        .off({.out = 2900, .in = 3500});
    score::Settings settings;
    settings.selection.since_ns = 1000;
    settings.selection.until_ns = 2000;
    const trace::TraceReader reader = reader_of(recording);
    const auto off = visit_of(reader, settings).off_cpu(0);
    REQUIRE(off);
    REQUIRE(off->size() == 2);
    CHECK(off->at(0).out == 2000);
    CHECK(off->at(0).in == 2200);
    CHECK(off->at(0).preempted);
    CHECK(off->at(1).out == 2900);
    CHECK(off->at(1).in == 3000);
    CHECK(visit_of(reader).off_cpu(0)->size() == 3);
}

namespace {

class OnlyTwo final : public views::CallVisitor {
  public:
    void opened(const views::Opened& /*call*/) override { ++calls; }
    void closed(const views::Closed& /*call*/) override {}
    bool goes_on() const override { return calls < 2; }
    int calls = 0;
};

}  // namespace

TEST_CASE("a visitor that wants no more of a thread gets no more chunks of it", "[visit]") {
    Recording recording{1};
    ThreadRecording& thread = recording.thread(1, 2'000'000);
    for (std::uint64_t i = 0; i < 50'000; ++i)
        thread.call(10 + 30 * i, kA, 20);
    const trace::TraceReader reader = reader_of(recording);
    const views::Visit visit = visit_of(reader);
    OnlyTwo visitor;
    CHECK_FALSE(visit.thread(0, visitor));
    CHECK(visitor.calls >= 2);
    CHECK(visitor.calls < 40'000);
    CHECK(calls_of(visit, 0).size() == 50'000);
}

}  // namespace rdam::test
