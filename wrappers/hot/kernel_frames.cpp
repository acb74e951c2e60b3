#include "wrappers/hot/kernel_frames.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace rdam {
namespace {

constexpr std::string_view kInlined = " (inlined)";

bool is_kernel_address(std::string_view symbol) {
    constexpr std::uint64_t kUpperHalf = 0xffff800000000000;
    if (!is_address(symbol) || symbol.size() < 3) return false;
    std::uint64_t address = 0;
    std::from_chars(symbol.data() + 2, symbol.data() + symbol.size(), address, 16);
    return address >= kUpperHalf;
}

/// What kernel entries call: known to be the kernel's in any report.
bool is_next_to_kernel_entry(std::string_view symbol) {
    constexpr std::array<std::string_view, 5> kFirst = {"do_syscall_64", "exc_page_fault", "sysvec_",
                                                        "common_interrupt", "irqentry_exit_to_user_mode"};
    return std::any_of(kFirst.begin(), kFirst.end(), [&](auto first) { return symbol.starts_with(first); });
}

}  // namespace

bool is_address(std::string_view symbol) {
    return symbol == "0" || (symbol.size() > 2 && symbol.starts_with("0x") &&
                             symbol.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string_view::npos);
}

bool is_inlined(std::string_view symbol) {
    return symbol.size() > kInlined.size() && symbol.substr(symbol.size() - kInlined.size()) == kInlined;
}

std::string_view plain_name(std::string_view symbol) {
    constexpr std::string_view kInternal = "__GI_";
    if (is_inlined(symbol)) symbol.remove_suffix(kInlined.size());
    symbol = symbol.substr(0, symbol.find('@'));
    if (symbol.starts_with(kInternal)) symbol.remove_prefix(kInternal.size());
    const auto first = symbol.find_first_not_of('_');
    return first == std::string_view::npos ? symbol : symbol.substr(first);
}

bool is_kernel_entry(std::string_view symbol) {
    constexpr std::array<std::string_view, 14> kEntries = {
        "entry_SYSCALL",   "entry_SYSENTER",       "entry_INT80",       "asm_exc_",
        "asm_sysvec_",     "asm_common_interrupt", "asm_spurious",      "asm_fred_",
        "asm_load_gs",     "ret_from_fork",        "native_irq_return", "syscall_return_via_sysret",
        "int80_emulation", "async_page_fault"};
    return std::any_of(kEntries.begin(), kEntries.end(),
                       [&](auto entry) { return symbol.starts_with(entry); });
}

FrameNames::FrameNames(const PerfReport& report, const Catalogue& catalogue) : catalogue_(catalogue) {
    for (const auto& row : report.rows) {
        if (is_address(row.symbol)) continue;
        auto& known = known_[row.symbol];
        if (row.level == 'k') {
            known.kernel = true;
        } else if (row.level == '.' || row.level == ' ') {
            known.several_modules = known.several_modules || (known.user && known.module != row.module);
            known.user = true;
            known.module = row.module;
            if (!is_inlined(row.symbol)) by_plain_name_.insert({plain_name(row.symbol), row.symbol});
        }
    }
}

const FrameNames::Known* FrameNames::find(std::string_view symbol) const {
    const auto found = known_.find(symbol);
    return found == known_.end() ? nullptr : &found->second;
}

bool FrameNames::only_kernel(std::string_view symbol) const {
    const auto* known = find(symbol);
    return known != nullptr ? known->kernel && !known->user : is_next_to_kernel_entry(symbol);
}

bool FrameNames::is_user(std::string_view symbol) const {
    const auto* known = find(symbol);
    return known != nullptr && known->user;
}

std::size_t FrameNames::kernel_frames(const std::vector<std::string_view>& innermost_first) const {
    const auto& frames = innermost_first;
    for (auto i = frames.size(); i-- > 0;)
        if (is_kernel_entry(frames[i]) && !is_user(frames[i])) return i + 1;
    std::size_t kernel = 0;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const bool follows = i == kernel && is_kernel_address(frames[i]);
        if (only_kernel(frames[i]) || follows) kernel = i + 1;
    }
    // Without the entry in sight only a name that is known to be the program's ends the kernel's part.
    const bool certain = kernel < frames.size() && (is_user(frames[kernel]) || is_inlined(frames[kernel]));
    return certain ? kernel : 0;
}

std::string_view FrameNames::wrappable(std::string_view frame) const {
    if (frame.empty() || is_address(frame) || frame == "[unknown]" || frame == "[...]") return {};
    if (!is_inlined(frame)) return frame;
    const auto plain = plain_name(frame);
    if (const auto real = by_plain_name_.find(plain); real != by_plain_name_.end()) return real->second;
    // A name with underscores in front whose plain form is a well-known exported function is glibc's for that
    // one.
    const auto* known = frame.starts_with("__") ? catalogue_.find(plain) : nullptr;
    return known != nullptr && known->name == plain ? std::string_view(known->name) : std::string_view{};
}

std::string_view FrameNames::module_of(std::string_view symbol) const {
    const auto* known = find(symbol);
    return known != nullptr && known->user && !known->several_modules ? known->module : std::string_view{};
}

}  // namespace rdam
