// The agent's work while the program runs, and at its end.
#pragma once

#include <cstdint>
#include <string>

#include "tools/agent/chunks/chunk_queue.h"
#include "tools/agent/chunks/event_translator.h"
#include "tools/agent/chunks/thread_table.h"
#include "tools/agent/chunks/trace_file.h"
#include "tools/agent/memory/shared_memory.h"
#include "tools/agent/plan/planning.h"
#include "tools/agent/process/channels.h"
#include "tools/agent/process/priority_keeper.h"
#include "tools/agent/process/privileges.h"
#include "tools/agent/process/process_facts.h"
#include "tools/agent/sampling/call_rates.h"
#include "tools/agent/sampling/window_sampler.h"
#include "tools/agent/switches/switch_recorder.h"
#include "tools/agent/watch.h"
#include "tools/trace/event.h"
#include "tools/trace/trace_name.h"

namespace rdam::agent {

// The second half of the agent's work: chunks that come through the queue are translated, checked for their
// cost, and written.

/// Not thread-safe. All references must outlive it.
class Recording {
  public:
    /// `info` has all that is known before the first event, and is completed. `wanted` and `name`: TraceFile.
    Recording(const SharedMemory& shared, const ProcessDescription& process, trace::TraceInfo& info,
              const TickRate& rate, ThreadNumbers& numbers, std::string wanted, trace::NameLock& name);

    ChunkQueue& chunks() { return chunks_; }
    EventTranslator& translator() { return translator_; }
    TraceFile& file() { return file_; }

    /// Something else in the shared memory made no sense.
    void note_damage() { ++damaged_; }

    /// Opens the file if the first event is near: the first process with events gets the name.
    void note_events();

    /// Closes the trace; returns the messages for stderr, lines of "rdam: …\n". If `tell_none`, one says that
    /// there is no trace.
    std::string finish(bool clean_end, bool tell_none);

  private:
    class WatchedFile : public PackSink {
      public:
        WatchedFile(CostWatch& cost, TraceFile& file) : cost_(cost), file_(file) {}
        void append(std::uint32_t thread, const trace::Packs& packs) override;

      private:
        CostWatch& cost_;
        TraceFile& file_;
    };

    const SharedMemory& shared_;
    trace::TraceInfo& info_;
    TraceFile file_;
    CostWatch cost_;
    WatchedFile sink_;
    EventTranslator translator_;
    ThreadTable threads_;
    ChunkQueue chunks_;
    std::uint64_t damaged_ = 0;
};

/// What the recording thread works with, besides the recording.
struct Work {
    const SharedMemory& shared;
    Planning& planning;
    trace::TraceInfo& info;
    SwitchRecorder& switches;
    WindowSampler& windows;
    const Watch& watch;
    const TickRate& rate;
    PriorityKeeper& priority_keeper;
    AgentUsage& usage;
    ProcessTitle& title;
    Channels& channels;
    Privileges& privileges;
    bool priority_comes_back = false;
    bool rationed = false;  ///< our processor time is taken from the program's
};

/// Takes what the program hands over, and answers what it asks for, until it ends; then takes the rest.
void record_until_end(const Work& work, Recording& recording);

}  // namespace rdam::agent
