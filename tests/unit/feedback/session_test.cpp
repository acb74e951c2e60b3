#include "tools/rdam/screen/session.h"

#include <nlohmann/json.hpp>
#include <random>

#include "analyzer/output/json.h"
#include "analyzer/report/score_trace.h"
#include "analyzer/sequences/keys.h"
#include "tests/unit/analysis/random_recording.h"
#include "tests/unit/analysis/recording_file.h"
#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

using screen::Effect;
using screen::Session;

/// The scores, to as many digits as sums of doubles in any order have in common.
std::string scores(const score::Report& report) {
    std::string text;
    for (const score::FunctionRow& row : report.functions) {
        text += fmt::format("{} {:.9g} {:.9g} {:.9g} {:.9g} {} {}\n", row.function, row.rdam, row.rdam_all,
                            row.rdam_self, row.lost_ns, row.occurrences, row.scored_sequences);
        for (const score::SequenceRow& sequence : row.sequences)
            text += fmt::format("  {:x} {:.9g} {}\n", sequence.id, sequence.rdam, sequence.occurrences);
    }
    return text;
}

std::string analyzed(const trace::TraceReader& reader, const score::Settings& settings) {
    const auto report = score::score_trace(reader, settings, {});
    REQUIRE(report);
    return scores(*report);
}

/// work(size) takes size times as long, lock(mutex) waits at times, and calls nothing.
Recording made_recording() {
    Recording recording{2, 2};
    std::mt19937_64 random{5};
    for (int t = 0; t < 2; ++t) {
        ThreadRecording& thread = recording.thread(1, 8'000'000);
        std::uint64_t now = 1000;
        for (int i = 0; i < 2000; ++i) {
            const std::uint64_t size = random() % 4;
            thread.enter(now += 100, 0, {size, random() % 3});
            thread.leave(now += 1000 * (1 + size) + random() % 20, 0);
            thread.enter(now += 100, 1, {random() % 2, 0});
            thread.leave(now += 50 + (random() % 4 == 0 ? 4000 : 0), 1);
        }
    }
    return recording;
}

/// Open on a file of its own.
struct Opened {
    explicit Opened(const Recording& recording, const score::Settings& settings = {}) {
        write_file(recording, file.path());
        auto read = trace::TraceReader::open(file.path());
        REQUIRE(read);
        reader = std::make_unique<trace::TraceReader>(std::move(*read));
        auto opened = Session::open(*reader, settings, nullptr);
        REQUIRE(opened);
        session = std::move(*opened);
    }

    MemoryFile file;
    std::unique_ptr<trace::TraceReader> reader;
    std::unique_ptr<Session> session;
};

const screen::KeyChoice& choice(const screen::FunctionPage& page, const std::string& name) {
    for (const screen::KeyChoice& each : page.keys)
        if (each.name == name) return each;
    FAIL("no key " << name);
    return page.keys.front();
}

}  // namespace

TEST_CASE("every step gives the scores of an analysis with its settings", "[session]") {
    std::mt19937_64 random{21};
    int rescored = 0, reread = 0, undone = 0;
    for (int round = 0; round < 60; ++round) {
        const Recording recording =
            random_recording(random, {.functions = 3, .events = 60, .accidents = round % 3 == 0});
        Opened opened{recording};
        Session& session = *opened.session;
        for (int step = 0; step < 12; ++step) {
            const auto function = static_cast<std::uint32_t>(random() % 3);
            const bool value = random() % 2 == 0;
            const auto parameter =
                static_cast<std::uint16_t>(random() % 3 == 0 ? sequences::kCallerKey : random() % 2);
            const auto baseline = static_cast<score::Baseline::Kind>(random() % 4);
            const auto change = [&] {
                switch (random() % 7) {
                    case 0:
                        return session.set_ignored(function, value);
                    case 1:
                        return session.set_fold_loops(value);
                    case 2:
                        return session.set_deep_keys(value && random() % 2 == 0);
                    case 3:
                        return session.set_baseline({.kind = baseline, .fraction = 0.2});
                    case 4:
                        ++undone;
                        return session.undo();
                    default:
                        return session.set_key(function, parameter, value);
                }
            };
            const auto effect = change();
            REQUIRE(effect);
            rescored += *effect == Effect::rescored ? 1 : 0;
            reread += *effect == Effect::reread ? 1 : 0;
            INFO("round " << round << ", step " << step << ": " << session.last_change());
            REQUIRE(scores(session.report()) == analyzed(*opened.reader, session.settings()));
        }
    }
    CHECK(rescored > 200);
    CHECK(reread > 50);
    CHECK(undone > 30);
}

