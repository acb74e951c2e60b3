// The order in which functions are shown: docs/analyzer.md, point 16.
#include "analyzer/report/ranking.h"

#include <string>

#include "analyzer/output/ranked_rows.h"
#include "analyzer/report/merge_reports.h"
#include "tests/unit/analysis/recording.h"
#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

constexpr std::uint32_t kRankedLock = 0, kJoin = 1, kRare = 2;

/// `pthread_join` loses most; `rare` is called twice, so that nearly nothing is known of it; the lock loses
/// least.
Recording joined_program() {
    Recording recording{3};
    const char* names[] = {"pthread_mutex_lock", "pthread_join", "rare"};
    for (std::uint32_t f = 0; f < 3; ++f)
        recording.info.functions[f].name = recording.info.functions[f].linkage_name = names[f];
    recording.info.functions[kRankedLock].waits = recording.info.functions[kJoin].waits = true;
    ThreadRecording& thread = recording.thread(1000, 11000);
    std::uint64_t now = 1000;
    const auto call = [&](std::uint32_t function, std::uint64_t duration) {
        thread.call(now, function, duration);
        now += duration;
    };
    for (int i = 0; i < 100; ++i)
        call(kRankedLock, i % 3 == 0 ? 40 : 10);
    call(kRare, 10);
    call(kRare, 1800);
    for (int i = 0; i < 40; ++i)
        call(kJoin, i % 2 == 0 ? 200 : 10);
    return recording;
}

template <typename Row>
std::string order(const std::vector<Row>& rows, std::size_t most = 0) {
    std::string names;
    for (const Row& row : score::by_rank(rows, most))
        names += row.name + " ";
    return names;
}

}  // namespace

TEST_CASE("what waits by design does not come first, and little known comes behind what is known",
          "[ranking]") {
    const score::Report report = analyze(joined_program());
    CHECK(report.functions[0].name == "pthread_join");
    CHECK(report.functions[1].name == "rare");
    CHECK(row(report, "pthread_join").by_design == "for a thread's end");
    CHECK(row(report, "pthread_mutex_lock").by_design.empty());
    CHECK(row(report, "rare").rdam_low < row(report, "pthread_mutex_lock").rdam_low);
    CHECK(order(report.functions) == "pthread_mutex_lock rare pthread_join ");
    CHECK(order(report.functions, 1) == "pthread_mutex_lock ");
    CHECK(row(report, "pthread_mutex_lock").rank == 1);
    CHECK(row(report, "pthread_join").rank == 3);
}

TEST_CASE("a program's own function of such a name is none of the catalogue's", "[ranking]") {
    Recording recording = joined_program();
    recording.info.functions[kJoin].waits = false;
    CHECK(row(analyze(recording), "pthread_join").by_design.empty());
}

