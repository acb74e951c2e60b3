// Memory is put in place when it is touched first: the call that does so pays for it.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <vector>

#include "analyzer/hints/finders.h"
#include "analyzer/hints/variables.h"
#include "tools/base/units.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::hints {
namespace {

constexpr unsigned kPageBits = 12;

/// Whether no call is missing, so that it is known which pages came before.
bool has_all_calls(const LossPart& loss) {
    return !loss.row.sampled &&
           std::ranges::all_of(loss.row.sample.calls, [](const auto& call) { return call.weight == 1; });
}

/// By call of the sample.
std::vector<bool> gets_new_page(const score::Sample& sample, std::uint16_t word) {
    std::vector<std::size_t> order(sample.calls.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return sample.calls[i].begin; });
    std::unordered_set<std::uint64_t> seen;
    std::vector<bool> is_new(sample.calls.size());
    for (const std::size_t i : order)
        is_new[i] = seen.insert(sample.word(i, word) >> kPageBits).second;
    return is_new;
}

/// Some of these pages may have been touched by others before: the fastest of the calls says nothing.
void add_if_explains(const LossPart& loss, const trace::ParameterInfo& parameter, Hints& hints) {
    constexpr double kSlower = 1.5;
    const std::vector<bool> is_new = gets_new_page(loss.row.sample, parameter.word);
    const Shares shares = shares_of(loss, [&](std::size_t i) { return is_new[i]; });
    if (!stands_out(shares)) return;
    const double there = median_ns(loss, [&](std::size_t i) { return is_new[i]; });
    const double elsewhere = median_ns(loss, [&](std::size_t i) { return !is_new[i]; });
    if (there < kSlower * elsewhere) return;
    hints.push_back(
        {.kind = HintKind::first_touch,
         .text = fmt::format("{:.0f} % of the lost time is in the {} of the calls whose {} points to a "
                             "page that no earlier call was given: they take {} (median), the others {}, "
                             "which looks like page faults on first touch",
                             100 * shares.lost, share_text(shares.calls), parameter.name,
                             output::human_time(there), output::human_time(elsewhere)),
         .share = shares.lost,
         .parameter = parameter.name});
}

}  // namespace

void find_first_touch(const LossPart& loss, Hints& hints) {
    if (!has_all_calls(loss)) return;
    for (const trace::ParameterInfo& parameter : loss.function.parameters)
        if (static_cast<ValueKind>(parameter.kind) == ValueKind::pointer &&
            parameter.word < loss.row.sample.words_per_call)
            add_if_explains(loss, parameter, hints);
}

}  // namespace rdam::hints
