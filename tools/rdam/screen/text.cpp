#include "tools/rdam/screen/text.h"

#include <wchar.h>

#include <algorithm>
#include <utility>

#include "tools/base/printable.h"
#include "tools/base/units.h"

namespace rdam::screen {
namespace {

/// The text is valid UTF-8: printable() has made it.
struct Character {
    std::string_view bytes;
    char32_t code = 0;
};

Character first_of(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    std::size_t length = 1;
    while (length < text.size() && (byte(length) & 0xc0U) == 0x80)
        ++length;
    char32_t code = length == 1 ? byte(0) : byte(0) & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i)
        code = code << 6 | (byte(i) & 0x3fU);
    return {text.substr(0, length), code};
}

std::size_t columns_of(char32_t code) {
    const int width = ::wcwidth(static_cast<wchar_t>(code));
    return width < 0 ? 1 : static_cast<std::size_t>(width);
}

/// The longest beginning of `text` that takes at most `width` columns.
std::string_view beginning(std::string_view text, std::size_t width) {
    std::size_t used = 0, end = 0;
    while (end < text.size()) {
        const Character next = first_of(text.substr(end));
        used += columns_of(next.code);
        if (used > width) break;
        end += next.bytes.size();
    }
    return text.substr(0, end);
}

constexpr std::pair<char32_t, char> kLookAlikes[] = {
    {U'–', '-'}, {U'─', '-'}, {U'┬', '+'}, {U'…', '~'}, {U'≥', '>'}, {U'×', 'x'}, {U'µ', 'u'}, {U'·', '|'},
    {U'Σ', 'S'}, {U'▁', '.'}, {U'▂', '.'}, {U'▃', ':'}, {U'▄', ':'}, {U'▅', ':'}, {U'▆', '#'}, {U'▇', '#'},
    {U'█', '#'}, {U'░', '.'}, {U'↑', '^'}, {U'↓', 'v'}, {U'←', '<'}, {U'→', '>'},
};

}  // namespace

Line line(std::string text, Look look) {
    return {Span{.text = std::move(text), .look = look}};
}

std::string plain_text(const Line& line) {
    std::string text;
    for (const Span& span : line)
        text += span.text;
    return text;
}

std::size_t columns(std::string_view text) {
    std::size_t sum = 0;
    while (!text.empty()) {
        const Character next = first_of(text);
        sum += columns_of(next.code);
        text.remove_prefix(next.bytes.size());
    }
    return sum;
}

std::string cut(std::string_view text, std::size_t width) {
    if (columns(text) <= width) return std::string{text};
    if (width == 0) return {};
    return std::string{beginning(text, width - 1)} + "…";
}

Line cut(const Line& line, std::size_t width) {
    Line out;
    for (const Span& span : line) {
        const std::size_t wanted = columns(span.text);
        out.push_back({cut(span.text, width), span.look, span.selected});
        if (wanted > width) break;
        width -= wanted;
    }
    return out;
}

std::string to_left(std::string_view text, std::size_t width) {
    std::string out = cut(text, width);
    return out + std::string(width - columns(out), ' ');
}

std::string to_right(std::string_view text, std::size_t width) {
    std::string out = cut(text, width);
    return std::string(width - columns(out), ' ') + out;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
    std::vector<std::string> lines{{}};
    while (!text.empty()) {
        const std::size_t blank = std::min(text.find(' '), text.size());
        std::string_view word = text.substr(0, blank);
        text.remove_prefix(std::min(blank + 1, text.size()));
        if (!lines.back().empty() && columns(lines.back()) + 1 + columns(word) > width) lines.emplace_back();
        if (!lines.back().empty()) lines.back() += ' ';
        while (columns(word) > width) {
            std::string_view part = beginning(word, width);
            if (part.empty()) part = first_of(word).bytes;
            lines.back() += part;
            lines.emplace_back();
            word.remove_prefix(part.size());
        }
        lines.back() += word;
    }
    return lines;
}

std::vector<std::string> flowing(std::span<const std::string> items, std::size_t width) {
    std::vector<std::string> lines;
    for (const std::string& item : items) {
        const bool fits = !lines.empty() && columns(lines.back()) + 2 + columns(item) <= width;
        if (fits) {
            lines.back() += "  " + item;
        } else {
            for (std::string& part : wrapped(item, width))
                lines.push_back(std::move(part));
        }
    }
    return lines;
}

std::string in_ascii(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const Character next = first_of(text);
        const auto* const known =
            std::ranges::find(kLookAlikes, next.code, &std::pair<char32_t, char>::first);
        if (next.code < 0x80) {
            out += static_cast<char>(next.code);
        } else if (known != std::end(kLookAlikes)) {
            out += known->second;
        } else {
            out.append(columns_of(next.code), '?');
        }
        text.remove_prefix(next.bytes.size());
    }
    return out;
}

Look look_of_score(double score, double threshold) {
    if (score >= threshold) return Look::alarming;
    return score >= threshold / 4 ? Look::notable : Look::plain;
}

std::string function_name(const score::FunctionRow& row) {
    return printable(row.shown);
}

std::string calls(const score::FunctionRow& row, std::uint64_t count) {
    return (row.sampled ? "~" : "") + output::grouped(count);
}

}  // namespace rdam::screen
