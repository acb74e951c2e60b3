#include "analyzer/hints/owners.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "analyzer/hints/chains.h"
#include "analyzer/hints/finders.h"
#include "tools/base/units.h"

namespace rdam::hints {
std::string described_thread(const score::ThreadRow& row) {
    if (row.fiber != 0) return row.name;
    return row.name.empty() ? fmt::format("thread {}", row.tid)
                            : fmt::format("thread {} ({})", row.tid, row.name);
}

void OwnerTimes::add(const Held& part, const Interval& time, double weight) {
    if (time.begin >= time.end) return;
    const double weighted = weight * time.ticks();
    if (part.owner == Held::kNotKnown) {
        unknown_ += weighted;
        return;
    }
    ticks_of_object_[part.object] += weighted;
    kind_ = part.kind;
    by_ = part.by;
    (part.is_owned() ? known_ : woken_) += weighted;
    if (!part.is_owned()) return;
    ticks_of_owner_[part.owner] += weighted;
    if (part.ended_from != 0) ticks_until_[part.ended_from] += weighted;
    parts_of_[part.owner].push_back({time, weight});
}

std::optional<std::size_t> OwnerTimes::owner() const {
    return nearly_only(ticks_of_owner_, known_);
}

std::string described_object(std::string_view kind, std::optional<std::uint64_t> address,
                             const VariableAt& variable_at) {
    if (!address) return fmt::format("a {}", kind);
    if (*address == 0) return fmt::format("the {}", kind);
    if (is_channel(kind)) return fmt::format("{}:[{}]", kind, *address);
    const std::string name = variable_at ? variable_at(*address) : std::string{};
    return fmt::format("the {} {}", kind, name.empty() ? fmt::format("{:#x}", *address) : name);
}

namespace {

/// What an owner does to end a wait, and where: the place follows.
std::string ends_by(Held::By by, std::string_view kind) {
    if (by == Held::By::owner) return "gives it back in";
    if (by == Held::By::arrival) return "comes to it in";
    return fmt::format("{} it in", words_of_ending(kind).does);
}

}  // namespace

EndingWords words_of_ending(std::string_view kind) {
    if (kind == "semaphore") return {"post", "posts", "posted"};
    if (is_channel(kind)) return {"write to", "writes to", "written to"};
    return {"signal", "signals", "signalled"};
}

std::string OwnerTimes::object_text(const VariableAt& variable_at) const {
    return described_object(kind_, nearly_only(ticks_of_object_, known_ + woken_), variable_at);
}

OwnerTimes::Doing OwnerTimes::doing() const {
    if (known_ <= 0) return {};
    Doing doing;
    ByFunction functions;
    const std::vector<std::uint32_t> waiters = trace::waiters(info_->functions);
    for (const auto& [owner, parts] : parts_of_) {
        const Steps waits{parts};
        doing.waiting += product(waits, activities_->blocked(owner)) / known_;
        doing.preempted += product(waits, activities_->preempted(owner)) / known_;
        for (const Activities::Inside& inside : activities_->threads()[owner]) {
            // Of those that are sampled it is known in windows only who is inside them, and who is inside a lock
            // has it, or waits.
            if (info_->functions[inside.function].windowed_since != 0 ||
                std::ranges::find(waiters, inside.function) != waiters.end())
                continue;
            FunctionSums& sums = functions[inside.function];
            sums.during += product(waits, inside.during);
            for (const Interval& time : inside.times)
                sums.all += time.ticks();
        }
    }
    doing.inside = most_special(functions);
    return doing;
}

std::optional<OwnerTimes::Inside> OwnerTimes::most_special(const ByFunction& functions) const {
    constexpr double kAboutAsMuch = 0.7;
    double most = 0;
    for (const auto& [function, sums] : functions)
        most = std::max(most, sums.during);
    if (most < kMinExplained * known_) return std::nullopt;
    auto best = functions.end();
    for (auto each = functions.begin(); each != functions.end(); ++each)
        if (each->second.during >= kAboutAsMuch * most &&
            (best == functions.end() || each->second.all < best->second.all))
            best = each;
    const bool waits = known_wait(info_->functions[best->first]) != nullptr;
    return Inside{best->first, std::min(best->second.during / known_, 1.0),
                  waits ? caller_of(best->first) : 0};
}

std::uint64_t OwnerTimes::caller_of(std::uint32_t function) const {
    std::map<std::uint64_t, double> sums;
    double all = 0;
    for (const auto& [owner, parts] : parts_of_) {
        const Steps waits{parts};
        std::map<std::uint64_t, Intervals> times;
        for (const score::TimedCall& call : report_->timeline[owner].calls)
            if (call.function == function && call.begin < call.end)
                times[call.caller].push_back(activities_->kept({call.begin, call.end}));
        for (auto& [caller, of_caller] : times) {
            const double ticks = product(waits, Steps{united(std::move(of_caller))});
            sums[caller] += ticks;
            all += ticks;
        }
    }
    return nearly_only(sums, all).value_or(0);
}

std::string OwnerTimes::caller_text(const Inside& inside, const AddressNames& names) const {
    return inside.caller != 0 && names.caller_at ? names.caller_at(inside.caller) : std::string{};
}

OwnerTimes::Ending OwnerTimes::ending(const AddressNames& names) const {
    const auto most =
        std::ranges::max_element(ticks_until_, {}, [](const auto& each) { return each.second; });
    if (most == ticks_until_.end() || most->second < kMinExplained * known_ || !names.caller_at) return {};
    return {names.caller_at(most->first), most->second / known_};
}

/// For which thread the owners wait most of the time; empty: that is not known.
std::string OwnerTimes::for_whom() const {
    std::map<std::size_t, double> sums;
    for (const auto& [owner, parts] : parts_of_) {
        const Steps waits{parts};
        std::map<std::size_t, Intervals> thirds;
        for (const Held::By by : Held::kBys)
            for (const Held& part : activities_->waits().of_thread(owner, by))
                if (part.is_owned()) thirds[part.owner].push_back(part.time);
        for (auto& [third, times] : thirds)
            sums[third] += product(waits, Steps{united(std::move(times))});
    }
    const auto most = std::ranges::max_element(sums, {}, [](const auto& each) { return each.second; });
    if (most == sums.end() || most->second < kMinExplained * known_) return {};
    return fmt::format(" (for {}: {:.0f} %)", described_thread(report_->threads[most->first]),
                       100 * most->second / known_);
}

std::string OwnerTimes::text(const Doing& doing, const char* subject, const AddressNames& names,
                             double waited_ns) const {
    std::vector<std::string> all;
    if (doing.inside) {
        const std::string caller = caller_text(*doing.inside, names);
        all.push_back(fmt::format(
            "is inside {}(){} for {:.0f} % of that time", info_->functions[doing.inside->function].name,
            caller.empty() ? "" : ", called from " + caller + ",", 100 * doing.inside->share));
    }
    // Of a thread whose switches are missing it is not known when it was off the processors.
    const char* const least = report_->switches.lost > 0 ? "at least " : "";
    if (doing.waiting >= kWorthSaying)
        all.push_back(fmt::format("waits itself for {}{:.0f} %{}", least, 100 * doing.waiting, for_whom()));
    if (doing.preempted >= kWorthSaying)
        all.push_back(fmt::format("is preempted for {}{:.0f} %{}", least, 100 * doing.preempted,
                                  waited_ns > 0
                                      ? fmt::format(" ({})", output::human_time(doing.preempted * waited_ns))
                                      : std::string{}));
    if (const Ending end = ending(names); !end.where.empty())
        all.push_back(fmt::format(
            "{} {}{}", ends_by(by_, kind_), end.where,
            end.share < kNearlyAll ? fmt::format(" ({:.0f} %)", 100 * end.share) : std::string{}));
    std::string text;
    for (std::size_t i = 0; i < all.size(); ++i)
        text += (i == 0 ? fmt::format("; {} ", subject) : i + 1 < all.size() ? ", " : " and ") + all[i];
    return text;
}

namespace {

/// Threads with one name are one group: a pool.
std::string group_of(const score::ThreadRow& row) {
    return row.name.empty() ? fmt::format("thread {}", row.tid) : row.name;
}

class Graph {
  public:
    Graph(const trace::TraceInfo& info, const score::Report& report, const Activities& activities)
        : info_(info), report_(report), activities_(activities) {
        for (std::size_t t = 0; t < report.threads.size(); ++t) {
            groups_.push_back(group_of(report.threads[t]));
            const bool lives = t < report.timeline.size();
            lives_.push_back(lives ? activities.all_waits()
                                         .time()({report.timeline[t].begin, report.timeline[t].end})
                                         .ticks()
                                   : 0);
        }
        each_wait(activities.all_waits(), [&](std::size_t thread, const Held& part) {
            auto& objects = objects_[pair_of(thread, part)];
            if (objects.size() <= kFewObjects) objects.insert(part.object);
        });
        each_wait(activities.all_waits(), [&](std::size_t thread, const Held& part) { add(thread, part); });
        // What owners did is known in the windows of all calls only.
        each_wait(activities.waits(), [&](std::size_t thread, const Held& part) {
            if (part.is_owned()) edges_.at(key_of(thread, part)).times.add(part, part.time, 1);
        });
        for (std::size_t t = 0; t < report.threads.size(); ++t)
            add_off(t);
        follow();
    }

