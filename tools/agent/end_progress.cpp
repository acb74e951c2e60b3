#include "tools/agent/end_progress.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>

namespace rdam::agent {

EndProgress::EndProgress(const shm::Control& control)
    : control_(control), from_(control.ring_head.load()), all_(control.ring_tail.hear().value - from_) {}

void EndProgress::show() {
    if (all_ == 0) return;
    const std::uint64_t done = control_.ring_head.load() - from_;
    const auto percent = static_cast<std::uint32_t>(std::min<std::uint64_t>(done * 100 / all_, 100));
    if (percent == shown_) return;
    shown_ = percent;
    char name[16];
    std::snprintf(name, sizeof name, "rdam-agent %u%%", percent);
    prctl(PR_SET_NAME, name);
}

}  // namespace rdam::agent
