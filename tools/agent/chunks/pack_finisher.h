// From the packs and records that a thread has left in shared memory to packs that can stand in a trace: with
// the numbers that only the agent gives (call stacks, regions), and checked. The program can write to that
// memory: what is looked at is a copy, and of it, sizes, ops and stacks are checked here, columns by the
// reader.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "libprobe/format/events.h"
#include "libprobe/format/packer.h"
#include "libprobe/format/shared.h"
#include "tools/agent/memory/chunk_parser.h"
#include "tools/agent/memory/shared_memory.h"
#include "tools/base/unmovable.h"
#include "tools/trace/event.h"
#include "tools/trace/pack_decoder.h"

namespace rdam::agent {

// From a copy of a thread's stack to its frames, with libunwind over the copy and the objects' files.

struct UnwoundStack {
    std::vector<std::uint64_t> frames;  ///< return addresses, the caller's first; none in librdam.so
    bool truncated = false;             ///< the copy ended before the stack did
};

struct UnwindState;

class Unwinder : private Unmovable {
  public:
    explicit Unwinder(const ProcessDescription& process);

    /// An object loaded later. Those before it that had the same addresses are forgotten.
    void add(const ProcessObject& object);
    ~Unwinder();

    /// `entry` is the run-time address of the wrapped function; `stack` are the bytes behind `copy`.
    UnwoundStack unwind(std::uint64_t entry, const shm::StackCopy& copy, std::span<const std::uint8_t> stack);

  private:
    std::unique_ptr<UnwindState> state_;
};

/// Not thread-safe.
class PackFinisher {
  public:
    /// `step`: the ticks by which the clock moves at a time.
    PackFinisher(const ProcessDescription& process, shm::Control& control, std::uint32_t step,
                 trace::TraceInfo& info);

    /// The process has these objects besides, and other functions.
    void add_objects(const std::vector<ProcessObject>& added);

    /// Regions that have come since the last time. They are known to the process before it writes their first
    /// event, and to us before we read it.
    void note_regions();

    /// Adds the packs of a packed chunk of `thread` to `packs`. `packed` is a copy of what stands behind its
    /// header. Returns how many bytes were taken: fewer than all if what comes next is behind a gap, for
    /// which `packs` must be empty.
    std::size_t add_packed(std::uint32_t thread, std::span<const std::uint8_t> packed, trace::Packs& packs);

    /// A full chunk of records, or a pack, comes as number `number` of its thread (shm::PackHeader). False:
    /// it has been there, or its time is over. What is missing before it is counted as damage.
    bool note_number(std::uint32_t thread, std::uint32_t number);
    /// The thread has ended, and this was the last one.
    void note_end(std::uint32_t thread, std::uint32_t number);
    /// Something else of the program's memory made no sense.
    void note_damage() { ++damaged_; }

    /// Adds a record of a chunk that its thread has not packed. The words of `record` are all there, and a
    /// copy.
    void add_record(std::uint32_t thread, std::span<const std::uint64_t> record, trace::Packs& packs);
    /// What add_record() has kept so far.
    void flush(std::uint32_t thread, trace::Packs& packs);

    /// The filling of the thread's chunk of records that was packed last, and up to where.
    struct Packed {
        std::uint32_t sequence = shm::kNone;
        std::uint32_t end = 0;
    };
    Packed last_packed(std::uint32_t thread) const;

    void forget(std::uint32_t thread) { threads_.erase(thread); }

    const RecordRules& rules() const { return rules_; }
    void read_rules();
    bool any_calls() const { return any_calls_; }
    std::uint64_t damaged() const { return damaged_; }  ///< places of the shared memory that made no sense

  private:
    struct Thread {
        Packed packed;
        bool gap = false;                                         ///< something of what came last was damaged
        std::unordered_map<std::uint32_t, std::uint32_t> stacks;  ///< by number: 1 + index
        pack::PendingStacks pending;
    };

    static std::optional<shm::PackHeader> next_header(std::span<const std::uint8_t> packed);
    bool add_pack(Thread& thread, std::span<const std::uint8_t> bytes, trace::Packs& packs);
    bool finish_ops(std::span<std::uint8_t> bytes, const trace::PackLayout& layout, trace::Packs& packs);
    void finish_stacks(Thread& thread, std::span<std::uint8_t> bytes, const trace::PackLayout& layout);
    bool add_stack(Thread& thread, std::span<const std::uint8_t> bytes);
    std::uint32_t index_of(std::uint32_t number) const;

    const FunctionNumbers& numbers_of_process_;
    shm::Control& control_;
    trace::TraceInfo& info_;
    RecordRules rules_;
    Unwinder unwinder_;
    std::unique_ptr<pack::Packer> packer_;  ///< of records that their thread has not packed
    std::unordered_map<std::uint32_t, Thread> threads_;
    std::unordered_map<std::uint32_t, std::uint32_t> numbers_;    ///< by thread: of what came last, for good
    std::map<std::vector<std::uint64_t>, std::uint32_t> stacks_;  ///< function, caller, frames → 1 + index
    std::vector<std::uint32_t> regions_;                          ///< by region: index in info_.functions
    std::uint64_t damaged_ = 0;
    bool any_calls_ = false;
};

}  // namespace rdam::agent
