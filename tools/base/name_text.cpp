#include "tools/base/name_text.h"

#include <algorithm>
#include <array>

#include "tools/base/files.h"
#include "tools/base/printable.h"

namespace rdam {
namespace {

constexpr std::string_view kCut = "…";

// Longest first: `operator<<=` must not be read as `operator<` and an opening bracket.
constexpr std::array<std::string_view, 15> kOperators = {"<=>", "<<=", ">>=", "->*", "()", "[]", "->", "<<",
                                                         ">>",  "<=",  ">=",  "<",   ">",  ",",  "/"};

bool is_identifier(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The position behind `operator<<` and the like if one begins at `at`, else `at`.
std::size_t skip_operator(std::string_view text, std::size_t at) {
    constexpr std::string_view kWord = "operator";
    if (text.substr(at, kWord.size()) != kWord || (at > 0 && is_identifier(text[at - 1]))) return at;
    const auto rest = text.substr(at + kWord.size());
    for (const auto symbol : kOperators)
        if (rest.substr(0, symbol.size()) == symbol) return at + kWord.size() + symbol.size();
    return at;
}

/// Walks over text and knows whether a character is outside all brackets.
class BracketScan {
  public:
    explicit BracketScan(std::string_view text) : text_(text) {}

    /// The next position outside brackets at or behind the current one whose character is `wanted`; npos:
    /// none.
    std::size_t find(char wanted) {
        while (at_ < text_.size()) {
            const auto behind = skip_operator(text_, at_);
            if (behind != at_) {
                at_ = behind;
                continue;
            }
            const auto here = at_++;
            const char c = text_[here];
            if (c == wanted && depth_ == 0) return here;
            count(c, here);
        }
        return std::string_view::npos;
    }

    void move_to(std::size_t at) { at_ = at; }

  private:
    void count(char c, std::size_t here) {
        if (std::string_view("([{<").find(c) != std::string_view::npos) {
            ++depth_;
        } else if (std::string_view(")]}>").find(c) != std::string_view::npos) {
            const bool arrow = c == '>' && here > 0 && text_[here - 1] == '-';
            if (!arrow && depth_ > 0) --depth_;
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t depth_ = 0;
};

/// The contents of the outermost template arguments, without the brackets.
std::vector<std::string_view> template_arguments(std::string_view name) {
    std::vector<std::string_view> found;
    std::size_t depth = 0;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < name.size();) {
        if (const auto behind = skip_operator(name, at); behind != at) {
            at = behind;
            continue;
        }
        const bool arrow = at > 0 && name[at - 1] == '-';
        if (name[at] == '<' && depth++ == 0) begin = at + 1;
        if (name[at] == '>' && !arrow && depth > 0 && --depth == 0)
            found.push_back(name.substr(begin, at - begin));
        ++at;
    }
    return found;
}

/// Where the character number `index` begins.
std::size_t byte_of_character(std::string_view utf8, std::size_t index) {
    std::size_t at = 0;
    while (at < utf8.size() && (index > 0 || (static_cast<unsigned char>(utf8[at]) & 0xc0) == 0x80)) {
        if ((static_cast<unsigned char>(utf8[at]) & 0xc0) != 0x80) --index;
        ++at;
    }
    return at;
}

/// With `…` for the longest template arguments, as many of them as it takes.
std::string without_long_arguments(std::string_view name, std::size_t columns) {
    const auto all = template_arguments(name);
    std::vector<std::size_t> order(all.size()), widths(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        order[i] = i;
        widths[i] = display_width(all[i]);
    }
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return widths[a] > widths[b]; });
    std::vector<bool> cut(all.size());
    std::size_t width = display_width(name);
    for (const std::size_t i : order) {
        if (width <= columns || widths[i] <= 1) break;
        width -= widths[i] - 1;
        cut[i] = true;
    }
    std::string text;
    std::size_t at = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!cut[i]) continue;
        const auto begin = static_cast<std::size_t>(all[i].data() - name.data());
        text.append(name.substr(at, begin - at)).append(kCut);
        at = begin + all[i].size();
    }
    return text.append(name.substr(at));
}

}  // namespace

std::string shortened_name(std::string_view name, std::size_t columns) {
    std::string text = without_long_arguments(name, columns);
    const std::size_t width = display_width(text);
    if (width <= columns) return text;
    const std::size_t tail = (columns - 1) / 2;
    const std::string behind = text.substr(byte_of_character(text, width - tail));
    text.resize(byte_of_character(text, columns - 1 - tail));
    return text.append(kCut).append(behind);
}

std::vector<std::string_view> split_outside_brackets(std::string_view text, char separator) {
    std::vector<std::string_view> pieces;
    BracketScan scan(text);
    std::size_t begin = 0;
    for (auto end = scan.find(separator); end != std::string_view::npos; end = scan.find(separator)) {
        pieces.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    pieces.push_back(text.substr(begin));
    return pieces;
}

std::size_t find_scope_colon(std::string_view text) {
    BracketScan scan(text);
    for (auto at = scan.find(':'); at != std::string_view::npos; at = scan.find(':')) {
        const auto end = std::min(text.find_first_not_of(':', at), text.size());
        if ((end - at) % 2 == 1) return at;
        scan.move_to(end);
    }
    return std::string_view::npos;
}

std::string file_name_of(std::string_view module) {
    constexpr std::string_view kDeleted = " (deleted)";
    if (module.size() > kDeleted.size() && module.substr(module.size() - kDeleted.size()) == kDeleted)
        module.remove_suffix(kDeleted.size());
    return std::string(file_name(module));
}

bool is_dynamic_linker(std::string_view path) {
    const std::string name = file_name_of(path);
    return name.starts_with("ld-linux") || name.starts_with("ld-musl") ||
           (name.starts_with("ld-2.") && name.ends_with(".so"));
}

std::string_view trim_blanks(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r";
    const auto first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace rdam
