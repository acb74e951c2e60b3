#include "tools/trace/event_columns.h"

namespace rdam::trace {
namespace {

/// Calls `use(event, value)` for the marks of the events from `from` on, before `to`.
template <class Use>
void for_marks(std::span<const pack::Mark> marks, std::size_t from, std::size_t to, const Use& use) {
    for (auto mark = std::ranges::lower_bound(marks, from, {}, &pack::Mark::event);
         mark != marks.end() && mark->event < to; ++mark)
        use(mark->event, mark->value);
}

}  // namespace

void EventColumns::events(std::size_t from, std::size_t to, Event* out) const {
    for (std::size_t i = from; i < to; ++i) {
        Event& event = out[i - from];
        const Op& as = ops[op[i]];
        event = as.event;
        event.tsc = tsc[i];
        if (as.words != 0) event.words = words.subspan(first_word[i], as.words);
        if (!instructions.empty()) event.instructions = instructions[i];
    }
    for (auto each = std::ranges::lower_bound(untils, from, {}, &Until::event);
         each != untils.end() && each->event < to; ++each)
        out[each->event - from].until = each->until;
    std::uint16_t processor = from < to ? processor_of(from) : kNoCpu;
    std::size_t since = from;
    const auto set_up_to = [&](std::size_t end) {
        if (processor != kNoCpu)
            for (std::size_t i = since; i < end; ++i)
                if (out[i - from].kind < EventKind::pause) out[i - from].cpu = processor;
        since = end;
    };
    for_marks(processors, from, to, [&](std::uint32_t event, std::uint32_t value) {
        set_up_to(event);
        processor = static_cast<std::uint16_t>(value - 1);
    });
    set_up_to(to);
    for_marks(stacks, from, to,
              [&](std::uint32_t event, std::uint32_t value) { out[event - from].stack = value; });
    for_marks(sampling, from, to, [&](std::uint32_t event, std::uint32_t value) {
        out[event - from].sampling = static_cast<std::uint8_t>(value);
    });
}

}  // namespace rdam::trace
