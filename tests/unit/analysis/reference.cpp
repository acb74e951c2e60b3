#include "tests/unit/analysis/reference.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "tests/unit/analysis/reference_patterns.h"

namespace rdam::test {
namespace {

struct Node {
    std::uint32_t function = 0;
    std::uint64_t begin = 0, end = 0, caller = 0;
    bool tail = false, ended = false, gap_before = false;
    std::vector<std::uint64_t> words;
    Node* parent = nullptr;
    std::vector<std::unique_ptr<Node>> children;
};

using Pause = std::pair<std::uint64_t, std::uint64_t>;

struct Tree {
    Node root;
    std::vector<Pause> pauses;
    std::uint64_t first = UINT64_MAX, last = 0;
};

class TreeMaker {
  public:
    explicit TreeMaker(Tree& tree) : tree_(tree), innermost_(&tree.root) {}

    void gap() {
        innermost_ = &tree_.root;
        after_gap_ = true;
    }

    void add(const trace::Event& event) {
        if (event.kind == trace::EventKind::pause) {
            if (event.until > event.tsc) tree_.pauses.emplace_back(event.tsc, event.until);
            return;
        }
        const bool stray = event.kind == trace::EventKind::tail_enter && innermost_ == &tree_.root;
        if (stray) return;
        if (event.kind == trace::EventKind::leave) {
            leave(event);
            return;
        }
        if (event.kind == trace::EventKind::tail_enter && innermost_->tail) end(innermost_, event.tsc);
        auto node = std::make_unique<Node>();
        node->function = event.function;
        node->begin = event.tsc;
        node->caller = event.caller;
        node->tail = event.kind == trace::EventKind::tail_enter;
        node->words.assign(event.words.begin(), event.words.end());
        node->parent = innermost_;
        node->gap_before = std::exchange(after_gap_, false);
        innermost_->children.push_back(std::move(node));
        innermost_ = innermost_->children.back().get();
    }

    /// The times of all calls but those that ended before they began.
    void see_calls(const Node& parent) {
        for (const auto& child : parent.children) {
            if (!child->ended || child->end >= child->begin) see(child->begin);
            if (child->ended && child->end >= child->begin) see(child->end);
            see_calls(*child);
        }
    }

  private:
    void end(Node* node, std::uint64_t tsc) {
        node->ended = true;
        node->end = tsc;
        innermost_ = node->parent;
    }

    void leave(const trace::Event& event) {
        std::vector<Node*> path;  // from the innermost open call outwards
        for (Node* node = innermost_; node != &tree_.root; node = node->parent)
            path.push_back(node);
        const auto match = std::ranges::find_if(
            path, [&](const Node* node) { return !node->tail && node->function == event.function; });
        if (match == path.end()) {
            see(event.tsc);
            return;
        }
        if (match != path.begin() && (*std::prev(match))->tail) end(*std::prev(match), event.tsc);
        end(*match, event.tsc);
    }

    void see(std::uint64_t tsc) {
        tree_.first = std::min(tree_.first, tsc);
        tree_.last = std::max(tree_.last, tsc);
    }

    Tree& tree_;
    Node* innermost_;
    bool after_gap_ = false;
};

using Scored = ReferenceCall;

/// Ticks of that time in which the recorder held the thread; pauses may overlap.
std::uint64_t paused_between(const Tree& tree, std::uint64_t first, std::uint64_t last) {
    std::uint64_t paused = 0;
    for (const auto& [begin, end] : tree.pauses) {
        const std::uint64_t from = std::max(begin, first);
        const std::uint64_t to = std::min(end, last);
        if (from < to) {
            paused += to - from;
            first = to;
        }
    }
    return paused;
}

class Judge {
  public:
    Judge(const Tree& tree, const Recording& recording, const ReferenceSettings& settings)
        : tree_(tree), clock_(recording.info.clock), settings_(settings) {
        for (const auto& child : tree.root.children)
            visit(*child);
    }

    std::vector<Scored> calls;
    std::map<std::string, ReferencePattern> patterns;

    /// Of the top level, and of the children of every call.
    void find_patterns() {
        find_patterns_among(tree_.root);
        visit_patterns(tree_.root);
    }

  private:
    struct Element {
        std::string identity;
        std::uint32_t function = 0;
        std::uint64_t begin = 0, end = 0;  ///< without pauses and probes
        bool timed = false;
        std::uint64_t first = 0, last = 0;  ///< with them
    };

