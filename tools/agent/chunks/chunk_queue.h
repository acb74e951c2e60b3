// The chunks that the process hands over: in the order of each thread's events they are translated, and go
// back to the process.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <vector>

#include "libprobe/format/shared.h"
#include "tools/agent/chunks/event_translator.h"
#include "tools/agent/chunks/thread_table.h"
#include "tools/agent/memory/chunk_parser.h"
#include "tools/agent/memory/shared_facts.h"
#include "tools/agent/memory/shared_memory.h"

namespace rdam::agent {

// The agent's end of the ring by which full chunks and ended threads come (shm::Control::ring).

/// Goes by its own place in the ring, whatever stands in the shared memory. Not thread-safe.
class RingReader {
  public:
    /// The process is at its begin. `control` must outlive this.
    explicit RingReader(shm::Control& control) : control_(control) {}

    /// The next entry, as read; 0: there is none yet. An entry that was announced but does not come is not
    /// waited for forever.
    std::uint32_t next();
    /// The last entry has been dealt with: the process sees that.
    void done();

    /// How many entries have been announced and not been dealt with; 0 where that is not known.
    std::uint32_t announced() const;

    /// Takes the entries that were skipped, and have come after all.
    std::vector<std::uint32_t> take_late();

    /// What the process reads of us is as it should be again.
    void tell_again() const { control_.ring_head.store(head_); }

  private:
    using Clock = std::chrono::steady_clock;

    shm::Control& control_;
    std::uint32_t head_ = 0;
    std::uint32_t awaited_ = ~0u;  ///< the place that was found empty last, and since when
    Clock::time_point since_;
    std::vector<std::uint32_t> skipped_;  ///< places that stayed empty
};

/// Not thread-safe.
class ChunkQueue {
  public:
    ChunkQueue(const SharedMemory& shared, ThreadTable& table, EventTranslator& translator);

    /// Publishes again what only the agent writes and the process relies on.
    void tell_again() const;

    /// Takes some of what is in the ring; false when there was nothing.
    bool take_ring();

    /// Takes what is in the ring by now.
    void take_told();

    /// Everything that functions which cannot be called any more have left, and that has not been read.
    FunctionsLeft functions_left();

    /// For an empty ring: checks the chunks with an unwritten record again, and looks for reopened threads
    /// that have gone. True while there is something to check again soon.
    bool look_again();

    /// Everything that is left, from threads that live or were killed. `end` (ticks) is when they ended; 0:
    /// not known. `lives`: the process is still there, and its threads may be at it.
    void take_rest(std::uint64_t end, bool lives);

    std::uint64_t damaged() const { return damaged_; }  ///< places that made no sense

  private:
    using Unwritten = EventTranslator::Unwritten;

    /// A chunk that waits to be translated, or is up to a record which is not written.
    struct HeldChunk {
        std::uint32_t chunk = 0;
        OpenChunk open;
        std::chrono::steady_clock::time_point since;
    };
    struct ThreadChunks {
        std::deque<HeldChunk> held;
        std::vector<std::uint32_t> spent;  ///< in which an unwritten record has been given up
    };

    template <class Look>
    void look_at_chunks(Look look) const;
    void take_entry(std::uint32_t raw);
    void take_late();
    void take_full(std::uint32_t chunk);
    void take_chunk(std::uint32_t chunk);
    void take_held(std::uint32_t thread, Unwritten unwritten);
    void take_all_held(Unwritten unwritten);
    bool translate(HeldChunk& held, Unwritten unwritten);
    static Unwritten patience(const std::deque<HeldChunk>& held);
    void take_thread(std::uint32_t slot);
    void take_threads_left(std::uint64_t end);
    void take_gone_threads();
    std::vector<std::uint32_t> chunks_left(bool count);
    void await_packing();
    bool is_possible(std::uint32_t thread) const;
    bool is_of(std::uint32_t chunk, std::uint32_t thread) const;
    void give_back(std::uint32_t chunk);
    void spend(std::uint32_t chunk, std::uint32_t thread);
    void free_spent(ThreadChunks& thread);
    void note_damage() { ++damaged_; }

    const SharedMemory& shared_;
    ThreadTable& table_;
    EventTranslator& translator_;
    RingReader ring_;
    std::vector<ThreadChunks> threads_;
    std::vector<bool> here_;          ///< by chunk: we hold it
    std::vector<bool> left_;          ///< by chunk: its thread ended without reporting it
    std::uint32_t held_ = 0;          ///< chunks, of all threads
    std::uint32_t spent_ = 0;         ///< chunks, of all threads
    std::uint32_t threads_done_ = 0;  ///< threads whose end was reported
    std::uint64_t damaged_ = 0;
};

}  // namespace rdam::agent
