#include "analyzer/hints/hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/hints/made.h"

using namespace rdam;
using namespace rdam::made_up;

TEST_CASE("Nothing explains interference") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i)
        made.call(made.waiting(), made.below(10)).result = made.below(5);
    REQUIRE(made.kinds() == Kinds{"no_parameter"});
    CHECK_THAT(made.found.hints[0].text,
               Catch::Contains("(size, caller, return value, processor, time in the run): interference, or"));
    for (score::ScoredCall& call : made.row().sample.calls)
        call.enter_cpu = call.leave_cpu = trace::kNoCpu;
    REQUIRE(made.kinds() == Kinds{"no_parameter"});
    CHECK_THAT(made.found.hints[0].text, Catch::Contains("return value, time in the run): interference, or"));
}

TEST_CASE("Of a function that waits it is known that it does") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i)
        made.call(made.waiting());
    made.info.functions[0].waits = true;
    made.report.switches.state = trace::SwitchInfo::State::off;
    REQUIRE(made.kinds() == Kinds{"waits"});
    CHECK_THAT(made.found.hints[0].text, !Catch::Contains("spins"));
    made.info.functions[0].busy_waits = true;
    REQUIRE(made.kinds() == Kinds{"waits"});
    CHECK_THAT(made.found.hints[0].text, Catch::Contains("spins"));
}

TEST_CASE("A function that may wait and was on the processor all the time has not waited") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i)
        made.call(made.waiting()).preempted_ns = i % 8 == 0 ? 100 : 0;
    made.info.functions[0].waits = true;
    made.report.switches.state = trace::SwitchInfo::State::recorded;
    REQUIRE(made.kinds() == Kinds{"no_parameter"});
    CHECK_THAT(made.found.hints[0].text,
               Catch::StartsWith("this function may wait, but was blocked for 0 % and preempted for "));
}

TEST_CASE("Work that depends on a parameter") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i) {
        const std::uint64_t size = made.below(100);
        made.call(100 * static_cast<double>(size) + made.noise(), size);
    }
    REQUIRE(made.kinds() == Kinds{"parameter"});
    const hints::Hint& hint = made.found.hints[0];
    CHECK(hint.parameter == "size");
    CHECK(*hint.explains > 0.95);
    CHECK(*hint.rdam_with_key == Approx(0.5 * (1 - *hint.explains)));
    CHECK_THAT(hint.text,
               Catch::StartsWith("size explains 100 % of") && Catch::Contains("falls from 0.50 to 0.0"));
}

TEST_CASE("A parameter that counts the calls does not explain what happens at some time") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i) {
        const bool disturbed = i > kCalls / 2 && i < kCalls * 3 / 4;
        made.call(disturbed ? made.waiting() : made.noise(), i);
    }
    CHECK(made.kinds() == Kinds{"phase", "no_parameter"});
}

TEST_CASE("A phase that is over at once is a moment, and few calls are not none") {
    // Late enough that the figures of the run's time are coarse.
    constexpr std::size_t kMany = 20 * kCalls;
    constexpr std::size_t kFirst = kMany * 3 / 4;
    const auto text_of = [](std::size_t calls, std::size_t apart) {
        Made made;
        for (std::size_t i = 0; i < kMany; ++i)
            made.call(i >= kFirst && i < kFirst + calls * apart && (i - kFirst) % apart == 0 ? 1e6
                                                                                             : made.noise());
        REQUIRE(made.kinds().front() == "phase");
        return made.found.hints[0].text;
    };
    CHECK_THAT(text_of(8, 1), Catch::Contains("of the lost time is at ") &&
                                  Catch::EndsWith(" ms of the run, with less than 1 % of the calls"));
    CHECK_THAT(text_of(8, 500), Catch::Contains("of the lost time is between ") &&
                                    Catch::EndsWith(": select it with --since and --until"));
}

TEST_CASE("The return value tells slow calls from fast ones") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i) {
        const bool fast = made.below(3) == 0;
        made.call(fast ? made.noise() : 500 + made.noise(), made.below(10)).result =
            fast ? 0 : 1 + made.below(5);
    }
    REQUIRE(made.kinds() == Kinds{"early_return"});
    CHECK_THAT(made.found.hints[0].text,
               Catch::StartsWith("calls that return 0 take 10.5 ns (median), the others 51"));
}

TEST_CASE("The return value is not named beside a parameter that it follows from") {
    constexpr std::uint64_t kScatter = 37, kSizes = 101;
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i) {
        const std::uint64_t size = made.below(kSizes);
        made.call(100 * static_cast<double>(size) + made.waiting(), size).result = size * kScatter % kSizes;
    }
    REQUIRE(made.kinds() == Kinds{"parameter"});
    CHECK(made.found.hints[0].parameter == "size");
}

