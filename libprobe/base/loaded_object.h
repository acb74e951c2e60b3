// Which loaded object an address is in.
#pragma once

#include <cstdint>

namespace rdam::probe {

/// Of glibc's <dlfcn.h>, on x86-64.
struct FoundObject {
    std::uint64_t flags;
    void* map_start;
    void* map_end;
    void* link_map;
    void* eh_frame;
    std::uint64_t reserved[7];
};

/// Before the program runs, whether it is recorded or not: a thread that throws must not wait for the dynamic
/// linker, whose lock may be held by one that waits for this thread.
void prepare_find_object();

/// What the dynamic linker answers to _dl_find_object() (glibc 2.35); -1: it knows nothing of the address, or
/// cannot be asked. At any time, in any thread.
int find_object(void* address, FoundObject* found);

/// The addresses of the loaded object that has this one; all addresses where the dynamic linker cannot say.
struct ObjectSpan {
    std::uint64_t begin = 0;
    std::uint64_t end = ~std::uint64_t{0};
};
ObjectSpan object_around(std::uint64_t address);

}  // namespace rdam::probe
