#include "analyzer/calls/crowding.h"

#include <algorithm>

#include "tools/trace/clock.h"

namespace rdam::calls {
namespace {

/// A context switch takes a microsecond or two; what another program does in so short a time does not matter.
constexpr double kChangeNs = 5000;

}  // namespace

void ProgramProcessors::add(std::span<const trace::OffCpu> intervals) {
    for (std::size_t i = 1; i < intervals.size(); ++i) {
        const trace::OffCpu& before = intervals[i - 1];
        const trace::OffCpu& next = intervals[i];
        if (before.cpu == trace::kNoCpu || next.out <= before.in) continue;
        spans_[before.cpu].push_back({before.in, next.out, threads_});
    }
    ++threads_;
}

void ProgramProcessors::seal() {
    for (auto& [cpu, spans] : spans_) {
        std::ranges::sort(spans, {}, &Span::begin);
        std::size_t last = 0;
        for (const Span& span : spans) {
            // A thread that returns after a moment was preempted by another program.
            const std::uint64_t gap = span.thread != spans[last].thread ? change_ : 0;
            if (span.begin > spans[last].end + gap)
                spans[++last] = span;
            else if (span.end > spans[last].end)
                spans[last] = {spans[last].begin, span.end, span.thread};
        }
        spans.resize(std::min(last + 1, spans.size()));
        spans.shrink_to_fit();
    }
}

std::vector<trace::OffCpu> ProgramProcessors::marked(std::span<const trace::OffCpu> intervals) const {
    std::vector<trace::OffCpu> out;
    out.reserve(intervals.size());
    std::uint16_t left = trace::kNoCpu;  // the processor that it had before it was off
    for (std::size_t i = 0; i < intervals.size(); ++i) {
        trace::OffCpu rest = intervals[i];
        if (i > 0 && !trace::same_absence(intervals[i - 1], rest)) left = intervals[i - 1].cpu;
        const auto found = spans_.find(left != trace::kNoCpu ? left : rest.cpu);
        if (!rest.preempted || rest.by_recorder || found == spans_.end()) {
            out.push_back(rest);
            continue;
        }
        const std::vector<Span>& spans = found->second;
        for (auto span = std::ranges::upper_bound(spans, rest.out, {}, &Span::end);
             span != spans.end() && span->begin < rest.in; ++span) {
            trace::OffCpu part = rest;
            part.in = std::max(span->begin, rest.out);
            if (part.in > part.out) out.push_back(part);
            part.out = part.in;
            part.in = std::min(span->end, rest.in);
            part.by_program = true;
            out.push_back(part);
            rest.out = part.in;
        }
        if (rest.out < rest.in) out.push_back(rest);
    }
    return out;
}

Result<Absences> Absences::of(const trace::TraceReader& reader) {
    const double change = kChangeNs / trace::nanoseconds_per_tick(reader.info().clock);
    Absences times{reader, static_cast<std::uint64_t>(change)};
    if (reader.info().switches.marked) return times;
    bool any = false;
    for (std::uint32_t thread = 0; thread < reader.info().threads.size(); ++thread) {
        const auto intervals = reader.off_cpu(thread);
        if (!intervals) return tl::unexpected{intervals.error()};
        times.program_.add(*intervals);
        any = any || std::ranges::any_of(*intervals, [](const trace::OffCpu& each) {
                  return each.preempted && !each.by_recorder;
              });
    }
    if (any)
        times.program_.seal();
    else
        times.program_ = ProgramProcessors{0};
    return times;
}

Result<std::vector<trace::OffCpu>> Absences::thread(std::uint32_t thread) const {
    auto intervals = reader_->off_cpu(thread);
    if (!intervals) return intervals;
    return program_.marked(*intervals);
}

}  // namespace rdam::calls
