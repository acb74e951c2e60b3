#include "tools/rdam/screen/save.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "analyzer/settings/settings.h"

namespace rdam::screen {
namespace {

/// What a file says already stays said, even where it is the default.
template <class T>
std::optional<T> said(const T& now, const T& by_default, const std::optional<T>& before) {
    if (now == by_default && !before) return std::nullopt;
    return now;
}

}  // namespace

rules::Rules wanted_rules(const feedback::Session& session, const RulesPlace& place) {
    const score::Settings& settings = session.settings();
    const score::Settings plain;
    rules::Rules wanted = session.rules();
    wanted.deep_keys = said(settings.sequences.deep_keys, false, place.rules.deep_keys);
    wanted.fold_loops = said(settings.sequences.fold_loops, false, place.rules.fold_loops);
    wanted.baseline =
        said(score::to_text(settings.baseline), score::to_text(plain.baseline), place.rules.baseline);
    wanted.threshold = said(settings.threshold, plain.threshold, place.rules.threshold);
    return wanted;
}

bool would_replace_unread(const RulesPlace& place, const std::string& file) {
    std::error_code error;
    if (!std::filesystem::exists(file, error)) return false;
    return !(place.in_force && std::filesystem::equivalent(file, place.file, error));
}

Result<void> save_rules(feedback::Session& session, RulesPlace& place, const std::string& file) {
    rules::Rules wanted = wanted_rules(session, place);
    if (auto written = rules::write_rules(file, wanted); !written) return written;
    session.mark_saved();
    place = {.file = file, .in_force = true, .rules = std::move(wanted)};
    return {};
}

}  // namespace rdam::screen