    void find_patterns_among(const Node& parent) {
        std::vector<Element> row;
        for (const auto& child : parent.children) {
            if (child->gap_before) find_patterns_in(std::exchange(row, {}));
            list_element(*child, row);
        }
        find_patterns_in(row);
    }

    void visit_patterns(const Node& node) {
        for (const auto& child : node.children) {
            if (!ignored(*child) && child->ended) find_patterns_among(*child);
            visit_patterns(*child);
        }
    }

    void find_patterns_in(const std::vector<Element>& row) {
        std::map<std::string, std::uint32_t> numbers;
        std::vector<std::uint32_t> symbols;
        symbols.reserve(row.size());
        for (const Element& element : row)
            symbols.push_back(
                numbers.emplace(element.identity, static_cast<std::uint32_t>(numbers.size())).first->second);
        for (const LetterPattern& pattern : replace_pairs_by_the_letter(symbols)) {
            for (const auto& [first, last] : pattern.occurrences) {
                std::string name;
                bool timed = true;
                for (std::uint32_t i = first; i <= last; ++i) {
                    name += row[i].identity + " ";
                    timed = timed && row[i].timed;
                }
                ReferencePattern& found = patterns[name];
                found.functions.clear();
                for (std::uint32_t i = first; i <= last; ++i)
                    found.functions.push_back(row[i].function);
                ++found.occurrences;
                if (!timed) continue;
                const std::uint64_t time =
                    row[last].end > row[first].begin ? row[last].end - row[first].begin : 0;
                const bool held = paused_between(tree_, row[first].first, row[last].last) > 0;
                (held ? found.durations.held : found.durations.sure).push_back(time);
            }
        }
    }

    void list_element(const Node& node, std::vector<Element>& row) const {
        const bool hidden = ignored(node);
        if (!hidden) {
            const bool timed = node.ended && node.end >= node.begin;
            const std::uint64_t end = timed ? net_end(node) : 0;
            const Element element{
                node.ended ? identity(node, settings_.deep_keys) : "!" + std::to_string(node.function),
                node.function,
                timed ? end - net(node) : 0,
                end,
                timed,
                node.begin,
                node.end};
            if (settings_.fold_loops && !row.empty() && row.back().identity == element.identity) {
                row.back().end = element.end;
                row.back().last = element.last;
                row.back().timed = row.back().timed && element.timed;
            } else {
                row.push_back(element);
            }
        }
        if (!hidden && node.ended) return;
        for (const auto& child : node.children)
            list_element(*child, row);
    }

    std::uint64_t net_end(const Node& node) const {
        const std::uint64_t paused = paused_between(tree_, 0, node.end);
        const auto entered = static_cast<double>(entered_before(node) + descendants(node));
        const double probes = clock_.probe_inner_ticks + clock_.probe_ticks * entered;
        return node.end - paused - static_cast<std::uint64_t>(std::floor(probes + 0.5));
    }

    /// In the order of events, which is that of the tree.
    std::uint64_t entered_before(const Node& node) const {
        std::uint64_t count = 0;
        bool found = false;
        const std::function<void(const Node&)> walk = [&](const Node& at) {
            for (const auto& child : at.children) {
                if (found) return;
                if (child.get() == &node) {
                    found = true;
                    return;
                }
                ++count;
                walk(*child);
            }
        };
        walk(tree_.root);
        return count;
    }

    bool is_outermost(const Node& node) const {
        for (const Node* up = node.parent; up != nullptr && up != &tree_.root; up = up->parent)
            if (up->function == node.function && up->ended) return false;
        return true;
    }

    bool ignored(const Node& node) const { return settings_.ignored[node.function]; }

    void visit(const Node& node) {
        for (const auto& child : node.children)
            visit(*child);
        if (ignored(node)) return;
        Scored scored;
        scored.function = node.function;
        scored.caller = node.caller;
        scored.ended = node.ended;
        scored.begin = node.begin;
        scored.end = node.end;
        scored.outermost = is_outermost(node);
        for (const Node* up = &node; up != nullptr && up != &tree_.root; up = up->parent) {
            if (ignored(*up)) continue;
            scored.path.insert(scored.path.begin(), up->function);
            // Of one that never ends nothing depends on it.
            scored.outermost_in_path.insert(scored.outermost_in_path.begin(), is_outermost(*up));
        }
        if (node.ended) {
            scored.identity = identity(node, true);
            scored.timed = node.end >= node.begin;
            scored.self_timed = scored.timed && children_are_timed(node);
        }
        if (scored.timed) scored.duration = net(node);
        scored.held = scored.timed ? paused_between(tree_, node.begin, node.end) : 0;
        if (scored.self_timed) {
            const std::uint64_t inside = children_time(node);
            scored.self = scored.duration > inside ? scored.duration - inside : 0;
        }
        calls.push_back(scored);
    }

