#include <thread>

#include "analyzer/inputs/build/trace_builder.h"
#include "tests/unit/catch.h"
#include "tests/unit/contains.h"
#include "tests/unit/inputs/read_back.h"

using namespace rdam;
using namespace rdam::inputs;
using rdam::test::contains;
using rdam::test::read_back;
using Lines = std::vector<std::string>;

namespace {

TraceBuilder builder(Order order = Order::of_time) {
    auto made = TraceBuilder::create("some trace", order);
    REQUIRE(made);
    return std::move(*made);
}

std::uint32_t add_named(TraceBuilder& trace, const std::string& name) {
    trace::FunctionInfo function;
    function.name = function.linkage_name = name;
    return trace.add_function(std::move(function));
}

std::uint32_t with_parameters(TraceBuilder& trace) {
    trace::FunctionInfo function;
    function.name = "p";
    function.parameters = {parameter("a", ValueKind::signed_integer, "int"),
                           parameter("b", ValueKind::floating, "double")};
    function.result = {parameter("", ValueKind::signed_integer, "int")};
    return trace.add_function(std::move(function));
}

}  // namespace

TEST_CASE("calls of other tools' traces come back as they were given") {
    auto trace = builder();
    const auto f = add_named(trace, "f");
    const auto p = with_parameters(trace);
    ThreadBuilder& one = trace.add_thread("one", 7);
    one.enter(0, f);
    one.enter(5, p, std::vector{put_value(std::int64_t{3}), std::uint64_t{4}});
    one.leave(6, std::vector<std::uint64_t>{9});
    one.enter(7, p);
    one.leave(8);
    CHECK(one.depth() == 1);
    CHECK(one.innermost() == f);
    one.leave(10);
    trace.add_thread("two", 7).enter(4, f);
    const auto read = std::move(trace).finish();
    REQUIRE(read);
    CHECK(read_back(*read, 0) == Lines{"0 f()", "5 p(3,4)", "6 /p 9", "7 p(0,0)", "8 /p 0", "10 /f"});
    CHECK(read_back(*read, 1) == Lines{"4 f()"});
    const auto& threads = read->info().threads;
    CHECK(threads[0].tid == 7);
    CHECK(threads[1].tid == 1);
    CHECK(threads[0].start == 1);
    CHECK(threads[1].end == 11);
    CHECK(read->info().remarks.empty());
}

TEST_CASE("calls that longjmp() ends are left by it, with any order of events") {
    for (const Order order : {Order::of_time, Order::any}) {
        auto trace = builder(order);
        const auto f = add_named(trace, "f");
        const auto p = with_parameters(trace);
        ThreadBuilder& one = trace.add_thread("one");
        one.enter(1, f);
        one.enter(2, p);
        one.enter(3, f);
        one.unwind(4, 1);
        CHECK(one.depth() == 1);
        one.unwind(5, 3);
        one.leave(6);
        const auto read = std::move(trace).finish();
        REQUIRE(read);
        CHECK(read_back(*read, 0) ==
              Lines{"1 f()", "2 p(0,0)", "3 f()", "4 /f unwound", "4 /p 0 unwound", "6 /f"});
        std::string unwound;
        const auto see = [&](std::span<const trace::Event> events) {
            for (const trace::Event& each : events)
                unwound += each.unwound ? '1' : '0';
        };
        REQUIRE(read->read_thread(0, see, [] {}));
        CHECK(unwound == "000110");
    }
}

TEST_CASE("events out of order are sorted, where that is asked for, and refused where it is not") {
    const auto fill = [](TraceBuilder& trace) {
        const auto f = add_named(trace, "f");
        const auto g = add_named(trace, "g");
        ThreadBuilder& one = trace.add_thread("one");
        one.enter(10, f);
        one.leave(30);
        one.enter(15, g);
        one.leave(20);
        // Of equal time: in the order given.
        one.enter(30, g);
        one.leave(30);
    };
    auto sorted = builder(Order::any);
    fill(sorted);
    const auto read = std::move(sorted).finish();
    REQUIRE(read);
    CHECK(read_back(*read, 0) == Lines{"10 f()", "15 g()", "20 /g", "30 /f", "30 g()", "30 /g"});
    auto refused = builder();
    fill(refused);
    CHECK(refused.thread(0).disordered());
    const auto error = std::move(refused).finish();
    REQUIRE_FALSE(error);
    CHECK(contains(error.error().message, "some trace has events that are earlier"));
}

