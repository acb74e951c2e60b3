// Lines of styled text, as wide as a terminal draws them. No terminal is needed to make them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/report.h"
#include "analyzer/settings/settings.h"

namespace rdam::screen {

enum class Look : std::uint8_t { plain, strong, faint, notable, alarming };

struct Span {
    std::string text;
    Look look = Look::plain;
    bool selected = false;
};
using Line = std::vector<Span>;

struct Size {
    std::size_t width = 80, height = 24;
    bool operator==(const Size&) const = default;
};

/// What a terminal shows. Exactly `height` lines, none wider than `width`.
struct Frame {
    std::vector<Line> lines;
    /// Where text is being typed; nothing: nowhere.
    struct Place {
        std::size_t row = 0, column = 0;
    };
    bool typing = false;
    Place place = {};
};

Line line(std::string text, Look look = Look::plain);
/// Without its looks.
std::string plain_text(const Line& line);

/// Columns of printable() text in the present locale: East Asian characters take two, accents that combine
/// none.
std::size_t columns(std::string_view text);
/// At most `width` columns, with `…` as the last character where something was cut off.
std::string cut(std::string_view text, std::size_t width);
Line cut(const Line& line, std::size_t width);
/// cut(), then exactly so wide.
std::string to_left(std::string_view text, std::size_t width);
std::string to_right(std::string_view text, std::size_t width);

/// Broken between words, and within those that are wider than a line. At least one line. `width`: 2 at least.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);
/// As many of `items` on a line as fit, with two blanks between them.
std::vector<std::string> flowing(std::span<const std::string> items, std::size_t width);

/// For terminals that know nothing else: as many columns, lines and bars drawn by what looks like them.
std::string in_ascii(std::string_view text);

// How scores look, wherever they stand.

/// As in the report of `rdam analyze`: scores worth a look are highlighted.
Look look_of_score(double score, double threshold);

/// `module:name`, fit for a terminal.
std::string function_name(const score::FunctionRow& row);
/// A number of calls of the function: `~` if not all were recorded.
std::string calls(const score::FunctionRow& row, std::uint64_t count);

}  // namespace rdam::screen
