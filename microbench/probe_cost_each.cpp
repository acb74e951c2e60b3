#include "microbench/probe_cost_each.h"

#include <x86intrin.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "microbench/probe_cost_functions.h"

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kTurn = 1000;
constexpr std::size_t kExact = 1 << 16;  ///< ticks up to here have a counter each
constexpr std::size_t kRoomForOthers = 1 << 20;

std::uint64_t ticks() {
    unsigned processor = 0;
    return __rdtscp(&processor);
}

/// All memory is in place before anything is measured.
class Histogram {
  public:
    Histogram() : exact_(kExact, 0), others_(kRoomForOthers, 0) {}

    void add(std::uint64_t value) {
        ++count_;
        sum_ += static_cast<double>(value);
        if (value < kExact)
            ++exact_[value];
        else if (other_count_ < kRoomForOthers)
            others_[other_count_++] = value;
    }

    Json summary(double ns_a_tick) {
        std::sort(others_.begin(), others_.begin() + static_cast<std::ptrdiff_t>(other_count_));
        const auto at = [&](double share) { return static_cast<double>(percentile(share)) * ns_a_tick; };
        return {{"min", at(0)},
                {"p50", at(0.5)},
                {"p99", at(0.99)},
                {"p99.9", at(0.999)},
                {"p99.99", at(0.9999)},
                {"max", at(1)},
                {"mean", sum_ / static_cast<double>(count_) * ns_a_tick}};
    }

  private:
    std::uint64_t percentile(double share) const {
        const auto rank = static_cast<std::uint64_t>(std::llround(share * static_cast<double>(count_ - 1)));
        std::uint64_t seen = 0;
        for (std::size_t value = 0; value < kExact; ++value) {
            seen += exact_[value];
            if (seen > rank) return value;
        }
        return others_[std::min<std::uint64_t>(rank - seen, other_count_ - 1)];
    }

    std::vector<std::uint32_t> exact_;
    std::vector<std::uint64_t> others_;
    std::size_t other_count_ = 0;
    std::uint64_t count_ = 0;
    double sum_ = 0;
};

template <typename Call>
void take_turn(Histogram& to, Call call) {
    for (std::uint64_t i = 0; i < kTurn; ++i) {
        const std::uint64_t begin = ticks();
        call();
        to.add(ticks() - begin);
    }
}

template <typename Call>
Json measure(std::uint64_t calls, Call call) {
    Histogram each;
    Histogram floor;
    const auto two_clock_reads = [] { asm volatile("rdtscp\n\tlfence\n\trdtscp" : : : "rax", "rcx", "rdx"); };
    Histogram warm_up;
    take_turn(warm_up, call);
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t first = ticks();
    for (std::uint64_t done = 0; done < calls; done += kTurn) {
        take_turn(floor, two_clock_reads);
        take_turn(each, call);
    }
    const std::uint64_t last = ticks();
    const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - begin;
    const double ns_a_tick = passed.count() / static_cast<double>(last - first);
    return {{"call_ns", each.summary(ns_a_tick)}, {"floor_ns", floor.summary(ns_a_tick)}};
}

}  // namespace

Json measure_each(std::string_view function, std::uint64_t calls) {
    if (function == "none") return measure(calls, [] { empty_call(); });
    if (function == "ints") return measure(calls, [] { empty_call_ints(1, 2, 3); });
    if (function == "undescribed") return measure(calls, [] { empty_call_undescribed(); });
    if (function == "shared") return measure(calls, [] { empty_call_shared(); });
    return nullptr;
}
