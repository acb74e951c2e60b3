// The agent's view of the memory it shares with the profiled process.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libprobe/format/shared.h"
#include "wrappers/support/result.h"

namespace rdam::agent {

struct ProcessObject {
    std::string path;
    std::string build_id;  ///< hex
    std::uint64_t base = 0;
    std::uint64_t end = 0;
};

/// What the process told about itself.
struct ProcessDescription {
    std::uint32_t pid = 0;
    std::string own_path;
    std::string executable;
    std::vector<std::string> command;
    std::vector<ProcessObject> objects;
    std::vector<std::uint64_t>
        known;  ///< a fork child's patched entries by function number; 0: no longer there
};

/// Objects that came and went while the program ran.
struct ObjectChange {
    std::vector<ProcessObject> added;
    std::vector<std::uint64_t> gone;  ///< bases
};

class SharedMemory {
  public:
    /// Maps the memfd. Its size is not trusted to change: the process must not shrink it.
    static Result<SharedMemory> map(int fd);
    SharedMemory(SharedMemory&& other) noexcept;
    SharedMemory& operator=(SharedMemory&&) = delete;
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;
    ~SharedMemory();

    shm::Control& control() const { return *static_cast<shm::Control*>(memory_); }
    std::uint8_t* chunk(std::uint32_t index) const;
    /// One for each function number (shm::kGatesOffset).
    std::atomic<std::uint8_t>& gate(std::uint32_t function) const;
    /// What the thread of this slot has counted.
    const shm::PublishedCalls& published_calls(std::uint32_t slot) const;
    shm::ChunkHeader& chunk_header(std::uint32_t index) const;
    std::span<std::uint8_t> plan_area() const;
    ProcessDescription describe_process() const;
    ObjectChange describe_change() const;

    /// Sets the state and wakes the process.
    void announce(shm::AgentState state) const;

  private:
    SharedMemory(void* memory, std::uint64_t size) : memory_(memory), size_(size) {}
    std::string_view request_text(shm::Text text) const;
    std::vector<ProcessObject> requested_objects(shm::Text text) const;
    std::vector<std::uint64_t> requested_numbers(shm::Text text) const;

    void* memory_;
    std::uint64_t size_;
};

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, int milliseconds);
void futex_wake(const void* word, int count);

}  // namespace rdam::agent
