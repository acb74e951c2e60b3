#include "tools/trace/open_frames.h"

#include <cstddef>
#include <utility>

#include "libprobe/format/pack.h"

namespace rdam::trace {

void OpenFrames::name_innermost(std::span<Event> events) {
    for (Event& event : events) {
        if (event.kind == EventKind::enter) open(event.function);
        if (event.kind == EventKind::leave) close(event);
        if (event.kind == EventKind::stack_switch) change_to(event.until);
    }
}

void OpenFrames::change_to(std::uint64_t stack) {
    // The memory of a made-up trace is bounded.
    constexpr std::size_t kMaxStacks = std::size_t{1} << 20;
    if (others_.size() > kMaxStacks) others_.clear();
    if (!open_.empty()) others_[stack_] = std::move(open_);
    stack_ = stack;
    const auto known = others_.find(stack);
    open_ = known != others_.end() ? std::move(known->second) : std::vector<std::uint32_t>{};
    if (known != others_.end()) others_.erase(known);
}

void OpenFrames::open(std::uint32_t function) {
    // Nothing that was recorded is nested as deep.
    constexpr std::size_t kMax = std::size_t{1} << 22;
    if (open_.size() == kMax) open_.clear();
    open_.push_back(function);
}

void OpenFrames::close(Event& event) {
    if (event.function == pack::kInnermost) {
        if (open_.empty()) {
            event = Event{.tsc = event.tsc, .until = event.tsc, .kind = EventKind::pause, .words = {}};
            return;
        }
        event.function = open_.back();
    }
    // Frames inside it were abandoned.
    for (std::size_t i = open_.size(); i > 0; --i)
        if (open_[i - 1] == event.function) return open_.resize(i - 1);
}

}  // namespace rdam::trace
