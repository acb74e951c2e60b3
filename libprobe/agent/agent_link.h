// The recorder's end of the talk with the agent.
#pragma once

#include "libprobe/base/state.h"

namespace rdam::probe {

/// Maps the shared memory and starts the agent; waits until it has planned. globals.control is set on
/// success. On failure the reason has been printed and the program goes on without recording.
bool connect_agent(bool fork_child);

/// With the late request `serial` in the request area: waits for the plan of the new objects. False: the
/// agent has died.
bool ask_for_late_plan(std::uint32_t serial);

/// Tells the agent that the process ends and waits until the trace is closed (or the agent has died).
void wait_for_agent_end();

}  // namespace rdam::probe
