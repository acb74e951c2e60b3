// Libraries that are loaded and unloaded while the program runs (dlopen, dlmopen, dlclose).
#pragma once

namespace rdam::probe {

/// Has the dynamic linker tell of every change of its list of objects, by the function that it calls for
/// debuggers (r_debug::r_brk, <link.h>): before the new object's constructors run, after its code is in
/// place. Where that function does not look as expected it is said, and libraries loaded later are not
/// recorded.
void watch_libraries();

}  // namespace rdam::probe
