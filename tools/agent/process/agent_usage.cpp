#include "tools/agent/process/agent_usage.h"

#include <time.h>

#include <utility>

namespace rdam::agent {
namespace {

double used_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

AgentUsage::AgentUsage(trace::AgentInfo& info, std::function<double()> others)
    : info_(info), others_(std::move(others)), before_(used()) {
    info_.told = true;
    note();
}

double AgentUsage::used() const {
    return used_seconds() + others_();
}

void AgentUsage::note() {
    info_.cpu_seconds = used();
    if (running_) info_.running_cpu_seconds = info_.cpu_seconds - before_;
}

void AgentUsage::program_ended() {
    note();
    running_ = false;
}

}  // namespace rdam::agent
