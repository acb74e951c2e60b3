// The variables examined in vain: a hint may exclude no more than these.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/hints/finders.h"

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
    for (const Explained& each : *loss.explained) {
        const bool about_inside = each.name == kCallsInside || each.name == kKeysInside;
        if (each.explains < kMinExplained && (!about_inside || calls_others(loss)))
            names.push_back(each.name);
    }
    return names;
}

std::string together(const std::vector<std::string>& names) {
    return fmt::format("{}", fmt::join(names, ", "));
}

bool any_explains(const Hints& hints) {
    return std::ranges::any_of(hints, [](const Hint& hint) { return hint.kind == HintKind::parameter; });
}

/// The function that it calls which loses most there; empty: not known, or another one loses much as well.
std::string loses_most_inside(const LossPart& loss) {
    double all = 0, most = 0;
    const score::FunctionRow* worst = nullptr;
    for (const score::FunctionRow& row : loss.report.functions) {
        double lost = 0;
        for (const score::CallerRow& caller : row.callers)
            if (trace::is_caller(loss.info, loss.function, caller.address)) lost += caller.lost_ns;
        all += lost;
        if (lost > most) worst = &row;
        most = std::max(most, lost);
    }
    return worst != nullptr && most >= kMinExplained * all ? worst->name : std::string{};
}

Hint lost_inside_hint(const LossPart& loss, double inside) {
    const std::string most = loses_most_inside(loss);
    return {.kind = HintKind::inside,
            .text = fmt::format("{:.0f} % of the time lost in {}() is lost in the calls inside it{}: look at "
                                "these",
                                100 * inside, loss.row.name,
                                most.empty() ? "" : fmt::format(", most of it in {}()", most)),
            .share = inside};
}

std::string waits_text(const LossPart& loss, const std::vector<std::string>& asked, const Hints& hints) {
    const CatalogueFunction* known = known_wait(loss.function);
    if (known != nullptr && !known->by_design.empty())
        return fmt::format("this function waits {}, which is its purpose", known->by_design);
    if (known != nullptr && !known->runs.empty() && !calls_others(loss))
        return fmt::format(
            "this function runs {} itself, besides waiting for other threads, and no recorded call inside it "
            "distinguishes the two: list the functions that it runs",
            known->runs);
    if (known != nullptr && !known->runs.empty() && !loss.row.sampled)
        return fmt::format(
            "this function runs {} itself, besides waiting for other threads: at least {:.0f} % of the loss "
            "is "
            "in the calls inside it, the rest in waiting or in code that is not recorded",
            known->runs, 100 * lost_inside(loss));
    return fmt::format("this function waits{}{}: find out what makes it wait",
                       loss.function.busy_waits ? " (it spins, so its time on-CPU may be waiting, too)" : "",
                       asked.empty()
                           ? ""
                           : fmt::format(", and no {}variable examined explains half of the loss ({})",
                                         any_explains(hints) ? "other " : "", together(asked)));
}

/// Of a function that may wait: the parts of its loss off the processors, if it waited little. Nothing: more, or not known.
std::optional<OffShare> little_waiting(const LossPart& loss) {
    constexpr double kLittle = 0.1;
    if (loss.function.busy_waits || loss.row.waited_ns > kLittle * loss.row.lost_ns) return std::nullopt;
    const auto off = off_share(loss);
    if (!off || off->blocked >= kLittle) return std::nullopt;
    return off;
}

}  // namespace

std::optional<Hint> unexplained(const LossPart& loss, const Hints& hints, bool named) {
    std::vector<std::string> asked = asked_in_vain(loss);
    if (loss.function.waits || loss.function.busy_waits) {
        if (const double inside = lost_inside(loss); inside >= kMinExplained)
            return lost_inside_hint(loss, inside);
        const CatalogueFunction* const known = known_wait(loss.function);
        const bool only_waits = known == nullptr || (known->by_design.empty() && known->runs.empty());
        if (named && only_waits) return std::nullopt;
        const bool only_preempted =
            std::ranges::all_of(hints, [](const Hint& hint) { return hint.kind == HintKind::preempted; });
        if (const auto off = only_waits ? little_waiting(loss) : std::nullopt;
            off && only_preempted && !asked.empty())
            return Hint{.kind = HintKind::no_parameter,
                        .text = fmt::format(
                            "this function may wait, but was blocked for {:.0f} % and preempted for {:.0f} % "
                            "of the time lost: the rest is what it does itself, or the kernel for it, and no "
                            "variable examined explains half of the loss ({})",
                            100 * off->blocked, 100 * off->preempted, together(asked))};
        return Hint{.kind = HintKind::waits, .text = waits_text(loss, asked, hints)};
    }
    if (!hints.empty())
        return Hint{
            .kind = HintKind::no_parameter,
            .text = fmt::format("no {}variable examined explains half of the loss ({}); work that depends "
                                "on other data would not show",
                                any_explains(hints) ? "other " : "", together(asked))};
    if (processors_known(loss)) asked.emplace_back("processor");
    asked.emplace_back("time in the run");
    return Hint{
        .kind = HintKind::no_parameter,
        .text = fmt::format("no variable examined explains half of the loss ({}): interference, or work that "
                            "depends on other data; a recording with one thread shows which (--alone)",
                            together(asked))};
}

}  // namespace rdam::hints
