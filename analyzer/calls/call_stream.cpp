#include "analyzer/calls/call_stream.h"

#include "analyzer/calls/matcher_impl.h"

namespace rdam::calls {

OffCpuPauses::OffCpuPauses(std::span<const trace::OffCpu> intervals, std::uint64_t latest)
    : intervals_(intervals), latest_(latest) {
    for (const trace::OffCpu& each : intervals) {
        if (!each.by_recorder && !each.by_program) continue;
        trace::Event& pause = pauses_.emplace_back();
        pause.kind = trace::EventKind::pause;
        pause.reason = each.by_recorder ? trace::PauseReason::recorder : trace::PauseReason::program;
        pause.tsc = each.out;
        pause.until = each.in;
        pause.cpu = trace::kNoCpu;
    }
}

std::span<const trace::Event> OffCpuPauses::among(std::span<const trace::Event> events) {
    if (next_ == pauses_.size()) return events;
    // Nearly always there is none: nothing is copied.
    const auto first = std::ranges::find_if(events, [&](const trace::Event& event) { return due(event); });
    if (first == events.end()) return events;
    merged_.assign(events.begin(), first);
    for (const trace::Event& event : events.subspan(merged_.size())) {
        for (; due(event); ++next_)
            merged_.push_back(pauses_[next_]);
        merged_.push_back(event);
    }
    return merged_;
}

void OffCpuPauses::note_pauses(std::span<const trace::Event> events) {
    using Reason = trace::PauseReason;
    for (const trace::Event& event : events) {
        if (event.kind != trace::EventKind::pause) continue;
        if (event.reason != Reason::stack_copy && event.reason != Reason::new_chunk) continue;
        while (behind_ < intervals_.size() && intervals_[behind_].in <= event.tsc)
            ++behind_;
        for (std::size_t i = behind_; i < intervals_.size() && intervals_[i].out < event.until; ++i) {
            const std::uint64_t from = std::max(intervals_[i].out, event.tsc);
            const std::uint64_t to = std::min(intervals_[i].in, event.until);
            if (to > from) off_cpu_in_pauses_ += to - from;
        }
    }
}

std::span<const trace::Event> OffCpuPauses::rest() {
    const std::size_t from = next_;
    next_ = pauses_.size();
    return std::span{pauses_}.subspan(from);
}

trace::TickRange life_in(const trace::ThreadInfo& thread, const trace::TickRange& range) {
    return {std::max(thread.start, range.begin),
            thread.end != 0 ? std::min(thread.end, range.end) : range.end};
}

EventWindow::EventWindow(trace::TickRange range, std::size_t functions, std::vector<bool> ignored)
    : range_(range), ignored_(std::move(ignored)), open_frames_(functions) {
    ignored_.resize(functions);
}

std::span<const trace::Event> EventWindow::inside(std::span<const trace::Event> events) {
    kept_.clear();
    for (trace::Event event : events) {
        if (passes(event)) kept_.push_back(event);
    }
    return kept_;
}

bool EventWindow::gap() {
    while (!stack_.empty())
        pop();
    return !reaches_end_;
}

void EventWindow::see(std::uint64_t tsc) {
    if (tsc < range_.begin) {
        begins_before_ = true;
        return;
    }
    if (!std::exchange(reaches_begin_, true)) {
        cut_at_begin_ += static_cast<std::uint64_t>(
            std::ranges::count_if(stack_, [&](const Frame& frame) { return !ignored_[frame.function]; }));
    }
    if (tsc >= range_.end) reaches_end_ = true;
}

bool EventWindow::passes(trace::Event& event) {
    if (event.kind == trace::EventKind::pause) return clip_pause(event);
    if (event.kind == trace::EventKind::stack_switch) return false;
    see(event.tsc);
    switch (event.kind) {
        case trace::EventKind::enter:
            return enter(event);
        case trace::EventKind::tail_enter:
            return tail_enter(event);
        default:
            return leave(event);
    }
}

bool EventWindow::clip_pause(trace::Event& event) const {
    if (event.until < event.tsc) return range_.contains(event.tsc);  // impossible: the matcher counts it
    event.tsc = std::max(event.tsc, range_.begin);
    event.until = std::min(event.until, range_.end);
    return event.tsc < event.until;
}

bool EventWindow::enter(trace::Event& event) {
    const bool inherits = event.sampling == 0 && !stack_.empty();
    const Frame frame{.function = event.function,
                      .sampling = inherits ? stack_.back().sampling : event.sampling,
                      .passed_on = range_.contains(event.tsc)};
    // The call with which the tree began has the weight, and is not passed on.
    if (inherits && !stack_.back().passed_on) event.sampling = frame.sampling;
    stack_.push_back(frame);
    ++open_frames_[event.function];
    return frame.passed_on;
}

bool EventWindow::tail_enter(trace::Event& event) {
    if (stack_.empty()) return range_.contains(event.tsc);
    if (stack_.back().tail) pop();
    if (stack_.empty()) return range_.contains(event.tsc);
    const Frame& opener = stack_.back();
    const Frame frame{.function = event.function,
                      .sampling = event.sampling != 0 ? event.sampling : opener.sampling,
                      .tail = true,
                      .passed_on = opener.passed_on && range_.contains(event.tsc)};
    if (!opener.passed_on && range_.contains(event.tsc) && !ignored_[event.function]) ++cut_at_begin_;
    stack_.push_back(frame);
    return frame.passed_on;
}

bool EventWindow::leave(const trace::Event& event) {
    const bool inside = range_.contains(event.tsc);
    if (open_frames_[event.function] == 0) return inside;
    while (stack_.back().tail || stack_.back().function != event.function)
        pop();
    const bool passed_on = stack_.back().passed_on;
    pop();
    return inside && passed_on;
}

void EventWindow::pop() {
    if (!stack_.back().tail) --open_frames_[stack_.back().function];
    stack_.pop_back();
}

UnendedFinder::UnendedFinder(std::size_t functions, const KnownEnds& ends)
    : matcher_(functions, {}, {}, *this) {
    matcher_.set_known_ends(ends);
}

void UnendedFinder::consume(std::span<const trace::Event> events) {
    matcher_.consume(events);
}

void UnendedFinder::gap() {
    matcher_.gap();
}

std::vector<std::uint64_t> UnendedFinder::finish() {
    matcher_.finish();
    std::ranges::sort(found_);
    return std::move(found_);
}

void UnendedFinder::abandoned(std::size_t count) {
    found_.insert(found_.end(), open_.end() - static_cast<std::ptrdiff_t>(count), open_.end());
    open_.resize(open_.size() - count);
}

Result<std::vector<std::uint64_t>> unended_calls(const trace::TraceReader& reader, std::uint32_t thread,
                                                 std::span<const trace::OffCpu> off_cpu,
                                                 const StreamOptions& options,
                                                 const std::function<bool(std::size_t)>& goes_on) {
    UnendedFinder finder{reader.info().functions.size(), options.ends};
    CallStream stream{reader, thread, off_cpu, options};
    if (auto read = stream.read(finder, goes_on); !read) return tl::unexpected{read.error()};
    return finder.finish();
}

}  // namespace rdam::calls
