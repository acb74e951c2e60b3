// Records to packs (libprobe/format/pack.h). Runs inside the profiled program, at the end of a chunk, and in
// the agent for what a killed program has left behind. No libc, no allocation, little stack: a signal
// handler's may be small.
//
// Records are read as they lie in memory that the program can write to: nothing in them is believed beyond
// the end that the caller names.
#pragma once

#include <cstddef>
#include <cstdint>

#include "libprobe/format/events.h"
#include "libprobe/format/pack.h"

namespace rdam::pack {

/// Room for the largest pack; a caller that hands over a buffer needs as much.
inline constexpr std::uint32_t kMaxBytes = 56 * 1024;

/// Pending call stacks of a thread: taken before the record of the enter event to which they belong.
struct PendingStack {
    std::uint64_t caller = 0;
    std::uint32_t function = 0;
    std::uint32_t number = 0;
};

class PendingStacks {
  public:
    void add(const PendingStack& stack);
    /// The number of the last one that was taken for this call, 0 if none was. Those taken after it belong to
    /// calls that a signal handler jumped out of.
    std::uint32_t take(std::uint32_t function, std::uint64_t caller);
    bool empty() const { return count_ == 0; }
    void clear() { count_ = 0; }

  private:
    static constexpr std::uint32_t kMax = 16;
    PendingStack stacks_[kMax] = {};
    std::uint32_t count_ = 0;
};

/// Why run() stopped.
enum class Stop : std::uint8_t {
    end,        ///< at the end of the records
    unwritten,  ///< at a record that is reserved and not written, or makes no sense
    full,       ///< the pack is full: write it, clear, and go on
};

/// One pack under construction. Large: lives in memory of its own, which begins as zeros; prepare() before
/// its first use. Not thread-safe.
class Packer {
  public:
    void prepare(std::uint32_t step);

    /// Takes the records from `at`, which moves on, to `end`; both are multiples of 8.
    Stop run(const std::uint64_t*& at, const std::uint64_t* end, PendingStacks& stacks);

    std::uint32_t events() const { return events_; }
    /// The time of the last of them.
    std::uint64_t last_tsc() const { return last_tsc_; }
    /// The size of the pack so far.
    std::uint32_t size() const;
    /// Writes the pack to `to`, which has size() bytes and is 8-byte aligned.
    void write(void* to) const;
    /// Calls `sink(function, calls)` for each op that enters a function.
    template <class Sink>
    void for_each_entered(Sink sink) const {
        for (std::uint32_t i = 0; i < op_count_; ++i)
            if (ops_[i].kind <= Kind::tail_enter) sink(ops_[i].function, ops_[i].events);
    }
    /// Begins the next pack.
    void clear();

  private:
    /// An op, and what the loop wants to know of it.
    struct alignas(64) Known {
        std::uint64_t head;         ///< of its records, without what differs between events
        std::uint64_t caller;       ///< of its records' third word, as far as `caller_mask` goes
        std::uint64_t caller_mask;  ///< all bits for enters, else 0
        Known* follower;            ///< the op that followed it the last time
        std::uint64_t* previous;    ///< its last words
        std::uint32_t function;
        std::uint32_t events;
        std::uint16_t number;
        std::uint8_t words;
        std::uint8_t first_word;     ///< of a record
        std::uint16_t record_words;  ///< in all
        bool counted;
        bool straight;  ///< run_straight() may take it
        Kind kind;
    };
    static constexpr std::uint32_t kIndexBits = 11;
    static constexpr std::uint32_t kMaxPrevious = 1024;
    static constexpr std::uint32_t kMaxStraightWords = 20;
    static constexpr std::ptrdiff_t kMaxStraight = 24;  ///< words of a record
    // Their sum with the ops is below kMaxBytes.
    static constexpr std::uint32_t kCapacity[kColumns] = {6144, 10240, 14336, 2048, 512, 4096, 4096};
    static constexpr std::uint32_t kLargest = 14336;

    std::uint8_t*& end_of(Column column) { return ends_[static_cast<std::size_t>(column)]; }
    std::uint8_t* begin_of(Column column) { return columns_[static_cast<std::size_t>(column)]; }
    const std::uint8_t* begin_of(Column column) const { return columns_[static_cast<std::size_t>(column)]; }
    std::uint32_t events_for(Column column, std::uint32_t bytes) const;
    bool has_room() const;
    std::uint32_t straight_room() const;
    struct Straight;
    template <unsigned kEnter, unsigned kLeave>
    static std::uint32_t run_calls(Straight& now, const Known& enter, const Known& leave,
                                   const std::uint64_t* end);
    static std::uint32_t run_usual_calls(Straight& now, const Known& enter, const Known& leave,
                                         const std::uint64_t* end);
    const std::uint64_t* run_straight(const std::uint64_t* at, const std::uint64_t* end, std::uint32_t most);
    Stop take_any(const std::uint64_t*& at, const std::uint64_t* end, PendingStacks& stacks);
    void put_rare(const Known& op, const std::uint64_t* record, PendingStacks& stacks);
    Known* find(std::uint64_t key, std::uint64_t caller, std::uint32_t& place);
    Known* find_or_add(const std::uint64_t* record, const std::uint64_t* end, Stop& stop);
    Known* add(std::uint64_t head, std::uint64_t caller, Stop& stop);
    Stop take_stack(const std::uint64_t*& at, const std::uint64_t* end, PendingStacks& stacks);
    void put_time(std::uint64_t ticks);
    void put_op(std::uint32_t number);
    static std::uint8_t* put_again(std::uint8_t* out, const Known& enter, const Known& leave,
                                   std::uint32_t calls);
    static std::uint8_t* put_word(std::uint8_t* out, std::uint64_t value, std::uint64_t& previous);
    static std::uint8_t* put_words(std::uint8_t* out, const Known& op, const std::uint64_t* record);
    void put_count(std::uint64_t count);
    void mark(Column column, std::uint32_t value);

    std::uint32_t step_;
    std::uint64_t reciprocal_;  ///< 2^32 / step_, rounded up
    std::uint64_t first_tsc_;
    std::uint64_t last_tsc_;
    std::uint64_t last_count_;
    std::uint32_t events_;
    std::uint32_t processor_;
    std::uint32_t op_count_;
    std::uint32_t previous_count_;
    Known* last_op_;
    std::uint8_t* ends_[kColumns];
    Known ops_[kMaxOps];
    std::uint16_t index_[1 << kIndexBits];  ///< 1 + number of an op, by hash; 0: none
    std::uint64_t previous_[kMaxPrevious];
    std::uint8_t columns_[kColumns][kLargest + 16];
};

}  // namespace rdam::pack
