#include "analyzer/report/places.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "analyzer/report/windowed_part.h"
#include "analyzer/score/tallies.h"
#include "analyzer/statistics/as_double.h"

namespace rdam::score {
namespace {

RecordedLoss recorded_loss(const Distribution& calls, const Base& base) {
    return {.calls = as_double(calls.count()),
            .time = as_double(calls.sum()),
            .base = base.ticks,
            .lost = lost(calls, base)};
}

RecordedLoss recorded_loss(const SelfTimes& self, const Baseline& baseline, const Least& thread,
                           const Least& process) {
    const Loss::Group loss = self.loss(baseline, thread, process);
    return {
        .calls = as_double(self.count), .time = as_double(self.sum), .base = loss.base, .lost = loss.lost};
}

GroupLoss loss_of(const RowContext& context, std::uint32_t function, const ProcessLeast& process,
                  const ThreadGroup& part) {
    const Baseline& baseline = context.settings.baseline;
    const WindowEstimate* const estimate = context.estimate(function, part.thread);
    const PartCalls calls{part, estimate, PartCalls::Which::outermost, baseline.step};
    const Base base = calls.empty() ? Base{} : calls.base(baseline, process.outermost);
    GroupLoss loss{.thread = part.thread,
                   .group = part.group,
                   .usual = {.outermost = recorded_loss(calls.own(), base), .self = {}},
                   .in_windows = {.outermost = recorded_loss(calls.sample(), base), .self = {}}};
    const WindowedTimes* const windowed = part.times->windowed();
    const Least thread = self_least(*part.times).least();
    const RecordedLoss self = recorded_loss(part.times->self(baseline.step), baseline, thread, process.self);
    if (estimate == nullptr) {
        loss.usual.self = self;
        return loss;
    }
    loss.in_windows.self = self;
    loss.in_windows.stands_for = estimate->expansion();
    if (windowed != nullptr)
        loss.usual.self = recorded_loss(windowed->before.self(baseline.step), baseline, thread, process.self);
    return loss;
}

/// By thread: what the row reports, by `losses`. More, where calls that were not recorded are known to have waited.
std::vector<double> reported(const RowContext& context, const FunctionRow& row,
                             const std::vector<GroupLoss>& losses) {
    constexpr double kRounding = 1e-9;
    std::vector<double> lost(context.threads.size()), said(context.threads.size(), 1);
    for (const GroupLoss& loss : losses)
        lost[loss.thread] +=
            loss.usual.outermost.lost + loss.in_windows.stands_for * loss.in_windows.outermost.lost;
    for (const ThreadShare& share : row.threads) {
        const double ticks = share.lost_ns / context.ns_per_tick;
        if (share.few_windows)
            said[share.thread] = 0;
        else if (const double all = lost[share.thread]; std::abs(ticks - all) > kRounding * all && all > 0)
            said[share.thread] = ticks / all;
    }
    return said;
}

}  // namespace

std::vector<GroupLoss> group_losses(const RowContext& context, const FunctionRow& row) {
    std::vector<GroupLoss> losses;
    context.merged.for_each_group(row.function,
                                  [&](sequences::GroupId /*group*/, std::span<const ThreadGroup> parts) {
                                      const ProcessLeast process = process_least(parts);
                                      for (const ThreadGroup& part : parts)
                                          losses.push_back(loss_of(context, row.function, process, part));
                                  });
    const std::vector<double> said = reported(context, row, losses);
    for (GroupLoss& loss : losses) {
        loss.usual.said = said[loss.thread];
        loss.in_windows.said = said[loss.thread] * loss.in_windows.stands_for;
    }
    return losses;
}

namespace {

LossPart whole_of(const RecordedLoss& loss) {
    return {.calls = loss.calls, .time = loss.time, .lost = loss.lost};
}

/// Where a thread's paths are in the tree.
class TreeMaker {
  public:
    TreeMaker() {
        tree_.nodes.emplace_back();
        index_.add([](std::uint32_t) { return kRootHash; });
    }

