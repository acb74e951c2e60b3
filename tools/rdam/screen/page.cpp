#include "tools/rdam/screen/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzer/output/fields.h"
#include "analyzer/output/notes.h"
#include "analyzer/report/ranking.h"
#include "tools/base/printable.h"
#include "tools/base/units.h"
#include "tools/rdam/screen/distribution.h"
#include "tools/rdam/screen/text.h"

namespace rdam::screen {
namespace {

constexpr std::size_t kBarHeight = 4;
constexpr std::size_t kMaxBars = 100;
constexpr std::size_t kWidestKey = 24;

std::vector<std::string> facts_of(const score::FunctionRow& row) {
    std::vector<std::string> items{"score " + output::score_mark(row) + output::score_text(row.rdam),
                                   "95 % " + output::interval_text(row.rdam_low, row.rdam_high),
                                   output::counted(row.occurrences, "call", "calls"),
                                   "lost " + output::human_time(row.lost_ns)};
    if (row.sampled || row.switched_off_ns) items[2] = output::occurrences_text(row) + " calls";
    if (row.unknown()) items = {"no score: " + output::no_score_reason(row), items[2]};
    if (row.outermost > 0) {
        items.push_back("min " + output::human_time(row.min_ns));
        items.push_back("median " + output::human_time(row.median_ns));
        items.push_back("p99 " + output::human_time(row.p99_ns));
        items.push_back("max " + output::human_time(row.max_ns));
    }
    if (!row.source.empty()) items.push_back("at " + printable(row.source));
    if (row.unscored > 0) items.push_back(output::grouped(row.unscored) + " not scored");
    return items;
}

/// The position of the percentile of all calls.
double percentile_of(const std::vector<score::Bar>& bars, double fraction) {
    double all = 0, seen = 0;
    for (const score::Bar& bar : bars)
        all += static_cast<double>(bar.calls);
    for (const score::Bar& bar : bars) {
        seen += static_cast<double>(bar.calls);
        if (seen >= fraction * all) return bar.from_ns;
    }
    return bars.back().from_ns;
}

void add_distribution(const PageFacts& facts, std::vector<Line>& lines) {
    const score::FunctionRow& row = facts.page.row;
    if (facts.page.bars.empty() || row.outermost == 0) return;
    const score::Baseline& baseline = facts.settings.baseline;
    const bool percentile = baseline.kind == score::Baseline::Kind::percentile;
    std::vector<Mark> marks{{percentile ? "min" : "min=baseline", row.min_ns}, {"max", row.max_ns}};
    if (percentile) marks.push_back({"baseline", percentile_of(facts.page.bars, baseline.fraction)});
    marks.push_back({"median", row.median_ns});
    marks.push_back({"p99", row.p99_ns});
    for (Line& each : drawn(facts.page.bars, marks, kBarHeight))
        lines.push_back(std::move(each));
}

std::string key_text(const feedback::KeyChoice& key, std::size_t name_width) {
    std::string text = (key.is_key ? "[x] " : "[ ] ") + to_left(printable(key.name), name_width);
    if (key.is_key) return text + "  a key";
    if (key.explains) text += "  explains " + to_right(output::percent(*key.explains), 6);
    if (key.rdam_with_key) text += ", score as a key " + output::score_text(*key.rdam_with_key);
    return text;
}

void add_keys(const feedback::FunctionPage& page, std::size_t width, Content& content) {
    std::size_t name_width = 0;
    for (const feedback::KeyChoice& key : page.keys)
        name_width = std::max(name_width, std::min(columns(printable(key.name)), kWidestKey));
    content.lines.push_back(line("Keys: what distinguishes calls", Look::strong));
    for (const feedback::KeyChoice& key : page.keys) {
        content.choices.push_back(content.lines.size());
        content.lines.push_back(cut(line(key_text(key, name_width)), width));
    }
}

void add_hints(const PageFacts& facts, std::size_t width, std::vector<Line>& lines) {
    const score::FunctionRow& row = facts.page.row;
    const double threshold = facts.settings.threshold;
    lines.push_back(line("Possible causes", Look::strong));
    if (row.rdam < threshold) {
        for (std::string& part :
             wrapped(fmt::format("(scores below {} need little explanation)", threshold), width))
            lines.push_back(line(std::move(part), Look::faint));
    }
    std::vector<std::string> texts;
    for (const hints::Hint& hint : facts.page.hints.hints)
        texts.push_back(hint.text);
    if (score::at_floor(row)) texts.push_back(output::floor_advice(row));
    if (row.few_occurrences) texts.push_back(output::lower_bound_advice(row));
    if (row.coarse_clock) texts.push_back(output::coarse_clock_advice());
    if (row.minimum_alone) texts.push_back(output::minimum_alone_advice());
    if (row.sampled) texts.push_back(output::sampled_advice());
    if (texts.empty()) lines.push_back(line("  nothing stands out", Look::faint));
    for (const std::string& text : texts) {
        const char* bullet = "· ";
        for (const std::string& part : wrapped(printable(text), width - 2)) {
            lines.push_back(line(bullet + part));
            bullet = "  ";
        }
    }
}

Content overview(const PageFacts& facts, std::size_t width) {
    Content content;
    content.follows_cursor = false;
    add_distribution(facts, content.lines);
    add_keys(facts.page, width, content);
    add_hints(facts, width, content.lines);
    return content;
}

Line tab_line(Tab tab) {
    constexpr const char* kNames[] = {"overview", "sequences", "threads", "callers"};
    Line out;
    for (int i = 0; i < kTabs; ++i) {
        const bool here = static_cast<int>(tab) == i;
        out.push_back({here ? fmt::format("[{}]", kNames[i]) : fmt::format(" {} ", kNames[i]),
                       here ? Look::strong : Look::faint});
    }
    return out;
}

}  // namespace

std::size_t bars_for(std::size_t width) {
    const std::size_t most = width > kCursorWidth ? width - kCursorWidth : 1;
    return std::clamp<std::size_t>(most, 1, kMaxBars);
}

Content page_content(const PageFacts& facts, Tab tab, std::size_t width) {
    const std::size_t inner = std::max<std::size_t>(width, kCursorWidth + 4) - kCursorWidth;
    Content content;
    if (tab == Tab::overview) content = overview(facts, inner);
    if (tab == Tab::sequences) content = sequences_content(facts, inner);
    if (tab == Tab::threads) content = threads_content(facts, inner);
    if (tab == Tab::callers) content = callers_content(facts, inner);
    content.follows_cursor = false;

    const score::FunctionRow& row = facts.page.row;
    content.head.push_back(line(function_name(row), Look::strong));
    content.head.push_back(tab_line(tab));
    std::vector<Line> numbers;
    for (std::string& text : flowing(facts_of(row), inner))
        numbers.push_back(line(std::move(text), look_of_score(row.rdam, facts.settings.threshold)));
    for (std::size_t& choice : content.choices)
        choice += numbers.size();
    content.lines.insert(content.lines.begin(), numbers.begin(), numbers.end());
    return content;
}

}  // namespace rdam::screen