    WaitGraph result(const AddressNames& names) const {
        WaitGraph graph;
        if (!recorded_) return graph;
        graph.recorded = true;
        graph.joins_alone = all_ <= 0;
        graph.known = all_ > 0 ? known_ / all_ : 1;
        graph.woken = all_ > 0 ? woken_ / all_ : 0;
        graph.of_lives = all_ / std::max(std::accumulate(lives_.begin(), lives_.end(), 0.0), 1.0);
        if (blocked_ > 0 && report_.switches.lost == 0)
            graph.of_blocked = std::min(all_blocked_ / blocked_, 1.0);
        std::vector<std::pair<double, const std::pair<const Key, Edge>*>> largest;
        for (const auto& each : edges_)
            largest.emplace_back(each.second.known / lives_of(each.second.waiters), &each);
        // Who waits by design may have nothing to do.
        std::ranges::stable_sort(largest, std::ranges::greater{}, [&](const auto& each) {
            const bool line = each.first >= WaitGraph::kWorthALine;
            return std::tuple{line, line && !waits_by_design(each.second->second.function), each.first};
        });
        for (const auto& [share, each] : std::span{largest}.first(std::min(largest.size(), kMaxEdges)))
            graph.edges.push_back(
                edge(each->first, each->second, share, names, graph.edges.size() < WaitGraph::kInWords));
        add_threads(graph);
        if (known_ > 0) add_ends(graph, names);
        return graph;
    }

