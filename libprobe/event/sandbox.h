// A thread comes under a system call filter (seccomp), or one that ends up there: what the recorder needs
// from the kernel is set up before, because nothing of it can be had afterwards (base/filter.h).
#pragma once

#include <cstdint>

#include "libprobe/base/state.h"

namespace rdam::probe {

FilterCall filter_call(std::uint64_t number, std::uint64_t first, std::uint64_t second, std::uint64_t third);

/// Around such a call, in its thread. `result` is the kernel's.
void before_filter(ThreadState& thread, const FilterCall& call);
void after_filter(ThreadState& thread, const FilterCall& call, long result);

/// In a fork child that has an agent of its own: nothing is set up in its new memory.
void forget_sandbox();

}  // namespace rdam::probe