    std::uint32_t child(std::uint32_t parent, std::uint32_t function, std::uint64_t caller = 0) {
        const std::uint32_t found = index_.find(hash(parent, function, caller), [&](std::uint32_t number) {
            const PathNode& node = tree_.nodes[number];
            return number != 0 && node.parent == parent && node.function == function && node.caller == caller;
        });
        if (found != NumberIndex::kNone) return found;
        tree_.nodes.push_back({.parent = parent, .function = function, .caller = caller});
        index_.add([this](std::uint32_t number) {
            const PathNode& node = tree_.nodes[number];
            return number == 0 ? kRootHash : hash(node.parent, node.function, node.caller);
        });
        return static_cast<std::uint32_t>(tree_.nodes.size() - 1);
    }

    PathTree& tree() { return tree_; }
    PathTree take() { return std::move(tree_); }

  private:
    static constexpr std::uint64_t kRootHash = 0;

    static std::uint64_t hash(std::uint32_t parent, std::uint32_t function, std::uint64_t caller) {
        return number_hash(parent, function, static_cast<std::uint32_t>(caller ^ caller >> 32U));
    }

    PathTree tree_;
    NumberIndex index_;
};

}  // namespace

PathMaker::PathMaker(const RowContext& context)
    : context_(context), totals_(context.threads.size()), rests_(context.threads.size()) {
    for (std::size_t t = 0; t < totals_.size(); ++t)
        if (context.threads[t]->paths) prepare(t);
}

void PathMaker::prepare(std::size_t thread) {
    const std::vector<Path>& paths = context_.threads[thread]->paths->paths();
    totals_[thread].resize(paths.size());
    for (std::uint32_t p = 0; p < paths.size(); ++p)
        if (paths[p].rest.calls > 0) rests_[thread].push_back(p);
    std::ranges::stable_sort(rests_[thread], {}, [&](std::uint32_t p) { return paths[p].function; });
}

void PathMaker::add(const FunctionRow& row) {
    Rests usual, in_windows;
    Parts parts;
    for (const GroupLoss& loss : group_losses(context_, row)) {
        if (!context_.threads[loss.thread]->paths) continue;
        add_part(loss, loss.usual, false, usual, parts);
        if (loss.in_windows.outermost.calls + loss.in_windows.self.calls > 0)
            add_part(loss, loss.in_windows, true, in_windows, parts);
    }
    for (const auto& [thread, rest] : usual)
        add_rest(row.function, thread, false, rest);
    for (const auto& [thread, rest] : in_windows)
        add_rest(row.function, thread, true, rest);
}

void PathMaker::add_part(const GroupLoss& loss, const GroupPart& part, bool in_windows, Rests& rests,
                         Parts& parts) {
    const PathTally& tally = *context_.threads[loss.thread]->paths;
    parts.calls.clear();
    parts.outermost.clear();
    parts.self.clear();
    for (const PathCalls& calls : tally.calls().of(loss.group)) {
        const Path& path = tally.paths()[calls.path];
        if (path.in_window != in_windows) continue;
        parts.calls.push_back(&calls);
        parts.outermost.push_back(path.outermost ? LossPart{as_double(calls.calls), as_double(calls.time)}
                                                 : LossPart{});
        parts.self.push_back({as_double(calls.self_timed), as_double(calls.self)});
    }
    if (tally.approximate() > 0) {
        Rest& rest = rests[loss.thread];
        rest.outermost.divide_group(whole_of(part.outermost), part.outermost.base, part.said,
                                    parts.outermost);
        rest.self.divide_group(whole_of(part.self), part.self.base, part.said, parts.self);
    } else {
        divide_loss(part.outermost.lost, part.outermost.base, parts.outermost);
        divide_loss(part.self.lost, part.self.base, parts.self);
    }
    for (std::size_t i = 0; i < parts.calls.size(); ++i) {
        Totals& totals = totals_[loss.thread][parts.calls[i]->path];
        totals.time += part.stands_for * as_double(parts.calls[i]->time);
        totals.self += part.stands_for * as_double(parts.calls[i]->self);
        totals.lost += part.said * parts.outermost[i].lost;
        totals.lost_self += part.said * parts.self[i].lost;
    }
}

void PathMaker::add_rest(std::uint32_t function, std::size_t thread, bool in_windows, const Rest& rest) {
    const std::vector<Path>& paths = context_.threads[thread]->paths->paths();
    const double stands_for = in_windows ? context_.estimate(function, thread)->expansion() : 1;
    std::vector<std::uint32_t> numbers;
    std::vector<LossPart> outermost, self;
    const auto function_of = [&](std::uint32_t number) { return paths[number].function; };
    const std::vector<std::uint32_t>& all = rests_[thread];
    for (auto each = std::ranges::lower_bound(all, function, {}, function_of);
         each != all.end() && function_of(*each) == function; ++each) {
        const std::uint32_t number = *each;
        const Path& path = paths[number];
        if (path.in_window != in_windows) continue;
        numbers.push_back(number);
        outermost.push_back(path.outermost ? LossPart{as_double(path.rest.calls), as_double(path.rest.time)}
                                           : LossPart{});
        self.push_back({as_double(path.rest.self_timed), as_double(path.rest.self)});
    }
    rest.outermost.divide(outermost);
    rest.self.divide(self);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        Totals& totals = totals_[thread][numbers[i]];
        totals.time += stands_for * as_double(paths[numbers[i]].rest.time);
        totals.self += stands_for * as_double(paths[numbers[i]].rest.self);
        totals.lost += outermost[i].lost;
        totals.lost_self += self[i].lost;
    }
}

