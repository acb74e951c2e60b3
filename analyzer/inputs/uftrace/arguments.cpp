#include "analyzer/inputs/uftrace/arguments.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

#include "tools/base/demangle.h"
#include "tools/base/glob.h"
#include "tools/base/name_text.h"
#include "tools/base/text_lines.h"

namespace rdam::inputs::uftrace {

namespace {

/// Trace events have no room for more.
constexpr std::size_t kMaxValues = 255;
/// Nobody gives as many specifications by hand.
constexpr std::size_t kMaxRules = 10'000;

/// The number at the beginning of `text`, which is removed from it.
std::optional<std::uint16_t> take_number(std::string_view& text) {
    const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto number = number_in<std::uint16_t>(text.substr(0, end));
    text.remove_prefix(end);
    return number;
}

/// `arg1`, `fparg2` or `retval`, which is removed from `text`; 0 for `retval`.
std::optional<std::uint16_t> take_index(std::string_view& text, std::string_view word) {
    if (!text.starts_with(word)) return std::nullopt;
    text.remove_prefix(word.size());
    return take_number(text);
}

void take_place(ValueSpec& value, std::string_view text) {
    if (text.starts_with('%')) value.place = text;
}

/// What follows `t`: size, `:name`, `%registers`.
bool take_structure(ValueSpec& value, std::string_view text) {
    const auto size = take_number(text);
    if (!size) return false;
    value.format = ValueFormat::structure;
    value.size = *size;
    if (text.starts_with(':')) {
        const auto end = text.find('%');
        value.type = text.substr(1, end == std::string_view::npos ? end : end - 1);
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end);
    }
    take_place(value, text);
    return true;
}

bool take_enumeration(ValueSpec& value, std::string_view text) {
    if (!text.starts_with(':')) return false;
    const auto end = text.find('%');
    value.format = ValueFormat::enumeration;
    value.type = text.substr(1, end == std::string_view::npos ? end : end - 1);
    if (end != std::string_view::npos) take_place(value, text.substr(end));
    return true;
}

/// Bits: `32`, and `%registers`.
bool take_bits(ValueSpec& value, std::string_view text) {
    if (!text.empty() && text.front() != '%') {
        const auto bits = take_number(text);
        const bool known = bits && (*bits == 8 || *bits == 16 || *bits == 32 || *bits == 64 ||
                                    (*bits == 80 && value.format == ValueFormat::floating));
        if (!known) return false;
        value.size = static_cast<std::uint16_t>(*bits / 8);
    }
    take_place(value, text);
    return text.empty() || text.front() == '%';
}

/// What follows the slash.
bool take_format(ValueSpec& value, std::string_view text) {
    if (text.empty()) return false;
    const char letter = text.front();
    if (value.format == ValueFormat::floating && letter >= '0' && letter <= '9')
        return take_bits(value, text);
    text.remove_prefix(1);
    switch (letter) {
        case 'd':
            value.format = ValueFormat::number;
            break;
        case 'i':
            value.format = ValueFormat::signed_number;
            break;
        case 'u':
        case 'x':
        case 'o':
            value.format = ValueFormat::unsigned_number;
            break;
        case 'p':
            value.format = ValueFormat::pointer;
            break;
        case 'c':
            value.format = ValueFormat::character;
            value.size = 1;
            break;
        case 'f':
            value.format = ValueFormat::floating;
            value.size = 8;
            break;
        case 's':
        case 'S':
            value.format = ValueFormat::text;
            break;
        case 'e':
            return take_enumeration(value, text);
        case 't':
            return take_structure(value, text);
        default:
            return false;
    }
    return take_bits(value, text);
}

std::optional<ValueSpec> value_in(std::string_view text, bool wide, bool results) {
    ValueSpec value;
    value.size = wide ? 8 : 4;
    const std::string_view all = text;
    if (results) {
        if (!text.starts_with("retval")) return std::nullopt;
        text.remove_prefix(6);
    } else if (!take_index(text, "arg")) {
        text = all;
        if (!take_index(text, "fparg")) return std::nullopt;
        value.format = ValueFormat::floating;
        value.size = 8;
    }
    value.name = all.substr(0, all.size() - text.size());
    if (text.starts_with('/')) {
        if (!take_format(value, text.substr(1))) return std::nullopt;
    } else {
        take_place(value, text);
        if (!text.empty() && text.front() != '%') return std::nullopt;
    }
    if (value.format == ValueFormat::text) value.size = 2;
    if (value.place.empty()) {
        // Floating ones are counted by themselves: `fparg1` and `arg1/f64` are the same.
        const std::string_view number = std::string_view{value.name}.substr(
            std::min(value.name.find_first_of("0123456789"), value.name.size()));
        value.place = fmt::format("{}{}", value.format == ValueFormat::floating ? 'f' : 'i', number);
    }
    return value;
}

bool is_value(std::string_view text) {
    return text.starts_with("arg") || text.starts_with("fparg") || text.starts_with("retval");
}

/// A part of a specification: `name@module,arg1,arg2`.
struct Rule {
    NamePattern pattern;
    std::string module;             ///< empty: any; "plt": entries of the program's linkage table
    std::vector<ValueSpec> values;  ///< empty: what is known of the function
};

void merge(std::vector<ValueSpec>& into, const std::vector<ValueSpec>& values) {
    for (const ValueSpec& value : values) {
        const auto same = std::ranges::find(into, value.place, &ValueSpec::place);
        if (same != into.end()) {
            *same = value;
        } else if (into.size() < kMaxValues) {
            into.push_back(value);
        }
    }
}

bool same_but_case(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::ranges::equal(a, b, {}, lower, lower);
}

std::vector<Rule> rules_in(std::string_view text, const Info& info, bool results) {
    std::vector<Rule> rules;
    for (const std::string_view part : split_all(text, ';')) {
        const auto at = part.find('@');
        const std::string_view name = part.substr(0, at);
        if (name.empty() || rules.size() == kMaxRules) continue;
        Rule rule{.pattern = NamePattern{info.pattern, simple_name(name)}, .module = {}, .values = {}};
        if (at != std::string_view::npos) {
            rule.values = parse_values(part.substr(at), info.wide, results);
            for (const std::string_view word : split_all(part.substr(at + 1), ','))
                if (!is_value(word) && rule.module.empty()) rule.module = word;
        }
        rules.push_back(std::move(rule));
    }
    return rules;
}

/// Specifications by name: those that uftrace has for the C library's functions.
class NamedValues {
  public:
    NamedValues(std::string_view text, bool wide, bool results) {
        for (const std::string_view part : split_all(text, ';')) {
            const auto at = part.find('@');
            if (at == std::string_view::npos) continue;
            merge(by_name_[simple_name(part.substr(0, at))], parse_values(part.substr(at), wide, results));
        }
    }
    const std::vector<ValueSpec>* find(const std::string& name) const {
        const auto at = by_name_.find(name);
        return at == by_name_.end() ? nullptr : &at->second;
    }

