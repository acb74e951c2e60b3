#include "tools/rdam/screen/content.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "analyzer/output/comparison.h"
#include "analyzer/output/field_table.h"
#include "analyzer/output/fields.h"
#include "analyzer/output/findings.h"
#include "analyzer/output/lives.h"
#include "analyzer/output/notes.h"
#include "analyzer/report/report.h"
#include "tools/base/printable.h"
#include "tools/base/units.h"
#include "tools/rdam/screen/keys.h"

namespace rdam::screen {
namespace {

constexpr std::size_t kFootLines = 2;
/// So many lines are seen before more than the first line of the head is.
constexpr std::size_t kEnoughLines = 6;

std::size_t last_top(const Content& content, std::size_t height) {
    return content.lines.size() > height ? content.lines.size() - height : 0;
}

std::size_t column_lines(const Content& content) {
    return content.columns.empty() ? 0 : 1;
}

std::size_t head_lines(const Content& content, Size size) {
    const std::size_t fixed = column_lines(content) + kFootLines + kEnoughLines;
    const std::size_t most = size.height > fixed ? size.height - fixed : 0;
    return std::min(content.head.size(), std::max<std::size_t>(most, 1));
}

Line marked(const Line& line, bool at_cursor) {
    Line out{Span{.text = at_cursor ? "> " : "  ", .selected = at_cursor}};
    for (const Span& span : line)
        out.push_back({span.text, span.look, at_cursor});
    return out;
}

/// Which part is seen; empty: all of it.
Line place_text(const Content& content, const Place& place, std::size_t height) {
    const std::size_t all = content.lines.size();
    if (height == 0 || all <= height) return {};
    const std::size_t end = std::min(place.top + height, all);
    return line(fmt::format("lines {} to {} of {}{}", place.top + 1, end, all,
                            end < all ? ": page down shows more" : ""),
                Look::faint);
}

std::string reminder_line(const std::vector<std::string>& reminders, std::size_t width) {
    std::string text;
    for (const std::string& reminder : reminders) {
        std::string longer = text.empty() ? reminder : fmt::format("{}  {}", text, reminder);
        if (columns(longer) > width) break;
        text = std::move(longer);
    }
    return text;
}

}  // namespace

bool sees_cursor(const Content& content, std::size_t height, const Place& place) {
    if (place.cursor >= content.choices.size()) return false;
    const std::size_t at = content.choices[place.cursor];
    return at >= place.top && at < place.top + height;
}

void show_cursor(const Content& content, std::size_t height, Place& place) {
    if (place.cursor >= content.choices.size() || height == 0) return;
    const std::size_t at = content.choices[place.cursor];
    if (at < place.top) place.top = at;
    if (at >= place.top + height) place.top = at - height + 1;
}

void settle(const Content& content, std::size_t height, Place& place) {
    const std::size_t choices = content.choices.size();
    place.cursor = std::min(place.cursor, choices > 0 ? choices - 1 : 0);
    place.top = std::min(place.top, last_top(content, height));
    if (content.follows_cursor) show_cursor(content, height, place);
}

void step(const Content& content, std::size_t height, int down, Place& place) {
    const bool has_next = down > 0 ? place.cursor + 1 < content.choices.size() : place.cursor > 0;
    if (has_next) {
        const std::size_t next = place.cursor + static_cast<std::size_t>(down);
        const std::size_t at = content.choices[next];
        const bool near = at + 1 >= place.top && at <= place.top + height;
        if (near || content.follows_cursor) {
            place.cursor = next;
            return show_cursor(content, height, place);
        }
    }
    if (down > 0 && place.top < last_top(content, height)) ++place.top;
    if (down < 0 && place.top > 0) --place.top;
}

void leap(const Content& content, std::size_t height, int down, std::size_t lines, Place& place) {
    const std::size_t last = last_top(content, height);
    const auto moved = [&](std::size_t from, std::size_t most) {
        if (down < 0) return from > lines ? from - lines : 0;
        return most - from > lines ? from + lines : most;
    };
    if (content.follows_cursor && !content.choices.empty())
        place.cursor = moved(std::min(place.cursor, content.choices.size() - 1), content.choices.size() - 1);
    place.top = moved(std::min(place.top, last), last);
    settle(content, height, place);
}

std::size_t room(const Content& content, Size size) {
    const std::size_t used = head_lines(content, size) + column_lines(content) + kFootLines;
    return size.height > used ? size.height - used : 0;
}

Frame compose(const Content& content, const Place& place, const Foot& foot, Size size) {
    Frame frame;
    const std::size_t head = head_lines(content, size);
    for (std::size_t i = 0; i < head; ++i)
        frame.lines.push_back(cut(content.head[i], size.width));
    if (!content.columns.empty()) {
        Line titles{Span{.text = "  ", .look = Look::strong}};
        titles.insert(titles.end(), content.columns.begin(), content.columns.end());
        frame.lines.push_back(cut(titles, size.width));
    }
    const std::size_t height = room(content, size);
    for (std::size_t i = place.top; i < place.top + height; ++i) {
        const bool at_cursor = place.cursor < content.choices.size() && content.choices[place.cursor] == i;
        frame.lines.push_back(i < content.lines.size() ? cut(marked(content.lines[i], at_cursor), size.width)
                                                       : Line{});
    }
    frame.typing = foot.typing;
    const Line status = foot.status.empty() ? place_text(content, place, height) : foot.status;
    frame.place = {frame.lines.size(),
                   std::min(columns(plain_text(status)), size.width > 0 ? size.width - 1 : 0)};
    frame.lines.push_back(cut(status, size.width));
    frame.lines.push_back(line(reminder_line(foot.reminders, size.width), Look::faint));
    return frame;
}

bool is_too_small(Size size) {
    return size.width < kMin.width || size.height < kMin.height;
}

Frame too_small(Size size, const Line& question) {
    Frame frame{.lines = std::vector<Line>(size.height)};
    const Line text = line(fmt::format("rdam needs {}×{}; q quits", kMin.width, kMin.height));
    if (size.height > 0) frame.lines[0] = cut(question.empty() ? text : question, size.width);
    return frame;
}

Frame with_progress(Frame frame, double share, Size size) {
    frame.lines.resize(size.height);
    for (Line& each : frame.lines)
        each = cut(each, size.width);
    if (size.height < kFootLines) return frame;
    const double part = std::clamp(share, 0.0, 1.0);
    const std::string text = fmt::format("reading the trace {:3.0f} % ", part * 100);
    const std::size_t width = size.width > columns(text) ? size.width - columns(text) : 0;
    const auto full = static_cast<std::size_t>(part * static_cast<double>(width));
    std::string bar = text;
    for (std::size_t i = 0; i < width; ++i)
        bar += i < full ? "█" : "░";
    frame.typing = false;
    frame.lines[size.height - 2] = cut(line(bar, Look::notable), size.width);
    frame.lines[size.height - 1] = cut(line("esc cancels  ctrl-c quits", Look::faint), size.width);
    return frame;
}

namespace {

using Kind = score::Baseline::Kind;

constexpr std::size_t kKeyNames = 13;

std::size_t inside(std::size_t width) {
    return std::max<std::size_t>(width, kCursorWidth + 2) - kCursorWidth;
}

}  // namespace

Content ignored_content(const trace::TraceInfo& info, const std::vector<std::uint32_t>& ignored,
                        std::size_t width) {
    Content content{.head = {line("Ignored functions", Look::strong)}};
    const std::vector<std::string> names = score::shown_names(info.functions);
    for (const std::uint32_t f : ignored) {
        content.choices.push_back(content.lines.size());
        content.lines.push_back(line(cut(printable(names[f]), inside(width))));
    }
    if (ignored.empty()) content.lines.push_back(line("none", Look::faint));
    return content;
}

std::vector<score::Baseline> baselines(const score::Baseline& present) {
    std::vector<score::Baseline> all{
        {.kind = Kind::thread}, {.kind = Kind::process}, {.kind = Kind::minimum}};
    for (const double fraction : {0.001, 0.01, 0.05, 0.10, 0.25, 0.50})
        all.push_back({.kind = Kind::percentile, .fraction = fraction});
    const bool among = std::ranges::find(all, present) != all.end();
    if (!among) all.push_back(present);
    return all;
}

std::size_t place_of_present(const score::Baseline& present) {
    const auto all = baselines(present);
    return static_cast<std::size_t>(std::ranges::find(all, present) - all.begin());
}

Content baselines_content(const score::Baseline& present, std::size_t width) {
    Content content{.head = {line("Baseline: what calls are compared with", Look::strong)}};
    for (const score::Baseline& each : baselines(present)) {
        content.choices.push_back(content.lines.size());
        content.lines.push_back(
            line(cut((each == present ? "[x] " : "[ ] ") + output::baseline_in_words(each), inside(width))));
    }
    return content;
}

Content notes_content(const std::vector<std::string>& notes, std::size_t width) {
    Content content{.head = {line("Notes on the recording", Look::strong)}, .follows_cursor = false};
    for (const std::string& note : notes)
        for (std::string& part : wrapped(printable(note), inside(width)))
            content.lines.push_back(line(std::move(part)));
    if (notes.empty()) content.lines.push_back(line("none", Look::faint));
    return content;
}

Content findings_content(const hints::Analysis& analysis, output::Symbols& symbols, std::size_t width) {
    Content content{.head = {line("Findings", Look::strong)}, .follows_cursor = false};
    const auto add = [&](const std::string& text, const std::string& first, Look look = Look::plain) {
        std::string front = first;
        const std::size_t indent = columns(first);
        for (const std::string& part : wrapped(printable(text), inside(width) - indent)) {
            content.lines.push_back(line(front + part, look));
            front = std::string(indent, ' ');
        }
    };
    const std::vector<output::FindingText> found = output::finding_texts(analysis, symbols);
    if (found.empty())
        add(analysis.findings.verdict.empty() ? "no calls to wrapped functions are left"
                                              : analysis.findings.verdict,
            "");
    for (std::size_t i = 0; i < found.size(); ++i) {
        add(found[i].title, fmt::format("{}. ", i + 1), Look::strong);
        for (const std::string& text : found[i].lines)
            add(text, "   ");
    }
    const std::vector<std::string> waits = output::wait_lines(analysis.waits);
    if (!waits.empty()) content.lines.push_back(line("Who waits for whom", Look::strong));
    for (const std::string& text : waits)
        add(text, "· ");
    return content;
}

Content lives_content(const hints::Analysis& analysis, std::size_t width) {
    Content content{.head = {line("Threads", Look::strong)}, .follows_cursor = false};
    if (const std::string states = output::thread_states(analysis.report); !states.empty())
        for (std::string& part : wrapped(states, inside(width)))
            content.head.push_back(line(std::move(part)));
    const std::vector<output::Field<output::Life>> fields = output::life_fields(analysis);
    output::FieldTable<output::Life> table{fields};
    for (const std::size_t thread : output::threads_to_look_at(analysis))
        table.add(output::life_of(analysis, thread), printable(analysis.report.threads[thread].name));
    const std::vector<std::string> lines = table.table().lines(0, inside(width));
    content.columns = line(lines.front(), Look::strong);
    for (const std::string& text : std::span{lines}.subspan(1))
        content.lines.push_back(line(cut(text, inside(width))));
    return content;
}

Content help_content(std::size_t width) {
    Content content{.head = {line("Keys", Look::strong)}, .follows_cursor = false};
    const std::size_t room = std::max<std::size_t>(inside(width), kKeyNames + 4) - kKeyNames;
    for (const Binding& binding : bindings()) {
        std::string names = to_left(binding.names, kKeyNames);
        for (const std::string& part : wrapped(binding.text, room)) {
            content.lines.push_back({{names, Look::strong}, {part}});
            names = std::string(kKeyNames, ' ');
        }
    }
    const std::pair<const char*, std::string> signs[] = {{"?", output::maybe_recorder_advice()},
                                                         {"≥", output::lower_bound_advice()},
                                                         {"!", output::minimum_alone_advice()},
                                                         {output::kFloorMark, output::floor_advice()},
                                                         {"~", output::sampled_advice()}};
    content.lines.push_back(line("Signs in front of numbers", Look::strong));
    for (const auto& [sign, meaning] : signs) {
        std::string front = to_left(sign, 3);
        for (const std::string& part : wrapped(meaning, inside(width) - 3)) {
            content.lines.push_back({{front, Look::strong}, {part}});
            front = "   ";
        }
    }
    return content;
}

}  // namespace rdam::screen