/// As many as in the function's row.
double PathMaker::calls_of(std::size_t thread, const Path& path) const {
    const double calls = as_double(path.calls);
    if (!path.in_window) return calls;
    const WindowedCalls& recorded = context_.threads[thread]->windowed_calls(path.function);
    const double after =
        context_.estimate(path.function, thread)->calls(recorded) - as_double(recorded.before);
    return recorded.inside > 0 ? calls * std::max(after, 0.0) / as_double(recorded.inside) : 0;
}

PathTree PathMaker::tree() const {
    TreeMaker maker;
    std::uint64_t left_out = 0, approximate = 0;
    for (std::size_t t = 0; t < totals_.size(); ++t) {
        if (!context_.threads[t]->paths) continue;
        const PathTally& tally = *context_.threads[t]->paths;
        left_out += tally.left_out();
        approximate += tally.approximate();
        std::vector<std::uint32_t> nodes(tally.paths().size());
        for (std::uint32_t p = PathTally::kElsewhere + 1; p < nodes.size(); ++p) {
            const Path& path = tally.paths()[p];
            const std::uint32_t parent = path.parent == PathTally::kElsewhere
                                             ? maker.child(0, PathNode::kElsewhere)
                                             : nodes[path.parent];
            nodes[p] = maker.child(parent, path.function, path.caller);
            const Totals& totals = totals_[t][p];
            PathNode& node = maker.tree().nodes[nodes[p]];
            node.calls += calls_of(t, path);
            node.time_ns += totals.time * context_.ns_per_tick;
            node.self_ns += totals.self * context_.ns_per_tick;
            node.lost_ns += totals.lost * context_.ns_per_tick;
            node.lost_self_ns += totals.lost_self * context_.ns_per_tick;
        }
    }
    PathTree tree = maker.take();
    tree.left_out = left_out;
    tree.approximate = approximate;
    return tree;
}

void show_only(const std::vector<bool>& shown, PathTree& tree) {
    const auto is_shown = [&](const PathNode& node) {
        return node.function < shown.size() && shown[node.function];
    };
    std::vector<bool> kept(tree.nodes.size());
    if (!kept.empty()) kept[0] = true;
    for (std::size_t i = tree.nodes.size(); i-- > 1;) {
        kept[i] = kept[i] || is_shown(tree.nodes[i]);
        if (kept[i]) kept[tree.nodes[i].parent] = true;
    }
    std::vector<std::uint32_t> numbers(tree.nodes.size());
    std::vector<PathNode> nodes;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        if (!kept[i]) continue;
        numbers[i] = static_cast<std::uint32_t>(nodes.size());
        const PathNode& node = tree.nodes[i];
        nodes.push_back(
            is_shown(node) ? node : PathNode{.parent = 0, .function = node.function, .caller = node.caller});
        nodes.back().parent = numbers[node.parent];
    }
    tree.nodes = std::move(nodes);
}