TEST_CASE("leaves without a call, and calls too deep, are left out with a remark") {
    auto trace = builder();
    const auto f = add_named(trace, "f");
    const auto g = add_named(trace, "g");
    ThreadBuilder& one = trace.add_thread("one");
    one.leave(1);
    one.leave_function(1, g);
    for (std::size_t i = 0; i < ThreadBuilder::kMaxOpen + 2; ++i)
        one.enter(2, f);
    CHECK(one.depth() == ThreadBuilder::kMaxOpen + 2);
    for (std::size_t i = 0; i < ThreadBuilder::kMaxOpen; ++i)
        one.leave(3);
    one.leave_function(3, f);
    CHECK(one.depth() == 1);
    one.leave_function(3, f);
    CHECK(one.depth() == 0);
    one.enter(4, f);
    one.enter(5, g);
    one.leave_function(6, f);
    const auto read = std::move(trace).finish();
    REQUIRE(read);
    CHECK(read->events() == 2 * ThreadBuilder::kMaxOpen + 3);
    REQUIRE(read->info().remarks.size() == 2);
    CHECK(contains(read->info().remarks[0], "2 ends of calls are left out"));
    CHECK(contains(read->info().remarks[1], "2 calls are left out"));
}

TEST_CASE("a call that is renamed while it runs is ended by the leave of another function") {
    for (const Order order : {Order::of_time, Order::any}) {
        auto trace = builder(order);
        const auto f = add_named(trace, "f");
        const auto g = add_named(trace, "g");
        ThreadBuilder& one = trace.add_thread("one");
        one.leave_renamed(1, g);  // of what began before the file does
        one.enter(2, f);
        one.enter(3, f);
        one.leave_renamed(4, g);
        one.leave_renamed(5, f);
        CHECK(one.depth() == 0);
        one.enter(6, f);
        one.enter(7, g);
        one.leave_renamed(8, f);  // no renamed one: g was not seen to end
        CHECK(one.depth() == 0);
        const auto read = std::move(trace).finish();
        REQUIRE(read);
        CHECK(read_back(*read, 0) == Lines{"2 f()", "3 f()", "4 /f", "5 /f", "6 f()", "7 g()", "8 /f"});
        REQUIRE(read->info().remarks.size() == 2);
        CHECK(contains(read->info().remarks[0], "One end of a call is left out"));
        CHECK(contains(read->info().remarks[1], "One call ends as another function than it began as"));
    }
}

TEST_CASE("leaves find their calls in any depth") {
    constexpr std::size_t kDepth = 1000;
    auto trace = builder();
    const auto f = add_named(trace, "f");
    const auto g = add_named(trace, "g");
    const auto h = add_named(trace, "h");
    ThreadBuilder& one = trace.add_thread("one");
    for (std::size_t i = 0; i < kDepth; ++i)
        one.enter(i, i == 500 ? g : f);
    one.leave_function(kDepth, h);
    CHECK(one.depth() == kDepth);
    one.leave_function(kDepth, g);
    CHECK(one.depth() == 500);
    one.leave_function(kDepth, g);
    CHECK(one.depth() == 500);
    for (std::size_t i = 0; i < 500; ++i)
        one.leave_function(kDepth, f);
    CHECK(one.depth() == 0);
    const auto read = std::move(trace).finish();
    REQUIRE(read);
    CHECK(contains(read->info().remarks.at(0), "2 ends of calls are left out"));
}

TEST_CASE("a gap ends what is open") {
    for (const Order order : {Order::of_time, Order::any}) {
        auto trace = builder(order);
        const auto f = add_named(trace, "f");
        ThreadBuilder& one = trace.add_thread("one");
        one.enter(1, f);
        one.gap();
        one.enter(2, f);
        one.leave(3);
        const auto read = std::move(trace).finish();
        REQUIRE(read);
        CHECK(read_back(*read, 0) == Lines{"1 f()", "gap", "2 f()", "3 /f"});
    }
}

TEST_CASE("times off the processor make the trace one with context switches") {
    auto trace = builder();
    ThreadBuilder& one = trace.add_thread("one");
    one.enter(10, add_named(trace, "f"));
    one.off_cpu({.out = 20, .in = 30});
    one.off_cpu({.out = 40, .in = 60, .preempted = true});
    one.leave(50);
    one.ended(60);
    const auto read = std::move(trace).finish();
    REQUIRE(read);
    CHECK(read->info().switches.state == trace::SwitchInfo::State::recorded);
    const auto off = read->off_cpu(0);
    REQUIRE(off);
    REQUIRE(off->size() == 2);
    CHECK((*off)[0].out == 21);
    CHECK((*off)[0].in == 31);
    CHECK((*off)[1].in == 61);
    CHECK((*off)[1].preempted);
}

