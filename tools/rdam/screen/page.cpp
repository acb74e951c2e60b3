#include "tools/rdam/screen/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "analyzer/output/drawing.h"
#include "analyzer/output/field_table.h"
#include "analyzer/output/fields.h"
#include "analyzer/output/notes.h"
#include "analyzer/report/ranking.h"
#include "analyzer/sequences/keys.h"
#include "tools/base/printable.h"
#include "tools/base/units.h"

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
        items.push_back("min " + output::call_time_text(row, row.min_ns));
        items.push_back("median " + output::call_time_text(row, row.median_ns));
        items.push_back("p99 " + output::call_time_text(row, row.p99_ns));
        items.push_back("max " + output::call_time_text(row, row.max_ns));
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

std::string key_text(const screen::KeyChoice& key, const score::FunctionRow& row, std::size_t name_width) {
    std::string text = (key.is_key ? "[x] " : "[ ] ") + to_left(printable(key.name), name_width);
    if (key.is_key) return text + "  a key";
    const bool is_caller = key.parameter == sequences::kCallerKey;
    if (const auto share =
            is_caller && key.explains ? output::share_of_lone_caller(row, *key.explains) : std::nullopt)
        text += fmt::format("  one has {} of the loss", output::percent(*share));
    else if (key.explains)
        text += "  explains " + to_right(output::percent(*key.explains), 6);
    if (key.rdam_with_key) text += ", score as a key " + output::score_text(*key.rdam_with_key);
    return text;
}

