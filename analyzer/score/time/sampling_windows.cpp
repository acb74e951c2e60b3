#include "analyzer/score/time/sampling_windows.h"

#include <algorithm>
#include <numeric>

namespace rdam::score {
namespace {

/// The cost of a probe was measured where nothing disturbed it. In a program with caches of its own it is
/// higher, by a quarter where processors are busy.
constexpr double kCostError = 0.25;
/// If most of the time seen is that of probes, nothing is reported about the function: its durations include
/// them.
constexpr double kMaxError = 0.5;
/// The least of a window that is believed to be the program's own time, should the costs be overestimated.
constexpr double kMinOwn = 0.02;

double ticks(std::uint64_t begin, std::uint64_t end) {
    return end > begin ? static_cast<double>(end - begin) : 0;
}

}  // namespace

WindowTable::WindowTable(std::vector<trace::Window> windows) : windows_(std::move(windows)) {
    std::uint64_t sum = 0;
    before_.reserve(windows_.size());
    for (const trace::Window& window : windows_) {
        before_.push_back(sum);
        sum += window.end - window.begin;
    }
}

std::size_t WindowTable::first_behind(std::uint64_t t) const {
    const auto found = std::ranges::upper_bound(windows_, t, {}, &trace::Window::end);
    return static_cast<std::size_t>(found - windows_.begin());
}

std::uint64_t WindowTable::covered(std::uint64_t t) const {
    const std::size_t next = first_behind(t);
    if (next < windows_.size()) return before_[next] + (t - std::min(t, windows_[next].begin));
    return windows_.empty() ? 0 : before_.back() + (windows_.back().end - windows_.back().begin);
}

ThreadWindows::ThreadWindows(std::shared_ptr<const WindowTable> table, TickRange life)
    : table_(std::move(table)), life_(life) {
    if (!table_) return;
    first_ = last_ = table_->first_behind(life.begin);
    std::size_t end = table_->first_behind(life.end);
    if (end < table_->size() && (*table_)[end].begin < life.end) ++end;
    count_ = end - std::min(first_, end);
    inside_.resize(clusters());
    probes_.resize(clusters());
    between_.resize(clusters() + 1);
}

std::uint32_t ThreadWindows::cluster_at(std::uint64_t t) {
    if (count_ == 0) return kOutside;
    const std::size_t end = first_ + count_;
    while (last_ > first_ && t < (*table_)[last_ - 1].end)
        --last_;
    while (last_ < end && t >= (*table_)[last_].end)
        ++last_;
    if (last_ == end || t < (*table_)[last_].begin) return kOutside;
    return static_cast<std::uint32_t>(cluster_of(last_));
}

std::uint32_t ThreadWindows::cluster_at(std::uint64_t t, std::uint64_t since) {
    const std::uint32_t cluster = cluster_at(t);
    return cluster != kOutside && (*table_)[first_of(cluster)].begin < since ? kOutside : cluster;
}

/// The last cluster that does not begin behind the window.
std::size_t ThreadWindows::cluster_of(std::size_t index) const {
    if (index == first_ + count_) return clusters();
    std::size_t cluster = (index - first_) * clusters() / count_;
    while (cluster + 1 < clusters() && first_of(cluster + 1) <= index)
        ++cluster;
    return cluster;
}

void ThreadWindows::note_probe(std::uint64_t t, double ticks) {
    if (count_ == 0) return;
    const std::uint32_t cluster = cluster_at(t);
    if (cluster == kOutside) {
        between_[cluster_of(last_)] += ticks;
        return;
    }
    inside_[cluster] += ticks;
    probes_[cluster] += ticks;
}

void ThreadWindows::take(std::uint64_t begin, std::uint64_t end) {
    begin = std::max(begin, life_.begin);
    end = std::min(end, life_.end);
    if (count_ == 0 || end <= begin) return;
    cluster_at(begin);
    double outside = ticks(begin, end);
    for (std::size_t i = last_; i < first_ + count_ && (*table_)[i].begin < end; ++i) {
        const double part = ticks(std::max(begin, (*table_)[i].begin), std::min(end, (*table_)[i].end));
        inside_[cluster_of(i)] += part;
        outside -= part;
    }
    between_[cluster_of(last_)] += outside;
}

void ThreadWindows::note_pause(std::uint64_t begin, std::uint64_t end) {
    if (!pauses_.empty()) begin = std::max(begin, pauses_.back().end);
    if (end <= begin) return;
    take(begin, end);
    pauses_.push_back({begin, end});
}

void ThreadWindows::note_off_cpu(std::span<const trace::OffCpu> intervals) {
    auto pause = pauses_.begin();
    for (const trace::OffCpu& interval : intervals) {
        std::uint64_t from = interval.out;
        while (pause != pauses_.end() && pause->end <= from)
            ++pause;
        for (auto each = pause; each != pauses_.end() && each->begin < interval.in; ++each) {
            take(from, each->begin);
            from = std::max(from, each->end);
        }
        take(from, interval.in);
    }
}

std::vector<double> ThreadWindows::lives(TickRange life, std::uint64_t since) const {
    std::vector<double> lives;
    for (std::size_t cluster = 0; cluster < (count_ > 0 ? clusters() : 0); ++cluster) {
        const std::size_t last = (cluster + 1 < clusters() ? first_of(cluster + 1) : first_ + count_) - 1;
        const std::uint64_t begin = (*table_)[first_of(cluster)].begin;
        const std::uint64_t from = std::max(life.begin, begin);
        const std::uint64_t to = std::min(life.end, (*table_)[last].end);
        lives.push_back(begin >= since && to > from ? ticks(table_->covered(from), table_->covered(to)) : 0);
    }
    return lives;
}

void ClusterSums::add(std::uint32_t cluster, double calls, double time) {
    if (!sums_.empty() && sums_.back().cluster == cluster) {
        sums_.back().calls += calls;
        sums_.back().time += time;
        return;
    }
    // Outermost calls of a function come in the order of their beginnings; what does not is of a broken
    // trace.
    const auto at = std::ranges::lower_bound(sums_, cluster, {}, &ClusterSum::cluster);
    if (at != sums_.end() && at->cluster == cluster) {
        at->calls += calls;
        at->time += time;
    } else {
        sums_.insert(at, {cluster, calls, time});
    }
}

void ClusterSums::add(const ClusterSums& other) {
    for (const ClusterSum& sum : other.sums_)
        add(sum.cluster, sum.calls, sum.time);
}

std::optional<CountedCalls> counted_calls(const trace::FunctionInfo& info, std::uint32_t function,
                                          const trace::ThreadInfo& thread, TickRange life,
                                          std::uint64_t before) {
    if (!info.counted || thread.calls_until == 0) return {};
    const auto found = std::ranges::lower_bound(thread.calls, function, {}, &trace::CallCount::function);
    const bool is_there = found != thread.calls.end() && found->function == function;
    const double calls = is_there ? static_cast<double>(found->calls) : 0;
    if (thread.calls_until >= life.end) return CountedCalls{.calls = calls};
    const std::uint64_t begin = std::clamp(info.windowed_since, life.begin, life.end);
    const double known = ticks(begin, thread.calls_until), missing = ticks(begin, life.end) - known;
    if (missing >= known) return {};
    const double more = std::max(calls - static_cast<double>(before), 0.0) * missing / known;
    constexpr double kLessThanOne = 0.5;
    if (more < kLessThanOne) return CountedCalls{.calls = calls};
    return CountedCalls{.calls = calls + more, .error = more};
}

WindowEstimate::WindowEstimate(const ThreadWindows& windows, TickRange life, std::uint64_t since) {
    const std::uint64_t begin = std::clamp(since, life.begin, std::max(life.begin, life.end));
    whole_ = ticks(life.begin, life.end);
    left_ = ticks(begin, life.end);
    sizes_ = windows.lives(life, since);
    double gross = 0;
    for (const double each : sizes_) {
        gross += each;
        if (each > 0) ++seen_;
    }
    covered_ = whole_ > 0 ? (whole_ - left_ + gross) / whole_ : 0;
}

void WindowEstimate::expand_to(double rest) {
    inside_ = std::accumulate(sizes_.begin(), sizes_.end(), 0.0);
    expansion_ = inside_ > 0 ? std::max(rest / inside_, 1.0) : 0;
}

WindowEstimate WindowEstimate::by_time(const ThreadWindows& windows, TickRange life, std::uint64_t since) {
    WindowEstimate estimate{windows, life, since};
    double probes = 0;
    for (std::size_t cluster = 0; cluster < estimate.sizes_.size(); ++cluster)
        if (estimate.sizes_[cluster] > 0) probes += windows.probes()[cluster];
    const double taken = estimate.take_out(windows, since <= life.begin);
    estimate.expand_to(std::max(estimate.left_ - taken, kMinOwn * estimate.left_));
    estimate.error_ = estimate.inside_ > 0 ? kCostError * probes / estimate.inside_ : 0;
    estimate.mostly_probes_ = estimate.error_ > kMaxError;
    return estimate;
}

WindowEstimate WindowEstimate::by_calls(const ThreadWindows& windows, TickRange life, std::uint64_t since,
                                        const WindowedCalls& recorded, const CountedCalls& counted) {
    WindowEstimate estimate = by_time(windows, life, since);
    std::ranges::fill(estimate.sizes_, 0);
    for (const ClusterSum& sum : recorded.clusters.sums())
        if (sum.cluster < estimate.sizes_.size()) estimate.sizes_[sum.cluster] = sum.calls;
    estimate.counted_ = counted;
    estimate.whole_ = counted.calls;
    estimate.left_ = std::max(counted.calls - static_cast<double>(recorded.before), 0.0);
    estimate.expand_to(estimate.left_);
    estimate.error_ = estimate.left_ > 0 ? counted.error / estimate.left_ : 0;
    return estimate;
}

/// Time that the recorder took in windows is not the program's own. Returns the time it took since the
/// function is sampled.
double WindowEstimate::take_out(const ThreadWindows& windows, bool from_the_start) {
    double taken = 0;
    bool begun = from_the_start;
    for (std::size_t cluster = 0; cluster < sizes_.size(); ++cluster) {
        if (begun) taken += windows.between()[cluster];
        if (sizes_[cluster] <= 0) continue;
        begun = true;
        taken += windows.inside()[cluster];
        sizes_[cluster] = std::max(sizes_[cluster] - windows.inside()[cluster], kMinOwn * sizes_[cluster]);
    }
    if (!sizes_.empty()) taken += windows.between()[sizes_.size()];
    return taken;
}

double WindowEstimate::calls(const WindowedCalls& recorded) const {
    if (counted_) return counted_->calls;
    return static_cast<double>(recorded.before) + expansion_ * static_cast<double>(recorded.inside);
}

double WindowEstimate::calls_variance(const WindowedCalls& recorded) const {
    if (counted_) return counted_->error * counted_->error;
    std::vector<double> calls(sizes_.size());
    for (const ClusterSum& sum : recorded.clusters.sums())
        if (sum.cluster < calls.size()) calls[sum.cluster] = sum.calls;
    return variance(calls);
}

bool WindowEstimate::enough(std::size_t clusters_with_calls) const {
    if (left_ <= kNegligibleLife * whole_) return true;
    if (clusters_with_calls > 0 && mostly_probes_) return false;
    // A function that is no longer called is not seen. Many windows without a call are an answer, unless
    // calls between them are known.
    const bool none = clusters_with_calls == 0 && !counted_;
    return seen_ >= kFewWindows && (none || clusters_with_calls >= kFewWindows);
}

double WindowEstimate::variance(std::span<const double> y) const {
    if (seen_ < 2 || inside_ <= 0 || expansion_ <= 1) return 0;
    double sum = 0;
    for (const double each : y)
        sum += each;
    const double ratio = sum / inside_;
    double squares = 0;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
        const double rest = (i < y.size() ? y[i] : 0) - ratio * sizes_[i];
        squares += rest * rest;
    }
    const auto n = static_cast<double>(seen_);
    // There is no sampling error if the windows cover everything.
    const double left_out = 1 - 1 / expansion_;
    const double of_expansion = expansion_ * sum * error_;
    return std::max(expansion_ * expansion_ * squares * n / (n - 1) * left_out, 0.0) +
           of_expansion * of_expansion;
}

}  // namespace rdam::score
