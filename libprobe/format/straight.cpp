// The packer's loop for what most records are: calls that need no more than an op, a time and words.
#include "libprobe/format/packer.h"
#include "libprobe/format/packer_parts.h"
#include "libprobe/format/varint.h"

namespace rdam::pack {

/// `enter` and `leave`, the ops of the last two events, so many times more: no more bytes than events.
std::uint8_t* Packer::put_again(std::uint8_t* out, const Known& enter, const Known& leave,
                                std::uint32_t calls) {
    if (calls > 1) {
        *out++ = kWideOp;
        return put_number(out, static_cast<std::uint16_t>(kAgain | calls));
    }
    if (calls == 0) return out;
    *out++ = static_cast<std::uint8_t>(enter.number);
    *out++ = static_cast<std::uint8_t>(leave.number);
    return out;
}

/// How many events surely find room if run_straight() takes them, their words apart.
std::uint32_t Packer::straight_room() const {
    constexpr std::uint32_t kMaxOfOp = 1;
    constexpr std::uint32_t kMaxOfTime = 3;
    const std::uint32_t ops = events_for(Column::ops, kMaxOfOp);
    const std::uint32_t times = events_for(Column::times, kMaxOfTime);
    const std::uint32_t least = ops < times ? ops : times;
    return least < kMaxEvents - events_ ? least : kMaxEvents - events_;
}

/// What run_straight() has in registers: stores of bytes may alias anything that is not local.
struct Packer::Straight {
    const std::uint64_t* at;
    std::uint8_t* ops;
    std::uint8_t* times;
    std::uint8_t* words;
    const std::uint8_t* words_limit;
    std::uint64_t last;
    std::uint64_t step;
    std::uint64_t reciprocal;
    std::uint64_t usual;  ///< the processor's bits of a head

