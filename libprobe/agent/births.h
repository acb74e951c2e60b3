// How a fork child that cannot reach the run's starter gets its agent: by its parent's agent, which stands
// where the parent stood when it began (format/births.h).
#pragma once

namespace rdam::probe {

/// This process has an agent: what it forks from now on may ask that.
void begin_births();

/// In a fork child, with its shared memory in `fd`. False: it cannot, or there is no such agent. Seconds at
/// most.
bool ask_parents_agent(int fd);

/// In a fork child, which has an agent or gets none: gives its parent's page back.
void leave_births();

}  // namespace rdam::probe
