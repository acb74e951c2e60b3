#include "analyzer/inputs/rows/row.h"

#include <algorithm>

#include "libprobe/format/pack.h"

namespace rdam::inputs {

void Row::add(const trace::Event& event) {
    switch (event.kind) {
        case trace::EventKind::enter:
        case trace::EventKind::tail_enter:
            enter(event);
            break;
        case trace::EventKind::leave:
            leave(event);
            break;
        case trace::EventKind::pause:
            encoder.pause(event.tsc, event.until, event.reason);
            break;
        case trace::EventKind::stack_switch:
            return;
    }
    ++events;
}

void Row::enter(const trace::Event& event) {
    // Nothing that was recorded is nested as deep.
    constexpr std::size_t kMax = std::size_t{1} << 16;
    first = std::min(first, event.tsc);
    last = std::max(last, event.tsc);
    const bool tail = event.kind == trace::EventKind::tail_enter;
    if (!tail) {
        if (open_.size() == kMax) close_to(0);
        open_.push_back({event.function, stretch});
    }
    if (event.sampling != 0) {
        tree_ = event.sampling;
        tree_depth_ = std::max<std::size_t>(open_.size(), 1);
    }
    encoder.enter(event.tsc, event.function, event.cpu, event.caller, tail, event.stack, event.words,
                  event.sampling, event.instructions);
}

void Row::leave(const trace::Event& event) {
    first = std::min(first, event.tsc);
    last = std::max(last, event.tsc);
    std::uint32_t function = event.function;
    if (function == pack::kInnermost) {
        if (open_.empty()) return;
        function = open_.back().function;
    }
    std::uint64_t instructions = event.instructions;
    std::size_t depth = open_.size();
    while (depth > 0 && open_[depth - 1].function != function)
        --depth;
    if (depth > 0) {
        // A thread's count says nothing of the time in which another row ran.
        if (open_[depth - 1].stretch != stretch) instructions = 0;
        close_to(depth - 1);
    }
    encoder.leave(event.tsc, function, event.cpu, event.unwound, event.words, instructions);
}

void Row::close_to(std::size_t depth) {
    open_.resize(depth);
    if (depth < tree_depth_) tree_depth_ = 0;
}

void Row::gap() {
    close_to(0);
    encoder.gap();
}

void Row::add_off_cpu(const trace::OffCpu& interval) {
    if (interval.out >= interval.in || interval.in <= off_until) return;
    if (!off_cpu) off_cpu = std::make_unique<trace::OffCpuEncoder>();
    off_cpu->add(interval);
    off_until = interval.in;
}

}  // namespace rdam::inputs
