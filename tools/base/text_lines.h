// Lines, words and numbers of the tools' texts.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

namespace rdam {

/// The lines of a text one after the other, without line ends, counted from 1.
class TextLines {
  public:
    explicit TextLines(std::string_view text) : rest_(text) {}

    bool next(std::string_view& line) {
        if (rest_.empty()) return false;
        const auto end = rest_.find('\n');
        line = rest_.substr(0, end);
        rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        ++number_;
        return true;
    }

    std::size_t number() const { return number_; }  ///< of the line that next() gave

  private:
    std::string_view rest_;
    std::size_t number_ = 0;
};

/// What some editors put in front of a text is left out.
inline std::string_view without_byte_order_mark(std::string_view text) {
    constexpr std::string_view kMark = "\xef\xbb\xbf";
    return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

/// Non-blank stretches, at most `most`; the last one then has the rest of the line.
inline std::vector<std::string_view> words_of(std::string_view line, std::size_t most = SIZE_MAX) {
    constexpr std::string_view kBlanks = " \t";
    std::vector<std::string_view> words;
    for (auto at = line.find_first_not_of(kBlanks); at != std::string_view::npos;
         at = line.find_first_not_of(kBlanks, at)) {
        if (words.size() + 1 == most) {
            const auto rest = line.substr(at);
            words.push_back(rest.substr(0, rest.find_last_not_of(kBlanks) + 1));
            break;
        }
        const auto end = std::min(line.find_first_of(kBlanks, at), line.size());
        words.push_back(line.substr(at, end - at));
        at = end;
    }
    return words;
}

/// The whole of `word` as a number; nullopt: it is none, or does not fit.
template <class Number>
std::optional<Number> number_in(std::string_view word) {
    Number value{};
    const auto result = std::from_chars(word.data(), word.data() + word.size(), value);
    if (result.ec != std::errc{} || result.ptr != word.data() + word.size()) return std::nullopt;
    return value;
}

/// Parses a whole number in digits of `base`, without a prefix.
template <class Number>
std::optional<Number> number_in(std::string_view word, int base) {
    Number value{};
    const auto result = std::from_chars(word.data(), word.data() + word.size(), value, base);
    if (result.ec != std::errc{} || result.ptr != word.data() + word.size()) return std::nullopt;
    return value;
}

/// A not negative one, so small that sums and products of some stay finite.
inline std::optional<double> amount_in(std::string_view word) {
    const auto value = number_in<double>(word);
    if (!value || !(*value >= 0) || *value > 1e100) return std::nullopt;
    return value;
}

struct SourcePlace {
    std::string_view file;
    std::uint32_t line = 0;
};

/// `dir/file.c:12`.
inline std::optional<SourcePlace> place_in(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return std::nullopt;
    const auto line = number_in<std::uint32_t>(text.substr(colon + 1));
    if (!line) return std::nullopt;
    return SourcePlace{text.substr(0, colon), *line};
}

}  // namespace rdam
