// The few losses that are told first.
#include "analyzer/hints/findings.h"

#include <string>
#include <utility>

#include "tests/unit/hints/made.h"
#include "tools/trace/event.h"

using namespace rdam;
using namespace rdam::made_up;

namespace {

constexpr std::uint64_t kBase = 0x100000;
constexpr double kLife = kCalls * 1000;

/// Two threads, and functions that lose what each test says.
struct Losses {
    Losses() {
        info.clock.ticks_per_second = 1e9;
        info.objects = {
            {.path = "/bin/app", .build_id = {}, .base = kBase, .end = kBase + 0x10000},
            {.path = "/lib/libc.so.6", .build_id = {}, .base = 2 * kBase, .end = 2 * kBase + 0x10000}};
        report.threads = {{.tid = 7, .name = "worker", .duration_ns = kLife},
                          {.tid = 8, .name = "keeper", .duration_ns = kLife}};
        report.threads_ns = 2 * kLife;
        report.functions.reserve(16);
    }

    /// Its code is at 0x100 × its number.
    score::FunctionRow& function(const std::string& name, double rdam, const std::string& module = "app") {
        const auto number = static_cast<std::uint32_t>(info.functions.size());
        auto& function = info.functions.emplace_back();
        function.name = function.linkage_name = name;
        function.object = module == "app" ? 0 : 1;
        function.address = 0x100 * std::uint64_t{number};
        function.size = 0x100;
        auto& row = report.functions.emplace_back();
        row.function = number;
        row.name = name;
        row.module = module;
        row.rdam = row.rdam_low = row.rdam_high = rdam;
        row.lost_ns = rdam * kLife;
        score::ThreadShare share;
        share.rdam = rdam;
        share.lost_ns = row.lost_ns;
        row.threads = {share};
        found.emplace_back();
        return row;
    }

    /// The share of both threads' lives that is inside recorded calls.
    void covered(double least, double most) {
        for (score::ThreadRow& thread : report.threads) {
            thread.recorded_low = least;
            thread.recorded_high = most;
        }
    }

    /// By the first thread.
    void slow_call(score::FunctionRow& row, std::uint64_t begin, std::uint64_t end) {
        row.slow.push_back({0, 0, begin, end, 0.9});
    }

    hints::Findings findings() const { return hints::find_findings(info, report, found, variable_at); }

    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const hints::Finding& each : findings().all)
            names.push_back(report.functions[each.called].name);
        return names;
    }

    trace::TraceInfo info;
    score::Report report;
    std::vector<hints::FunctionHints> found;
    hints::VariableAt variable_at = [](std::uint64_t address) {
        return address == 0x5000 ? "cache_lock" : "";
    };
};

using Names = std::vector<std::string>;

std::uint64_t address_in(const Losses& made, const score::FunctionRow& row) {
    const trace::FunctionInfo& function = made.info.functions[row.function];
    return made.info.objects[function.object].base + function.address + 0x10;
}

}  // namespace

TEST_CASE("The largest losses from the threshold on are findings, three at most") {
    Losses made;
    made.function("small", 0.1);
    made.function("c", 0.3);
    made.function("a", 0.5);
    made.function("d", 0.25);
    made.function("b", 0.4);
    CHECK(made.names() == Names{"a", "b", "c"});
    made.report.threshold = 0.45;
    CHECK(made.names() == Names{"a"});
    CHECK(made.findings().verdict.empty());
}

TEST_CASE("What waits by design, is at its floor or is not known is no finding, and the verdict says so") {
    Losses made;
    auto& waits = made.function("pthread_cond_wait", 0.8);
    waits.by_design = "for what is to come";
    waits.outermost = 4;
    waits.mean_ns = kLife * 1.4 / 4;
    made.covered(0.7, 1);
    made.function("floor", 0.3).floor = 0.4;
    made.function("unknown", 0.3).no_score = true;
    CHECK(made.findings().all.empty());
    CHECK(made.findings().verdict ==
          "No recorded function lost 20 % of a thread's life, except in waits whose purpose is to wait; 1 "
          "function scores as much, but constant work would, too. 1 function could not be scored. For 70 % "
          "of their lives, the "
          "threads "
          "waited by design, in pthread_cond_wait(): for what is to come. Recorded calls cover 70 % of the "
          "threads' lives or more.");
}