namespace {

static_assert(Course::kBins == kCourseBins);

/// Where a group comes back to a bin it has several entries.
void merge_bins(std::vector<CourseCalls>& calls) {
    std::ranges::stable_sort(calls, {}, &CourseCalls::bin);
    std::size_t kept = 0;
    for (std::size_t i = 1; i < calls.size(); ++i) {
        if (calls[i].bin != calls[kept].bin) {
            calls[++kept] = calls[i];
            continue;
        }
        calls[kept].calls += calls[i].calls;
        calls[kept].time += calls[i].time;
    }
    if (!calls.empty()) calls.resize(kept + 1);
}

/// The parts of usual calls, or those in windows.
std::vector<CourseCalls> of_kind(std::span<const CourseCalls> calls, bool in_windows) {
    std::vector<CourseCalls> found;
    for (CourseCalls part : calls) {
        if ((part.bin >= kCourseBins) != in_windows) continue;
        part.bin %= kCourseBins;
        found.push_back(part);
    }
    if (found.size() > 1) merge_bins(found);
    return found;
}

std::vector<LossPart> parts_of(const std::vector<CourseCalls>& calls) {
    std::vector<LossPart> parts;
    for (const CourseCalls& part : calls)
        parts.push_back({part.calls, part.time});
    return parts;
}

void add_bins(const std::vector<CourseCalls>& calls, const std::vector<LossPart>& parts, double stands_for,
              double said, std::vector<LossPart>& bins) {
    bins.resize(kCourseBins);
    for (std::size_t i = 0; i < calls.size(); ++i) {
        LossPart& bin = bins[calls[i].bin];
        bin.calls += stands_for * parts[i].calls;
        bin.time += stands_for * parts[i].time;
        bin.lost += said * parts[i].lost;
    }
}

}  // namespace

trace::TickRange course_span(const trace::TraceInfo& info, const std::optional<trace::TickRange>& window,
                             const std::function<std::uint64_t(std::uint32_t)>& end_of) {
    trace::TickRange span{UINT64_MAX, 0};
    for (std::uint32_t t = 0; t < info.threads.size(); ++t) {
        if (info.threads[t].start != 0) span.begin = std::min(span.begin, info.threads[t].start);
        span.end = std::max(span.end, end_of(t));
    }
    if (span.begin == UINT64_MAX) span.begin = info.clock.start_tsc;
    if (window) span = {std::max(span.begin, window->begin), std::min(span.end, window->end)};
    return span.begin < span.end ? span : trace::TickRange{0, 0};
}

void CourseMaker::add_part(const GroupLoss& loss, const GroupPart& part, bool in_windows, Rests& rests,
                           Bins& bins) const {
    const CourseTally& tally = *context_.threads[loss.thread]->course;
    const std::vector<CourseCalls> calls = of_kind(tally.calls().of(loss.group), in_windows);
    std::vector<LossPart> parts = parts_of(calls);
    const RecordedLoss& whole = part.outermost;
    if (tally.approximate() > 0)
        rests[loss.thread].divide_group({.calls = whole.calls, .time = whole.time, .lost = whole.lost},
                                        whole.base, part.said, parts);
    else
        divide_loss(whole.lost, whole.base, parts);
    add_bins(calls, parts, part.stands_for, part.said, bins);
}

void CourseMaker::add_rest(std::uint32_t function, std::size_t thread, bool in_windows, const LossRest& rest,
                           Bins& bins) const {
    const CourseTally& tally = *context_.threads[thread]->course;
    const auto slot = static_cast<std::uint32_t>(in_windows ? tally.functions() + function : function);
    const std::vector<CourseCalls> calls = of_kind(tally.rest().of(slot), false);
    std::vector<LossPart> parts = parts_of(calls);
    rest.divide(parts);
    add_bins(calls, parts, in_windows ? context_.estimate(function, thread)->expansion() : 1, 1, bins);
}

