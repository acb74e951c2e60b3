// Children that run on their maker's memory: between vfork, or libc's own clone inside posix_spawn, system
// and popen, and the child's exec or exit, the child has its maker's thread-local storage and would record
// into its maker's trace.
#pragma once

namespace rdam::probe {

/// Has libc's places that make processes (clone, clone3, vfork, syscall) tell of such children, by a jump
/// over the system call instruction. Where libc does not look as expected it is said. Called once, when the
/// plan has been applied.
void watch_children();

}  // namespace rdam::probe
