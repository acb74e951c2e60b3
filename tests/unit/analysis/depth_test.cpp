// Calls nested as deep as no one would nest them: nothing in the analyzer may recurse along with them.
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "analyzer/output/json.h"
#include "analyzer/output/text.h"
#include "analyzer/report/scores.h"
#include "analyzer/score/thread_analysis.h"
#include "tests/unit/analysis/recording.h"
#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

constexpr std::uint32_t kLeaf = 2;

/// Hands events over as they are made: so deep they need not all be kept.
class Feeder {
  public:
    explicit Feeder(score::ThreadAnalysis& analysis) : analysis_(analysis) {}

    void enter(std::uint32_t function, std::uint64_t key = 0) {
        trace::Event event = next(trace::EventKind::enter, function);
        event.caller = 0x1000 + function;
        event.words = {&key, 1};
        analysis_.consume({&event, 1});
    }
    void leave(std::uint32_t function) {
        const trace::Event event = next(trace::EventKind::leave, function);
        analysis_.consume({&event, 1});
    }
    void leaf() {
        enter(kLeaf);
        leave(kLeaf);
    }
    std::uint64_t now() const { return now_; }

  private:
    trace::Event next(trace::EventKind kind, std::uint32_t function) {
        trace::Event event;
        event.kind = kind;
        event.function = function;
        event.tsc = now_ += 10;
        return event;
    }

    score::ThreadAnalysis& analysis_;
    std::uint64_t now_ = 1000;
};

std::uint32_t at(std::uint64_t level) {
    return level % 2 == 0 ? kA : kB;
}

/// a calls a leaf twice and b, which does the same and calls a, and so on.
void descend(Feeder& feed, std::uint64_t depth) {
    for (std::uint64_t level = 0; level < depth; ++level) {
        feed.enter(at(level), level % 3);
        feed.leaf();
        feed.leaf();
    }
}

void ascend(Feeder& feed, std::uint64_t depth) {
    for (std::uint64_t level = depth; level-- > 0;)
        feed.leave(at(level));
}

template <class Program>
score::Report report_of(const score::Settings& settings, const Program& program) {
    Recording recording{3, 1};
    recording.thread(1000, 0);
    for (trace::FunctionInfo& function : recording.info.functions)
        function.parameters[0].key = true;
    const score::ResolvedSettings ready = resolved(recording, settings);
    score::ThreadAnalysis analysis{recording.info, ready};
    Feeder feed{analysis};
    program(feed);
    score::ThreadList threads;
    threads.push_back(analysis.finish());
    recording.info.threads[0].end = feed.now();
    score::Report report = score::make_report({recording.info, {}}, ready, threads, 50, 50);

    output::TraceSymbols symbols{recording.info};
    const auto json = nlohmann::json::parse(output::to_json({report}, symbols, {}));
    CHECK(json["functions"].size() == report.functions.size());
    CHECK(output::to_text({report}, symbols, {.sequences = true}).size() < 100000);
    return report;
}

void check_twice(std::uint64_t depth, const score::Settings& settings) {
    const score::Report report = report_of(settings, [&](Feeder& feed) {
        for (int i = 0; i < 2; ++i) {
            descend(feed, depth);
            ascend(feed, depth);
        }
    });
    const score::FunctionRow& a = row(report, "a");
    CHECK(a.occurrences + row(report, "b").occurrences == 2 * depth);
    CHECK(a.outermost == 2);
    CHECK(a.lost_ns == 0);
    CHECK(a.unscored == 0);
    CHECK(a.scored_sequences == depth / 2);
    for (const score::SequenceRow& sequence : a.sequences) {
        CHECK(sequence.occurrences == 2);
        CHECK(sequence.name.size() < 300);
    }
    CHECK(row(report, "c").occurrences == 4 * depth);
}

void check_abandoned(std::uint64_t depth, const score::Settings& settings) {
    const score::Report report = report_of(settings, [&](Feeder& feed) {
        for (int i = 0; i < 2; ++i) {
            feed.enter(kLeaf, 7);
            descend(feed, depth);
            feed.leave(kLeaf);  // by a jump over all of them
        }
        descend(feed, depth);  // and these never end
    });
    CHECK(row(report, "a").unscored + row(report, "b").unscored == 3 * depth);
    CHECK(row(report, "c").occurrences == 6 * depth + 2);
    CHECK(report.counts.abandoned_by_jump == 2 * depth);
    CHECK(report.counts.abandoned_at_end == depth);
}

}  // namespace

TEST_CASE("a hundred thousand calls deep, through the whole analyzer", "[depth]") {
    const bool patterns = GENERATE(false, true);
    const bool deep_keys = GENERATE(false, true);
    const bool fold_loops = GENERATE(false, true);
    const score::Settings settings{.sequences = {.deep_keys = deep_keys, .fold_loops = fold_loops},
                                   .patterns = patterns};
    check_twice(100000, settings);
    check_abandoned(100000, settings);
}

TEST_CASE("three hundred thousand calls deep, with patterns", "[depth]") {
    check_twice(300000, {.patterns = true});
    check_abandoned(300000, {.patterns = true});
}

}  // namespace rdam::test
