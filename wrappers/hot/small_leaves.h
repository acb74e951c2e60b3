// Which hot functions are so small that recording a call would cost more than the call itself.
#pragma once

#include "wrappers/catalogue/catalogue.h"
#include "wrappers/hot/hot_report.h"

namespace rdam {

/// Sets HotFunction::leaf of what is likely to take no longer than its recording, some 40 ns:
///
/// - it makes no system call, no loop of it has in it what locks are made of (what waits for others is what
///   is being looked for), and the catalogue knows of no lock, file or wait of it;
/// - it has no loop and at most 512 bytes; or
/// - it has loops and at most 4096 bytes, and enough of its samples lie outside of them: that code runs once
///   a call. Where HotReport::places has too few to tell, at most 128 bytes.
///
/// What calls others, or has outside of loops what locks are made of (a counter that threads share), must
/// besides be called so often that recording it would take a tenth of the program's processor time.
///
/// What is in none of HotReport::objects stays as it is. Never fails: a file that cannot be read tells
/// nothing.
void mark_small_leaves(HotReport& report, const Catalogue& catalogue);

}  // namespace rdam
