// The agent's work while the program runs, and at its end.
#pragma once

#include "tools/agent/memory/shared_memory.h"
#include "tools/agent/plan/planning.h"
#include "tools/agent/process/agent_usage.h"
#include "tools/agent/process/attendant.h"
#include "tools/agent/process/privileges.h"
#include "tools/agent/process/process_facts.h"
#include "tools/agent/recording.h"
#include "tools/agent/sampling/window_sampler.h"
#include "tools/agent/switches/switch_recorder.h"
#include "tools/agent/watch.h"

namespace rdam::agent {

/// What the recording thread works with, besides the recording.
struct Work {
    const SharedMemory& shared;
    Planning& planning;
    trace::TraceInfo& info;
    SwitchRecorder& switches;
    WindowSampler& windows;
    const Watch& watch;
    const TickRate& rate;
    Attendant& attendant;
    AgentUsage& usage;
    ProcessTitle& title;
    Privileges& privileges;
    bool priority_comes_back = false;
    bool rationed = false;  ///< our processor time is taken from the program's
};

/// Takes what the program hands over, and answers what it asks for, until it ends; then takes the rest.
void record_until_end(const Work& work, Recording& recording);

}  // namespace rdam::agent
