// Children that run on their maker's memory: between vfork, or libc's own clone inside posix_spawn, system
// and popen, and the child's exec or exit, the child has its maker's thread-local storage and would record
// into its maker's trace.
#pragma once

namespace rdam::probe {

/// Makes the places where libc creates processes (clone, clone3, vfork, syscall) report such children, by a
/// jump over the system call instruction. Reports it if libc does not look as expected. Called once, when the
/// plan has been applied.
void watch_children();

}  // namespace rdam::probe
