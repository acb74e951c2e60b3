// Context switches of one process's threads, from the kernel's perf events, which cost the process only the
// time that the kernel takes to write them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "wrappers/support/result.h"

struct perf_event_attr;

namespace rdam::agent {

struct SwitchRecord {
    std::uint64_t ns = 0;  ///< of the clock that was asked for
    std::uint32_t tid = 0;
    std::uint16_t cpu = 0;
    bool out = false;        ///< else the thread comes back
    bool preempted = false;  ///< out: it could have gone on
    bool agent = false;      ///< of one of our own threads, not of the process's
    /// None of this: from here on records of the processor `cpu` are missing (`out`), or no longer are.
    bool lost = false;
};

/// One ring for each processor. Not thread-safe.
class SwitchRings {
  public:
    /// For the present and future threads of `pid`, not for those of its children, and for the agent's own
    /// threads. The error is a clause: why this machine does not allow it.
    static Result<SwitchRings> open(std::uint32_t pid, clockid_t clock);
    SwitchRings(SwitchRings&& other) noexcept = default;
    SwitchRings& operator=(SwitchRings&&) = delete;
    SwitchRings(const SwitchRings&) = delete;
    SwitchRings& operator=(const SwitchRings&) = delete;
    ~SwitchRings();

    /// Appends what is in the rings; each ring's records are in the order of time. If a ring had no room, a
    /// `lost` record with the time of its last record is added as soon as the ring is found full: the kernel
    /// reports the loss only when it has room and something to write again. Returns the largest number that
    /// came from one ring.
    std::size_t take(std::vector<SwitchRecord>& to);

    /// Records that the kernel had no room for, so far.
    std::uint64_t lost() const { return lost_; }

    /// To be polled for POLLIN: half of a ring is full. POLLHUP: there will be nothing more.
    std::vector<int> descriptors() const;

  private:
    struct Ring {
        int fd = -1;
        void* memory = nullptr;
        std::size_t size = 0;  ///< of the data behind the first page
        std::uint16_t cpu = 0;
        std::uint64_t last_ns = 0;  ///< of its last record
        bool was_full = false;      ///< when it was emptied: what came then is missing
    };

    explicit SwitchRings(std::uint32_t pid);
    Result<void> open_all(const perf_event_attr& attributes, std::size_t size);
    void open_others(const perf_event_attr& attributes, std::uint32_t pid, std::uint32_t but, int cpu);
    void take(Ring& ring, std::vector<SwitchRecord>& to);
    void add(Ring& ring, const std::uint8_t* record, std::size_t size, std::vector<SwitchRecord>& to);

    std::uint32_t pid_;
    std::uint32_t own_pid_;
    std::vector<Ring> rings_;
    std::vector<int> others_;  ///< events of further threads, which write to the same rings; ours too
    std::uint64_t lost_ = 0;
    bool unlocked_ = false;  ///< the rings are larger than what may be locked
};

}  // namespace rdam::agent
