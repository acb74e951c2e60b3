// Some thousand events of one thread by columns: what most events have in common is there once, as an op.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libprobe/format/pack.h"
#include "tools/trace/event.h"

namespace rdam::trace {

/// Refers to the memory of who has decoded it. Copies are as good.
struct EventColumns {
    /// What events of the same op have in common; `words` is empty, except of a leave by unwinding.
    struct Op {
        Event event;
        std::uint16_t words = 0;  ///< how many each has in `words`
    };
    /// Event::until of a pause, or of a switch of the stack.
    struct Until {
        std::uint32_t event = 0;
        std::uint64_t until = 0;
    };

    std::span<const Op> ops;
    std::span<const std::uint32_t> op;          ///< by event: its place in `ops`
    std::span<const std::uint64_t> tsc;         ///< by event
    std::span<const std::uint32_t> first_word;  ///< by event: where in `words`; empty: no event has words
    std::span<const std::uint64_t> words;
    std::span<const std::uint64_t> instructions;  ///< by event; empty: no event has them
    std::span<const Until> untils;                ///< in the order of events, one for each pause and switch
    std::span<const pack::Mark> processors;       ///< of this event and those behind it: + 1, 0: not known
    std::span<const pack::Mark> stacks;           ///< Event::stack
    std::span<const pack::Mark> sampling;         ///< Event::sampling

    std::size_t size() const { return op.size(); }
    const Op& op_of(std::size_t event) const { return ops[op[event]]; }
    std::span<const std::uint64_t> words_of(std::size_t event) const {
        const std::uint16_t count = op_of(event).words;
        return count == 0 ? std::span<const std::uint64_t>{} : words.subspan(first_word[event], count);
    }
    std::uint16_t processor_of(std::size_t event) const {
        const auto behind = std::ranges::upper_bound(processors, event, {}, &pack::Mark::event);
        return behind == processors.begin() ? kNoCpu
                                            : static_cast<std::uint16_t>(std::prev(behind)->value - 1);
    }

    /// The events from `from` on, before `to`; their words are those of the columns.
    void events(std::size_t from, std::size_t to, Event* out) const;
};

}  // namespace rdam::trace