TEST_CASE("a page says what each key would explain, and the key makes it so", "[session]") {
    Opened opened{made_recording()};
    Session& session = *opened.session;
    const auto before = session.page(0, 10);
    REQUIRE(before);
    const double score = before->row.rdam;
    CHECK(score > 0.3);
    CHECK(choice(*before, "k").explains > 0.9);
    CHECK(choice(*before, "k").rdam_with_key < 0.1 * score);
    CHECK(choice(*before, "n").explains < 0.1);
    CHECK(choice(*before, "caller").explains < 0.1);
    REQUIRE_FALSE(before->hints.hints.empty());
    CHECK(before->hints.hints.front().parameter == "k");

    CHECK(session.set_key(0, 0, true).value() == Effect::rescored);
    CHECK(session.last_change() == "k as a key of a");
    const auto after = session.page(0, 10);
    REQUIRE(after);
    CHECK(after->row.rdam < 0.05 * score);
    CHECK(choice(*after, "k").is_key);
    CHECK_FALSE(choice(*after, "k").explains);
    CHECK(session.rules().named.keys == std::vector<std::string>{"a:k"});

    CHECK(session.undo().value() == Effect::rescored);
    CHECK(session.page(0, 10)->row.rdam == score);
    CHECK(session.undo().value() == Effect::nothing);
}

TEST_CASE("the bars of a page are all its calls, from the shortest to the longest", "[session]") {
    Opened opened{made_recording()};
    for (const std::size_t count : {1U, 7U, 60U}) {
        const auto page = opened.session->page(1, count);
        REQUIRE(page);
        REQUIRE(page->bars.size() == count);
        std::uint64_t calls = 0;
        for (std::size_t i = 0; i < count; ++i) {
            calls += page->bars[i].calls;
            CHECK(page->bars[i].from_ns < page->bars[i].to_ns);
            if (i > 0) CHECK(page->bars[i].from_ns == Approx(page->bars[i - 1].to_ns));
        }
        CHECK(calls == 4000);
        CHECK(page->bars.front().from_ns == Approx(50));
        CHECK(page->bars.back().to_ns == Approx(4051));
        if (count == 7) CHECK(page->bars.back().calls == Approx(1000).margin(100));
    }
}

TEST_CASE("ignored functions leave the ranking and come back", "[session]") {
    Opened opened{made_recording()};
    Session& session = *opened.session;
    CHECK(session.set_ignored(1, true).value() == Effect::rescored);
    CHECK(session.report().functions.size() == 1);
    CHECK(session.ignored() == std::vector<std::uint32_t>{1});
    CHECK_FALSE(session.page(1, 5));
    CHECK(session.has_unsaved_changes());
    CHECK(session.set_ignored(1, false).value() == Effect::rescored);
    CHECK(session.report().functions.size() == 2);
    CHECK_FALSE(session.has_unsaved_changes());
    CHECK(session.set_ignored(1, false).value() == Effect::nothing);
}

TEST_CASE("what is no change is no step, and what was saved is no unsaved change", "[session]") {
    Opened opened{made_recording(), {.rules = {.keys = {"elsewhere:x"}}, .given = {.keys = {"a:k"}}}};
    Session& session = *opened.session;
    CHECK_FALSE(session.has_unsaved_changes());
    CHECK(session.set_key(0, 0, true).value() == Effect::nothing);
    CHECK(session.last_change().empty());
    CHECK(session.rules().named.keys == std::vector<std::string>{"elsewhere:x", "a:k"});
    CHECK(session.set_threshold(0.5).value() == Effect::rescored);
    CHECK(session.set_baseline({.kind = score::Baseline::Kind::percentile, .fraction = 0.05}).value() ==
          Effect::rescored);
    CHECK(session.rules().baseline == "p5");
    CHECK(session.rules().threshold == 0.5);
    CHECK(session.has_unsaved_changes());
    session.mark_saved();
    CHECK_FALSE(session.has_unsaved_changes());
    CHECK(session.undo().has_value());
    CHECK(session.has_unsaved_changes());
}

TEST_CASE("a session of a part of the trace stays with that part", "[session]") {
    const score::Settings part{.selection = {.until_ns = 2e6, .threads = {"101"}, .functions = {"a"}}};
    Opened opened{made_recording(), part};
    Session& session = *opened.session;
    CHECK(session.report().threads.size() == 1);
    CHECK(session.report().functions.size() == 1);
    REQUIRE(session.set_key(0, 0, true));
    CHECK(scores(session.report()) == analyzed(*opened.reader, session.settings()));
    const auto page = session.page(0, 5);
    REQUIRE(page);
    CHECK(page->row.threads.size() == 1);
}

TEST_CASE("names that the trace lacks are an error of the options, not of the rules", "[session]") {
    const Opened opened{made_recording(), {.rules = {.ignore = {"elsewhere"}}}};
    const auto wrong = Session::open(*opened.reader, {.given = {.ignore = {"elsewhere"}}}, nullptr);
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().message.find("elsewhere") != std::string::npos);
}

}  // namespace rdam::test