TEST_CASE("The return value is named where it explains more than the parameters") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i) {
        const std::uint64_t found = made.below(100);
        made.call(100 * static_cast<double>(found) + made.noise(), found / 30).result = found;
    }
    const Kinds kinds = made.kinds();
    REQUIRE(kinds.front() == "parameter");
    CHECK(made.found.hints[0].parameter == "return value");
}

TEST_CASE("One place calls it with more to do") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i) {
        const bool other = made.below(2) == 0;
        made.call(other ? made.noise() : 700 + made.noise()).caller = other ? 0x1000 : 0x2000;
    }
    REQUIRE(made.kinds() == Kinds{"parameter"});
    CHECK(made.found.hints[0].parameter == "caller");
}

TEST_CASE("How much is called inside, and with which keys") {
    Made loops;
    for (std::size_t i = 0; i < kCalls; ++i) {
        const auto rounds = static_cast<std::uint32_t>(loops.below(20));
        loops.call(100 * rounds + loops.noise()).inside = rounds;
    }
    REQUIRE(loops.kinds() == Kinds{"parameter"});
    CHECK(loops.found.hints[0].parameter == "calls inside");
    CHECK_THAT(loops.found.hints[0].text, Catch::StartsWith("the number of calls inside explains 100 %"));
    Made named;
    named.row().sample.repeated = {0};
    for (std::size_t i = 0; i < kCalls; ++i) {
        const auto rounds = static_cast<std::uint32_t>(named.below(20));
        named.call(100 * rounds + named.noise()).inside = rounds + 1;
        named.row().sample.repeats.push_back(rounds);
    }
    REQUIRE(named.kinds() == Kinds{"parameter"});
    CHECK(named.found.hints[0].parameter == "calls of work inside");
    CHECK_THAT(
        named.found.hints[0].text,
        Catch::StartsWith("the number of calls of work inside explains 100 % of the variation; without "
                          "--fold-loops the score falls"));
    Made locks;
    for (std::size_t i = 0; i < kCalls; ++i) {
        const std::uint64_t lock = locks.below(3);
        locks.call(lock == 1 ? 900 + locks.noise() : locks.noise()).inside_keys = lock + 77;
    }
    REQUIRE(locks.kinds() == Kinds{"parameter"});
    CHECK(locks.found.hints[0].parameter == "keys of calls inside");
}

TEST_CASE("A slow processor") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i) {
        const auto cpu = static_cast<std::uint16_t>(made.below(4));
        auto& call = made.call(cpu == 2 ? 300 + made.noise() : made.noise());
        call.enter_cpu = call.leave_cpu = cpu;
    }
    REQUIRE(made.kinds() == Kinds{"processor", "no_parameter"});
    CHECK_THAT(made.found.hints[0].text, Catch::Contains("that ran on processor 2:"));
}

/// Processors 0 and 1 on node 0, 2 and 3 on node 1.
void add_nodes(Made& made) {
    made.info.process.nodes = {{0, {0, 1}}, {1, {2, 3}}};
}

TEST_CASE("A slow node is said instead of its processors") {
    Made made;
    add_nodes(made);
    for (std::size_t i = 0; i < kCalls; ++i) {
        const auto cpu = static_cast<std::uint16_t>(made.below(4));
        auto& call = made.call(cpu >= 2 ? 300 + made.noise() : made.noise());
        call.enter_cpu = call.leave_cpu = cpu;
    }
    REQUIRE(made.kinds() == Kinds{"processor", "no_parameter"});
    CHECK_THAT(made.found.hints[0].text, Catch::Contains("that ran on NUMA node 1 (processors 2, 3):"));
}

TEST_CASE("A slow processor is no slow node") {
    for (const bool alone : {false, true}) {  // of its node's processors the only one that was used
        Made made;
        add_nodes(made);
        for (std::size_t i = 0; i < kCalls; ++i) {
            const auto cpu = static_cast<std::uint16_t>(made.below(alone ? 3 : 4));
            auto& call = made.call(cpu == 2 ? 300 + made.noise() : made.noise());
            call.enter_cpu = call.leave_cpu = cpu;
        }
        REQUIRE(made.kinds() == Kinds{"processor", "no_parameter"});
        CHECK_THAT(made.found.hints[0].text, Catch::Contains("that ran on processor 2:"));
    }
}

