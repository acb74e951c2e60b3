// The analyzer against the definitions, on tens of thousands of random traces.
#include "tests/unit/analysis/reference.h"

#include <algorithm>
#include <random>

#include "analyzer/statistics/distribution.h"
#include "tests/unit/analysis/random_recording.h"
#include "tests/unit/catch.h"
#include "tests/unit/rounds.h"

namespace rdam::test {
namespace {

constexpr double kRounding = 1e-9;

struct Case {
    score::Settings settings;
    ReferenceSettings reference;
};

/// Rules that change nothing: the settings decide otherwise, or the trace has no such function.
void add_rules(std::mt19937_64& random, const std::string& name, Case& out) {
    const bool has_keys = out.reference.keys[name[0] - 'a'] > 0;
    score::NamedRules& rules = out.settings.rules;
    switch (random() % 4) {
        case 0:
            (has_keys ? rules.no_keys : rules.keys).push_back(name + ":k");
            if (!has_keys) out.settings.given.no_keys.push_back(name + ":*");
            break;
        case 1:
            rules.keys.emplace_back("elsewhere:k");
            rules.keys.push_back(name + ":unknown");
            rules.no_keys.emplace_back("elsewhere:*");
            rules.ignore.emplace_back("elsewhere");
            rules.split_by_context.emplace_back("other:" + name);
            break;
        default:
            break;
    }
}

Case random_case(std::mt19937_64& random, std::size_t functions) {
    Case out;
    out.reference.keys.assign(functions, 0);
    out.reference.ignored.assign(functions, false);
    out.reference.by_caller.assign(functions, false);
    for (std::size_t f = 0; f < functions; ++f) {
        const std::string name(1, static_cast<char>('a' + f));
        if (random() % 3 == 0) {
            out.reference.keys[f] = 1;
            out.settings.given.keys.push_back(name + ":k");
            if (random() % 2 == 0) {
                out.reference.keys[f] = 2;
                out.settings.given.keys.push_back("app:" + name + ":n");
            }
        }
        if (random() % 4 == 0) {
            out.reference.by_caller[f] = true;
            (random() % 2 == 0 ? out.settings.given.split_by_context : out.settings.rules.split_by_context)
                .push_back(name);
        }
        if (random() % 10 == 0) {
            out.reference.ignored[f] = true;
            (random() % 2 == 0 ? out.settings.given.ignore : out.settings.rules.ignore).push_back(name);
        }
        add_rules(random, name, out);
    }
    out.settings.sequences.deep_keys = out.reference.deep_keys = random() % 4 == 0;
    out.settings.sequences.fold_loops = out.reference.fold_loops = random() % 4 == 0;
    out.reference.process_baseline = random() % 3 == 0;
    if (out.reference.process_baseline) out.settings.baseline.kind = score::Baseline::Kind::process;
    return out;
}

bool close(double a, double b) {
    return std::abs(a - b) <= kRounding * std::max(1.0, std::abs(a));
}

std::uint64_t nearest_rank(const std::vector<std::uint64_t>& sorted, double fraction) {
    const auto rank = static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(sorted.size())));
    return sorted[std::max<std::size_t>(rank, 1) - 1];
}

void compare_percentile(double found, const std::vector<std::uint64_t>& sorted, double fraction) {
    const auto exact = static_cast<double>(nearest_rank(sorted, fraction));
    CHECK(std::abs(found - exact) <= exact * 0.008);
}

void compare_sequences(const score::FunctionRow& found, const ReferenceFunction& expected) {
    std::vector<ReferenceSequence> sequences;
    for (const score::SequenceRow& row : found.sequences) {
        sequences.push_back({row.occurrences, static_cast<std::uint64_t>(row.min_ns), row.lost_ns, row.rdam});
        if (sequences.back().lost < kRounding) sequences.back().lost = 0;
    }
    std::sort(sequences.begin(), sequences.end());
    REQUIRE(sequences.size() == expected.sequences.size());
    for (std::size_t i = 0; i < sequences.size(); ++i) {
        CHECK(sequences[i].occurrences == expected.sequences[i].occurrences);
        CHECK(sequences[i].min == expected.sequences[i].min);
        CHECK(close(sequences[i].lost, expected.sequences[i].lost));
    }
}

