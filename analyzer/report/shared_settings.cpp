#include "analyzer/report/shared_settings.h"

#include <utility>

#include "analyzer/report/selection.h"

namespace rdam::score {

SharedSettings::SharedSettings(Settings settings) : settings_(std::move(settings)) {
    for (const RuleList& list : kRuleLists) {
        for (const std::string& text : settings_.given.*list.names)
            names_.push_back({&list, nullptr, text});
        for (const std::string& text : settings_.rules.*list.names)
            names_.push_back({&list, nullptr, text, true});
    }
    for (const auto selected : {&Selection::threads, &Selection::functions}) {
        for (const std::string& text : settings_.selection.*selected)
            names_.push_back({nullptr, selected, text});
    }
}

Result<void> SharedSettings::find(const Name& name, const trace::TraceInfo& info) {
    if (name.list != nullptr) return find_named(info, *name.list, name.text);
    Selection selection;
    selection.*name.selected = {name.text};
    const auto resolved = resolve_selection(info, selection);
    if (!resolved) return tl::unexpected{resolved.error()};
    return {};
}

void SharedSettings::look_at(const trace::TraceInfo& info) {
    for (Name& name : names_) {
        if (name.found) continue;
        const auto found = find(name, info);
        name.found = found.has_value();
        if (!found && !name.error) name.error = found.error();
    }
}

Result<void> SharedSettings::all_found() const {
    for (const Name& name : names_) {
        if (!name.rule && !name.found && name.error) return tl::unexpected{*name.error};
    }
    return {};
}

std::vector<std::string> SharedSettings::unused_rules() const {
    std::vector<std::string> out;
    for (const Name& name : names_) {
        if (name.rule && !name.found && name.error)
            out.push_back(fmt::format("{}: {}", name.list->title, name.error->message));
    }
    return out;
}

Settings SharedSettings::for_trace(const trace::TraceInfo& info) const {
    Settings known = settings_;
    known.selection.may_miss = true;
    for (const Name& name : names_) {
        const bool optional = name.list != nullptr && !name.rule;
        if (optional && !find(name, info)) std::erase(known.given.*name.list->names, name.text);
    }
    return known;
}

}  // namespace rdam::score