TEST_CASE("what nearly only a wait by design is made of waits by design", "[ranking]") {
    // The recorded wait lies from 0x1000 to 0x1100, its caller counts by the address behind the call.
    for (const auto& [elsewhere, reason] : {std::pair{0, "until another thread notifies it"}, {1, ""}}) {
        Recording recording{2};
        recording.info.objects.push_back({.path = "libc.so.6", .build_id = {}, .base = 0x7000'0000});
        const char* names[] = {"__futex_abstimed_wait_common", "pthread_cond_wait"};
        for (std::uint32_t f = 0; f < 2; ++f) {
            trace::FunctionInfo& function = recording.info.functions[f];
            function.name = function.linkage_name = names[f];
            function.waits = true;
            function.object = static_cast<std::uint32_t>(recording.info.objects.size() - 1);
            function.address = 0x1000 + 0x1000 * (1 - f);
            function.size = 0x100;
        }
        ThreadRecording& thread = recording.thread(1000, 11000);
        for (std::uint64_t i = 0; i < 40; ++i) {
            const bool away = elsewhere == 1 && i % 4 == 1;
            thread.enter(1000 + 250 * i, 0, {}, away ? 0x7000'3000 : 0x7000'1100);
            thread.leave(1000 + 250 * i + (i % 2 == 0 ? 10 : 200), 0);
        }
        CHECK(row(analyze(recording), "__futex_abstimed_wait_common").by_design == reason);
    }
}

TEST_CASE("several processes are ranked alike", "[ranking]") {
    const score::Report reports[] = {analyze(joined_program()), analyze(joined_program())};
    const score::OverallReport overall = score::merge_reports(reports);
    CHECK(overall.functions[0].name == "pthread_join");
    CHECK(order(overall.functions) == "pthread_mutex_lock rare pthread_join ");
}

TEST_CASE("groups of functions stand below lines of their own", "[ranking]") {
    struct Row {
        std::string name, by_design;
        double rdam, rdam_low, floor;
        double lost_ns = 1000, rdam_all = 0, rdam_high = rdam;
        std::size_t rank = 0;
        bool unseen = false;

        bool unknown() const { return unseen; }
    };
    std::vector<Row> rows{{"join", "for a thread's end", 0.9, 0.9, 0},
                          {"lock", "", 0.5, 0.4, 0.01},
                          {"short", "", 0.02, 0.01, 0.03},
                          {"idle", "", 0, 0, 0.03, 0}};
    const auto shown = [&] {
        score::rank(rows);
        std::vector<std::string> lines{"title"};
        for (const Row& row : score::by_rank(rows, 0))
            lines.push_back(row.name);
        std::string text;
        for (const std::string& line :
             output::ranked_lines(lines, score::by_rank(rows, 0), 0.2, output::Style{false}))
            text += line + "|";
        return text;
    };
    CHECK(shown() ==
          "title|lock| waiting by design:|join| no more than constant work would score:|short| nothing "
          "lost:|idle|");
    rows.erase(rows.begin() + 2);
    CHECK(shown() == "title|lock| waiting by design:|join| nothing lost:|idle|");
    for (const bool unseen : {false, true}) {
        // An estimate that may be nothing, and no estimate.
        std::vector<Row> known = rows;
        rows.push_back({"sampled", "", 0, 0, 0.03, unseen ? 0 : 7e8, unseen ? 0 : 0.1, 0, 0, unseen});
        CHECK(shown() ==
              "title|lock| waiting by design:|join| no more than constant work would score, or "
              "unknown:|sampled| nothing lost:|idle|");
        rows = known;
    }
    rows.erase(rows.begin());
    CHECK(shown() == "title|lock| nothing lost:|idle|");
    rows[1].lost_ns = 3;
    CHECK(shown() == "title|lock| next to nothing lost:|idle|");
    rows = {{"short", "", 0.02, 0.01, 0.03}};
    CHECK(shown() == "title|short|");
}

TEST_CASE("what may have lost much is not below what has lost hardly anything for sure", "[ranking]") {
    // 404 ms in few calls, the same as an estimate whose lower bound is 0, and 13 µs in many.
    std::vector<score::FunctionRow> rows(5);
    const auto set = [&](std::size_t i, const char* name, double rdam, double low, double lost_ns) {
        rows[i].name = name;
        rows[i].rdam = rdam;
        rows[i].rdam_low = low;
        rows[i].rdam_all = rdam / 2;
        rows[i].lost_ns = lost_ns;
    };
    set(0, "little", 1.3e-6, 1.2e-6, 13e3);
    set(1, "few", 0.04, 0, 404e6);
    set(2, "some", 0.002, 0.0019, 20e6);
    set(3, "sampled", 0, 0, 404e6);
    rows[3].rdam_all = 0.04;
    set(4, "floor", 0.03, 0.02, 300e6);
    rows[4].floor = 0.05;
    score::rank(rows);
    CHECK(order(rows) == "few some floor sampled little ");
}

TEST_CASE("what lost nothing that could be shown stands below what can be helped", "[ranking]") {
    std::vector<score::FunctionRow> rows(2);
    rows[0].name = "rounded";
    rows[0].rdam = rows[0].rdam_low = 1e-10;
    rows[0].lost_ns = 0.3;
    rows[1].name = "lock";
    rows[1].rdam = 1e-9;
    rows[1].lost_ns = 3;
    score::rank(rows);
    CHECK_FALSE(score::says_something(rows[0]));
    CHECK(score::says_something(rows[1]));
    CHECK(score::standing(rows[0]) == score::Standing::little);
    CHECK(score::standing(rows[1]) == score::Standing::little);
}

}  // namespace rdam::test
