#include "analyzer/score/sampling_windows.h"

#include <cmath>
#include <numeric>

namespace rdam::score {
namespace {

/// The cost of a probe was measured where nothing disturbed it. In a program with caches of its own it is
/// higher, by a quarter where processors are busy.
constexpr double kCostError = 0.25;
/// By so many standard errors the program is slower in windows, to be sure of it.
constexpr double kSureErrors = 2;
/// If most of the time seen is that of probes, nothing is reported about the function: its durations include
/// them.
constexpr double kMaxError = 0.5;
/// The least of a window that is believed to be the program's own time, should the costs be overestimated.
constexpr double kMinOwn = 0.02;

double ticks(std::uint64_t begin, std::uint64_t end) {
    return end > begin ? static_cast<double>(end - begin) : 0;
}

double own_time(double all, double taken) {
    return std::max(all - taken, kMinOwn * all);
}

}  // namespace

void WindowList::add(const trace::Window& window) {
    before_.push_back(windows_.empty() ? 0 : before_.back() + (windows_.back().end - windows_.back().begin));
    windows_.push_back(window);
}

std::size_t WindowList::first_behind(std::uint64_t t) const {
    const auto found = std::ranges::upper_bound(windows_, t, {}, &trace::Window::end);
    return static_cast<std::size_t>(found - windows_.begin());
}

std::uint64_t WindowList::covered(std::uint64_t t) const {
    const std::size_t next = first_behind(t);
    if (next < windows_.size()) return before_[next] + (t - std::min(t, windows_[next].begin));
    return windows_.empty() ? 0 : before_.back() + (windows_.back().end - windows_.back().begin);
}

WindowTable::WindowTable(std::span<const trace::Window> windows) {
    places_.reserve(windows.size());
    for (const trace::Window& window : windows) {
        if (window.group >= groups_.size()) groups_.resize(window.group + std::size_t{1});
        places_.push_back(groups_[window.group].size());
        groups_[window.group].add(window);
        all_.add(window);
    }
}

ThreadWindows::ThreadWindows(std::shared_ptr<const WindowTable> table, trace::TickRange life)
    : table_(std::move(table)), life_(life) {
    if (!table_) return;
    const std::size_t most = table_->groups() > kFewGroups ? kFewerClusters : kMaxClusters;
    for (std::size_t g = 0; g < table_->groups(); ++g) {
        const WindowList& windows = table_->group(g);
        Group& group = groups_.emplace_back(Group{.windows = &windows});
        group.first = group.last = windows.first_behind(life.begin);
        std::size_t end = windows.first_behind(life.end);
        if (end < windows.size() && windows[end].begin < life.end) ++end;
        group.count = end - std::min(group.first, end);
        group.clusters = std::min(group.count, most);
    }
    last_ = table_->all().first_behind(life.begin);
    taken_.resize(kBins);
}

/// The last cluster that does not begin behind the window, which is one of the thread's.
std::size_t ThreadWindows::Group::cluster_of(std::size_t index) const {
    std::size_t cluster = (index - first) * clusters / count;
    while (cluster + 1 < clusters && first_of(cluster + 1) <= index)
        ++cluster;
    return cluster;
}

std::uint32_t ThreadWindows::cluster_at(std::uint64_t t, std::uint32_t number, std::uint64_t since) {
    if (number >= groups_.size() || groups_[number].count == 0) return kOutside;
    Group& group = groups_[number];
    const WindowList& windows = *group.windows;
    const std::size_t end = group.first + group.count;
    while (group.last > group.first && t < windows[group.last - 1].end)
        --group.last;
    while (group.last < end && t >= windows[group.last].end)
        ++group.last;
    if (group.last == end || t < windows[group.last].begin) return kOutside;
    const std::size_t cluster = group.cluster_of(group.last);
    return windows[group.first_of(cluster)].begin < since ? kOutside : static_cast<std::uint32_t>(cluster);
}

/// The first window that ends behind `t`, of all.
std::size_t ThreadWindows::window_at(std::uint64_t t) {
    const WindowList& all = table_->all();
    while (last_ > 0 && t < all[last_ - 1].end)
        --last_;
    while (last_ < all.size() && t >= all[last_].end)
        ++last_;
    return last_;
}

/// The group that has the window, and which of its clusters in this thread; null: the thread has it not.
ThreadWindows::Group* ThreadWindows::group_at(std::size_t window, std::size_t& cluster) {
    Group& group = groups_[table_->all()[window].group];
    const std::size_t place = table_->place(window);
    if (place < group.first || place >= group.first + group.count) return nullptr;
    group.inside.resize(group.clusters);
    group.probes.resize(group.clusters);
    group.blocked.resize(group.clusters);
    cluster = group.cluster_of(place);
    return &group;
}

void ThreadWindows::take_at(std::uint64_t t, double ticks) {
    if (t < life_.begin || life_.end <= life_.begin) return;
    const double part = rdam::score::ticks(life_.begin, t) / rdam::score::ticks(life_.begin, life_.end);
    taken_[std::min(static_cast<std::size_t>(part * kBins), kBins - 1)] += ticks;
}

void ThreadWindows::note_probe(std::uint64_t t, double ticks) {
    if (!table_) return;
    take_at(t, ticks);
    const std::size_t window = window_at(t);
    if (window == table_->all().size() || t < table_->all()[window].begin) return;
    std::size_t cluster = 0;
    Group* const group = group_at(window, cluster);
    if (group == nullptr) return;
    group->inside[cluster] += ticks;
    group->probes[cluster] += ticks;
}

void ThreadWindows::take(std::uint64_t begin, std::uint64_t end) {
    begin = std::max(begin, life_.begin);
    end = std::min(end, life_.end);
    if (!table_ || end <= begin) return;
    // A long time is spread over the parts of the life.
    const double bin = ticks(life_.begin, life_.end) / kBins;
    const double length = ticks(begin, end);
    const auto parts = static_cast<std::size_t>(length / bin) + 1;
    for (std::size_t i = 0; i < parts; ++i)
        take_at(begin + static_cast<std::uint64_t>((static_cast<double>(i) + 0.5) * length /
                                                   static_cast<double>(parts)),
                length / static_cast<double>(parts));
    const WindowList& all = table_->all();
    for (std::size_t i = window_at(begin); i < all.size() && all[i].begin < end; ++i) {
        std::size_t cluster = 0;
        if (Group* const group = group_at(i, cluster); group != nullptr)
            group->inside[cluster] += ticks(std::max(begin, all[i].begin), std::min(end, all[i].end));
    }
}

void ThreadWindows::note_pause(std::uint64_t begin, std::uint64_t end) {
    if (!pauses_.empty()) begin = std::max(begin, pauses_.back().end);
    if (end <= begin) return;
    take(begin, end);
    pauses_.push_back({.begin = begin, .end = end});
}

void ThreadWindows::note_blocked(const trace::OffCpu& interval) {
    if (!table_ || interval.preempted || interval.by_recorder || interval.by_program) return;
    const std::size_t window = window_at(interval.out);
    if (window == table_->all().size() || interval.out < table_->all()[window].begin) return;
    std::size_t cluster = 0;
    Group* const group = group_at(window, cluster);
    if (group == nullptr) return;
    group->blocked[cluster] += ticks(interval.out, std::min(interval.in, life_.end));
    ++group->times_blocked;
}

void ThreadWindows::note_off_cpu(std::span<const trace::OffCpu> intervals) {
    auto pause = pauses_.begin();
    for (const trace::OffCpu& interval : intervals) {
        note_blocked(interval);
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

std::vector<double> ThreadWindows::lives(trace::TickRange life, std::uint32_t number,
                                         std::uint64_t since) const {
    std::vector<double> lives;
    if (number >= groups_.size()) return lives;
    const Group& group = groups_[number];
    const WindowList& windows = *group.windows;
    for (std::size_t cluster = 0; cluster < group.clusters; ++cluster) {
        const std::size_t last =
            (cluster + 1 < group.clusters ? group.first_of(cluster + 1) : group.first + group.count) - 1;
        const std::uint64_t begin = windows[group.first_of(cluster)].begin;
        const std::uint64_t from = std::max(life.begin, begin);
        const std::uint64_t to = std::min(life.end, windows[last].end);
        lives.push_back(begin >= since && to > from ? ticks(windows.covered(from), windows.covered(to)) : 0);
    }
    return lives;
}

double ThreadWindows::inside(std::uint32_t group, std::size_t cluster) const {
    return cluster < groups_[group].inside.size() ? groups_[group].inside[cluster] : 0;
}

double ThreadWindows::probes(std::uint32_t group, std::size_t cluster) const {
    return cluster < groups_[group].probes.size() ? groups_[group].probes[cluster] : 0;
}

double ThreadWindows::blocked(std::uint32_t group, std::size_t cluster) const {
    if (group >= groups_.size() || cluster >= groups_[group].blocked.size()) return 0;
    return groups_[group].blocked[cluster];
}

std::size_t ThreadWindows::times_blocked(std::uint32_t group) const {
    return group < groups_.size() ? groups_[group].times_blocked : 0;
}

double ThreadWindows::taken_since(std::uint64_t since) const {
    const double life = ticks(life_.begin, life_.end);
    if (taken_.empty() || life <= 0) return 0;
    const double from = ticks(life_.begin, since) / life * kBins;
    double taken = 0;
    for (std::size_t bin = 0; bin < kBins; ++bin)
        taken += std::clamp(static_cast<double>(bin) + 1 - from, 0.0, 1.0) * taken_[bin];
    return taken;
}

std::uint64_t ThreadWindows::begin_of(std::uint32_t group, std::size_t cluster) const {
    return (*groups_[group].windows)[groups_[group].first_of(cluster)].begin;
}

std::uint64_t ThreadWindows::end_of(std::uint32_t group, std::size_t cluster) const {
    const Group& of = groups_[group];
    const std::size_t next = cluster + 1 < of.clusters ? of.first_of(cluster + 1) : of.first + of.count;
    return (*of.windows)[next - 1].end;
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

std::optional<std::uint64_t> reported_calls(const trace::FunctionInfo& info, std::uint32_t function,
                                            const trace::ThreadInfo& thread) {
    if (!info.counted || thread.calls_until == 0) return {};
    const auto found = std::ranges::lower_bound(thread.calls, function, {}, &trace::CallCount::function);
    return found != thread.calls.end() && found->function == function ? found->calls : 0;
}

std::optional<CountedCalls> counted_calls(const trace::FunctionInfo& info, std::uint32_t function,
                                          const trace::ThreadInfo& thread, trace::TickRange life,
                                          const ThreadWindows& windows, std::uint64_t before) {
    const auto reported = reported_calls(info, function, thread);
    if (!reported) return {};
    const auto calls = static_cast<double>(*reported);
    if (thread.calls_until >= life.end) return CountedCalls{.calls = calls};
    const std::uint64_t begin = std::clamp(info.windowed_since, life.begin, life.end);
    const std::uint64_t until = std::clamp(thread.calls_until, begin, life.end);
    const double known = ticks(begin, until), missing = ticks(until, life.end);
    const double taken = windows.taken_since(until);
    const double own_known = own_time(known, windows.taken_since(begin) - taken);
    // What was taken is known to within a part of the life.
    const double rest = std::min(missing / known, own_time(missing, taken) / own_known);
    // Where it may have done as much again, windows tell more, if there are some.
    std::size_t since = 0;
    for (std::size_t cluster = windows.clusters(info.window_group);
         cluster > 0 && windows.end_of(info.window_group, cluster - 1) > until; --cluster)
        ++since;
    if (!(rest < 1) && since >= kFewWindows) return {};
    const double more = std::max(calls - static_cast<double>(before), 0.0) * std::min(rest, 1.0);
    constexpr double kLessThanOne = 0.5;
    if (more < kLessThanOne) return CountedCalls{.calls = calls};
    return CountedCalls{.calls = calls + more, .error = more};
}

WindowEstimate::WindowEstimate(const ThreadWindows& windows, trace::TickRange life,
                               const trace::FunctionInfo& function) {
    const std::uint64_t begin =
        std::clamp(function.windowed_since, life.begin, std::max(life.begin, life.end));
    whole_ = ticks(life.begin, life.end);
    left_ = ticks(begin, life.end);
    sizes_ = windows.lives(life, function.window_group, function.windowed_since);
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

/// Time that the recorder took in windows is not the program's own.
WindowEstimate WindowEstimate::by_time(const ThreadWindows& windows, trace::TickRange life,
                                       const trace::FunctionInfo& function) {
    WindowEstimate estimate{windows, life, function};
    double probes = 0;
    for (std::size_t cluster = 0; cluster < estimate.sizes_.size(); ++cluster) {
        double& size = estimate.sizes_[cluster];
        if (size <= 0) continue;
        probes += windows.probes(function.window_group, cluster);
        size = own_time(size, windows.inside(function.window_group, cluster));
    }
    const double taken = windows.taken_since(std::max(function.windowed_since, life.begin));
    estimate.own_left_ = own_time(estimate.left_, taken);
    estimate.expand_to(estimate.own_left_);
    estimate.error_ = estimate.inside_ > 0 ? kCostError * probes / estimate.inside_ : 0;
    estimate.mostly_probes_ = estimate.error_ > kMaxError;
    return estimate;
}

WindowEstimate WindowEstimate::by_calls(const ThreadWindows& windows, trace::TickRange life,
                                        const trace::FunctionInfo& function, const WindowedCalls& recorded,
                                        const CountedCalls& counted, double probe) {
    WindowEstimate estimate = by_time(windows, life, function);
    const std::vector<double> gross = windows.lives(life, function.window_group, function.windowed_since);
    std::ranges::fill(estimate.sizes_, 0);
    for (const ClusterSum& sum : recorded.clusters.sums())
        if (sum.cluster < estimate.sizes_.size()) estimate.sizes_[sum.cluster] = sum.calls;
    estimate.counted_ = counted;
    estimate.whole_ = counted.calls;
    estimate.left_ = std::max(counted.calls - static_cast<double>(recorded.before), 0.0);
    estimate.expand_to(estimate.left_);
    estimate.error_ = estimate.left_ > 0 ? counted.error / estimate.left_ : 0;
    estimate.slowing_ =
        estimate.find_slowing(windows, function.window_group,
                              {std::max(life.begin, function.windowed_since), life.end}, gross, probe);
    return estimate;
}

/// From how often the function is called in the program's own time in windows. A window stands for the time
/// around it, to the middles of the gaps: windows are short where the function is hot.
std::optional<WindowEstimate::Slowing> WindowEstimate::find_slowing(const ThreadWindows& windows,
                                                                    std::uint32_t group,
                                                                    trace::TickRange since,
                                                                    std::span<const double> gross,
                                                                    double probe) const {
    Frequency usual, often;  // by what probes cost, and by the most that they may cost
    std::size_t with_calls = 0;
    double own_inside = 0;
    std::uint64_t from = since.begin;
    for (std::size_t cluster = 0; cluster < gross.size(); ++cluster) {
        const std::uint64_t end = windows.end_of(group, cluster);
        const std::uint64_t to =
            cluster + 1 < gross.size() ? std::midpoint(end, windows.begin_of(group, cluster + 1)) : since.end;
        const double stretch = ticks(from, to);
        from = std::max(from, to);
        const double probes = windows.probes(group, cluster);
        const double on = gross[cluster] - (windows.inside(group, cluster) - probes);
        if (on <= kMinOwn * gross[cluster]) continue;
        const auto own = [&](double times) { return own_time(on, times * probes); };
        const double stands_for = stretch * std::min(on / gross[cluster], 1.0);
        usual.add(stands_for, sizes_[cluster] / own(1));
        often.add(stands_for, sizes_[cluster] / own(probe * (1 + kCostError)));
        own_inside += own(1);
        if (sizes_[cluster] > 0) ++with_calls;
    }
    if (with_calls < kFewWindows || left_ <= 0) return {};
    const auto part = [&](double calls_a_tick) { return 1 - calls_a_tick * own_left_ / left_; };
    return Slowing{.part = std::max(part(often.mean() + kSureErrors * std::sqrt(often.variance())), 0.0),
                   .ticks = part(usual.mean()) * own_inside,
                   .error = std::sqrt(usual.variance()) * own_left_ / left_ * own_inside};
}

void WindowEstimate::Frequency::add(double weight, double value) {
    weights_ += weight;
    sum_ += weight * value;
    squares_ += weight * value * value;
    weight_squares_ += weight * weight;
}

double WindowEstimate::Frequency::mean() const {
    return weights_ > 0 ? sum_ / weights_ : 0;
}

double WindowEstimate::Frequency::variance() const {
    if (!(weights_ > 0)) return 0;
    // As many of equal weight would tell as much.
    const double as_many = weights_ * weights_ / weight_squares_;
    const double spread = std::max(squares_ / weights_ - mean() * mean(), 0.0);
    return spread / std::max(as_many - 1, 1.0);
}

void WindowEstimate::know_waits(std::size_t clusters_with_calls) {
    for_themselves_ = !enough(clusters_with_calls);
    if (for_themselves_) expansion_ = 1;
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
    if (is_negligible()) return true;
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
