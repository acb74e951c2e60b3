#include "tools/rdam/screen/rule_changes.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "analyzer/sequences/keys.h"
#include "analyzer/settings/settings.h"

namespace rdam::feedback {
namespace {

using Functions = std::vector<std::uint32_t>;

Functions functions_called(const trace::TraceInfo& info, std::string_view name) {
    auto found = mining::find_functions(info, name);
    return found ? std::move(*found) : Functions{};
}

/// The functions that cannot be distinguished from it by name.
Functions with_namesakes(const trace::TraceInfo& info, std::uint32_t function) {
    return functions_called(info, rule_name(info, function));
}

bool contains(const Functions& functions, std::uint32_t function) {
    return std::ranges::find(functions, function) != functions.end();
}

void add(std::vector<std::string>& list, std::string entry) {
    if (std::ranges::find(list, entry) == list.end()) list.push_back(std::move(entry));
}

std::string parameter_name(const trace::TraceInfo& info, std::uint32_t function, std::uint16_t parameter) {
    return rule_name(info, function) + ":" +
           (parameter == mining::kResultKey ? mining::kResultName
                                            : info.functions[function].parameters[parameter].name);
}

/// What an entry says of one function, or of one parameter of one.
struct Part {
    mining::ParameterPlace place;
    std::string entry;
};
using Parts = std::function<std::vector<Part>(const std::string& entry)>;

/// Takes every entry out that is about a part that `concerns`, and puts its other parts in its place.
void remove(std::vector<std::string>& list, const Parts& parts,
            const std::function<bool(const Part&)>& concerns) {
    std::vector<std::string> changed;
    for (std::string& entry : list) {
        const std::vector<Part> all = parts(entry);
        if (std::ranges::none_of(all, concerns)) {
            add(changed, std::move(entry));
            continue;
        }
        for (const Part& part : all)
            if (!concerns(part)) add(changed, part.entry);
    }
    list = std::move(changed);
}

std::vector<Part> function_parts(const trace::TraceInfo& info, const std::string& entry) {
    std::vector<Part> parts;
    for (const std::uint32_t function : functions_called(info, entry))
        parts.push_back({{function, 0}, rule_name(info, function)});
    return parts;
}

std::vector<Part> key_parts(const trace::TraceInfo& info, const std::string& entry) {
    std::vector<Part> parts;
    const auto places = mining::find_parameters(info, entry);
    if (!places) return parts;
    for (const mining::ParameterPlace& place : *places)
        parts.push_back({place, parameter_name(info, place.function, place.parameter)});
    return parts;
}

void set_function(const trace::TraceInfo& info, std::uint32_t function, bool value,
                  std::vector<std::string>& list) {
    const Functions same = with_namesakes(info, function);
    remove(
        list, [&](const std::string& entry) { return function_parts(info, entry); },
        [&](const Part& part) { return contains(same, part.place.function); });
    if (value) add(list, rule_name(info, function));
}

bool is_key(const trace::TraceInfo& info, const score::NamedRules& rules, std::uint32_t function,
            std::uint16_t parameter) {
    const score::NamedRules known = score::known_rules(info, rules);
    const auto table = mining::make_keys(info, {{known.keys, known.no_keys, known.split_by_context}});
    return table && std::ranges::any_of((*table)[function], [&](const mining::KeyWord& key) {
               return key.parameter == parameter;
           });
}

void set_parameter(const trace::TraceInfo& info, std::uint32_t function, std::uint16_t parameter, bool value,
                   score::NamedRules& rules) {
    const std::string entry = parameter_name(info, function, parameter);
    for (std::vector<std::string>* list : {&rules.keys, &rules.no_keys})
        remove(
            *list, [&](const std::string& text) { return key_parts(info, text); },
            [&](const Part& part) { return part.entry == entry; });
    if (is_key(info, rules, function, parameter) == value) return;
    add(value ? rules.keys : rules.no_keys, entry);
}

}  // namespace

std::string rule_name(const trace::TraceInfo& info, std::uint32_t function) {
    const trace::FunctionInfo& named = info.functions[function];
    if (named.module.empty() || functions_called(info, named.name).size() == 1) return named.name;
    return named.module + ":" + named.name;
}

void set_key(const trace::TraceInfo& info, std::uint32_t function, std::uint16_t parameter, bool is_key,
             score::NamedRules& rules) {
    if (parameter == mining::kCallerKey)
        set_function(info, function, is_key, rules.split_by_context);
    else
        set_parameter(info, function, parameter, is_key, rules);
}

void set_ignored(const trace::TraceInfo& info, std::uint32_t function, bool ignored,
                 score::NamedRules& rules) {
    set_function(info, function, ignored, rules.ignore);
}

score::NamedRules combined_rules(const trace::TraceInfo& info, const score::Settings& settings) {
    score::NamedRules rules = settings.rules;
    const auto set_keys = [&](const std::vector<std::string>& entries, bool value) {
        for (const std::string& entry : entries)
            for (const mining::ParameterPlace& place :
                 mining::find_parameters(info, entry).value_or(std::vector<mining::ParameterPlace>{}))
                set_key(info, place.function, place.parameter, value, rules);
    };
    set_keys(settings.given.keys, true);
    set_keys(settings.given.no_keys, false);
    for (const std::string& name : settings.given.split_by_context)
        add(rules.split_by_context, name);
    for (const std::string& name : settings.given.ignore)
        add(rules.ignore, name);
    return rules;
}

}  // namespace rdam::feedback