TEST_CASE("many threads can be filled at the same time") {
    auto trace = builder();
    const auto f = add_named(trace, "f");
    constexpr std::uint32_t kThreads = 4;
    constexpr std::uint64_t kCalls = 200'000;
    for (std::uint32_t i = 0; i < kThreads; ++i)
        trace.add_thread("t");
    std::vector<std::thread> all;
    for (std::uint32_t i = 0; i < kThreads; ++i)
        all.emplace_back([&, i] {
            for (std::uint64_t call = 0; call < kCalls; ++call) {
                trace.thread(i).enter(3 * call + i, f);
                trace.thread(i).leave(3 * call + i + 1);
            }
        });
    for (std::thread& each : all)
        each.join();
    const auto read = std::move(trace).finish();
    REQUIRE(read);
    for (std::uint32_t i = 0; i < kThreads; ++i) {
        CHECK(read->events_of(i) == 2 * kCalls);
        CHECK(read_back(*read, i)[5] == fmt::format("{} /f", 7 + i));
    }
}

TEST_CASE("a trace without calls, and a directory that cannot be written to, are errors of one line") {
    auto trace = builder();
    trace.add_thread("one");
    const auto empty = std::move(trace).finish();
    REQUIRE_FALSE(empty);
    CHECK(contains(empty.error().message, "some trace has no call"));
    const char* before = std::getenv("TMPDIR");
    const std::string kept = before != nullptr ? before : "";
    setenv("TMPDIR", "/nowhere", 1);
    const auto nowhere = TraceBuilder::create("some trace");
    if (before != nullptr)
        setenv("TMPDIR", kept.c_str(), 1);
    else
        unsetenv("TMPDIR");
    REQUIRE_FALSE(nowhere);
    CHECK(contains(nowhere.error().message, "cannot write to /nowhere"));
}

TEST_CASE("a trace has the first of its texts, in the order of their numbers") {
    TraceBuilder trace = builder();
    const std::string large(4096, 'x');
    CHECK(trace.text("b") == 1);
    CHECK(trace.text("a") == 2);
    for (int i = 0; i < 1000; ++i)
        trace.text(large.substr(4) + std::to_string(1000 + i));
    trace::FunctionInfo function;
    function.name = "f";
    function.parameters = {inputs::text_parameter("path")};
    const std::uint32_t f = trace.add_function(function);
    const std::vector<std::uint64_t> words{2};
    ThreadBuilder& thread = trace.add_thread("t");
    thread.enter(1, f, words);
    thread.leave(2);
    const auto read = std::move(trace).finish();
    REQUIRE(read);
    const trace::TraceInfo& info = read->info();
    CHECK(info.functions[f].parameters[0].is_text);
    REQUIRE(info.texts.size() > 200);
    CHECK(info.texts.size() < 300);
    CHECK(info.texts[0] == "b");
    CHECK(info.texts[1] == "a");
    CHECK(info.texts[2].ends_with("1000"));
}

TEST_CASE("texts have numbers") {
    auto trace = builder();
    CHECK(trace.text("a") == 1);
    CHECK(trace.text("b") == 2);
    CHECK(trace.text("a") == 1);
    CHECK(trace.text(std::string(5000, 'x')) == 0);
}

TEST_CASE("well-known functions wait, and have keys, whichever tool recorded them") {
    auto trace = builder();
    trace::FunctionInfo lock;
    lock.name = lock.linkage_name = "pthread_mutex_lock";
    lock.parameters = {parameter("mutex", ValueKind::unsigned_integer, "uint64"),
                       parameter("other", ValueKind::unsigned_integer, "uint64")};
    trace.add_function(lock);
    lock.linkage_name = "mine";
    trace.add_function(lock);
    const auto& functions = trace.info().functions;
    CHECK(functions[0].waits);
    CHECK(functions[0].parameters[0].key);
    CHECK_FALSE(functions[0].parameters[1].key);
    CHECK_FALSE(functions[1].waits);
    CHECK_FALSE(functions[1].parameters[0].key);
}

TEST_CASE("names longer than a trace can hold are cut, with a remark") {
    auto trace = builder();
    const std::string long_name = std::string(4095, 'n') + "ü" + std::string(std::size_t{20} << 20U, 'n');
    const auto f = add_named(trace, long_name);
    ThreadBuilder& one = trace.add_thread(long_name);
    one.enter(1, f);
    one.leave(2);
    trace.info().process.command.assign(std::size_t{100'000}, std::string(1000, 'x'));
    const auto read = std::move(trace).finish();
    REQUIRE(read);
    const trace::TraceInfo& info = read->info();
    CHECK(info.functions.at(0).name == std::string(4095, 'n') + "…");
    CHECK(info.threads.at(0).name == info.functions.at(0).name);
    CHECK(info.process.command.size() < 2000);
    CHECK(rdam::test::has_remark(*read, "3 names have more than 4 KiB, and are cut there."));
}