    std::uint64_t net(const Node& node) const {
        const std::uint64_t paused = paused_between(tree_, node.begin, node.end);
        const double probes =
            clock_.probe_inner_ticks + clock_.probe_ticks * static_cast<double>(descendants(node));
        const auto out = static_cast<std::uint64_t>(std::floor(probes + 0.5)) + paused;
        const std::uint64_t raw = node.end - node.begin;
        return raw > out ? raw - out : 0;
    }

    std::uint64_t descendants(const Node& node) const {
        std::uint64_t count = node.children.size();
        for (const auto& child : node.children)
            count += descendants(*child);
        return count;
    }

    std::uint64_t children_time(const Node& node) const {
        std::uint64_t time = 0;
        for (const auto& child : node.children)
            time += ignored(*child) ? children_time(*child) : net(*child);
        return time;
    }

    bool children_are_timed(const Node& node) const {
        return std::ranges::all_of(node.children, [&](const auto& child) {
            if (!child->ended) return false;
            return ignored(*child) ? children_are_timed(*child) : child->end >= child->begin;
        });
    }

    void list_children(const Node& node, std::vector<std::string>& out) const {
        for (const auto& child : node.children) {
            const bool hidden = ignored(*child);
            if (!hidden && child->ended) {
                out.push_back(identity(*child, settings_.deep_keys));
                continue;
            }
            if (!hidden) out.push_back("!" + std::to_string(child->function));
            list_children(*child, out);
        }
    }

    std::string identity(const Node& node, bool with_keys) const {
        std::string text = std::to_string(node.function) + "(";
        for (std::size_t k = 0; with_keys && k < settings_.keys[node.function]; ++k) {
            text += std::to_string(node.words[k]) + ",";
        }
        if (with_keys && !settings_.by_caller.empty() && settings_.by_caller[node.function])
            text += "@" + std::to_string(node.caller);
        text += ")[";
        std::vector<std::string> names;
        list_children(node, names);
        if (settings_.fold_loops) names.erase(std::unique(names.begin(), names.end()), names.end());
        for (const std::string& name : names)
            text += name + ";";
        return text + "]";
    }

    const Tree& tree_;
    const trace::ClockInfo& clock_;
    const ReferenceSettings& settings_;
};

struct Thread {
    double whole = 0;
    double life = 0;  ///< T: without pauses
    bool short_lived = false;
    std::vector<Scored> calls;
};

/// The nodes know its root by address.
std::unique_ptr<Tree> tree_of(const ThreadRecording& thread) {
    auto tree = std::make_unique<Tree>();
    TreeMaker maker{*tree};
    for (const auto& piece : thread.pieces()) {
        if (piece.gap_before) maker.gap();
        for (const trace::Event& event : piece.events)
            maker.add(event);
    }
    maker.see_calls(tree->root);
    return tree;
}

std::vector<Thread> judge_threads(const Recording& recording, const ReferenceSettings& settings) {
    std::vector<Thread> threads;
    std::uint64_t run_begin = UINT64_MAX, run_end = 0;
    for (std::size_t t = 0; t < recording.threads.size(); ++t) {
        const auto made = tree_of(recording.threads[t]);
        const Tree& tree = *made;
        const std::uint64_t begin = std::min(recording.info.threads[t].start, tree.first);
        const std::uint64_t end = std::max(recording.info.threads[t].end, tree.last);
        run_begin = std::min(run_begin, begin);
        run_end = std::max(run_end, end);
        const std::uint64_t paused = std::min(paused_between(tree, 0, UINT64_MAX), end - begin);
        threads.push_back({.whole = static_cast<double>(end - begin),
                           .life = static_cast<double>(end - begin - paused),
                           .calls = Judge{tree, recording, settings}.calls});
    }
    for (Thread& thread : threads)
        thread.short_lived = thread.whole < 0.01 * static_cast<double>(run_end - run_begin);
    return threads;
}

using Groups = std::map<std::string, Durations>;

struct ThreadGroups {
    Groups outermost, all, self;