TEST_CASE("What may have lost nearly nothing is no finding, and the verdict says so") {
    Losses made;
    auto& row = made.function("bursts", 1);
    row.rdam_low = 0.04;
    CHECK(made.findings().all.empty());
    CHECK_THAT(made.findings().verdict,
               Catch::Contains(" The score of 1 function is higher, but may be nearly 0 by its "
                               "interval: too few of the calls were seen."));
    row.rdam_low = 0.06;
    CHECK(made.findings().all.size() == 1);
}

TEST_CASE("A verdict tells how much recorded calls cover, and that lower bounds may be higher") {
    Losses made;
    auto& row = made.function("work", 0.1);
    made.covered(0.05, 0.05);
    CHECK(made.findings().verdict ==
          "No recorded function lost 20 % of a thread's life. Recorded calls cover 5.0 % of the threads' "
          "lives; rdam hot "
          "lists where the rest is spent.");
    row.lower_bound = true;
    row.rdam_high = 0.3;
    CHECK_THAT(made.findings().verdict,
               Catch::Contains("The score of 1 function is a lower bound, and may be as high."));
    made.report.functions.clear();
    CHECK(made.findings().verdict.empty());
}

TEST_CASE("A function that contains the loss of another one is none") {
    Losses made;
    auto& outer = made.function("look_up", 0.5);
    auto& inner = made.function("lock", 0.45);
    for (std::uint64_t begin = 0; begin < 100000; begin += 1000) {
        made.slow_call(outer, begin + 10, begin + 500);
        made.slow_call(inner, begin + 20, begin + 450);
    }
    CHECK(made.names() == Names{"lock"});
    // Nor is one that waits by design inside.
    inner.by_design = "for what is to come";
    CHECK(made.names().empty());
    CHECK_THAT(made.findings().verdict, Catch::Contains("except in waits whose purpose is to wait"));
    inner.by_design.clear();
    // … but it is, if the other is inside for a short time only.
    for (auto& call : inner.slow)
        call.end = call.begin + 30;
    CHECK(made.names() == Names{"look_up", "lock"});
}

TEST_CASE("A lock and its slow path are one finding, named by the lock") {
    Losses made;
    auto& lock = made.function("pthread_mutex_lock", 0.5, "libc.so.6");
    auto& slow = made.function("__lll_lock_wait", 0.6, "libc.so.6");
    made.info.functions[0].waits = made.info.functions[1].waits = true;
    slow.callers = {{.address = address_in(made, lock), .calls = 10, .lost_ns = 1, .share = 0.9}};
    lock.callers = {{.address = 0x77, .calls = 10, .lost_ns = 90, .share = 0.9},
                    {.address = 0x99, .calls = 990, .lost_ns = 10, .share = 0.1}};
    CHECK(made.names() == Names{"pthread_mutex_lock"});
    CHECK(made.findings().all[0].row == 0);
    // The figures are those of the slow path where those of the lock are not known.
    lock.no_score = true;
    CHECK(made.names() == Names{"pthread_mutex_lock"});
    const hints::Finding finding = made.findings().all[0];
    CHECK(finding.row == 1);
    // One call site in few of the calls.
    CHECK(finding.place == 0x77);
    CHECK(finding.at_place.lost == 0.9);
    CHECK(finding.at_place.calls == 0.01);
    CHECK(finding.at_place.stands_out());
    // A function that is called from elsewhere as well is a finding of its own.
    slow.callers[0].share = 0.5;
    CHECK(made.names() == Names{"__lll_lock_wait"});
}