  private:
    bool waits_by_design(std::uint32_t function) const {
        const CatalogueFunction* const known = known_wait(info_.functions[function]);
        return known != nullptr && !known->by_design.empty();
    }

    /// Between two groups of threads. Where there are more, they are one.
    static constexpr std::size_t kFewObjects = 16;
    static constexpr std::size_t kMaxEdges = 64;
    /// By Held::By.
    static constexpr std::array kSubjects{"the owner", "the last one", "the notifier", "the joined one"};

    using Pair = std::tuple<std::string, std::string, Held::By>;
    using Key = std::pair<Pair, std::uint64_t>;
    struct Edge {
        OwnerTimes times;  ///< in the windows of all calls: for what the owners did
        std::uint32_t function = 0;
        std::string_view kind = {};
        double known = 0;
        std::map<std::size_t, double> waiters = {}, owners = {};
    };

    template <class Each>
    void each_wait(const Waits& waits, const Each& each) {
        for (std::size_t t = 0; t < report_.threads.size(); ++t)
            for (const Held::By by : Held::kBys)
                for (const Held& part : waits.of_thread(t, by))
                    each(t, part);
    }

    Pair pair_of(std::size_t thread, const Held& part) const {
        return {groups_[thread], part.is_owned() ? groups_[part.owner] : std::string{}, part.by};
    }

