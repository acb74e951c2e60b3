// What the agent has to know of the process: gathered once before anything is patched, and kept up to date
// when libraries come and go.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

#include "libprobe/format/shared.h"

namespace rdam::probe {

/// Grows upwards in an area of the request's size (shm::kRequestSize); texts are referred to by their offset
/// in it, and have a zero behind them.
struct Arena {
    char* base = nullptr;
    std::uint32_t used = 0;

    /// An empty text when there is no room.
    shm::Text add(const void* data, std::size_t size);
};

/// Builds a shm::Request (with its texts) in private memory, where a fork child finds it again.
/// Uses dl_iterate_phdr, so it must run before libc is patched. False when it does not fit.
bool gather_request(int argc, char** argv);

/// Copies the request to the area of the shared memory; a fork child adds what has changed since the start.
void hand_over_request(void* area, bool fork_child);

/// Writes `request`, whose texts are in the area, to the area's begin, with its check.
void publish_request(const Arena& area, shm::Request request, std::uint32_t serial);

/// The path that librdam.so was loaded from.
const char* own_path();

/// The description of one object for the agent, with its texts in `to`.
shm::RequestedObject describe_object(Arena& to, const dl_phdr_info& info);

/// The list of loaded objects, for fork children. Not thread-safe: callers hold the dynamic linker's lock.
bool is_loaded(std::uint64_t base);
void note_loaded(const Arena& other, const shm::RequestedObject& object);
/// Calls `gone` for every object loaded after the start for which `still_there` is false.
void note_unloaded(bool (*still_there)(std::uint64_t base), void (*gone)(const shm::RequestedObject&));

}  // namespace rdam::probe