void compare_callers(const score::FunctionRow& found, const ReferenceFunction& expected) {
    REQUIRE(found.callers.size() == expected.callers.size());
    for (const score::CallerRow& row : found.callers) {
        const ReferenceCaller& caller = expected.callers.at(row.address);
        CHECK(row.calls == caller.calls);
        CHECK(close(row.lost_ns, caller.lost));
        CHECK(close(row.share, expected.lost > 0 ? caller.lost / expected.lost : 0));
    }
}

void compare(const score::FunctionRow& found, const ReferenceFunction& expected) {
    INFO("function " << found.name);
    CHECK(found.occurrences == expected.occurrences);
    CHECK(found.unscored == expected.unscored);
    CHECK(close(found.rdam, expected.rdam));
    CHECK(close(found.rdam_all, expected.rdam_all));
    CHECK(close(found.rdam_self, expected.rdam_self));
    CHECK(close(found.rdam_flat, expected.rdam_flat));
    CHECK(close(found.lost_ns, expected.lost));
    CHECK(found.lower_bound == (expected.lower_bound || found.open_ns > 0));
    CHECK((found.open_ns == 0 || found.unscored > 0));
    REQUIRE(found.outermost == expected.durations.size());
    if (!expected.durations.empty()) {
        CHECK(found.min_ns == static_cast<double>(expected.min));
        CHECK(found.max_ns == static_cast<double>(expected.durations.back()));
        double time = 0;
        for (const std::uint64_t duration : expected.durations)
            time += static_cast<double>(duration);
        CHECK(close(found.baseline_ns * static_cast<double>(found.outermost) + found.lost_ns, time));
        compare_percentile(found.median_ns, expected.durations, 0.5);
        compare_percentile(found.p99_ns, expected.durations, 0.99);
    }
    compare_sequences(found, expected);
    compare_callers(found, expected);
}

void check_properties(const score::Report& report) {
    double self = 0;
    for (const score::FunctionRow& row : report.functions) {
        CHECK(row.rdam >= 0);
        CHECK(row.rdam <= 1);
        CHECK(row.rdam_flat <= 1);
        CHECK(row.rdam <= row.rdam_flat + kRounding);
        CHECK(row.rdam_all <= 1);
        CHECK(row.rdam_self >= 0);
        self += row.rdam_self;
    }
    CHECK(self <= 1 + kRounding);
}

void run(std::uint64_t seed, const RandomShape& shape) {
    std::mt19937_64 random{seed};
    const Recording recording = random_recording(random, shape);
    const Case options = random_case(random, shape.functions);
    INFO("seed " << seed);
    const score::Report report = analyze(recording, options.settings, SIZE_MAX);
    const auto expected = reference_scores(recording, options.reference);
    REQUIRE(report.functions.size() == expected.size());
    for (const score::FunctionRow& row : report.functions)
        compare(row, expected.at(row.name));
    check_properties(report);
}

}  // namespace

TEST_CASE("scores of random programs are those of the definitions", "[score][random]") {
    for (std::uint64_t seed = 1; seed <= rounds(10000U); ++seed)
        run(seed, {.accidents = false});
}

TEST_CASE("scores of random programs with accidents are those of the definitions", "[score][random]") {
    for (std::uint64_t seed = 1; seed <= rounds(10000U); ++seed)
        run(1000000 + seed, {});
}

TEST_CASE("scores of long random programs are those of the definitions", "[score][random]") {
    for (std::uint64_t seed = 1; seed <= rounds(100U); ++seed) {
        run(2000000 + seed, {.functions = 6, .threads = 3, .events = 4000, .accidents = seed % 2 == 0});
    }
}

}  // namespace rdam::test
