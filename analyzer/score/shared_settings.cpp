#include "analyzer/score/shared_settings.h"

#include <utility>

#include "analyzer/mining/keys.h"
#include "analyzer/score/selection.h"

namespace rdam::score {

SharedSettings::SharedSettings(Settings settings) : settings_(std::move(settings)) {
    for (const auto list : {&Settings::keys, &Settings::no_keys, &Settings::ignore}) {
        for (const std::string& text : settings_.*list)
            names_.push_back({list, nullptr, text});
    }
    for (const auto selected : {&Selection::threads, &Selection::functions}) {
        for (const std::string& text : settings_.selection.*selected)
            names_.push_back({nullptr, selected, text});
    }
}

Result<void> SharedSettings::find(const Name& name, const trace::TraceInfo& info) {
    if (name.selected != nullptr) {
        Selection selection;
        selection.*name.selected = {name.text};
        const auto resolved = resolve_selection(info, selection);
        if (!resolved) return tl::unexpected{resolved.error()};
    } else if (name.list == &Settings::ignore) {
        const auto functions = mining::find_functions(info, name.text);
        if (!functions) return tl::unexpected{functions.error()};
    } else {
        const auto keys = mining::make_keys(info, {&name.text, 1}, {});
        if (!keys) return tl::unexpected{keys.error()};
    }
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
        if (!name.found && name.error) return tl::unexpected{*name.error};
    }
    return {};
}

Settings SharedSettings::for_trace(const trace::TraceInfo& info) const {
    Settings known = settings_;
    known.selection.may_miss = true;
    for (const Name& name : names_) {
        if (name.list != nullptr && !find(name, info)) std::erase(known.*name.list, name.text);
    }
    return known;
}

}  // namespace rdam::score