TEST_CASE("Calls that change the node are told from those that change the processor") {
    for (const bool far : {true, false}) {
        Made made;
        add_nodes(made);
        for (std::size_t i = 0; i < kCalls; ++i) {
            const std::uint64_t move = made.below(20);  // 0: within the node, 1: to the other
            auto& call = made.call(move == 1 || (move == 0 && !far) ? 5000 : made.noise());
            call.enter_cpu = 1;
            call.leave_cpu = move == 0 ? 0 : move == 1 ? 2 : 1;
        }
        REQUIRE(made.kinds() == Kinds{"migration", "no_parameter"});
        CHECK_THAT(made.found.hints[0].text,
                   Catch::Contains(far ? "began on one NUMA node and ended" : "began on one processor and"));
    }
}

TEST_CASE("The processor that has nearly all calls is not slow because a few elsewhere are fast") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i) {
        const bool elsewhere = made.below(20) == 0;
        auto& call = made.call(elsewhere ? made.noise() : 300 + 900 * made.noise());
        call.enter_cpu = call.leave_cpu = elsewhere ? 1 : 0;
    }
    CHECK(made.kinds() == Kinds{"no_parameter"});
}

TEST_CASE("A processor on which a few calls are disturbed is not slow") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i) {
        const auto cpu = static_cast<std::uint16_t>(made.below(4));
        auto& call = made.call(cpu == 2 && made.below(20) == 0 ? 3000 : made.noise());
        call.enter_cpu = call.leave_cpu = cpu;
    }
    CHECK(made.kinds() == Kinds{"no_parameter"});
}

TEST_CASE("Calls that change the processor") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i) {
        const bool moves = made.below(20) == 0;
        auto& call = made.call(moves ? 5000 : made.noise());
        call.enter_cpu = 0;
        call.leave_cpu = moves ? 1 : 0;
    }
    CHECK(made.kinds() == Kinds{"migration", "no_parameter"});
}

TEST_CASE("One call does not make a processor slow, nor a habit of migrating") {
    for (const bool moves : {false, true}) {
        Made made;
        for (std::size_t i = 0; i < kCalls; ++i) {
            const auto cpu = static_cast<std::uint16_t>(made.below(2));
            const bool slow = made.below(10) < (cpu == 1 ? 6U : 4U);
            auto& call = made.call(slow ? 20 + made.noise() : made.noise());
            call.enter_cpu = call.leave_cpu = cpu;
        }
        auto& worst = made.row().sample.calls[kCalls / 2];
        worst.lost_ns = 100'000;
        worst.duration_ns = worst.lost_ns + 10;
        worst.enter_cpu = 1;
        worst.leave_cpu = moves ? 0 : 1;
        const Kinds kinds = made.kinds();
        CHECK(std::ranges::count(kinds, "processor") == 0);
        CHECK(std::ranges::count(kinds, "migration") == 0);
    }
}

TEST_CASE("The first calls pay") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i)
        made.call(i < 20 ? 5000 : made.noise());
    CHECK(made.kinds() == Kinds{"warm_up", "no_parameter"});
}

TEST_CASE("One slow call somewhere is no phase") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i)
        made.call(i == kCalls / 3 ? 1e7 : made.noise());
    CHECK(made.kinds() == Kinds{"no_parameter"});
}

TEST_CASE("Time off the processor") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i) {
        const double lost = made.waiting();
        auto& call = made.call(lost, made.below(10));
        // The fastest waits as well: that is not lost.
        (i % 10 == 0 ? call.preempted_ns : call.blocked_ns) = lost > 200 ? lost + 5 : 0;
    }
    REQUIRE(made.kinds() == Kinds{"blocked", "no_parameter"});
    CHECK(made.found.hints[0].share > 0.95);
    CHECK(made.found.hints[0].share <= 1);
    CHECK_THAT(made.found.hints[0].text, Catch::Contains("off-CPU (9") && Catch::Contains("% preempted)"));
}

TEST_CASE("What waiting hides is found in what was lost on the processor") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i) {
        const std::uint64_t size = made.below(10);
        const double preempted = made.below(50) == 0 ? 20000 : 0;
        made.call(100 * static_cast<double>(size) + made.noise() + preempted, size).preempted_ns = preempted;
    }
    const Kinds kinds = made.kinds();
    REQUIRE(!kinds.empty());
    const auto parameter =
        std::ranges::find(made.found.hints, hints::HintKind::parameter, &hints::Hint::kind);
    REQUIRE(parameter != made.found.hints.end());
    CHECK_THAT(parameter->text, Catch::StartsWith("of the time lost on-CPU (") &&
                                    Catch::Contains(" % of the loss): size explains 100 %"));
    // The score that the text promises is the one of the whole, waiting included.
    REQUIRE(parameter->rdam_with_key);
    CHECK(*parameter->rdam_with_key > 0.1);
    CHECK_THAT(parameter->text,
               Catch::Contains(fmt::format("from 0.50 to {:.2f}", *parameter->rdam_with_key)));
}

