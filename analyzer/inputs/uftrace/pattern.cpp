#include "analyzer/inputs/uftrace/pattern.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tools/base/glob.h"

namespace rdam::inputs::uftrace {
namespace {

constexpr std::string_view kSpecial = ".?*+-^$|()[]{}";
constexpr std::size_t kMaxExpression = 1000;
constexpr std::ptrdiff_t kMaxPluses = 10;

/// Counted repetitions and references to groups are what makes the C library's expressions explode; each `+`
/// doubles what it repeats.
bool is_harmless(std::string_view expression) {
    if (expression.size() > kMaxExpression || expression.find('{') != std::string_view::npos) return false;
    if (std::ranges::count(expression, '+') > kMaxPluses) return false;
    for (std::size_t i = 0; i + 1 < expression.size(); ++i)
        if (expression[i] == '\\' && expression[i + 1] >= '1' && expression[i + 1] <= '9') return false;
    return true;
}

constexpr std::array<std::string_view, 12> kOperators = {"<=>", "<<=", ">>=", "->*", "->", "<<",
                                                         ">>",  "<=",  ">=",  "<",   ">",  "()"};

/// The length of `operator<<` and the like at the beginning of `text`, 0: another text.
std::size_t operator_length(std::string_view text) {
    constexpr std::string_view kWord = "operator";
    if (!text.starts_with(kWord)) return 0;
    const std::string_view rest = text.substr(kWord.size());
    const auto starts = [&](std::string_view each) { return rest.starts_with(each); };
    const auto found = std::ranges::find_if(kOperators, starts);
    return found == kOperators.end() ? 0 : kWord.size() + found->size();
}

}  // namespace

void NamePattern::Free::operator()(regex_t* regex) const {
    regfree(regex);
    delete regex;
}

NamePattern::NamePattern(Pattern kind, std::string text) : kind_(kind), text_(std::move(text)) {
    if (text_.find_first_of(kSpecial) == std::string::npos || text_.starts_with("operator "))
        kind_ = Pattern::simple;
    if (kind_ != Pattern::regex || !is_harmless(text_)) return;
    auto regex = std::make_unique<regex_t>();
    if (regcomp(regex.get(), text_.c_str(), REG_NOSUB | REG_EXTENDED) == 0) {
        regex_.reset(regex.release());
    } else {
        kind_ = Pattern::simple;
    }
}

bool NamePattern::matches(const std::string& name) const {
    if (kind_ == Pattern::simple) return name == text_;
    if (kind_ == Pattern::glob) return glob_match(text_, name);
    return regex_ != nullptr && regexec(regex_.get(), name.c_str(), 0, nullptr, 0) == 0;
}

std::string without_arguments(std::string_view name) {
    std::string simple;
    int depth = 0;
    while (!name.empty()) {
        std::size_t length = operator_length(name);
        if (length == 0) {
            if (name.front() == '<' || name.front() == '(') ++depth;
            length = 1;
        }
        if (depth == 0) simple += name.substr(0, length);
        if (length == 1 && (name.front() == '>' || name.front() == ')') && depth > 0) --depth;
        name.remove_prefix(length);
    }
    return simple;
}

}  // namespace rdam::inputs::uftrace