    /// As if they were one group: held ones have been compared with those of their own.
    Durations flat(std::uint64_t step) const {
        Durations calls;
        for (const auto& [identity, group] : outermost) {
            const std::vector<std::uint64_t> taken = group.taken(step);
            const std::size_t sure = group.sure.empty() ? taken.size() : group.sure.size();
            calls.sure.insert(calls.sure.end(), taken.begin(),
                              taken.begin() + static_cast<std::ptrdiff_t>(sure));
            calls.held.insert(calls.held.end(), taken.begin() + static_cast<std::ptrdiff_t>(sure),
                              taken.end());
            if (!group.sure.empty())
                calls.with_pauses.insert(calls.with_pauses.end(), group.with_pauses.begin(),
                                         group.with_pauses.end());
        }
        return calls;
    }
};

ThreadGroups group(const Thread& thread, std::uint32_t function, ReferenceFunction& out) {
    ThreadGroups groups;
    for (const Scored& call : thread.calls) {
        if (call.function != function) continue;
        ++out.occurrences;
        if (!call.timed) ++out.unscored;
        if (call.self_timed) groups.self[call.identity].add(call.self, call.held);
        if (!call.timed) continue;
        groups.all[call.identity].add(call.duration, call.held);
        if (call.outermost) groups.outermost[call.identity].add(call.duration, call.held);
    }
    return groups;
}

/// Of all threads, if they are to be compared with one another.
struct Pooled {
    Groups outermost, all, self;
    Durations flat;
};

Pooled pool(const std::vector<Thread>& threads, std::uint32_t function, std::uint64_t step) {
    Pooled pooled;
    const auto add = [](Groups& to, const Groups& groups) {
        for (const auto& [identity, durations] : groups)
            to[identity].add(durations);
    };
    for (const Thread& thread : threads) {
        ReferenceFunction ignored;
        const ThreadGroups groups = group(thread, function, ignored);
        add(pooled.outermost, groups.outermost);
        add(pooled.all, groups.all);
        add(pooled.self, groups.self);
        pooled.flat.add(groups.flat(step));
    }
    return pooled;
}

double lost_of(const std::vector<std::uint64_t>& durations, double base) {
    double lost = 0;
    for (const std::uint64_t duration : durations)
        lost += static_cast<double>(duration) - base;
    constexpr double kRounding = 1e-9;
    return lost > kRounding ? lost : 0;
}

/// What a group has lost is shared by what the calls from each place come to above the baseline.
void charge_callers(const Thread& thread, std::uint32_t function, const ThreadGroups& groups,
                    const Groups* pooled, std::uint64_t step, ReferenceFunction& out) {
    std::map<std::string, std::map<std::uint64_t, double>> above, calls_of;
    const auto base = [&](const std::string& identity) {
        const Groups& of = pooled != nullptr ? *pooled : groups.outermost;
        return reference_base(of.at(identity).for_base(), step);
    };
    std::map<std::string, double> bases;
    for (const Scored& call : thread.calls) {
        if (call.function != function) continue;
        if (call.caller != 0) ++out.callers[call.caller].calls;
        if (!call.timed || !call.outermost) continue;
        if (!bases.contains(call.identity)) bases[call.identity] = base(call.identity);
        above[call.identity][call.caller] += static_cast<double>(call.duration) - bases[call.identity];
        ++calls_of[call.identity][call.caller];
    }
    for (const auto& [identity, callers] : above) {
        double all = 0;
        constexpr double kNothing = 1e-9;
        for (const auto& [caller, lost] : callers)
            all += lost > kNothing ? lost : 0;
        const double lost_in_group = lost_of(groups.outermost.at(identity).taken(step), bases[identity]);
        for (const auto& [caller, lost] : callers)
            if (caller != 0 && all > 0) out.callers[caller].lost += lost_in_group * std::max(lost, 0.0) / all;
        double calls = 0;
        for (const auto& [caller, count] : calls_of[identity])
            calls += count;
        for (const auto& [caller, count] : calls_of[identity])
            if (caller != 0 && !(all > 0)) out.callers[caller].lost += lost_in_group * count / calls;
    }
}

ReferenceFunction judge_function(const std::vector<Thread>& threads, std::uint32_t function,
                                 bool process_baseline, std::uint64_t step) {
    const Pooled pooled = process_baseline ? pool(threads, function, step) : Pooled{};
    const auto lost_in = [&](const Groups& of, const std::string& identity, const Durations& durations) {
        const Durations& compared = process_baseline ? of.at(identity) : durations;
        return lost_of(durations.taken(step), reference_base(compared.for_base(), step));
    };

    ReferenceFunction out;
    double all_lives = 0, self_lost = 0, time = 0, few_time = 0;
    std::map<std::string, ReferenceSequence> sequences;
    std::set<std::string> scored;
    for (const Thread& thread : threads) {
        all_lives += thread.life;
        const ThreadGroups groups = group(thread, function, out);
        charge_callers(thread, function, groups, process_baseline ? &pooled.outermost : nullptr, step, out);
        double lost = 0;
        for (const auto& [identity, durations] : groups.outermost) {
            lost += lost_in(pooled.outermost, identity, durations);
            const std::vector<std::uint64_t> compared = durations.for_base();
            out.min = std::min(out.min, *std::ranges::min_element(compared));
            double sum = 0;
            for (const std::uint64_t duration : durations.taken(step))
                sum += static_cast<double>(duration);
            time += sum;
            if (durations.taken(step).size() < 30) few_time += sum;
        }
        for (const auto& [identity, durations] : groups.self)
            self_lost += lost_in(pooled.self, identity, durations);
        for (const auto& [identity, durations] : groups.all) {
            ReferenceSequence& sequence = sequences[identity];
            const std::vector<std::uint64_t> compared = durations.for_base();
            const std::uint64_t own = *std::ranges::min_element(compared);
            sequence.min = sequence.occurrences == 0 ? own : std::min(sequence.min, own);
            const double sequence_lost = lost_in(pooled.all, identity, durations);
            sequence.occurrences += durations.taken(step).size();
            sequence.lost += sequence_lost;
            if (!thread.short_lived) sequence.rdam = std::max(sequence.rdam, sequence_lost / thread.life);
            if (durations.taken(step).size() >= 2) scored.insert(identity);
        }
        out.lost += lost;
        const Durations flat_calls = groups.flat(step);
        const std::vector<std::uint64_t> taken = flat_calls.all();
        out.durations.insert(out.durations.end(), taken.begin(), taken.end());
        if (thread.short_lived) continue;
        out.rdam = std::max(out.rdam, std::min(lost / thread.life, 1.0));
        const double flat =
            lost_of(taken, reference_base((process_baseline ? pooled.flat : flat_calls).for_base(), step));
        out.rdam_flat = std::max(out.rdam_flat, std::min(flat / thread.life, 1.0));
    }
    out.rdam_flat = std::max(out.rdam_flat, out.rdam);
    out.rdam_all = out.lost / all_lives;
    out.rdam_self = self_lost / all_lives;
    out.lower_bound = few_time > 0.1 * time;
    std::ranges::sort(out.durations);
    for (const std::string& identity : scored)
        out.sequences.push_back(sequences[identity]);
    std::sort(out.sequences.begin(), out.sequences.end());
    return out;
}

}  // namespace

double reference_base(const std::vector<std::uint64_t>& durations, std::uint64_t step) {
    if (durations.empty()) return 0;
    const std::uint64_t least = *std::ranges::min_element(durations);
    std::uint64_t last = UINT64_MAX;
    for (const std::uint64_t duration : durations)
        if (duration > least) last = std::min(last, duration);
    if (last == UINT64_MAX || last - least > step) last = least;
    double sum = 0, count = 0;
    for (const std::uint64_t duration : durations) {
        if (duration > last) continue;
        sum += static_cast<double>(duration);
        ++count;
    }
    return sum / count;
}

std::vector<std::map<std::string, ReferencePattern>> reference_patterns(const Recording& recording,
                                                                        const ReferenceSettings& settings) {
    std::vector<std::map<std::string, ReferencePattern>> threads;
    for (const ThreadRecording& thread : recording.threads) {
        const auto tree = tree_of(thread);
        Judge judge{*tree, recording, settings};
        judge.find_patterns();
        threads.push_back(std::move(judge.patterns));
    }
    return threads;
}

std::vector<std::vector<ReferenceCall>> reference_calls(const Recording& recording,
                                                        const ReferenceSettings& settings) {
    std::vector<std::vector<ReferenceCall>> calls;
    for (Thread& thread : judge_threads(recording, settings))
        calls.push_back(std::move(thread.calls));
    return calls;
}

std::map<std::string, ReferenceFunction> reference_scores(const Recording& recording,
                                                          const ReferenceSettings& settings) {
    const std::vector<Thread> threads = judge_threads(recording, settings);
    std::map<std::string, ReferenceFunction> functions;
    for (std::uint32_t f = 0; f < recording.info.functions.size(); ++f) {
        if (settings.ignored[f]) continue;
        ReferenceFunction function =
            judge_function(threads, f, settings.process_baseline, recording.info.clock.step_ticks);
        if (function.occurrences > 0) functions[recording.info.functions[f].name] = std::move(function);
    }
    return functions;
}

}  // namespace rdam::test
