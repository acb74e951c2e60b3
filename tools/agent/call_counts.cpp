#include "tools/agent/call_counts.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace rdam::agent {
namespace {

using Numbers = std::array<std::uint64_t, shm::kCallCounters>;

struct Published {
    Numbers calls{};
    std::size_t counters = 0;
    std::uint64_t until = 0;
};

/// Nothing: none are there, or the thread is at it.
std::optional<Published> read_once(const SharedMemory& shared, const shm::ThreadSlot& slot) {
    Published published{.until = slot.counted_until.load(std::memory_order_acquire)};
    if (published.until == 0) return {};
    published.counters = std::min<std::size_t>(slot.call_counters.load(), shm::kCallCounters);
    const auto index = static_cast<std::uint32_t>(&slot - shared.control().threads);
    for (std::size_t i = 0; i < published.counters; ++i)
        published.calls.at(i) = shared.published_calls(index).calls[i].load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (slot.counted_until.load(std::memory_order_relaxed) != published.until) return {};
    return published;
}

}  // namespace

void note_calls(const SharedMemory& shared, const shm::ThreadSlot& slot, trace::TraceInfo& info,
                trace::ThreadInfo& thread) {
    constexpr int kLooks = 3;  // a thread that lives publishes at most once in some microseconds
    std::optional<Published> published;
    for (int i = 0; i < kLooks && !published; ++i)
        published = read_once(shared, slot);
    if (!published) return;
    thread.calls.clear();
    thread.calls_until = published->until;
    for (std::size_t i = 0; i < published->counters; ++i) {
        const std::uint32_t function = shared.control().counted[i];
        if (function >= info.functions.size()) continue;
        info.functions[function].counted = true;
        if (published->calls.at(i) > 0) thread.calls.push_back({function, published->calls.at(i)});
    }
    std::ranges::sort(thread.calls, {}, &trace::CallCount::function);
}

}  // namespace rdam::agent
