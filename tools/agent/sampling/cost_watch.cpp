#include "tools/agent/sampling/cost_watch.h"

#include <string>
#include <utility>

namespace rdam::agent {

/// Under a budget nothing needs to be said: what is too hot is sampled.
void CostWatch::see(const trace::Packs& packs) {
    if (shared_.start().max_overhead() != 0 || !first_moments_.wants_next()) return;
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

}  // namespace rdam::agent
