#include "wrappers/hot/kernel_credit.h"

#include <algorithm>
#include <numeric>

#include "wrappers/hot/waiting_functions.h"

namespace rdam {
namespace {

enum class Order : std::uint8_t { innermost_first, outermost_first };

/// +1: speaks for innermost first, -1: for outermost first, 0: says nothing.
int vote(const PerfRow& row, const std::vector<std::string_view>& frames, bool has_children,
         const FrameNames& names) {
    if (frames.size() < 2) return 0;
    // Kernel code may itself be interrupted: the frames outside all entries show which end is the inner one.
    const auto entry = [](std::string_view frame) { return is_kernel_entry(frame); };
    const auto first_entry = std::find_if(frames.begin(), frames.end(), entry);
    if (first_entry != frames.end()) {
        const auto behind_last = std::find_if(frames.rbegin(), frames.rend(), entry).base();
        if (behind_last != frames.end() && names.only_kernel(*behind_last)) return -1;
        if (first_entry != frames.begin() && names.only_kernel(*(first_entry - 1))) return 1;
    }
    const bool first = frames.front() == row.symbol;
    const bool last = frames.back() == row.symbol;
    if (first == last) return 0;
    if (last) return -1;
    // With Children a row's chains begin with it in either order.
    return has_children ? 0 : 1;
}

Order order_of(const PerfReport& report, const FrameNames& names) {
    long votes = 0;
    for (const auto& row : report.rows)
        for (const auto& chain : row.chains)
            votes += vote(row, chain.frames, report.has_children, names);
    if (votes != 0) return votes > 0 ? Order::innermost_first : Order::outermost_first;
    // perf's own defaults.
    return report.has_children ? Order::outermost_first : Order::innermost_first;
}

struct Caller {
    std::size_t kernel = 0;  ///< frames of the kernel's; 0: none or unknown
    std::size_t index = 0;   ///< of the first frame behind them that can be wrapped
    std::string_view name;   ///< empty: there is none
};

Caller innermost_user(const std::vector<std::string_view>& innermost_first, const FrameNames& names) {
    Caller caller;
    caller.kernel = names.kernel_frames(innermost_first);
    if (caller.kernel == 0) return caller;
    for (caller.index = caller.kernel; caller.index < innermost_first.size(); ++caller.index) {
        caller.name = names.wrappable(innermost_first[caller.index]);
        if (!caller.name.empty()) break;
    }
    return caller;
}

/// Every sample below a kernel entry passes through exactly one pair (kernel frame, user frame next to it).
/// With Children its chain is printed under each function of the chain, so one row must be chosen: the
/// kernel's side of the pair when chains lead outwards, the user's side when they lead inwards.
bool counts_here(const PerfRow& row, const std::vector<std::string_view>& innermost_first,
                 const Caller& caller, const PerfReport& report, Order order) {
    if (!report.has_children) return row.level == 'k';
    if (order == Order::innermost_first)
        return row.level == 'k' && innermost_first[caller.kernel - 1] == row.symbol;
    return row.level != 'k' && innermost_first[caller.index] == row.symbol;
}

/// Innermost first, or with Children in either order, the first name of a chain is its row's. Sorted by
/// symbol first
/// (--sort sym) perf leaves it out where the chain is all of the row. (With Children and outermost first,
/// rows without callees do not begin with their name either; they never lead into the kernel, so the name
/// does no harm there.)
bool lacks_own_name(const PerfRow& row, const PerfReport& report, Order order) {
    const bool own_first = order == Order::innermost_first || report.has_children;
    return own_first && !is_address(row.symbol) &&
           std::none_of(row.chains.begin(), row.chains.end(), [&](const PerfChain& chain) {
               return !chain.frames.empty() && chain.frames.front() == row.symbol;
           });
}

std::vector<std::string_view> chain_from_inside(const PerfRow& row, const PerfChain& chain, Order order,
                                                bool add_own) {
    auto frames = chain.frames;
    if (add_own) frames.insert(frames.begin(), row.symbol);
    if (order == Order::outermost_first) std::reverse(frames.begin(), frames.end());
    return frames;
}

std::vector<KernelCredit> credits_of_row(const PerfRow& row, const PerfReport& report, Order order,
                                         const FrameNames& names) {
    const bool add_own = lacks_own_name(row, report, order);
    std::vector<KernelCredit> credits;
    for (const auto& chain : row.chains) {
        const auto frames = chain_from_inside(row, chain, order, add_own);
        const auto caller = innermost_user(frames, names);
        if (!caller.name.empty() && counts_here(row, frames, caller, report, order))
            credits.push_back({caller.name, chain.percent});
    }
    return credits;
}

/// perf's fractal percentages leave a function's own samples out, so that its callees seem to take all of its
/// time.
void limit_to(double percent, std::vector<KernelCredit>& credits) {
    const auto sum =
        std::accumulate(credits.begin(), credits.end(), 0.0,
                        [](double total, const KernelCredit& credit) { return total + credit.percent; });
    if (sum <= percent) return;
    for (auto& credit : credits)
        credit.percent *= percent / sum;
}

std::vector<KernelCredit> credits_of_chains(const PerfReport& report, const FrameNames& names) {
    const auto order = order_of(report, names);
    std::vector<KernelCredit> all;
    for (const auto& row : report.rows) {
        auto credits = credits_of_row(row, report, order, names);
        if (report.has_children && row.level != 'k') limit_to(row.children - row.self, credits);
        all.insert(all.end(), credits.begin(), credits.end());
    }
    return all;
}

/// Functions that do little but ask the kernel: they wait, or work on one lock or descriptor.
bool calls_only_the_kernel(std::string_view symbol, const Catalogue& catalogue) {
    const auto* known = catalogue.find(well_known_name(symbol, catalogue));
    if (known == nullptr || known->parameters.empty()) return false;
    return known->waits ||
           (known->works_on_object() && known->keys.front() == known->parameters.front().name);
}

}  // namespace

std::vector<KernelCredit> kernel_credits(const PerfReport& report, const FrameNames& names,
                                         const Catalogue& catalogue) {
    if (report.has_chains) return credits_of_chains(report, names);
    std::vector<KernelCredit> credits;
    if (!report.has_children) return credits;
    for (const auto& row : report.rows)
        if (row.level == '.' && row.children > row.self && calls_only_the_kernel(row.symbol, catalogue))
            credits.push_back({row.symbol, row.children - row.self});
    return credits;
}

}  // namespace rdam
