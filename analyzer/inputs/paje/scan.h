// The words and numbers of a line of Pajé.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analyzer/inputs/build/text.h"

namespace rdam::inputs::paje {

struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
/// Is asked with parts of a line.
template <class Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

/// The fields of a line, one after the other: separated by spaces and tabs, in quotes where they contain some
/// (there is no escape). A field that begins with `#` is a comment, up to the end of the line.
class FieldCursor {
  public:
    explicit FieldCursor(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) {}

    /// The next one, without its quotes; nothing: there are no more.
    std::optional<std::string_view> next();

  private:
    const char* at_;
    const char* end_;
};

/// Whether a line, without blanks in front, is a comment: `# text`, or `% text`, which is no definition.
bool is_comment(std::string_view line);

/// `12` of "12 name", or of "12" alone; 0: the text begins with no such number.
std::uint32_t leading_number(std::string_view text);

/// Later than any time of a trace, in ticks.
inline constexpr std::uint64_t kMaxTicks = std::uint64_t{1} << 62U;

double value_of(const Decimal& decimal);
/// In units of 10^-scale (0…18), rounded; at most kMaxTicks.
std::uint64_t to_ticks(const Decimal& decimal, int scale);

/// What all values of a field can be read as; a value that cannot makes it the next one.
enum class Reading : std::uint8_t { integer, hexadecimal, floating, text };

/// The 64 bits of the value; nothing: it is no such number. Not for `text`.
std::optional<std::uint64_t> parse_word(std::string_view text, Reading reading);
/// The first reading after `reading` that `text` allows.
Reading widened(Reading reading, std::string_view text);

}  // namespace rdam::inputs::paje
