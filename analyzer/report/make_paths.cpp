#include "analyzer/report/make_paths.h"

#include <algorithm>
#include <utility>

#include "analyzer/score/tallies.h"
#include "analyzer/statistics/as_double.h"

namespace rdam::score {
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

    std::uint32_t child(std::uint32_t parent, std::uint32_t function) {
        const std::uint32_t found = index_.find(number_hash(parent, function), [&](std::uint32_t number) {
            const PathNode& node = tree_.nodes[number];
            return number != 0 && node.parent == parent && node.function == function;
        });
        if (found != NumberIndex::kNone) return found;
        tree_.nodes.push_back({.parent = parent, .function = function});
        index_.add([this](std::uint32_t number) {
            const PathNode& node = tree_.nodes[number];
            return number == 0 ? kRootHash : number_hash(node.parent, node.function);
        });
        return static_cast<std::uint32_t>(tree_.nodes.size() - 1);
    }

    PathTree& tree() { return tree_; }
    PathTree take() { return std::move(tree_); }

  private:
    static constexpr std::uint64_t kRootHash = 0;

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
            nodes[p] = maker.child(parent, path.function);
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
        nodes.push_back(is_shown(node) ? node : PathNode{.parent = 0, .function = node.function});
        nodes.back().parent = numbers[node.parent];
    }
    tree.nodes = std::move(nodes);
}

}  // namespace rdam::score