TEST_CASE("Where few callers are known, what slow calls have lost tells whose slow path it is") {
    for (const bool of_lock : {true, false}) {
        Losses made;
        auto& lock = made.function("pthread_mutex_lock", 0.5, "libc.so.6");
        auto& slow = made.function("__lll_lock_wait", 0.55, "libc.so.6");
        made.info.functions[0].waits = made.info.functions[1].waits = true;
        for (std::uint64_t begin = 0; begin < 100000; begin += 1000) {
            made.slow_call(lock, begin + 10, begin + 500);
            made.slow_call(slow, begin + 20, begin + (of_lock ? 490 : 100));
        }
        slow.callers = {{.address = 0x77, .calls = 3, .lost_ns = 0, .share = 0.001}};
        CHECK(made.names() ==
              (of_lock ? Names{"pthread_mutex_lock"} : Names{"__lll_lock_wait", "pthread_mutex_lock"}));
    }
}

TEST_CASE("The object at which nearly all was lost is named, and in how few calls") {
    Losses made;
    auto& lock = made.function("lock", 0.5);
    trace::ParameterInfo mutex;
    mutex.name = "mutex";
    mutex.kind = static_cast<std::uint8_t>(ValueKind::pointer);
    mutex.key = true;
    made.info.functions[0].parameters = {mutex};
    lock.sample.words_per_call = 1;
    for (std::size_t i = 0; i < 100; ++i) {
        score::ScoredCall call;
        call.lost_ns = i % 10 == 0 ? 90 : 1;
        lock.sample.calls.push_back(call);
        lock.sample.words.push_back(i % 10 == 0 ? 0x5000 : 0x6000 + i);
    }
    const hints::Finding finding = made.findings().all[0];
    CHECK(finding.object == "mutex cache_lock");
    CHECK(finding.at_object.lost == Approx(900.0 / 990));
    CHECK(finding.at_object.calls == Approx(0.1));
    CHECK(finding.at_object.stands_out());
    for (auto& call : lock.sample.calls)
        call.lost_ns = 1;
    CHECK(made.findings().all[0].object.empty());
    // An amount of work is no object.
    made.info.functions[0].parameters[0].by_size = true;
    for (auto& word : lock.sample.words)
        word = 0x5000;
    CHECK(made.findings().all[0].object.empty());
}

TEST_CASE("A finding has its threads, its cause and who is behind it") {
    Losses made;
    made.function("lock", 0.5);
    made.found[0].hints = {{.kind = hints::HintKind::blocked, .text = "it waits"},
                           {.kind = hints::HintKind::owner, .text = "keeper has it", .concurrent_thread = 8}};
    hints::Finding finding = made.findings().all[0];
    CHECK(finding.losers == "thread 7 (worker)");
    CHECK(finding.loser_tids == std::vector<std::uint32_t>{7});
    REQUIRE(finding.cause);
    CHECK(finding.cause->text == "it waits");
    REQUIRE(finding.partner);
    CHECK(finding.partner_name == "thread 8 (keeper)");
    CHECK_FALSE(finding.work);
    // A parameter may be why, though something else is about more of the loss.
    made.found[0].hints.push_back({.kind = hints::HintKind::parameter, .text = "size", .share = 0.2});
    CHECK_FALSE(made.findings().all[0].work);
    made.found[0].hints.back().share = 0.4;
    CHECK(made.findings().all[0].work);
    auto& threads = made.report.functions[0].threads;
    threads.push_back(threads.front());
    threads.back().thread = 1;
    CHECK(made.findings().all[0].losers == "2 threads (worker, keeper)");
    made.report.threads[1].name = "worker";
    CHECK(made.findings().all[0].losers == "2 threads (worker)");
}

TEST_CASE("There is advice on every kind of hint, and a parameter may be work") {
    using hints::HintKind;
    for (int kind = 0; kind < static_cast<int>(HintKind::count); ++kind) {
        const std::string advice{hints::advice_on(static_cast<HintKind>(kind))};
        CHECK(advice.size() > 20);
        CHECK(advice.back() == '.');
    }
    CHECK(hints::may_be_work(HintKind::parameter));
    CHECK_FALSE(hints::may_be_work(HintKind::owner));
}
