// The variables examined in vain: a hint may exclude no more than these.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/hints/finders/finders.h"

namespace rdam::hints {
namespace {

bool processors_known(const LossPart& loss) {
    return std::ranges::any_of(loss.row.sample.calls,
                               [](const auto& call) { return call.enter_cpu != trace::kNoCpu; });
}

bool calls_others(const LossPart& loss) {
    return std::ranges::any_of(loss.row.sample.calls, [](const auto& call) { return call.inside > 0; });
}

/// The variables of the calls that explain less than half of the loss.
std::vector<std::string> asked_in_vain(const LossPart& loss) {
    std::vector<std::string> names;
    for (const score::Explained& each : *loss.explained) {
        const bool about_inside = each.name == kCallsInside || each.name == kKeysInside;
        if (each.explains < kWorthTelling && (!about_inside || calls_others(loss)))
            names.push_back(each.name);
    }
    return names;
}

std::string together(const std::vector<std::string>& names) {
    return fmt::format("{}", fmt::join(names, ", "));
}

bool any_explains(const Hints& hints) {
    return std::ranges::any_of(hints, [](const score::Hint& hint) { return hint.kind == kParameter; });
}

std::string waits_text(const LossPart& loss, const std::vector<std::string>& asked, const Hints& hints) {
    return fmt::format("this function waits{}{}: find out what makes it wait",
                       loss.function.busy_waits ? " (it spins, so its time on-CPU may be waiting, too)" : "",
                       asked.empty()
                           ? ""
                           : fmt::format(", and no {}variable examined explains half of the loss ({})",
                                         any_explains(hints) ? "other " : "", together(asked)));
}

}  // namespace

score::Hint unexplained(const LossPart& loss, const Hints& hints) {
    std::vector<std::string> asked = asked_in_vain(loss);
    if (loss.function.waits || loss.function.busy_waits)
        return {.kind = "waits", .text = waits_text(loss, asked, hints)};
    if (!hints.empty())
        return {
            .kind = "no_parameter",
            .text = fmt::format("no {}variable examined explains half of the loss ({}); work that depends "
                                "on other data would not show",
                                any_explains(hints) ? "other " : "", together(asked))};
    if (processors_known(loss)) asked.emplace_back("processor");
    asked.emplace_back("time in the run");
    return {
        .kind = "no_parameter",
        .text = fmt::format("no variable examined explains half of the loss ({}): interference, or work that "
                            "depends on other data; a recording with one thread tells which (--alone)",
                            together(asked))};
}

}  // namespace rdam::hints