    /// The differences of a and b to `op` and the processor of now: 0 if the record is one of the op's.
    std::uint64_t mismatch(const Known& op, const std::uint64_t* record) const {
        return (record[1] ^ usual ^ op.head) | ((record[2] & op.caller_mask) ^ op.caller);
    }
    /// More than kMax if the ticks are not so many whole steps, or too many.
    template <std::uint32_t kMax>
    std::uint64_t steps_of(std::uint64_t ticks) const {
        // A product that overflows gives a number of steps that does not give the ticks back.
        const std::uint64_t steps = ticks * reciprocal >> 32;
        return steps * step == ticks ? steps : kMax + 1;
    }
};

/// Calls of one function after another, which is most of what there is where calls are short: two events at a
/// time, for as long as `enter` and `leave` take turns. Returns how often they did. What the loop compares
/// with is in registers, and it has two branches a call; `kEnter` and `kLeave` are the numbers of words.
template <unsigned kEnter, unsigned kLeave>
[[gnu::noinline]] std::uint32_t Packer::run_calls(Straight& now, const Known& enter, const Known& leave,
                                                  const std::uint64_t* end) {
    constexpr std::ptrdiff_t kToLeave = 3 + kEnter;
    constexpr std::ptrdiff_t kToNext = kToLeave + 2 + kLeave;
    const std::uint64_t* record = now.at;
    const std::uint64_t enter_head = enter.head ^ now.usual;
    const std::uint64_t leave_head = leave.head ^ now.usual;
    const std::uint64_t caller = enter.caller;
    const std::uint64_t step = now.step;
    const std::uint64_t reciprocal = now.reciprocal;
    std::uint64_t* const enter_words = enter.previous;
    std::uint64_t* const leave_words = leave.previous;
    std::uint8_t* const times = now.times;
    std::uint8_t* words = now.words;
    std::uint64_t last = now.last;
    std::size_t done = 0;
    // Room for one event takes two words before `end`, and these are two events.
    while (record + 2 < end) {
        const std::uint64_t outside = record[0] - last;
        const std::uint64_t inside = record[kToLeave] - record[0];
        const std::uint64_t outside_steps = outside * reciprocal >> 32;
        const std::uint64_t inside_steps = inside * reciprocal >> 32;
        const std::uint64_t other = (record[1] ^ enter_head) | (record[2] ^ caller) |
                                    (record[kToLeave + 1] ^ leave_head) | (outside_steps * step ^ outside) |
                                    (inside_steps * step ^ inside);
        if (other != 0) break;
        if ((outside_steps > kMaxSteps) | (inside_steps > kMaxSteps)) break;
        if constexpr (kEnter + kLeave != 0) {
            if (words > now.words_limit) break;
            for (unsigned i = 0; i < kEnter; ++i)
                words = put_word(words, record[3 + i], enter_words[i]);
            for (unsigned i = 0; i < kLeave; ++i)
                words = put_word(words, record[kToLeave + 2 + i], leave_words[i]);
        }
        put_number(times + done, static_cast<std::uint16_t>(outside_steps | inside_steps << 8U));
        done += 2;
        last = record[kToLeave];
        record += kToNext;
    }
    now.at = record;
    now.times = times + done;
    now.words = words;
    now.last = last;
    return static_cast<std::uint32_t>(done / 2);
}

/// Handles the most common numbers of words; returns 0 for others, which loses nothing.
std::uint32_t Packer::run_usual_calls(Straight& now, const Known& enter, const Known& leave,
                                      const std::uint64_t* end) {
    if (enter.words > 3 || leave.words > 1) return 0;
    switch (2 * enter.words + leave.words) {
        case 0:
            return run_calls<0, 0>(now, enter, leave, end);
        case 1:
            return run_calls<0, 1>(now, enter, leave, end);
        case 2:
            return run_calls<1, 0>(now, enter, leave, end);
        case 3:
            return run_calls<1, 1>(now, enter, leave, end);
        case 4:
            return run_calls<2, 0>(now, enter, leave, end);
        case 5:
            return run_calls<2, 1>(now, enter, leave, end);
        case 6:
            return run_calls<3, 0>(now, enter, leave, end);
        default:
            return run_calls<3, 1>(now, enter, leave, end);
    }
}

/// The loop for those events that need no more than an op, a time and words. Goes on while what came behind
/// an op the last time comes again: no look-up, and the next record's address does not wait for what this one
/// says. Returns where it stopped, at an event that is none of these.
const std::uint64_t* Packer::run_straight(const std::uint64_t* at, const std::uint64_t* end,
                                          std::uint32_t most) {
    if (end - at <= kMaxStraight) return at;
    // No event has fewer than two words, and none is looked at that is not all there.
    const std::uint64_t* const stop = end - at - kMaxStraight < 2 * static_cast<std::ptrdiff_t>(most)
                                          ? end - kMaxStraight
                                          : at + 2 * static_cast<std::ptrdiff_t>(most);
    Straight now = {.at = at,
                    .ops = end_of(Column::ops),
                    .times = end_of(Column::times),
                    .words = end_of(Column::words),
                    .words_limit = begin_of(Column::words) +
                                   kCapacity[static_cast<std::size_t>(Column::words)] -
                                   2 * kMaxStraightWords * tagged::kMaxBytes,
                    .last = last_tsc_,
                    .step = step_,
                    .reciprocal = reciprocal_,
                    .usual = std::uint64_t{processor_} << RDAM_HEAD_CPU_SHIFT};
    Known* before = last_op_;
    std::uint32_t events = 0;
    while (now.at < stop) {
        Known* op = before->follower;
        if (now.mismatch(*op, now.at) != 0) {
            // Another op; or another processor: then it is not found.
            const std::uint64_t key = now.at[1] ^ now.usual;
            const std::uint64_t enter = (key >> RDAM_HEAD_KIND_SHIFT & 0xf) == RDAM_KIND_ENTER ? ~0ull : 0;
            std::uint32_t place = 0;
            op = find(key, now.at[2] & enter, place);
            if (op == nullptr) break;
            before->follower = op;
        }
        const std::uint64_t steps = now.steps_of<0xffff>(now.at[0] - now.last);
        if (!op->straight || steps > 0xffff) break;
        if (op->words != 0) {
            if (now.words > now.words_limit) break;
            now.words = put_words(now.words, *op, now.at);
        }
        if (steps <= kMaxSteps) {
            *now.times++ = static_cast<std::uint8_t>(steps);
        } else {
            *now.times++ = kSteps16;
            now.times = put_number(now.times, static_cast<std::uint16_t>(steps));
        }
        *now.ops++ = static_cast<std::uint8_t>(op->number);
        now.last = now.at[0];
        ++op->events;
        ++events;
        now.at += op->record_words;
        if (op->follower == before && before->straight && before->caller_mask != 0 && op->caller_mask == 0) {
            const std::uint32_t calls = run_usual_calls(now, *before, *op, stop);
            now.ops = put_again(now.ops, *before, *op, calls);
            before->events += calls;
            op->events += calls;
            events += 2 * calls;
        }
        before = op;
    }
    end_of(Column::ops) = now.ops;
    end_of(Column::times) = now.times;
    end_of(Column::words) = now.words;
    last_tsc_ = now.last;
    last_op_ = before;
    events_ += events;
    return now.at;
}

}  // namespace rdam::pack
