// Private memory for threads under a system call filter (filter.h), mapped before they are.
#pragma once

#include <cstddef>

namespace rdam::probe {

/// Once for a process and its fork children. Pages that are not touched cost nothing.
void reserve_memory();

/// All zeros; nullptr: there is none left.
void* take_reserved(std::size_t size);

/// Memory of take_reserved(), or any that a thread under a filter can no longer unmap.
void keep_reserved(void* memory, std::size_t size);

/// Whether it is from the memory that was reserved.
bool is_reserved(const void* memory);

}  // namespace rdam::probe