    Key key_of(std::size_t thread, const Held& part) const {
        const Pair pair = pair_of(thread, part);
        return {pair, objects_.at(pair).size() <= kFewObjects ? part.object : 0};
    }

    void add(std::size_t thread, const Held& part) {
        const double ticks = part.time.ticks();
        recorded_ = true;
        // Of joins it is always known for whom: they would hide what is not known of other waits.
        if (part.by != Held::By::end) {
            all_ += ticks;
            if (part.owner == Held::kWoken) woken_ += ticks;
            if (part.is_owned()) known_ += ticks;
        }
        if (!part.is_owned()) return;
        Edge& edge = edges_
                         .try_emplace(key_of(thread, part),
                                      Edge{{info_, report_, activities_}, part.function, part.kind})
                         .first->second;
        edge.known += ticks;
        edge.waiters[thread] += ticks;
        edge.owners[part.owner] += ticks;
        owners_of_[thread][part.owner] += ticks;
    }

    void add_off(std::size_t thread) {
        Intervals waits;
        for (const Held::By by : Held::kBys)
            for (const Held& part : activities_.waits().of_thread(thread, by))
                if (by != Held::By::end) waits.push_back(part.time);
        all_blocked_ += product(Steps{united(std::move(waits))}, activities_.blocked(thread));
        blocked_ += activities_.blocked_ticks(thread);
    }

    struct End {
        OwnerTimes times;  ///< as Edge::times
        double known = 0, direct = 0;
        std::map<std::size_t, double> threads = {};
    };

    End& end_of(std::size_t thread) {
        return ends_.try_emplace(groups_[thread], End{{info_, report_, activities_}}).first->second;
    }

    void follow() {
        const Chains chains = follow_waits(activities_.all_waits(), report_.threads.size());
        circular_ = chains.circular;
        for (const ChainEnd& each : chains.ends) {
            End& end = end_of(each.thread);
            end.direct += each.direct;
            for (const auto& [time, waiters] : each.waiters)
                end.known += time.ticks() * waiters;
            end.threads[each.thread] += 1;
        }
        for (const ChainEnd& each : follow_waits(activities_.waits(), report_.threads.size()).ends)
            for (const auto& [time, waiters] : each.waiters)
                end_of(each.thread).times.add({.time = time, .owner = each.thread}, time, waiters);
    }

    void add_ends(WaitGraph& graph, const AddressNames& names) const {
        graph.circular = circular_ / known_;
        std::vector<std::pair<double, const std::pair<const std::string, End>*>> largest;
        for (const auto& each : ends_)
            largest.emplace_back(each.second.known / known_, &each);
        std::ranges::stable_sort(largest, std::ranges::greater{},
                                 [](const auto& each) { return each.first; });
        for (const auto& [share, each] : std::span{largest}.first(std::min(largest.size(), kMaxEdges))) {
            const auto& [group, end] = *each;
            const OwnerTimes::Doing doing = end.times.doing();
            const bool one = end.threads.size() == 1, in_words = graph.ends.size() < WaitGraph::kInWords;
            graph.preempted += share * doing.preempted;
            graph.ends.push_back(
                {.threads = described(group, end.threads),
                 .tids = tids(end.threads),
                 .share = share,
                 .through = std::max(share - end.direct / known_, 0.0),
                 .waiting = doing.waiting,
                 .preempted = doing.preempted,
                 .inside = doing.inside ? info_.functions[doing.inside->function].name : std::string{},
                 .inside_share = doing.inside ? doing.inside->share : 0,
                 .meanwhile =
                     in_words ? end.times.text(doing, one ? "it" : "such a thread", names) : std::string{}});
        }
    }

    /// For whom each thread waits longest.
    void add_threads(WaitGraph& graph) const {
        for (std::size_t t = 0; t < report_.threads.size(); ++t) {
            std::map<std::string, std::map<std::size_t, double>> by_group;
            const auto owners = owners_of_.find(t);
            if (owners != owners_of_.end())
                for (const auto& [owner, ticks] : owners->second)
                    by_group[groups_[owner]][owner] += ticks;
            ThreadWait& wait = graph.of_threads.emplace_back();
            for (const auto& [group, of_group] : by_group) {
                double ticks = 0;
                for (const auto& [owner, part] : of_group)
                    ticks += part;
                const double share = ticks / lives_of({{t, 0}});
                if (share > wait.share) wait = {described(group, of_group), share};
            }
        }
    }

