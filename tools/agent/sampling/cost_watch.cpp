#include "tools/agent/sampling/cost_watch.h"

#include <string>
#include <utility>

namespace rdam::agent {

/// Under a budget nothing needs to be said: what is too hot is sampled.
void CostWatch::see(std::uint32_t thread, const trace::Packs& packs) {
    if (shared_.start().max_overhead() != 0 || !rates_.wants(thread, packs)) return;
    if (!decoder_.decode(packs, info_)) return;
    rates_.see(std::as_const(decoder_).events());
    shm::Control& control = shared_.control();
    if (control.notice_size.load() != 0) return;  // the last one is not printed yet
    const std::string notice = rates_.take_notice();
    if (notice.empty()) return;
    const std::string text = "rdam: " + notice + "\n";
    control.notice_size.store(static_cast<std::uint32_t>(text.copy(control.notice, sizeof control.notice)),
                              std::memory_order_release);
}

}  // namespace rdam::agent
