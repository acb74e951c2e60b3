// From what threads have left in chunks to packs that can stand in a trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tools/agent/chunks/pack_finisher.h"
#include "tools/agent/memory/shared_facts.h"
#include "tools/agent/memory/shared_memory.h"
#include "tools/base/unmovable.h"
#include "tools/trace/event.h"
#include "tools/trace/pack_decoder.h"

namespace rdam::agent {

// Where packs go when they can stand in a trace.

class PackSink : private Unmovable {
  public:
    PackSink() = default;
    virtual ~PackSink() = default;

    /// The next events of a thread that TraceInfo::threads has.
    virtual void append(std::uint32_t thread, const trace::Packs& packs) = 0;
};

/// A chunk, and how far it has been translated.
struct OpenChunk {
    std::span<const std::uint8_t> bytes;  ///< all of it; its thread may still be writing
    ChunkFacts facts;
    bool full = false;     ///< its thread has handed it over
    std::size_t from = 0;  ///< where to go on; 0: not begun
};

/// Not thread-safe.
class EventTranslator {
  public:
    /// `info` has the program's functions; regions and call stacks are added. Packs go to `sink`.
    EventTranslator(const SharedMemory& shared, const ProcessDescription& process, trace::TraceInfo& info,
                    PackSink& sink);

    /// `info` knows more functions, and the process has these objects besides.
    void add_objects(const std::vector<ProcessObject>& added) { finisher_.add_objects(added); }

    /// Before a chunk is translated: regions are known to the process before it writes their first event.
    void note_regions() { finisher_.note_regions(); }

    /// What to do about a record that its thread has reserved and not written.
    enum class Unwritten : std::uint8_t { wait, give_up };
    enum class Outcome : std::uint8_t {
        done,
        waits,  ///< for such a record: the chunk has to be translated again, from there on
        gaps,   ///< done, and such records were given up: they may be written yet
    };
    /// A thread's chunks come in the order of its events, and TraceInfo::threads has it.
    Outcome translate(OpenChunk& chunk, Unwritten unwritten);

    /// All of the thread's chunks have been translated.
    void thread_ended(std::uint32_t thread);
    /// The thread has reported `number` as that of its last part.
    void note_last_number(std::uint32_t thread, std::uint32_t number) { finisher_.note_end(thread, number); }

    bool any_calls() const { return finisher_.any_calls(); }
    std::uint64_t damaged() const { return finisher_.damaged(); }  ///< places that made no sense

  private:
    void translate_packed(const OpenChunk& chunk);
    bool is_due(OpenChunk& chunk);
    Outcome translate_records(OpenChunk& chunk, Unwritten unwritten);
    void pass_on(std::uint32_t thread);

    trace::TraceInfo& info_;
    PackFinisher finisher_;
    PackSink& sink_;
    trace::Packs packs_;              ///< of the chunk at hand
    std::vector<std::uint8_t> copy_;  ///< of a packed chunk
};

}  // namespace rdam::agent
