// The second half of the agent's work: from chunks in shared memory to chunks in the trace file.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/trace/codec/decoder.h"
#include "analyzer/trace/event.h"
#include "tools/agent/memory/ring_reader.h"
#include "tools/agent/memory/shared_facts.h"
#include "tools/agent/memory/shared_memory.h"
#include "tools/agent/process/process_facts.h"
#include "tools/agent/sampling/budget.h"
#include "tools/agent/sampling/window_sampler.h"
#include "tools/agent/write/first_moments.h"
#include "tools/agent/write/pack_finisher.h"
#include "tools/agent/write/trace_file.h"

namespace rdam::agent {

/// Empties the chunks that the process hands over, in the order of each thread's events. Not thread-safe.
class Drain {
  public:
    /// `info` has all that is known before the first event; Drain completes it. `wanted` and `name`:
    /// TraceFile.
    Drain(const SharedMemory& shared, const ProcessDescription& process, trace::TraceInfo& info,
          const TickRate& rate, WindowSampler& windows, std::string wanted, trace::NameLock& name);

    /// `info` knows more functions, and the process has these objects besides.
    void note_objects(const std::vector<ProcessObject>& added) { finisher_.add_objects(added); }

    /// Something in the shared memory made no sense.
    void note_damage() { finisher_.note_damage(); }

    /// What only the agent writes, and the process goes by, is as it should be again.
    void tell_again() const;

    /// Opens the file if the first event is near: the first process with events gets the name.
    void note_events();

    /// For when it cannot be opened later.
    void open_file() { file_.open(); }

    /// Takes some of what is in the ring; false when there was nothing.
    bool take_ring();

    /// Takes what is in the ring by now.
    void take_told();

    /// For when the ring is empty: looks again at the chunks in which a slot was not written yet, and for
    /// reopened threads that have gone. True while there is something to look at again soon.
    bool look_again();

    /// Null while there is no file.
    trace::TraceWriter* writer() { return file_.writer(); }

    /// Everything that is left, from threads that live or were killed. `end` (ticks) is when they ended; 0:
    /// not known. `lives`: the process is still there, and its threads may be at it.
    void take_rest(std::uint64_t end, bool lives);

    /// Closes the trace; returns what is to be said on stderr, lines of "rdam: …\n". That there is none is
    /// said if `tell_none`.
    std::string finish(bool clean_end, bool tell_none);

  private:
    /// A full chunk that waits to be read, or is read up to a slot which its thread has reserved and not
    /// written.
    struct HeldChunk {
        std::uint32_t chunk = 0;
        ChunkFacts facts;
        bool full = false;
        std::size_t from = 0;  ///< of slots: where to go on; 0: not begun
        std::chrono::steady_clock::time_point since;
    };
    struct ThreadData {
        std::deque<HeldChunk> held;
        std::vector<std::uint32_t> spent;  ///< chunks with a hole that has been given up
    };
    enum class Holes : std::uint8_t { wait, give_up };
    static Holes patience(const std::deque<HeldChunk>& held);

    void take_entry(std::uint32_t raw);
    void take_late();
    bool is_possible(std::uint32_t thread) const;
    bool is_of(std::uint32_t chunk, std::uint32_t thread) const;
    void note_begin(const ChunkFacts& chunk);
    void take_full(std::uint32_t chunk);
    void take_chunk(std::uint32_t chunk);
    bool read_chunk(HeldChunk& held, std::uint32_t thread, Holes holes);
    void read_records(const HeldChunk& held, std::uint32_t thread);
    bool read_slots(HeldChunk& held, std::uint32_t thread, Holes holes);
    void take_held(std::uint32_t thread, Holes holes);
    void take_all_held();
    std::vector<std::uint32_t> chunks_left(bool count);
    void await_packing();
    void write(std::uint32_t thread);
    void spend(std::uint32_t chunk, std::uint32_t thread);
    void free_spent(ThreadData& data);
    void take_gone_threads();
    static std::optional<Budget> make_budget(const SharedMemory& shared, double ticks_per_second);
    void watch_cost(std::uint32_t thread);
    void look_at_first_moments();
    void set_rates();
    void give_back(std::uint32_t chunk);
    void take_thread(std::uint32_t slot);
    void note_thread(const shm::ThreadSlot& slot, const ThreadFacts& facts, std::uint64_t end);
    trace::ThreadInfo& thread_info(std::uint32_t index);

    const SharedMemory& shared_;
    const ProcessDescription& process_;
    trace::TraceInfo& info_;
    WindowSampler& windows_;
    RingReader ring_;
    PackFinisher finisher_;
    TraceFile file_;
    trace::Packs packs_;  ///< of the chunk at hand
    std::optional<Budget> budget_;
    FirstMoments first_moments_;
    trace::ChunkDecoder decoder_;  ///< for those two
    std::vector<ThreadData> threads_;
    std::uint32_t spent_ = 0;         ///< chunks, of all threads
    std::vector<bool> here_;          ///< by chunk: we hold it
    std::vector<bool> left_;          ///< … of a thread that is gone without a word
    std::vector<std::uint8_t> copy_;  ///< of a chunk of records
    std::uint32_t held_ = 0;          ///< chunks
    std::uint32_t threads_done_ = 0;  ///< whose end we have heard of
};

}  // namespace rdam::agent