TEST_CASE("Where recording of switches stopped, waiting is a share of what was lost before") {
    Made made;
    made.report.switches.state = trace::SwitchInfo::State::stopped;
    made.report.switches.until = kCalls * 100;
    made.report.switches_until_ns = kCalls * 100;
    for (std::size_t i = 0; i < kCalls; ++i) {
        const double lost = i % 4 == 0 ? 1000 : made.noise();
        auto& call = made.call(lost);
        if (call.end <= made.report.switches.until) call.blocked_ns = lost > 900 ? lost : 0;
    }
    CHECK(made.kinds().front() == "blocked");
    const hints::Hint& hint = made.found.hints.front();
    CHECK(hint.share > 0.95);
    CHECK_THAT(hint.text, Catch::Contains("in the first 200 µs of the run"));
    REQUIRE(made.found.off_share);
    CHECK(made.found.off_share->blocked > 0.95);
    for (const hints::Hint& each : made.found.hints)
        CHECK_THAT(each.text, !Catch::Contains("lost on-CPU"));
}

TEST_CASE("Where records of switches are missing, waiting is a share of what was lost at other times") {
    Made made;
    made.report.switches.state = trace::SwitchInfo::State::recorded;
    for (std::size_t i = 0; i < kCalls; ++i)
        made.call(i % 4 == 0 ? 1000 : made.noise());
    auto& calls = made.row().sample.calls;
    const std::uint64_t half = calls[kCalls / 2].begin;
    made.report.switches.missing = {half, UINT64_MAX};
    for (auto& call : calls)
        if (call.end <= half && call.lost_ns > 900) call.blocked_ns = call.lost_ns;
    CHECK(made.kinds().front() == "blocked");
    const hints::Hint& hint = made.found.hints.front();
    CHECK(hint.share > 0.95);
    CHECK_THAT(hint.text, Catch::Contains("of the time lost where context switches are known, the thread"));
    for (const hints::Hint& each : made.found.hints)
        CHECK_THAT(each.text, !Catch::Contains("lost on-CPU"));
}

TEST_CASE("What windows saw of times off the processors is corrected by what is known of the thread") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i)
        made.call(i % 2 == 0 ? 100 : made.noise());
    made.call(1000).preempted_ns = 1000;
    made.row().lost_ns = 1e6;
    SECTION("seldom seen") {
        made.row().off_in_windows = {.blocked_ns = 0, .preempted_ns = 9e5};
        CHECK(made.kinds().front() == "preempted");
        CHECK_THAT(made.found.hints.front().text, Catch::Contains("for 90 % of the time lost"));
        CHECK_THAT(made.found.hints.front().text, Catch::Contains("(0 % blocked, 90 % preempted)"));
    }
    SECTION("what was lost besides is not known well") {
        made.row().off_in_windows = {.blocked_ns = 0, .preempted_ns = 8e5};
        made.report.threads_ns = 1e7;
        made.row().rdam_all_low = 0.085;
        made.row().rdam_all_high = 0.16;
        CHECK(made.kinds().front() == "preempted");
        CHECK_THAT(
            made.found.hints.front().text,
            Catch::Contains("for 50 to 94 % of the time lost, the thread was off-CPU (0 % of that blocked, "
                            "100 % preempted)"));
    }
    SECTION("never seen") {
        made.row().off_in_windows = {.blocked_ns = 8e5, .preempted_ns = 0};
        CHECK(made.kinds().front() == "blocked");
        CHECK(made.found.off_share->blocked == Approx(0.8));
    }
    SECTION("seen, and not so in the whole run") {
        for (std::size_t i = 0; i < 100; ++i)
            made.call(10000).blocked_ns = 10000;
        made.row().off_in_windows = {.blocked_ns = 1e5, .preempted_ns = 1e5};
        const Kinds kinds = made.kinds();
        CHECK(std::ranges::find(kinds, "blocked") == kinds.end());
        CHECK(made.found.off_share->blocked == Approx(0.1));
    }
    SECTION("all that was lost, and more") {
        made.row().off_in_windows = {.blocked_ns = 3e6, .preempted_ns = 1e6};
        made.kinds();
        CHECK(made.found.off_share->blocked == Approx(0.75));
        for (const hints::Hint& each : made.found.hints)
            CHECK_THAT(each.text, !Catch::Contains("lost on-CPU"));
    }
}

