// What may have caused a loss.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace rdam::score {

/// docs/hints.md has what each says; analyzer/hints/hints.cpp finds them.
enum class HintKind : std::uint8_t {
    parameter,
    parameter_or_time,
    early_return,
    first_touch,
    processor,
    migration,
    trend,
    warm_up,
    phase,
    more_work,
    busy_wait,
    slower_work,
    waited,
    blocked,
    preempted,
    concurrent,
    two_times,
    waits,
    inside,
    no_parameter,
    with_threads,
    varies_alone,
};

/// As in JSON: `parameter_or_time`.
constexpr std::string_view name_of(HintKind kind) {
    constexpr std::string_view kNames[] = {
        "parameter", "parameter_or_time", "early_return", "first_touch", "processor", "migration",
        "trend",     "warm_up",           "phase",        "more_work",   "busy_wait", "slower_work",
        "waited",    "blocked",           "preempted",    "concurrent",  "two_times", "waits",
        "inside",    "no_parameter",      "with_threads", "varies_alone"};
    static_assert(std::size(kNames) == static_cast<std::size_t>(HintKind::varies_alone) + 1);
    return kNames[static_cast<std::size_t>(kind)];
}

struct Hint {
    HintKind kind = HintKind::parameter;
    std::string text;
    double share = 0;                          ///< of the lost time that it is about, 0…1
    std::string parameter = {};                ///< of `parameter`: its name
    std::optional<double> explains = {};       ///< the share of the variation that it explains, 0…1
    std::optional<double> rdam_with_key = {};  ///< the score that would be left with it as a key
    std::string concurrent_function = {};      ///< of `concurrent`
    /// tid of the thread inside it, if nearly always the same.
    std::optional<std::uint32_t> concurrent_thread = {};
    /// tid of the thread that lost nearly all, if there is one.
    std::optional<std::uint32_t> thread = {};
};

}  // namespace rdam::score
