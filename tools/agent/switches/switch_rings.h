// Context switches of one process's threads, from the kernel's perf events, which cost the process only the
// time that the kernel takes to write them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "tools/base/result.h"

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

/// One ring for each processor. They begin small, since most processes are short and the kernel takes a
/// ring's pages and clears them at once, and become large where they are needed. Not thread-safe.
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

    /// A process of one thread that is the agent's, too, from now on.
    void watch_agent(std::uint32_t pid);

    /// Appends what is in the rings; each ring's records are in the order of time. If a ring had no room, a
    /// `lost` record with the time of its last record is added as soon as the ring is found full: the kernel
    /// reports the loss only when it has room and something to write again. Returns what it took one processor
    /// to write them, at most, in nanoseconds.
    std::uint64_t take(std::vector<SwitchRecord>& to);

    /// Processors whose ring has more in it than it should after a quarter of it has woken us are given a larger
    /// one. It takes the kernel some milliseconds for each event: with each call one of them moves on. True:
    /// there are others to be moved.
    bool grow();

    /// How often a thread of the process got its processor from another one of it, so far: trace::SwitchInfo::handed_over.
    std::uint64_t handed_over() const { return handed_over_; }
    /// Records that the kernel had no room for, so far.
    std::uint64_t lost() const { return lost_; }

    /// The earliest time from which records were lost that lost() has counted since the last call of this; UINT64_MAX:
    /// none were.
    std::uint64_t take_lost_since() { return std::exchange(lost_since_ns_, UINT64_MAX); }

    /// To be polled for POLLIN: a quarter of a ring is full.
    std::vector<int> descriptors() const;

  private:
    /// An event that writes nothing itself and has a ring for others: those of threads can be told to write
    /// to another one, which an event whose own ring is mapped cannot.
    struct Carrier {
        int fd = -1;
        void* memory = nullptr;
        std::size_t size = 0;       ///< of the data behind the first page
        std::uint64_t last_ns = 0;  ///< of its last record
        /// By it, this thread of this process left the processor; 0: none did.
        std::uint32_t left_pid = 0, left_tid = 0;
        bool was_full = false;  ///< when it was emptied: what came then is missing
    };

    struct Ring {
        std::uint16_t cpu = 0;
        Carrier carrier;
        Carrier larger;             ///< what takes its place, if it has a descriptor
        std::vector<int> events;    ///< of threads, the agent's among them
        std::size_t moved = 0;      ///< so many of them write to the larger one
        bool stays = false;         ///< there is no room for a larger one
        std::uint64_t records = 0;  ///< that are being taken, and cost something
    };

    SwitchRings(std::uint32_t pid, clockid_t clock);
    Result<void> open_all(std::size_t size);
    Result<Carrier> open_carrier(int cpu, std::size_t size);
    static void close_carrier(const Carrier& carrier);
    void open_others(Ring& ring, std::uint32_t pid, std::uint32_t but);
    void begin_larger(Ring& ring);
    static void move_event(Ring& ring);
    void take(Ring& ring, Carrier& carrier, std::vector<SwitchRecord>& to);
    void add(Ring& ring, Carrier& carrier, const std::uint8_t* record, std::size_t size,
             std::vector<SwitchRecord>& to);

    std::uint32_t pid_;
    std::uint32_t own_pid_;
    std::uint32_t other_pid_ = 0;
    clockid_t clock_;
    std::vector<Ring> rings_;
    std::uint64_t handed_over_ = 0;
    std::uint64_t lost_ = 0;
    std::uint64_t lost_since_ns_ = UINT64_MAX;
    bool unlocked_ = false;  ///< the rings are larger than what may be locked
};

}  // namespace rdam::agent
