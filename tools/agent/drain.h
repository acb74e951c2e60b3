// The second half of the agent's work: from chunks in shared memory to chunks in the trace file.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/trace/event.h"
#include "analyzer/trace/writer.h"
#include "tools/agent/budget.h"
#include "tools/agent/chunk_parser.h"
#include "tools/agent/process_facts.h"
#include "tools/agent/shared_memory.h"
#include "tools/agent/unwinder.h"
#include "tools/agent/window_sampler.h"

namespace rdam::agent {

/// Empties the chunks that the process hands over. Not thread-safe.
class Drain {
  public:
    /// `info` has all that is known before the first event; Drain completes it. `wanted` is the output path.
    Drain(const SharedMemory& shared, const ProcessDescription& process, trace::TraceInfo& info,
          const TickRate& rate, WindowSampler& windows, std::string wanted);

    /// `info` knows more functions, and the process has these objects besides.
    void note_objects(const std::vector<ProcessObject>& added);

    /// Opens the file if the first event is near: the first process with events gets the name.
    void note_events();

    /// Takes everything that is in the ring; false when there was nothing.
    bool take_ring();

    /// For when the ring is empty: looks again at the chunks in which a slot was not written yet, and for
    /// reopened threads that have gone. True while there is something to look at again soon.
    bool look_again();

    /// Null while there is no file.
    trace::TraceWriter* writer() { return writer_ ? &*writer_ : nullptr; }

    /// Everything that is left, from threads that live or were killed. `end` (ticks) is when they ended; 0:
    /// not known.
    void take_rest(std::uint64_t end);

    /// Closes the trace; returns what is to be said on stderr, lines of "rdam: …\n". That there is none is
    /// said if `tell_none`.
    std::string finish(bool clean_end, bool tell_none);

  private:
    /// A stack whose enter event is still to come. A signal handler's calls may lie in between.
    struct PendingStack {
        std::uint32_t function = 0;
        std::uint64_t caller = 0;
        std::uint32_t stack = 0;  ///< 1 + index
    };
    /// A full chunk that is read up to a slot which its thread has reserved and not written, or that waits
    /// behind such a one.
    struct HeldChunk {
        std::uint32_t chunk = 0;
        std::size_t from = shm::kChunkHeader;
        std::chrono::steady_clock::time_point since;
    };
    struct ThreadData {
        std::vector<std::uint32_t>
            open;  ///< functions of open frames, for a leave that does not know its own
        std::vector<PendingStack> stacks;
        std::deque<HeldChunk> held;
        std::vector<std::uint32_t> spent;  ///< chunks with a hole that has been given up
    };
    enum class Holes : std::uint8_t { wait, give_up };
    static Holes patience(const std::deque<HeldChunk>& held);

    void read_rules();
    void note_regions();
    std::uint32_t index_of(std::uint32_t function) const;
    void take_chunk(std::uint32_t chunk);
    bool read_chunk(HeldChunk& held, std::uint32_t thread, Holes holes);
    void take_held(std::uint32_t thread, Holes holes);
    void spend(std::uint32_t chunk, std::uint32_t thread);
    void free_spent(ThreadData& data);
    void take_gone_threads();
    void watch_cost(std::uint32_t thread, const Slot& slot);
    void set_rates();
    void count_call(std::uint32_t function);
    std::uint32_t take_pending_stack(ThreadData& data, const Slot& slot);
    void give_back(std::uint32_t chunk);
    void take_thread(std::uint32_t slot);
    void note_thread(const shm::ThreadSlot& slot, std::uint64_t end);
    void add_slot(const Slot& slot, std::uint32_t thread);
    std::uint32_t close_frame(ThreadData& thread, std::uint32_t function);
    std::uint32_t add_stack(const Slot& slot);
    trace::ThreadInfo& thread_info(std::uint32_t index);
    void append(std::uint32_t thread);
    bool open_file();
    void describe();

    const SharedMemory& shared_;
    const ProcessDescription& process_;
    trace::TraceInfo& info_;
    const TickRate& rate_;
    WindowSampler& windows_;
    std::string wanted_;
    SlotRules rules_;
    Unwinder unwinder_;
    std::optional<trace::TraceWriter> writer_;
    trace::ChunkEncoder encoder_;
    std::optional<Budget> budget_;
    std::vector<ThreadData> threads_;
    std::map<std::vector<std::uint64_t>, std::uint32_t> stacks_;  ///< function, caller, frames → 1 + index
    std::uint64_t calls_ = 0;
    std::uint32_t spent_ = 0;  ///< chunks, of all threads
    std::uint64_t lost_to_file_ = 0;
    std::vector<std::uint32_t> regions_;  ///< by region: index in info_.functions
    std::string path_;
    std::string file_error_;
    std::uint64_t described_ = 0;  ///< ticks of the last description
};

}  // namespace rdam::agent
