#include "tools/base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace rdam {
namespace {

struct Decoded {
    char32_t character = 0;
    std::size_t bytes = 0;  ///< 0: no valid UTF-8 begins here
};

unsigned byte_at(std::string_view text, std::size_t index) {
    return static_cast<unsigned char>(text[index]);
}

std::size_t sequence_length(unsigned lead) {
    if (lead < 0x80) return 1;
    if (lead >= 0xc2 && lead < 0xe0) return 2;
    if (lead >= 0xe0 && lead < 0xf0) return 3;
    if (lead >= 0xf0 && lead < 0xf5) return 4;
    return 0;
}

Decoded decode(std::string_view text) {
    const unsigned lead = byte_at(text, 0);
    const std::size_t length = sequence_length(lead);
    if (length == 0 || length > text.size()) return {};
    if (length == 1) return {lead, 1};
    char32_t character = lead & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        const unsigned next = byte_at(text, i);
        if ((next & 0xc0) != 0x80) return {};
        character = character << 6 | (next & 0x3f);
    }
    const bool overlong = (length == 3 && character < 0x800) || (length == 4 && character < 0x10000);
    const bool surrogate = character >= 0xd800 && character <= 0xdfff;
    if (overlong || surrogate || character > 0x10ffff) return {};
    return {character, length};
}

struct Range {
    char32_t first, last;
};

// Characters that are not seen where they stand but change how others are seen. In order.
constexpr Range kInvisible[] = {
    {0x80, 0x9f},        // C1 controls: 0x9b begins an escape sequence
    {0xad, 0xad},        // soft hyphen
    {0x61c, 0x61c},      // Arabic letter mark
    {0x180e, 0x180e},    // Mongolian vowel separator
    {0x200b, 0x200f},    // zero-width, left-to-right and right-to-left marks
    {0x2028, 0x202e},    // line and paragraph separators, bidirectional embeddings and overrides
    {0x2060, 0x206f},    // word joiner, isolates, deprecated format characters
    {0xfeff, 0xfeff},    // byte order mark
    {0xfff9, 0xfffb},    // interlinear annotations
    {0xe0000, 0xe0fff},  // tags and variation selectors
};

bool is_invisible(char32_t character) {
    const auto* range = std::ranges::lower_bound(kInvisible, character, {}, &Range::last);
    return range != std::end(kInvisible) && range->first <= character;
}

void append_escaped(std::string& out, char32_t character) {
    switch (character) {
        case '\n':
            out += "\\n";
            return;
        case '\t':
            out += "\\t";
            return;
        case '\r':
            out += "\\r";
            return;
        default:
            break;
    }
    if (character < 0x20 || character == 0x7f) {
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<std::uint32_t>(character));
    } else {
        fmt::format_to(std::back_inserter(out), "\\u{{{:x}}}", static_cast<std::uint32_t>(character));
    }
}

/// As JSON writes it: beyond 16 bits in two halves.
void append_json_escape(std::string& out, char32_t character) {
    constexpr std::uint32_t kPlane = 0x10000;
    const auto append = [&](std::uint32_t unit) {
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", unit);
    };
    const auto value = static_cast<std::uint32_t>(character);
    if (value < kPlane) return append(value);
    append(0xd800 + ((value - kPlane) >> 10U));
    append(0xdc00 + ((value - kPlane) & 0x3ffU));
}

/// How many bytes at the beginning are ASCII that can be seen: nearly always all.
std::size_t plain_bytes(std::string_view text) {
    const auto is_plain = [](char byte) { return byte >= 0x20 && byte < 0x7f; };
    return static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
}

bool begins_character(char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}

}  // namespace

std::string printable(std::string_view text) {
    const std::size_t plain = plain_bytes(text);
    std::string out{text.substr(0, plain)};
    text.remove_prefix(plain);
    while (!text.empty()) {
        const Decoded next = decode(text);
        if (next.bytes == 0) {
            fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte_at(text, 0));
            text.remove_prefix(1);
            continue;
        }
        const bool control = next.character < 0x20 || next.character == 0x7f;
        if (control || is_invisible(next.character)) {
            append_escaped(out, next.character);
        } else {
            out += text.substr(0, next.bytes);
        }
        text.remove_prefix(next.bytes);
    }
    return out;
}

std::string printable_json(std::string_view json) {
    std::string out;
    out.reserve(json.size());
    while (!json.empty()) {
        // Below 0x20 there is only the layout: in strings the library has escaped them.
        const Decoded next = decode(json);
        const std::size_t bytes = std::max<std::size_t>(next.bytes, 1);
        if (next.bytes > 0 && (next.character == 0x7f || is_invisible(next.character))) {
            append_json_escape(out, next.character);
        } else {
            out += json.substr(0, bytes);
        }
        json.remove_prefix(bytes);
    }
    return out;
}

std::size_t display_width(std::string_view utf8) {
    return static_cast<std::size_t>(std::ranges::count_if(utf8, begins_character));
}

std::string shortened(std::string_view utf8, std::size_t columns) {
    if (display_width(utf8) <= columns) return std::string{utf8};
    if (columns == 0) return {};
    std::size_t seen = 0;
    std::size_t end = 0;
    while (end < utf8.size() && (!begins_character(utf8[end]) || seen < columns - 1)) {
        if (begins_character(utf8[end])) ++seen;
        ++end;
    }
    return std::string{utf8.substr(0, end)} + "…";
}

}  // namespace rdam
