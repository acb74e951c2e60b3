#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "analyzer/output/field_table.h"
#include "analyzer/output/notes.h"
#include "tools/base/printable.h"
#include "tools/base/units.h"
#include "tools/rdam/screen/page.h"
#include "tools/rdam/screen/text.h"

namespace rdam::screen {
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
                                 "min " + output::human_time(row.min_ns),
                                 "median " + output::human_time(row.median_ns),
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
