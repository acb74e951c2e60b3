// Regions of the program's own making.
#pragma once

namespace rdam::probe {

/// Tells the agent of the regions known so far. A fork child does it once its agent is there.
void copy_regions();

/// In a fork child: the thread that held it is not there any more.
void forget_region_lock();

}  // namespace rdam::probe