  private:
    std::unordered_map<std::string, std::vector<ValueSpec>> by_name_;
};

bool is_in_module(const Rule& rule, const Described& function) {
    if (rule.module.empty()) return true;
    if (same_but_case(rule.module, "plt")) return function.linkage_table && function.of_program;
    return function.module.starts_with(rule.module);
}

}  // namespace

std::vector<std::string_view> split_all(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const auto end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return parts;
}

std::vector<ValueSpec> parse_values(std::string_view text, bool wide, bool results) {
    std::vector<ValueSpec> values;
    if (text.starts_with('@')) text.remove_prefix(1);
    for (const std::string_view word : split_all(text, ',')) {
        if (!is_value(word) || word.starts_with("retval") != results) continue;
        const auto value = value_in(word, wide, results);
        if (!value) break;
        merge(values, {*value});
    }
    return values;
}

std::string simple_name(std::string_view linkage_name) {
    if (!looks_mangled(linkage_name)) return std::string{linkage_name};
    const std::string brief = demangle(linkage_name).brief;
    if (brief.empty()) return std::string{linkage_name};
    return without_arguments(brief);
}

/// Of arguments or of results.
struct RuleSet {
    std::vector<Rule> rules;
    NamedValues named;

    std::vector<ValueSpec> known(const Described& function, const std::string& name, bool wide,
                                 bool results) const {
        const std::string_view notes = results ? function.debug_results : function.debug_arguments;
        std::vector<ValueSpec> values = parse_values(notes, wide, results);
        if (!values.empty()) return values;
        const auto* found = named.find(name);
        return found == nullptr ? values : *found;
    }

    std::vector<ValueSpec> of(const Described& function, const std::string& name, const Info& info,
                              bool results) const {
        std::vector<ValueSpec> values;
        for (const Rule& rule : rules)
            if (is_in_module(rule, function) && rule.pattern.matches(name))
                merge(values, rule.values.empty() ? known(function, name, info.wide, results) : rule.values);
        if (values.empty() && info.auto_args) return known(function, name, info.wide, results);
        return values;
    }
};

struct Signatures::State {
    explicit State(const Info& its_info)
        : info(its_info),
          arguments{rules_in(info.arguments, info, false),
                    NamedValues{info.auto_arguments, info.wide, false}},
          results{rules_in(info.results, info, true), NamedValues{info.auto_results, info.wide, true}} {}

    Info info;
    RuleSet arguments;
    RuleSet results;
};

Signatures::Signatures(const Info& info) : state_(std::make_unique<State>(info)) {}
Signatures::~Signatures() = default;
Signatures::Signatures(Signatures&&) noexcept = default;
Signatures& Signatures::operator=(Signatures&&) noexcept = default;

Signature Signatures::of(const Described& function) const {
    const std::string name = simple_name(function.linkage_name);
    return {.arguments = state_->arguments.of(function, name, state_->info, false),
            .results = state_->results.of(function, name, state_->info, true)};
}

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
