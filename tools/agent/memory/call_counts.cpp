#include "tools/agent/memory/call_counts.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace rdam::agent {
namespace {

using Numbers = std::array<std::uint64_t, shm::kCallCounters>;

struct Published {
    Numbers calls{};
    std::uint32_t counters = 0;
    std::uint64_t until = 0;
};

/// Nothing: the thread is writing, or the memory was overwritten. Without counters: there are none.
std::optional<Published> read_once(const SharedMemory& shared, const shm::ThreadSlot& slot) {
    Published published{.until = slot.counted_until.load(std::memory_order_acquire)};
    if (published.until == 0) return published;
    const auto counters = slot.call_counters.load();
    if (!counters.intact || counters.value > shm::kCallCounters) return {};
    published.counters = counters.value;
    const auto index = static_cast<std::uint32_t>(&slot - shared.control().threads);
    for (std::size_t i = 0; i < published.counters; ++i)
        published.calls.at(i) = shared.published_calls(index).calls[i].load(std::memory_order_relaxed);
    const std::uint64_t check = slot.counted_check.load(std::memory_order_relaxed);
    if (shm::check_of(published.calls.data(), published.counters * sizeof published.calls[0],
                      published.until) != check)
        return {};
    return published;
}

using Functions = std::array<std::uint32_t, shm::kCallCounters>;

/// Which function each counter is for.
std::optional<Functions> read_functions(const shm::Control& control) {
    Functions functions;
    std::memcpy(functions.data(), control.counted, sizeof functions);
    if (shm::check_of(functions.data(), sizeof functions, 0) != control.counted_check.load()) return {};
    return functions;
}

/// The process may be at it.
template <class Read>
auto try_to_read(Read read) {
    constexpr int kLooks = 10;
    auto found = read();
    for (int i = 1; i < kLooks && !found; ++i)
        found = read();
    return found;
}

}  // namespace

bool note_calls(const SharedMemory& shared, const FunctionNumbers& numbers, const shm::ThreadSlot& slot,
                trace::TraceInfo& info, trace::ThreadInfo& thread) {
    const auto published = try_to_read([&] { return read_once(shared, slot); });
    if (!published) return false;
    if (published->until == 0) return true;
    const auto functions = try_to_read([&] { return read_functions(shared.control()); });
    if (!functions) return false;
    thread.calls.clear();
    thread.calls_until = published->until;
    for (std::size_t i = 0; i < published->counters; ++i) {
        const std::uint32_t function = numbers.function(functions->at(i));
        if (function >= info.functions.size()) continue;
        info.functions[function].counted = true;
        if (published->calls.at(i) > 0) thread.calls.push_back({function, published->calls.at(i)});
    }
    std::ranges::sort(thread.calls, {}, &trace::CallCount::function);
    return true;
}

std::optional<std::vector<std::uint32_t>> counted_numbers(const shm::Control& control) {
    const auto stored = control.call_counters.load();
    // Before the first one is stored.
    if (stored.intact && stored.value == 0) return std::vector<std::uint32_t>{};
    const auto functions = try_to_read([&] { return read_functions(control); });
    if (!functions || !stored.intact || stored.value > shm::kCallCounters) return {};
    return std::vector<std::uint32_t>(functions->begin(), functions->begin() + stored.value);
}

}  // namespace rdam::agent
