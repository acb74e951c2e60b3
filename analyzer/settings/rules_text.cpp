#include "analyzer/settings/rules_text.h"

#include <algorithm>

#include "tools/base/printable.h"

namespace rdam::rules {

Result<toml::table> parse_table(std::string_view text, std::string_view origin) {
    try {
        return toml::parse(text, origin);
    } catch (const toml::parse_error& error) {
        return fail("{}:{}: {}; write it as in keys = [\"write:count\"]", origin, error.source().begin.line,
                    error.description());
    }
}

Result<std::string> quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte == 0x7f) {
            out += fmt::format("\\u{:04x}", byte);
        } else {
            out += c;
        }
    }
    out += '"';
    try {
        const auto parsed = toml::parse("a = " + out);
        if (parsed["a"].value_or(std::string{}) == text) return out;
    } catch (const toml::parse_error&) {
        // Said below, in words that fit.
    }
    return fail("{}: cannot stand in a rules file, which holds UTF-8; use the name that the linker knows",
                printable(text));
}

Lines::Lines(std::string_view text) : text_(text) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    begins_.push_back(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\n') begins_.push_back(i + 1);
    }
}

std::size_t Lines::offset(const toml::source_position& place) const {
    const std::size_t line = std::min<std::size_t>(std::max<std::size_t>(place.line, 1), begins_.size());
    std::size_t at = begins_[line - 1];
    for (std::size_t column = 1; column < place.column && at < text_.size(); ++column) {
        ++at;
        while (at < text_.size() && (static_cast<unsigned char>(text_[at]) & 0xc0U) == 0x80)
            ++at;
    }
    return at;
}

}  // namespace rdam::rules
