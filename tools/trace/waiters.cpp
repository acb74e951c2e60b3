#include "tools/trace/waiters.h"

#include <algorithm>

namespace rdam::trace {

std::vector<std::uint32_t> waiters(std::span<const FunctionInfo> functions) {
    const auto is_wait = [](const FunctionInfo& function) { return function.wait_of != 0; };
    if (std::ranges::none_of(functions, is_wait)) return {};
    std::vector<std::uint32_t> all(functions.size(), kNoFunction);
    for (std::size_t wait = 0; wait < functions.size(); ++wait) {
        if (!is_wait(functions[wait])) continue;
        const auto waiter = std::ranges::find_if(functions, [&](const FunctionInfo& function) {
            return function.object == functions[wait].object && function.address == functions[wait].wait_of &&
                   !is_wait(function);
        });
        if (waiter != functions.end()) all[wait] = static_cast<std::uint32_t>(waiter - functions.begin());
    }
    return all;
}

}  // namespace rdam::trace