    /// `in_words`: to find a name means to read an object's symbols, and to find out for whom owners wait is
    /// costly.
    WaitEdge edge(const Key& key, const Edge& from, double share, const AddressNames& all_names,
                  bool in_words) const {
        const auto& [pair, address] = key;
        const auto& [waiters, owners, by] = pair;
        const OwnerTimes::Doing doing = from.times.doing();
        std::optional<std::uint64_t> only_object;
        if (objects_.at(pair).size() <= kFewObjects) only_object = address;
        const AddressNames names = in_words ? all_names : AddressNames{};
        const OwnerTimes::Ending ending = from.times.ending(names);
        const std::string object = described_object(from.kind, only_object, names.variable_at);
        double waited_ns = 0;
        for (const auto& [thread, time] : from.waiters)
            waited_ns += share * report_.threads[thread].duration_ns;
        return {.waiters = described(waiters, from.waiters),
                .owners = described(owners, from.owners),
                .waiter_tids = tids(from.waiters),
                .owner_tids = tids(from.owners),
                .reason = static_cast<WaitEdge::For>(by),
                .kind = std::string{from.kind},
                .object = is_channel(from.kind) ? 0 : address,
                .variable = is_channel(from.kind) && address != 0 ? object
                            : address != 0 && names.variable_at   ? names.variable_at(address)
                                                                  : std::string{},
                .object_name = by == Held::By::arrival ? info_.functions[from.function].name + "()" : object,
                .share = share,
                .waited_ns = waited_ns,
                .by_design = waits_by_design(from.function),
                .owners_seen = from.times.known() > 0,
                .inside = doing.inside ? info_.functions[doing.inside->function].name : std::string{},
                .inside_share = doing.inside ? doing.inside->share : 0,
                .inside_from = doing.inside ? from.times.caller_text(*doing.inside, names) : std::string{},
                .ended_from = ending.where,
                .ended_from_share = ending.share,
                .owner_waiting = doing.waiting,
                .owner_preempted = doing.preempted,
                .meanwhile = in_words ? from.times.text(doing, kSubjects[static_cast<std::size_t>(by)], names,
                                                        waited_ns)
                                      : std::string{}};
    }

    std::string described(const std::string& group, const std::map<std::size_t, double>& threads) const {
        if (threads.size() == 1) return described_thread(report_.threads[threads.begin()->first]);
        return fmt::format("{} threads ({})", threads.size(), group);
    }

    double lives_of(const std::map<std::size_t, double>& threads) const {
        double lives = 0;
        for (const auto& [thread, time] : threads)
            lives += lives_[thread];
        return std::max(lives, 1.0);
    }

    std::vector<std::uint32_t> tids(const std::map<std::size_t, double>& threads) const {
        std::vector<std::uint32_t> all;
        for (const auto& [thread, time] : threads)
            all.push_back(report_.threads[thread].tid);
        return all;
    }

    const trace::TraceInfo& info_;
    const score::Report& report_;
    const Activities& activities_;
    std::vector<std::string> groups_;                  // by thread
    std::map<Pair, std::set<std::uint64_t>> objects_;  // no more than kFewObjects + 1
    std::map<Key, Edge> edges_;
    std::vector<double> lives_;                                       // by thread, in the times of all waits
    std::map<std::size_t, std::map<std::size_t, double>> owners_of_;  // ticks, by waiter and owner
    std::map<std::string, End> ends_;                                 // by group
    double circular_ = 0;
    bool recorded_ = false;
    double all_ = 0, known_ = 0, woken_ = 0, all_blocked_ = 0, blocked_ = 0;
};

}  // namespace

WaitGraph wait_graph(const trace::TraceInfo& info, const score::Report& report, const Activities& activities,
                     const AddressNames& names) {
    return Graph{info, report, activities}.result(names);
}

}  // namespace rdam::hints