TEST_CASE("What is not known to be off the processor is not said to be on it") {
    Made made;
    made.report.switches.state = trace::SwitchInfo::State::unavailable;
    for (std::size_t i = 0; i < kCalls; ++i)
        made.call(made.waiting());
    made.kinds();
    CHECK_FALSE(made.found.off_share);
}

TEST_CASE("Work may depend on two parameters, neither of which explains it alone") {
    Made made;
    made.info.functions[0].enter_words = 2;
    made.info.functions[0].parameters.push_back(made.info.functions[0].parameters[0]);
    made.info.functions[0].parameters.back().name = "rows";
    made.info.functions[0].parameters.back().word = 1;
    made.row().sample.words_per_call = 2;
    for (std::size_t i = 0; i < kCalls; ++i) {
        const std::uint64_t size = made.below(30), rows = made.below(30);
        made.call(static_cast<double>((size % 2) ^ (rows % 2)) * 1000 + made.noise(), size % 2);
        made.row().sample.words.push_back(rows % 2);
    }
    CHECK(made.kinds() == Kinds{"parameter"});
    const hints::Hint& hint = made.found.hints.front();
    CHECK(hint.parameter == "size, rows");
    CHECK(hint.explains > 0.95);
    CHECK_THAT(hint.text, Catch::Contains("--key 'work:size' --key 'work:rows'"));
    // What was asked is there, however little it explains.
    REQUIRE(made.found.explained.size() >= 2);
    CHECK(made.found.explained[0].name == "size");
    CHECK(made.found.explained[0].explains < 0.1);
}

TEST_CASE("Two parameters that explain nothing do so together") {
    Made made;
    made.info.functions[0].enter_words = 2;
    made.info.functions[0].parameters.push_back(made.info.functions[0].parameters[0]);
    made.info.functions[0].parameters.back().name = "rows";
    made.info.functions[0].parameters.back().word = 1;
    made.row().sample.words_per_call = 2;
    for (std::size_t i = 0; i < kCalls; ++i) {
        made.call(made.waiting(), made.below(1000));
        made.row().sample.words.push_back(made.below(1000));
    }
    CHECK(made.kinds() == Kinds{"no_parameter"});
}

TEST_CASE("What a call returns may tell that it had to wait: others come first") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i) {
        const double lost = i % 4 == 0 ? 1000 + 100 * made.noise() : made.noise();
        auto& call = made.call(lost);
        call.blocked_ns = lost > 900 ? 0.9 * lost : 0;
        call.result = lost > 900 ? 1 : 0;
    }
    const Kinds kinds = made.kinds();
    CHECK(kinds.front() == "blocked");
    CHECK(std::ranges::find(kinds, "early_return") != kinds.end());
    CHECK(kinds.back() == "no_parameter");
}

TEST_CASE("Sequences have hints of their own, from their own calls") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i) {
        const std::uint64_t size = made.below(100);
        const auto group = static_cast<std::uint32_t>(i % 3);
        made.call(group == 0 ? 100 * static_cast<double>(size) + made.noise() : made.waiting(), size).group =
            group;
    }
    made.row().sequences = {{{.rdam = 0.3}, 1, "depends", 0, 0},
                            {{.rdam = 0.2}, 2, "waits", 0, 1},
                            {{.rdam = 0.19}, 3, "little", 0, 2}};
    const auto hints_of = [&](std::size_t sequence) { return made.found.of_sequence(sequence); };
    SECTION("where there are several") {
        made.row().scored_sequences = 3;
        made.kinds();
        REQUIRE(hints_of(0).size() == 1);
        CHECK(hints_of(0)[0].parameter == "size");
        CHECK_THAT(hints_of(0)[0].text, Catch::Contains("falls from 0.30 to 0.0"));
        REQUIRE(hints_of(1).size() == 1);
        CHECK(hints_of(1)[0].kind == hints::HintKind::no_parameter);
        CHECK(hints_of(2).empty());
        made.report.threshold = 0.25;
        made.kinds();
        CHECK(!hints_of(0).empty());
        CHECK(hints_of(1).empty());
    }
    SECTION("not where the function has one") {
        made.row().scored_sequences = 1;
        CHECK(!made.kinds().empty());
        CHECK(hints_of(0).empty());
    }
}

TEST_CASE("A few calls tell nothing") {
    Made made;
    for (std::size_t i = 0; i < 29; ++i)
        made.call(made.waiting());
    CHECK(made.kinds().empty());
    Made lossless;
    for (std::size_t i = 0; i < kCalls; ++i)
        lossless.call(0);
    CHECK(lossless.kinds().empty());
}
