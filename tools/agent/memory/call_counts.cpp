#include "tools/agent/memory/call_counts.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>

namespace rdam::agent {
namespace {

struct Published {
    std::vector<std::uint64_t> calls;  ///< by counter
    std::uint64_t until = 0;
};

/// Nothing: the thread is writing, or the memory was overwritten. Without counters: there are none.
std::optional<Published> read_once(const SharedMemory& shared, const shm::ThreadSlot& slot) {
    Published published{.calls = {}, .until = slot.counted_until.load(std::memory_order_acquire)};
    if (published.until == 0) return published;
    const auto index = static_cast<std::uint32_t>(&slot - shared.control().threads);
    const auto counters = slot.call_counters.load();
    const auto far = shared.control().far_calls[index].load();
    const shm::CallRun run = far.intact ? shm::CallRun::of(far.value) : shm::CallRun{};
    if (!counters.intact || counters.value > (1 + run.blocks) * shm::kNearCounters) return {};
    published.calls.reserve(counters.value);
    std::uint64_t check = 0;
    while (published.calls.size() < counters.value) {
        const std::size_t from = published.calls.size();
        const auto block = static_cast<std::uint32_t>(from / shm::kNearCounters);
        const auto& place = shared.published_calls(block == 0 ? index : run.first + block - 1);
        const std::size_t size = std::min<std::size_t>(counters.value - from, shm::kNearCounters);
        for (std::size_t i = 0; i < size; ++i)
            published.calls.push_back(place.calls[i].load(std::memory_order_relaxed));
        check = shm::check_of(&published.calls[from], size * sizeof published.calls[0], check);
    }
    check = shm::check_of(&published.until, sizeof published.until, check);
    if (check != slot.counted_check.load(std::memory_order_relaxed)) return {};
    return published;
}

/// Which function each counter is for.
std::optional<std::vector<std::uint32_t>> read_functions(const shm::Control& control) {
    std::vector<std::uint32_t> functions(shm::kCallCounters);
    std::memcpy(functions.data(), control.counted, sizeof control.counted);
    if (shm::check_of(functions.data(), sizeof control.counted, 0) != control.counted_check.load()) return {};
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
    thread.calls_until = published->until;
    // A thread that goes on behind its last destructor tells no more of its far counters.
    std::map<std::uint32_t, std::uint64_t> calls;
    for (const trace::CallCount& known : thread.calls)
        calls[known.function] = known.calls;
    for (std::size_t i = 0; i < published->calls.size(); ++i) {
        const std::uint32_t function = numbers.function(functions->at(i));
        if (function >= info.functions.size()) continue;
        info.functions[function].counted = true;
        calls[function] = published->calls.at(i);
    }
    thread.calls.clear();
    for (const auto& [function, count] : calls)
        if (count > 0) thread.calls.push_back({function, count});
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