std::vector<CourseCell> CourseMaker::cells(const FunctionRow& row) const {
    std::vector<Bins> bins(context_.threads.size());
    Rests usual, in_windows;
    for (const GroupLoss& loss : group_losses(context_, row)) {
        if (!context_.threads[loss.thread]->course) continue;
        add_part(loss, loss.usual, false, usual, bins[loss.thread]);
        if (loss.in_windows.outermost.calls > 0)
            add_part(loss, loss.in_windows, true, in_windows, bins[loss.thread]);
    }
    for (const auto& [thread, rest] : usual)
        add_rest(row.function, thread, false, rest, bins[thread]);
    for (const auto& [thread, rest] : in_windows)
        add_rest(row.function, thread, true, rest, bins[thread]);
    std::vector<CourseCell> cells;
    for (std::uint32_t t = 0; t < bins.size(); ++t) {
        for (std::uint32_t b = 0; b < bins[t].size(); ++b) {
            const LossPart& bin = bins[t][b];
            if (bin.calls > 0)
                cells.push_back({t, row.function, b, bin.calls, bin.time * context_.ns_per_tick,
                                 bin.lost * context_.ns_per_tick});
        }
    }
    return cells;
}

namespace {

/// From which part of each of the bins of `range` the calls of a function are recorded that is sampled in windows.
std::vector<double> cover_of(const trace::FunctionInfo& function, const WindowList& windows,
                             const trace::TickRange& range) {
    const std::uint64_t since = function.windowed_since;
    const auto covered_before = [&](std::uint64_t t) {
        return t <= since ? as_double(t)
                          : as_double(since) + as_double(windows.covered(t) - windows.covered(since));
    };
    std::vector<double> parts;
    const double length = as_double(range.end - range.begin) / Course::kBins;
    const auto edge = [&](std::uint32_t bin) {
        return range.begin + static_cast<std::uint64_t>(length * static_cast<double>(bin));
    };
    for (std::uint32_t bin = 0; bin < Course::kBins; ++bin) {
        const std::uint64_t begin = edge(bin), end = edge(bin + 1);
        const double covered = covered_before(end) - covered_before(begin);
        parts.push_back(end > begin ? std::clamp(covered / as_double(end - begin), 0.0, 1.0) : 0);
    }
    return parts;
}

}  // namespace

std::vector<CourseCover> CourseMaker::covers(const trace::TickRange& range) const {
    std::vector<CourseCover> covers;
    const auto& windows = context_.settings.windows;
    if (!windows) return covers;
    for (std::uint32_t f = 0; f < context_.info.functions.size(); ++f) {
        const trace::FunctionInfo& function = context_.info.functions[f];
        if (function.windowed_since != 0 && function.window_group < windows->groups())
            covers.push_back({f, cover_of(function, windows->group(function.window_group), range)});
    }
    return covers;
}

Course CourseMaker::course(std::vector<CourseCell> cells) const {
    Course course;
    for (const auto& thread : context_.threads) {
        if (!thread->course) continue;
        const trace::TickRange& range = thread->course->bins().range();
        const auto ticks = [&](std::uint64_t from, std::uint64_t to) {
            return to >= from ? static_cast<double>(to - from) : -static_cast<double>(from - to);
        };
        course.begin_ns = ticks(context_.run_begin, range.begin) * context_.ns_per_tick;
        course.bin_ns = ticks(range.begin, range.end) / Course::kBins * context_.ns_per_tick;
        if (course.covers.empty()) course.covers = covers(range);
        course.approximate += thread->course->approximate();
    }
    std::ranges::sort(cells, [](const CourseCell& a, const CourseCell& b) {
        return std::tie(a.thread, a.function, a.bin) < std::tie(b.thread, b.function, b.bin);
    });
    course.cells = std::move(cells);
    return course;
}

std::vector<double> subtree_sums(const PathTree& tree, std::vector<double> own) {
    for (std::size_t i = own.size(); i-- > 1;)
        own[tree.nodes[i].parent] += own[i];
    return own;
}

std::vector<bool> heaviest(const PathTree& tree, const std::vector<double>& weights, std::size_t most) {
    std::vector<std::size_t> order(tree.nodes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // Parents come before their children, and of equal ones the first stays: so the ancestors do.
    if (most < order.size())
        std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
                         [&](std::size_t a, std::size_t b) {
                             return weights[a] != weights[b] ? weights[a] > weights[b] : a < b;
                         });
    std::vector<bool> kept(order.size());
    for (std::size_t i = 0; i < std::min(most, order.size()); ++i)
        kept[order[i]] = true;
    return kept;
}

}  // namespace rdam::score
