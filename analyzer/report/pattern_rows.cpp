#include <algorithm>
#include <tuple>

#include "analyzer/report/function_row.h"
#include "analyzer/sequences/sequence_names.h"

namespace rdam::score {
namespace {

/// By content, with the merged numbers of shapes.
struct Content {
    std::uint64_t hash = 0;
    std::uint64_t length = 0;

    friend bool operator==(const Content&, const Content&) = default;
};

struct ContentHash {
    std::size_t operator()(const Content& content) const { return content.hash ^ content.length; }
};

using PatternLeast = tsl::robin_map<Content, Least, ContentHash>;

std::vector<Content> contents_of(const sequences::PatternStore& store,
                                 const std::vector<sequences::ShapeId>& numbers) {
    std::vector<Content> contents;
    for (const std::uint64_t hash : store.hashes(numbers))
        contents.push_back({hash, store[static_cast<sequences::PatternId>(contents.size())].length});
    return contents;
}

PatternLeast process_least(const RowContext& context) {
    PatternLeast least;
    if (context.settings.baseline.kind != Baseline::Kind::process) return least;
    for (std::size_t t = 0; t < context.threads.size(); ++t) {
        const PatternTimes& patterns = *context.threads[t]->patterns;
        const auto contents = contents_of(patterns.patterns(), context.merged.shapes_of(t));
        for (std::size_t i = 0; i < contents.size(); ++i) {
            const Distribution& times = patterns.calls()[i].times;
            if (times.count() > 0) least[contents[i]].merge(times.least());
        }
    }
    return least;
}

struct PatternCandidate {
    std::size_t thread = 0;
    sequences::PatternId pattern = 0;
    Base base = {};
    double lost = 0;
};

std::vector<PatternCandidate> candidates(const RowContext& context) {
    const PatternLeast process = process_least(context);
    std::vector<PatternCandidate> all;
    for (std::size_t t = 0; t < context.threads.size(); ++t) {
        const PatternTimes& patterns = *context.threads[t]->patterns;
        std::vector<Content> contents;
        if (!process.empty()) contents = contents_of(patterns.patterns(), context.merged.shapes_of(t));
        for (sequences::PatternId id = 0; id < patterns.calls().size(); ++id) {
            // There may be millions of patterns, of which hardly one has pauses.
            const PatternCalls& calls = patterns.calls()[id];
            const Distribution merged =
                calls.held ? calls.all(context.settings.baseline.step) : Distribution{};
            const Distribution& times = calls.held ? merged : calls.times;
            const auto least = contents.empty() ? process.end() : process.find(contents[id]);
            const Base base = base_of(context.settings.baseline, times, times.least(),
                                      least != process.end() ? least->second : times.least());
            all.push_back({t, id, base, lost(times, base)});
        }
    }
    return all;
}

const std::string& function_name(const RowContext& context, const sequences::SequenceStore& store,
                                 sequences::ShapeId shape) {
    return context.info.functions[store.shape(shape).function].name;
}

PatternRow describe(const RowContext& context, const PatternCandidate& candidate) {
    const ThreadTimes& thread = *context.threads[candidate.thread];
    const PatternTimes& patterns = *thread.patterns;
    const PatternCalls& calls = patterns.calls()[candidate.pattern];
    const auto life = static_cast<double>(context.lives[candidate.thread]);
    const auto ns = [&](double ticks) { return ticks * context.ns_per_tick; };
    const Distribution times = calls.all(context.settings.baseline.step);
    Loss loss;
    loss.add(times, candidate.base);
    PatternRow row;
    row.thread = candidate.thread;
    row.length = patterns.patterns()[candidate.pattern].length;
    row.occurrences = calls.occurrences;
    row.rdam = share(loss.lost(), life);
    row.rdam_low = share(loss.low(), life);
    row.rdam_high = share(loss.high(), life);
    row.min_ns = ns(static_cast<double>(times.min()));
    row.median_ns = ns(static_cast<double>(times.percentile(0.5)));
    row.resolution_ns = context.resolution_ns();
    row.lost_ns = ns(loss.lost());
    row.lower_bound = times.count() < kFewOccurrences;
    row.minimum_alone = loss.minimum_stands_alone();
    for (const sequences::ShapeId shape : patterns.patterns().calls(candidate.pattern, kMaxPatternCalls))
        row.calls.push_back(function_name(context, thread.sequences, shape));
    const auto name_of = [&](sequences::PatternId id) {
        return sequences::pattern_name(patterns.patterns(), id, [&](sequences::ShapeId shape) {
            return sequences::shape_name(thread.sequences, shape, context.info, context.settings.keys);
        });
    };
    row.name = name_of(candidate.pattern);
    const sequences::Symbol unit = patterns.patterns()[candidate.pattern].unit;
    row.unit = unit >= sequences::kFirstMeta
                   ? name_of(unit - sequences::kFirstMeta)
                   : sequences::shape_name(thread.sequences, unit, context.info, context.settings.keys);
    return row;
}

}  // namespace

void add_pattern_rows(const RowContext& context, std::size_t most, Report& report) {
    std::vector<PatternCandidate> all = candidates(context);
    report.all_patterns = all.size();
    std::ranges::sort(all, [](const PatternCandidate& a, const PatternCandidate& b) {
        return std::tie(b.lost, a.thread, a.pattern) < std::tie(a.lost, b.thread, b.pattern);
    });
    all.resize(std::min(all.size(), most));
    for (const PatternCandidate& candidate : all)
        report.patterns.push_back(describe(context, candidate));
}

}  // namespace rdam::score
