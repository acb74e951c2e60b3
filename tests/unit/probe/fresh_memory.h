// The memory that a process shares with its agent, as one that has just started makes it.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "libprobe/format/shared.h"
#include "tests/unit/catch.h"
#include "tools/agent/memory/shared_memory.h"

namespace rdam::test {

inline agent::SharedMemory fresh_memory(std::uint32_t chunks = 1, std::uint32_t pid = 0) {
    const std::size_t size = shm::kChunksOffset + std::size_t{chunks} * shm::kChunkSize;
    const int fd = memfd_create("test", MFD_CLOEXEC);
    REQUIRE(fd >= 0);
    REQUIRE(ftruncate(fd, static_cast<off_t>(size)) == 0);
    void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    REQUIRE(memory != MAP_FAILED);
    auto& control = *static_cast<shm::Control*>(memory);
    control.magic = shm::kMagic;
    control.layout = shm::kLayout;
    control.size = size;
    control.chunks = chunks;
    control.pid = pid;
    munmap(memory, size);
    auto shared = agent::SharedMemory::map(fd);
    close(fd);
    REQUIRE(shared);
    return std::move(*shared);
}

}  // namespace rdam::test