void add_keys(const screen::FunctionPage& page, std::size_t width, Content& content) {
    std::size_t name_width = 0;
    for (const screen::KeyChoice& key : page.keys)
        name_width = std::max(name_width, std::min(columns(printable(key.name)), kWidestKey));
    content.lines.push_back(line("Keys: what distinguishes calls", Look::strong));
    for (const screen::KeyChoice& key : page.keys) {
        content.choices.push_back(content.lines.size());
        content.lines.push_back(cut(line(key_text(key, page.row, name_width)), width));
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
    if (row.shortest_missing) texts.push_back(output::shortest_missing_advice());
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
    content.head.push_back(line(printable(score::qualified_name(row.module, row.name)), Look::strong));
    content.head.push_back(tab_line(tab));
    std::vector<Line> numbers;
    for (std::string& text : flowing(facts_of(row), inner))
        numbers.push_back(line(std::move(text), look_of_score(row.rdam, facts.settings.threshold)));
    for (std::size_t& choice : content.choices)
        choice += numbers.size();
    content.lines.insert(content.lines.begin(), numbers.begin(), numbers.end());
    return content;
}

namespace {

std::size_t column_of(const std::vector<score::Bar>& bars, double at_ns) {
    std::size_t column = 0;
    while (column + 1 < bars.size() && at_ns >= bars[column].to_ns)
        ++column;
    return column;
}

Line axis(const std::vector<score::Bar>& bars, const std::vector<Mark>& marks) {
    std::vector<const char*> signs(bars.size(), "─");
    for (const Mark& mark : marks)
        signs[column_of(bars, mark.at_ns)] = "┬";
    std::string text;
    for (const char* sign : signs)
        text += sign;
    return line(std::move(text));
}

/// Puts a name under its mark, to the left where the edge is near; false: something else is there.
bool put(std::string& text, const std::string& name, std::size_t column) {
    if (name.size() > text.size()) return true;
    const std::size_t at = std::min(column, text.size() - name.size());
    const std::size_t from = at > 0 ? at - 1 : 0;
    const std::size_t to = std::min(at + name.size() + 1, text.size());
    if (text.find_first_not_of(' ', from) < to) return false;
    text.replace(at, name.size(), name);
    return true;
}

/// On two lines where they are close to each other.
std::vector<Line> names(const std::vector<score::Bar>& bars, const std::vector<Mark>& marks) {
    std::string texts[2] = {std::string(bars.size(), ' '), std::string(bars.size(), ' ')};
    for (const Mark& mark : marks) {
        const std::size_t column = column_of(bars, mark.at_ns);
        if (!put(texts[0], mark.name, column)) put(texts[1], mark.name, column);
    }
    std::vector<Line> lines;
    for (std::string& text : texts) {
        text.erase(text.find_last_not_of(' ') + 1);
        if (!text.empty() || lines.empty()) lines.push_back(line(std::move(text), Look::faint));
    }
    return lines;
}

}  // namespace

std::vector<Line> drawn(const std::vector<score::Bar>& bars, const std::vector<Mark>& marks,
                        std::size_t height) {
    if (bars.empty()) return {};
    const std::uint64_t most = std::ranges::max(bars, {}, &score::Bar::calls).calls;
    std::vector<Line> lines;
    for (std::size_t row = height; row-- > 0;) {
        std::string text;
        for (const score::Bar& bar : bars) {
            const double share = static_cast<double>(bar.calls) / static_cast<double>(most);
            const std::size_t high = output::eighths(share, height);
            const std::size_t below = row * output::kEighths;
            text += output::kUprightBlocks[high > below ? std::min(high - below, output::kEighths) : 0];
        }
        lines.push_back(line(std::move(text), Look::notable));
    }
    lines.push_back(axis(bars, marks));
    for (Line& each : names(bars, marks))
        lines.push_back(std::move(each));
    return lines;
}

namespace {

constexpr std::size_t kMaxFrames = 30;

void add_indented(std::vector<Line>& lines, const std::string& text, std::size_t indent, std::size_t width,
                  Look look = Look::plain) {
    for (const std::string& part : wrapped(text, width > indent + 2 ? width - indent : 2))
        lines.push_back(line(std::string(indent, ' ') + part, look));
}

std::string sequence_name(const score::SequenceRow& row, output::Symbols& symbols) {
    if (row.caller == 0) return printable(row.name);
    return printable(row.name + " called from " + output::frame_text(symbols.frames(row.caller).front()));
}

void add_sequence(const PageFacts& facts, std::size_t number, std::size_t width, std::vector<Line>& lines) {
    const score::SequenceRow& row = facts.page.row.sequences[number];
    const std::string items[] = {row.unknown() ? "no score" : "score " + output::score_text(row.rdam),
                                 row.unknown() ? output::no_score_reason(facts.page.row)
                                               : output::interval_text(row.rdam_low, row.rdam_high),
                                 calls(facts.page.row, row.occurrences) + " calls",
                                 "min " + output::call_time_text(row, row.min_ns),
                                 "median " + output::call_time_text(row, row.median_ns),
                                 row.unknown() ? "lost -" : "lost " + output::human_time(row.lost_ns)};
    add_indented(lines, sequence_name(row, facts.symbols), 0, width, Look::strong);
    for (std::string& text : flowing(items, width - 2))
        lines.push_back(line("  " + std::move(text), look_of_score(row.rdam, facts.settings.threshold)));
    for (const hints::Hint& hint : facts.page.hints.of_sequence(number))
        add_indented(lines, printable(hint.text), 2, width);
}

void add_caller(const PageFacts& facts, const score::CallerRow& caller, std::size_t width,
                std::vector<Line>& lines) {
    const score::FunctionRow& row = facts.page.row;
    std::string text = row.lost_ns > 0 ? output::percent(caller.share) + " of the lost time, " : "";
    text += fmt::format("{} of {} calls", calls(row, caller.calls), output::occurrences_text(row));
    const auto commonest = std::ranges::find(row.stacks, caller.address, &score::StackRow::caller);
    const bool sampled = commonest != row.stacks.end();
    add_indented(lines, sampled ? text : text + "; no stack was sampled", 0, width, Look::strong);
    const std::span<const std::uint64_t> addresses =
        sampled ? std::span{commonest->frames} : std::span{&caller.address, 1};
    std::size_t shown = 0;
    for (const std::uint64_t address : addresses) {
        for (const output::StackFrame& frame : facts.symbols.frames(address))
            add_indented(lines, printable(output::frame_text(frame)), 2, width);
        if (++shown == kMaxFrames) break;
    }
    const bool more = shown < addresses.size() || (sampled && commonest->truncated);
    if (more) lines.push_back(line("  …", Look::faint));
}

}  // namespace

Content sequences_content(const PageFacts& facts, std::size_t width) {
    Content content;
    const score::FunctionRow& row = facts.page.row;
    for (std::size_t i = 0; i < row.sequences.size(); ++i)
        add_sequence(facts, i, width, content.lines);
    if (row.scored_sequences > row.sequences.size())
        content.lines.push_back(
            line(fmt::format("… {} more", row.scored_sequences - row.sequences.size()), Look::faint));
    if (row.single_sequences > 0)
        add_indented(content.lines,
                     output::counted(row.single_sequences, "sequence occurs", "sequences occur") +
                         " only once in a thread: no score",
                     0, width, Look::faint);
    return content;
}

Content threads_content(const PageFacts& facts, std::size_t width) {
    constexpr std::size_t kWidestThreadName = 15;
    output::FieldTable table{output::thread_fields(), kWidestThreadName};
    const score::FunctionRow& row = facts.page.row;
    for (const score::ThreadShare& part : row.threads) {
        const score::ThreadRow& thread = facts.report.threads[part.thread];
        table.add({part, thread}, printable(thread.name));
    }
    Content content;
    std::vector<std::string> lines = table.table().lines();
    content.lines.push_back(cut(line(lines.front(), Look::strong), width));
    for (std::size_t i = 0; i < row.threads.size(); ++i)
        content.lines.push_back(
            cut(line(lines[i + 1], look_of_score(row.threads[i].rdam, facts.settings.threshold)), width));
    return content;
}

Content callers_content(const PageFacts& facts, std::size_t width) {
    Content content;
    const score::FunctionRow& row = facts.page.row;
    for (const score::CallerRow& caller : row.callers)
        add_caller(facts, caller, width, content.lines);
    if (row.callers.empty()) content.lines.push_back(line("caller unknown", Look::faint));
    return content;
}

}  // namespace rdam::screen
