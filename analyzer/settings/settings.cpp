#include "analyzer/settings/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <utility>

#include "analyzer/sequences/keys.h"

namespace rdam::score {

std::optional<Baseline> parse_baseline(const std::string& text) {
    using Kind = Baseline::Kind;
    static const std::regex percentile("p([0-9]{1,2}([.][0-9]{1,6})?)");
    if (text == "thread") return Baseline{};
    if (text == "process") return Baseline{.kind = Kind::process};
    if (text == "minimum") return Baseline{.kind = Kind::minimum};
    std::smatch match;
    if (!std::regex_match(text, match, percentile)) return std::nullopt;
    const double percent = std::stod(match[1]);
    if (percent > 50) return std::nullopt;
    return Baseline{.kind = Kind::percentile, .fraction = percent / 100};
}

std::string to_text(const Baseline& baseline) {
    using Kind = Baseline::Kind;
    if (baseline.kind == Kind::thread) return "thread";
    if (baseline.kind == Kind::process) return "process";
    if (baseline.kind == Kind::minimum) return "minimum";
    std::string digits = fmt::format("{:.6f}", baseline.fraction * 100);
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.ends_with('.')) digits.pop_back();
    return "p" + digits;
}

namespace {

using Names = std::vector<std::string>;

bool has(const Names& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// What is given wins.
void overrule(Names& names, const Names& by_the_opposite) {
    std::erase_if(names, [&](const std::string& name) { return has(by_the_opposite, name); });
}

}  // namespace

Comparison comparison(const Settings& settings, NamedRules known) {
    overrule(known.keys, settings.given.no_keys);
    overrule(known.no_keys, settings.given.keys);
    for (const RuleList& list : kRuleLists)
        for (const std::string& name : settings.given.*list.names)
            if (!has(known.*list.names, name)) (known.*list.names).push_back(name);
    return {.baseline = settings.baseline,
            .rules = std::move(known),
            .deep_keys = settings.sequences.deep_keys,
            .fold_loops = settings.sequences.fold_loops,
            .rules_file = settings.rules_file};
}

Result<Partners> find_partners(const trace::TraceInfo& info, const std::string& text) {
    const std::size_t sign = text.find('=');
    if (sign == std::string::npos) return fail("{}: names no partner; write it as in take=give", text);
    auto waiters = sequences::find_functions(info, text.substr(0, sign));
    if (!waiters) return tl::unexpected{waiters.error()};
    auto partners = sequences::find_functions(info, text.substr(sign + 1));
    if (!partners) return tl::unexpected{partners.error()};
    return Partners{std::move(*waiters), std::move(*partners)};
}

Result<void> find_named(const trace::TraceInfo& info, const RuleList& list, const std::string& text) {
    const bool of_parameters = list.names == &NamedRules::keys || list.names == &NamedRules::no_keys;
    if (of_parameters) {
        const auto keys = sequences::make_keys(info, {{.add = {&text, 1}}});
        if (!keys) return tl::unexpected{keys.error()};
    } else if (list.names == &NamedRules::given_back_by || list.names == &NamedRules::woken_by) {
        const auto partners = find_partners(info, text);
        if (!partners) return tl::unexpected{partners.error()};
    } else {
        const auto functions = sequences::find_functions(info, text);
        if (!functions) return tl::unexpected{functions.error()};
    }
    return {};
}

NamedRules known_rules(const trace::TraceInfo& info, const NamedRules& rules) {
    NamedRules known;
    for (const RuleList& list : kRuleLists) {
        for (const std::string& text : rules.*list.names) {
            if (find_named(info, list, text)) (known.*list.names).push_back(text);
        }
    }
    return known;
}

}  // namespace rdam::score
