#include "tools/rdam/screen/content.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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
    frame.place = {frame.lines.size(),
                   std::min(columns(plain_text(foot.status)), size.width > 0 ? size.width - 1 : 0)};
    frame.lines.push_back(cut(foot.status, size.width));
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

}  // namespace rdam::screen
