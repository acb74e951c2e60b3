#include "analyzer/hints/activities.h"

#include <algorithm>
#include <utility>

namespace rdam::hints {
namespace {

Interval span_of(const std::vector<score::ThreadTimeline>& timelines) {
    Interval span{UINT64_MAX, 0};
    for (const score::ThreadTimeline& thread : timelines)
        for (const score::TimedCall& call : thread.calls)
            span = {std::min(span.begin, call.begin), std::max(span.end, call.end)};
    return span;
}

Activities::OfThread inside(const score::ThreadTimeline& timeline, const KeptTime& time) {
    std::map<std::uint32_t, Intervals> by_function;
    for (const score::TimedCall& call : timeline.calls)
        by_function[call.function].push_back(time({call.begin, call.end}));
    Activities::OfThread all;
    for (auto& [function, intervals] : by_function)
        if (Intervals times = united(std::move(intervals)); !times.empty())
            all.push_back({function, std::move(times), {}});
    return all;
}

/// The times at which one or more threads are inside a function, and for each thread those at which only it
/// is.
class Crowd {
  public:
    void add(Activities::Inside& inside) {
        const auto number = static_cast<std::uint32_t>(members_.size());
        members_.push_back({&inside, {}});
        for (const Interval& each : inside.times) {
            changes_.push_back({each.begin, number, true});
            changes_.push_back({each.end, number, false});
        }
    }

    /// Returns which thread was alone at which time. May be called once.
    Steps any() {
        std::ranges::sort(changes_, {}, &Change::time);
        Intervals any;
        std::size_t count = 0;
        std::uint64_t numbers = 0;  // Σ over threads inside: the number of a thread that is alone
        std::uint64_t since = 0;
        for (const Change& change : changes_) {
            if (count > 0 && change.time > since) {
                const Interval time{since, change.time};
                append(any, time);
                if (count == 1) append(members_[numbers].alone, time);
            }
            since = change.time;
            count += change.enters ? 1 : std::size_t{0} - 1;
            numbers += change.enters ? change.member : std::uint64_t{0} - change.member;
        }
        for (Member& member : members_)
            member.inside->alone = Steps{member.alone};
        return Steps{any};
    }

  private:
    struct Member {
        Activities::Inside* inside;
        Intervals alone;
    };
    struct Change {
        std::uint64_t time;
        std::uint32_t member;
        bool enters;
    };

    static void append(Intervals& to, const Interval& time) {
        if (!to.empty() && to.back().end == time.begin)
            to.back().end = time.end;
        else
            to.push_back(time);
    }

    std::vector<Member> members_;
    std::vector<Change> changes_;
};

}  // namespace

std::optional<KeptTime> KeptTime::of(const samples::Windows& windows, const Interval& run) {
    constexpr std::uint64_t kMaxWindows = std::uint64_t{1} << 22;
    KeptTime time;
    if (run.begin >= run.end) return time;
    if (windows.all()) {
        time.runs_.push_back({run, 0});
        return time;
    }
    const std::uint64_t first = run.begin >> windows.shift, last = run.end >> windows.shift;
    if (last - first > kMaxWindows) return std::nullopt;
    std::uint64_t before = 0;
    for (std::uint64_t number = first; number <= last; ++number) {
        if (!windows.keeps(number)) continue;
        const std::uint64_t from = number << windows.shift, ticks = std::uint64_t{1} << windows.shift;
        if (!time.runs_.empty() && time.runs_.back().kept.end == from)
            time.runs_.back().kept.end += ticks;
        else
            time.runs_.push_back({{from, from + ticks}, before});
        before += ticks;
    }
    return time;
}

std::uint64_t KeptTime::operator()(std::uint64_t tsc) const {
    const auto next = std::ranges::upper_bound(runs_, tsc, {}, [](const Run& run) { return run.kept.begin; });
    if (next == runs_.begin()) return 0;
    const Run& last = *(next - 1);
    return last.before + std::min(tsc, last.kept.end) - last.kept.begin;
}

Activities::Activities(const score::Report& report) {
    auto time = KeptTime::of(report.windows, span_of(report.timeline));
    if (!time) return;
    time_ = std::move(*time);
    threads_.reserve(report.timeline.size());
    for (const score::ThreadTimeline& timeline : report.timeline)
        threads_.push_back(inside(timeline, time_));
    std::map<std::uint32_t, Crowd> crowds;
    for (OfThread& thread : threads_)
        for (Inside& inside : thread)
            crowds[inside.function].add(inside);
    for (auto& [function, crowd] : crowds)
        of_any_.emplace(function, std::exchange(crowd, {}).any());
}

const Activities::Inside* Activities::find(std::size_t thread, std::uint32_t function) const {
    const auto found = std::ranges::lower_bound(threads_[thread], function, {}, &Inside::function);
    return found != threads_[thread].end() && found->function == function ? &*found : nullptr;
}

}  // namespace rdam::hints
