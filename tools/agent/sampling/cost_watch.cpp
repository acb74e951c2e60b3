#include "tools/agent/sampling/cost_watch.h"

#include <algorithm>
#include <string>
#include <utility>

#include "wrappers/plan/planner.h"

namespace rdam::agent {
namespace {

std::optional<Budget> make_budget(const SharedMemory& shared, double ticks_per_second) {
    constexpr double kWindowSeconds = 2e-3;
    if (shared.start().max_overhead() == 0) return {};
    const auto ticks = [](std::uint64_t x16) { return static_cast<double>(x16) / 16; };
    const shm::Measured& measured = shared.measured();
    return Budget(shared.start().max_overhead(),
                  {.recorded = ticks(measured.probe_ticks_x16),
                   .unrecorded = ticks(measured.unrecorded_ticks_x16),
                   .inside = ticks(measured.inside_ticks_x16)},
                  kWindowSeconds * ticks_per_second);
}

}  // namespace

CostWatch::CostWatch(const SharedMemory& shared, const FunctionNumbers& numbers, double ticks_per_second,
                     trace::TraceInfo& info, WindowSampler& windows)
    : shared_(shared),
      numbers_(numbers),
      info_(info),
      windows_(windows),
      budget_(make_budget(shared, ticks_per_second)),
      first_moments_(info) {}

/// Under a budget nothing needs to be said: what is too hot is sampled.
void CostWatch::see(std::uint32_t thread, const trace::Packs& packs) {
    if (budget_)
        keep_budget(thread, packs);
    else if (first_moments_.wants_next())
        look_at_first_moments(packs);
}

void CostWatch::thread_ended(std::uint32_t thread) {
    if (budget_) budget_->ended(thread);
}

void CostWatch::look_at_first_moments(const trace::Packs& packs) {
    if (!decoder_.decode(packs, info_)) return;
    first_moments_.see(std::as_const(decoder_).events());
    shm::Control& control = shared_.control();
    if (control.notice_size.load() != 0) return;  // the last one is not printed yet
    std::string text;
    for (const std::string& notice : first_moments_.take_notices())
        text += "rdam: " + notice + "\n";
    control.notice_size.store(static_cast<std::uint32_t>(text.copy(control.notice, sizeof control.notice)),
                              std::memory_order_release);
}

/// Regions have no rate: the program's author has chosen how often they are.
void CostWatch::keep_budget(std::uint32_t thread, const trace::Packs& packs) {
    if (!decoder_.decode(packs, info_)) return;
    std::uint64_t last = 0;
    for (const trace::Event& event : std::as_const(decoder_).events()) {
        last = std::max(last, event.tsc);
        if (event.kind == trace::EventKind::pause) {
            budget_->paused(thread, event.until - event.tsc);
        } else if (event.kind < trace::EventKind::leave) {
            const bool region = info_.functions[event.function].module == kRegionModule;
            if (region)
                budget_->region(thread, event.function);
            else
                budget_->call(thread, event.function, event.sampling != 0,
                              event.sampling != 0 ? event.sampling - 1 : 0);
        }
    }
    if (last != 0 && budget_->seen(thread, last)) set_rates();
}

void CostWatch::set_rates() {
    shm::Control& control = shared_.control();
    for (std::uint32_t number = 0; number < numbers_.end(); ++number) {
        const std::uint32_t i = numbers_.function(number);
        if (i >= info_.functions.size()) continue;
        const std::uint8_t rate = budget_->rate(i);
        control.rates[number].store(rate, std::memory_order_relaxed);
        trace::FunctionInfo& function = info_.functions[i];
        function.most_rate = std::max(function.most_rate, rate);
        if (budget_->windowed(i) && function.windowed_since == 0)
            function.windowed_since = windows_.add(number);
    }
    control.rates_changed.fetch_add(1);
}

}  // namespace rdam::agent
