// A pack: some thousand events of one thread, as the thread itself packs them when its chunk of records is
// full, and as they stand in the trace file (docs/trace-format.md, "Packed event chunks"). Shared by the
// recorder, which writes packs, the agent, which finishes them, and the reader of traces.
//
//   Header | Op … Op | ops | times | words | processors | stacks | sampling | instructions | zeros (to 8 bytes)
#pragma once

#include <cstddef>
#include <cstdint>

namespace rdam::pack {

/// What an op does. The first four are those of trace::format::What. stack_switch: since version 4.0 of the
/// format.
enum class Kind : std::uint8_t { enter, tail_enter, leave, unwound_leave, pause, stack_switch, count };

/// Events that differ only in what the columns say are of one op; the column `ops` has its number.
struct Op {
    std::uint64_t caller = 0;    ///< enter: the return address; else 0
    std::uint32_t function = 0;  ///< pause: the reason; kInnermost: whichever call is the innermost open one
    Kind kind = Kind::enter;
    std::uint8_t words = 0;    ///< how many each event has in the column `words`
    std::uint8_t counted = 0;  ///< 1: each event has a number in the column `instructions`
    std::uint8_t reserved = 0;
};
static_assert(sizeof(Op) == 16);

inline constexpr std::uint32_t kInnermost = 0xffffffff;

/// The columns of a pack, in their order.
///
/// - ops: the number of the event's op, one byte; kWideOp: two bytes behind it have the number. A number with
///   kAgain is no op: the ops of the last two events come again, in turn, as often as its other bits say, at
///   least once (since version 3.0 of the format).
/// - times: one byte, the steps of the clock since the event before it (since Header::first_tsc for the
///   first), or one of the codes below.
/// - words: numbers as in varint.h, each the zigzag difference to the same word of the last event of this op
///   (0 before the first). A pause has one, the ticks from its begin to its end, as it is; a switch of the
///   stack has one, the number of the stack, as it is.
/// - processors, stacks, sampling: Marks.
/// - instructions: numbers as in varint.h, 0 = not known, else 1 + the zigzag difference to the last known
///   count (0 before the first).
enum class Column : std::uint8_t { ops, times, words, processors, stacks, sampling, instructions, count };
inline constexpr std::size_t kColumns = static_cast<std::size_t>(Column::count);

inline constexpr std::uint8_t kWideOp = 255;
inline constexpr std::uint16_t kAgain = 0x8000;
inline constexpr std::uint8_t kMaxSteps = 251;    ///< in one byte
inline constexpr std::uint8_t kSteps16 = 252;     ///< two bytes of steps follow
inline constexpr std::uint8_t kSteps32 = 253;     ///< four bytes of steps follow
inline constexpr std::uint8_t kDifference = 254;  ///< eight bytes follow: ticks, modulo 2^64

/// Something that few events have. In the order of events.
struct Mark {
    std::uint32_t event = 0;  ///< its place in the pack
    std::uint32_t value =
        0;  ///< processors: + 1, of this event and those behind it, 0: not known; stacks: 1 + index of
            ///< the call stack; sampling: 1 + k, of a tree recorded with probability 2^-k
};
static_assert(sizeof(Mark) == 8);

struct Header {
    std::uint32_t size = 0;  ///< of the whole pack, a multiple of 8
    std::uint32_t events = 0;
    std::uint64_t first_tsc = 0;
    std::uint64_t last_tsc = 0;  ///< of the last event; need not be the largest
    std::uint32_t step = 1;      ///< ticks
    std::uint32_t ops = 0;       ///< how many Ops follow
    std::uint32_t bytes[kColumns] = {};
    std::uint32_t reserved = 0;
};
static_assert(sizeof(Header) == 64);

/// A pack never has more than this.
inline constexpr std::uint32_t kMaxOps = 768;
inline constexpr std::uint32_t kMaxEvents = 4096;
static_assert(kMaxOps < kAgain && kMaxEvents / 2 < kAgain);

}  // namespace rdam::pack
