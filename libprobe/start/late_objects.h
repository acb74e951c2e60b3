// Libraries that are loaded and unloaded while the program runs (dlopen, dlmopen, dlclose).
#pragma once

namespace rdam::probe {

/// Makes the dynamic linker report every change of its list of objects, through the function that it calls
/// for debuggers (r_debug::r_brk, <link.h>): before the new object's constructors run, after its code is in
/// place. If that function does not look as expected, this is reported, and libraries loaded later are not
/// recorded.
void watch_libraries();

}  // namespace rdam::probe
