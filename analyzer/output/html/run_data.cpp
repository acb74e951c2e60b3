#include "analyzer/output/html/run_data.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "analyzer/hints/waits.h"
#include "analyzer/output/comparison.h"
#include "analyzer/output/fields.h"
#include "analyzer/output/findings.h"
#include "analyzer/output/html/heat.h"
#include "analyzer/output/html/page_words.h"
#include "analyzer/output/json_parts.h"
#include "analyzer/output/notes.h"
#include "analyzer/output/symbols.h"
#include "analyzer/report/ranking.h"
#include "tools/base/units.h"

namespace rdam::output {
namespace {

std::string start_text(double unix_ns) {
    constexpr double kSecond = 1e9;
    if (!(unix_ns > 0) || unix_ns > 1e19) return "not known";
    const auto seconds = static_cast<std::time_t>(unix_ns / kSecond);
    std::tm utc{};
    if (gmtime_r(&seconds, &utc) == nullptr) return "not known";
    return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", utc);
}

bool has_weight(const score::Report& report, const score::FunctionRow& row, const PageLimits& limits) {
    constexpr std::size_t kFirst = 10;
    const bool looked_into = row.rdam >= report.threshold || !row.sample.calls.empty();
    return row.rank <= limits.detailed && (row.rank <= kFirst || looked_into);
}

/// Names that are used often, by number.
class Names {
  public:
    std::size_t of(const std::string& name) {
        const auto [place, is_new] = numbers_.emplace(name, numbers_.size());
        if (is_new) list_.push_back(name);
        return place->second;
    }
    Json take() { return std::move(list_); }

  private:
    std::unordered_map<std::string, std::size_t> numbers_;
    Json list_ = Json::array();
};

std::string function_name(const PageRun& run, std::uint32_t function) {
    return page_name(run.analysis.report.names[function]);
}

/// By index into Report::threads: its row; those that lost most have one of their own.
std::vector<std::size_t> rows_of_threads(const score::Report& report, std::size_t most) {
    std::vector<double> lost(report.threads.size());
    for (const score::CourseCell& cell : report.course.cells)
        lost[cell.thread] += cell.lost_ns;
    std::vector<std::size_t> order(lost.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return lost[a] > lost[b]; });
    const bool all = order.size() <= most;
    std::vector<std::size_t> chosen(order.begin(),
                                    order.begin() + static_cast<std::ptrdiff_t>(all ? order.size() : most));
    // As the run shows them: in the order of the trace.
    std::ranges::sort(chosen);
    std::vector<std::size_t> rows(lost.size(), chosen.size());
    for (std::size_t i = 0; i < chosen.size(); ++i)
        rows[chosen[i]] = i;
    return rows;
}

/// By place of a function that is sampled in windows: `{place: [part of each bin, …]}`.
Json covers_json(const score::Course& course, const std::vector<std::int64_t>& places) {
    constexpr double kSteps = 1e4;
    Json out = Json::object();
    for (const score::CourseCover& cover : course.covers) {
        if (places[cover.function] < 0) continue;
        Json parts = Json::array();
        for (const double part : cover.parts)
            parts.push_back(std::ceil(part * kSteps) / kSteps);
        out[fmt::format("{}", places[cover.function])] = std::move(parts);
    }
    return out;
}

/// Lost time by thread and time: `{begin, bin, bins, rows: [name, …], cells: [[row, bin, function, lost_ns],
/// …], covers, approximate}`. Functions by their place in `shown` (-1: another one); the threads that lost most have
/// rows, the last row is all the others together. Null: nothing is known of the course.
Json heat_json(const PageRun& run, std::span<const std::uint32_t> shown, const PageLimits& limits) {
    const score::Report& report = run.analysis.report;
    const score::Course& course = report.course;
    if (!(course.bin_ns > 0)) return nullptr;
    std::vector<std::int64_t> places(run.info.functions.size(), kOtherFunctions);
    for (const score::FunctionRow& row : report.functions)
        if (!row.by_design.empty()) places[row.function] = kOthersByDesign;
    for (std::size_t i = 0; i < std::min(shown.size(), limits.detailed); ++i)
        places[shown[i]] = static_cast<std::int64_t>(i);
    const std::vector<std::size_t> rows = rows_of_threads(report, limits.threads);
    HeatMap map{course.begin_ns, course.bin_ns};
    for (const score::CourseCell& cell : course.cells)
        map.add(rows[cell.thread], cell.bin, places[cell.function], cell.lost_ns);
    const std::size_t with_row = std::min(report.threads.size(), limits.threads);
    for (std::size_t t = 0; t < rows.size(); ++t)
        if (rows[t] < with_row) map.add_row(thread_name(report.threads[t]));
    const std::size_t others = report.threads.size() - with_row;
    if (others > 0) map.add_others(counted(others, "other thread", "other threads"), others);
    Json heat = map.json(course.approximate);
    if (!course.covers.empty()) heat["covers"] = covers_json(course, places);
    return heat;
}

/// Of each node, as a share of the whole tree, what its subtree lost or took, whichever is more.
std::vector<double> shares_of(const score::PathTree& tree) {
    std::vector<double> lost, time;
    for (const score::PathNode& node : tree.nodes) {
        lost.push_back(std::max(finite(node.lost_self_ns), 0.0));
        time.push_back(std::max(finite(node.self_ns), 0.0));
    }
    lost = score::subtree_sums(tree, std::move(lost));
    time = score::subtree_sums(tree, std::move(time));
    std::vector<double> shares;
    for (std::size_t i = 0; i < lost.size(); ++i)
        shares.push_back(std::max(finite(lost[i] / lost.front()), finite(time[i] / time.front())));
    return shares;
}

/// A tree of fewer nodes: the largest stay, with their ancestors.
class SmallTree {
  public:
    SmallTree(const score::PathTree& tree, std::size_t most)
        : nodes_(tree.nodes), kept_(score::heaviest(tree, shares_of(tree), most)) {}

    /// `use(node, place of its parent, what is its own)`, parents first; of those that are not kept, one for
    /// each parent that is, and null for a node.
    template <class Use>
    void for_each(const Use& use) const {
        std::vector<std::size_t> places(nodes_.size());
        std::map<std::size_t, score::PathNode> rests;  // by place of the parent
        std::size_t next = 0;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            const std::size_t parent = places[nodes_[i].parent];
            if (kept_[i]) {
                use(&nodes_[i], parent, nodes_[i]);
                places[i] = next++;
                continue;
            }
            places[i] = parent;
            score::PathNode& rest = rests[parent];
            rest.calls += nodes_[i].calls;
            rest.self_ns += nodes_[i].self_ns;
            rest.lost_self_ns += nodes_[i].lost_self_ns;
        }
        for (const auto& [parent, rest] : rests)
            use(nullptr, parent, rest);
    }

  private:
    const std::vector<score::PathNode>& nodes_;
    std::vector<bool> kept_;
};

/// The tree of paths: `{names, parent: […], name: […], lost: […], time: […], calls: […], callers: […], left_out}`, of
/// each node what is its own, without the nodes below; parents come first. Between the root and functions are those
/// that call them: the indices in `callers`, of which nothing is known but what is below. Places of one function are one;
/// where symbols are missing, each place stands for itself. Small nodes are added to
/// their parent's child `(smaller ones)`. Null: not known.
class Icicle {
  public:
    explicit Icicle(const PageRun& run) : run_(run) {}

    Json json(const PageLimits& limits) {
        if (run_.analysis.report.paths.nodes.size() < 2) return nullptr;
        const score::PathTree paths = by_caller_names();
        std::vector<std::size_t> places;  // by place in the small tree
        SmallTree{paths, limits.paths}.for_each(
            [&](const score::PathNode* node, std::size_t above, const score::PathNode& own) {
                std::size_t parent = places.empty() ? 0 : places[above];
                if (node != nullptr && node->caller != 0)
                    parent = place_of(parent, callers_[node->caller - 1], true);
                const std::size_t place =
                    place_of(parent, node != nullptr ? name_of(*node) : "(smaller ones)", false);
                if (node != nullptr) places.push_back(place);
                nodes_[place].lost += finite(own.lost_self_ns);
                nodes_[place].time += finite(own.self_ns);
                nodes_[place].calls += finite(own.calls);
            });
        Json parent = Json::array(), name = Json::array(), lost = Json::array(), time = Json::array(),
             calls = Json::array(), callers = Json::array();
        for (const Node& node : nodes_) {
            if (node.calls_others) callers.push_back(parent.size());
            parent.push_back(node.parent);
            name.push_back(node.name);
            lost.push_back(std::round(node.lost));
            time.push_back(std::round(node.time));
            calls.push_back(std::round(node.calls));
        }
        return {{"names", names_.take()},          {"parent", std::move(parent)},
                {"name", std::move(name)},         {"lost", std::move(lost)},
                {"time", std::move(time)},         {"calls", std::move(calls)},
                {"callers", std::move(callers)},   {"left_out", paths.left_out},
                {"approximate", paths.approximate}};
    }

  private:
    struct Node {
        std::size_t parent = 0;
        std::size_t name = 0;
        bool calls_others = false;  ///< it is there for those below
        double lost = 0, time = 0, calls = 0;
    };

    /// PathNode::caller becomes a number in callers_, from 1 on: calls from several places of a function are one node.
    score::PathTree by_caller_names() {
        score::PathTree out;
        std::map<std::string, std::uint64_t> numbers;                // by name
        std::unordered_map<std::uint64_t, std::uint64_t> of_caller;  // by address
        const auto number_of = [&](std::uint64_t caller) {
            const auto [known, is_new_address] = of_caller.try_emplace(caller, 0);
            if (!is_new_address) return known->second;
            std::string name = caller_name(caller);
            const auto [found, is_new] = numbers.try_emplace(name, callers_.size() + 1);
            if (is_new) callers_.push_back(std::move(name));
            return known->second = found->second;
        };
        using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;
        std::map<Key, std::uint32_t> known;
        std::vector<std::uint32_t> places;
        for (const score::PathNode& node : run_.analysis.report.paths.nodes) {
            const std::uint32_t parent = places.empty() ? 0 : places[node.parent];
            const std::uint64_t caller = node.caller != 0 ? number_of(node.caller) : 0;
            const auto [found, is_new] = known.try_emplace(Key{parent, node.function, caller},
                                                           static_cast<std::uint32_t>(out.nodes.size()));
            if (is_new) out.nodes.push_back({.parent = parent, .function = node.function, .caller = caller});
            score::PathNode& to = out.nodes[found->second];
            to.calls += node.calls;
            to.self_ns += node.self_ns;
            to.lost_self_ns += node.lost_self_ns;
            places.push_back(found->second);
        }
        out.left_out = run_.analysis.report.paths.left_out;
        out.approximate = run_.analysis.report.paths.approximate;
        return out;
    }

    std::size_t place_of(std::size_t parent, const std::string& name, bool calls_others) {
        const std::size_t number = names_.of(name);
        const auto [found, is_new] = places_.try_emplace({parent, number, calls_others}, nodes_.size());
        if (is_new) nodes_.push_back({parent, number, calls_others});
        return found->second;
    }

    std::string name_of(const score::PathNode& node) const {
        if (node.function == score::PathNode::kRoot) return "all threads";
        if (node.function == score::PathNode::kElsewhere) return "(other paths)";
        return function_name(run_, node.function);
    }

    std::string caller_name(std::uint64_t caller) {
        const StackFrame frame = run_.symbols.frames(caller).front();
        return page_name(frame.function.empty() ? frame_text(frame) : frame.function);
    }

    const PageRun& run_;
    std::vector<std::string> callers_;
    Names names_;
    std::vector<Node> nodes_;
    std::map<std::tuple<std::size_t, std::size_t, bool>, std::size_t> places_;
};

/// `[{title, lines: […], rank}, …]`.
Json findings_json(const PageRun& run) {
    Json out = Json::array();
    const std::vector<FindingText> texts = finding_texts(run.analysis, run.symbols);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        Json lines = Json::array();
        for (const std::string& line : texts[i].lines)
            lines.push_back(page_text(line));
        const score::FunctionRow& row = run.analysis.report.functions[run.analysis.findings.all[i].row];
        out.push_back(
            {{"title", page_text(texts[i].title)}, {"lines", std::move(lines)}, {"rank", row.rank}});
    }
    return out;
}

/// `{columns, rows: [{name, …}, …], left_out}`: what threads did with their lives, those to look at first.
Json lives_json(const PageRun& run, const PageLimits& limits) {
    const std::vector<Field<Life>> fields = life_fields(run.analysis);
    std::vector<std::size_t> order = threads_to_look_at(run.analysis);
    const std::size_t left_out = order.size() - std::min(order.size(), limits.rows);
    order.resize(order.size() - left_out);
    Json rows = Json::array();
    for (const std::size_t thread : order) {
        rows.push_back({{"name", thread_name(run.analysis.report.threads[thread])}});
        rows.back().update(page_figures(Fields<Life>{fields}, life_of(run.analysis, thread)));
    }
    return {{"columns", page_columns(Fields<Life>{fields})},
            {"known", lives_known(run.analysis)},
            {"rows", std::move(rows)},
            {"left_out", left_out}};
}

constexpr unsigned kMarked = 1, kOpen = 2;

/// The most slices of a lane, so that all lanes together have about `room`: what short ones leave is for
/// others.
std::size_t most_of_lane(const std::vector<views::Lane>& lanes, std::size_t room) {
    std::vector<std::size_t> sizes;
    for (const views::Lane& lane : lanes)
        sizes.push_back(lane.slices.size());
    std::ranges::sort(sizes);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::size_t share = room / (sizes.size() - i) + 1;
        if (sizes[i] > share) return share;
        room -= std::min(room, sizes[i]);
    }
    return room + (sizes.empty() ? 0 : sizes.back());
}

/// For whom the threads of a window wait, where that is known.
class WaitsIn {
  public:
    /// `waits`: of the run; null: not known.
    WaitsIn(const PageRun& run, const hints::Waits* waits, const views::Surroundings& window)
        : run_(run), window_(window) {
        const hints::Interval span{window.begin, window.end};
        // Times that are not kept have no length.
        if (waits != nullptr && waits->time().keeps(span)) {
            waits_ = waits;
            begin_ = waits->time()(window.begin);
        }
        for (std::size_t i = 0; i < window.lanes.size(); ++i)
            lane_of_[window.lanes[i].thread] = i;
    }

    struct Wait {
        std::uint64_t begin = 0, end = 0;  ///< ticks
        std::int64_t lane = -1;            ///< of the thread that is waited for; -1: it has none
        const hints::Held* held = nullptr;
    };

    /// The longest, at most `most`.
    std::vector<Wait> of_thread(std::size_t thread, std::size_t most) const {
        std::vector<Wait> all;
        if (waits_ == nullptr) return all;
        const std::uint64_t length = window_.end - window_.begin;
        for (const hints::Held::By by : hints::Held::kBys)
            for (const hints::Held& held : waits_->of_thread(thread, by)) {
                if (!held.is_owned() || held.time.end <= begin_ || held.time.begin >= begin_ + length)
                    continue;
                const auto lane = lane_of_.find(held.owner);
                all.push_back({window_.begin + (std::max(held.time.begin, begin_) - begin_),
                               window_.begin + std::min(held.time.end - begin_, length),
                               lane == lane_of_.end() ? -1 : static_cast<std::int64_t>(lane->second), &held});
            }
        std::ranges::stable_sort(all, std::ranges::greater{},
                                 [](const Wait& each) { return each.end - each.begin; });
        if (all.size() > most) all.resize(most);
        return all;
    }

    std::string text(const hints::Held& held, const hints::VariableAt& variable_at) const {
        const std::string owner = thread_name(run_.analysis.report.threads[held.owner]);
        if (held.by == hints::Held::By::arrival)
            return fmt::format("waits in {} for {}, which comes last", function_name(run_, held.function),
                               owner);
        if (held.by == hints::Held::By::end) return fmt::format("waits until {} ends", owner);
        const std::string variable = held.object != 0 ? variable_at(held.object) : std::string{};
        const std::string object =
            held.object == 0 ? fmt::format("a {}", held.kind)
                             : fmt::format("the {} {}", held.kind,
                                           variable.empty() ? fmt::format("{:#x}", held.object) : variable);
        return held.by == hints::Held::By::owner
                   ? fmt::format("waits for {}, which {} has", page_text(object), owner)
                   : fmt::format("waits until {} notifies it, at {}", owner, page_text(object));
    }

  private:
    const PageRun& run_;
    const views::Surroundings& window_;
    const hints::Waits* waits_ = nullptr;
    std::uint64_t begin_ = 0;                     ///< of the window, in kept time
    std::map<std::size_t, std::size_t> lane_of_;  ///< by thread
};

Json lane_json(const PageRun& run, const RunClock& clock, const views::Surroundings& window,
               const views::Lane& lane, std::size_t most, const WaitsIn& waits,
               const hints::VariableAt& variable_at, Names& names) {
    const auto since = [&](std::uint64_t tsc) {
        const std::uint64_t inside = std::clamp(tsc, window.begin, window.end);
        return std::round(static_cast<double>(inside - window.begin) * clock.ns_per_tick);
    };
    // The long ones, if there is no room for all.
    std::vector<const views::Slice*> chosen;
    for (const views::Slice& slice : lane.slices)
        chosen.push_back(&slice);
    if (chosen.size() > most) {
        std::ranges::stable_sort(chosen, [](const views::Slice* a, const views::Slice* b) {
            return std::tuple{b->marked, b->end - b->begin} < std::tuple{a->marked, a->end - a->begin};
        });
        chosen.resize(most);
    }
    const std::size_t left_out = lane.slices.size() - chosen.size();
    Json slices = Json::array(), off = Json::array();
    for (const views::Slice* slice : chosen)
        slices.push_back({since(slice->begin), since(slice->end),
                          names.of(function_name(run, slice->function)), slice->depth, slice->calls,
                          (slice->marked ? kMarked : 0) | (slice->open ? kOpen : 0)});
    std::vector<trace::OffCpu> absences = lane.off;
    if (absences.size() > most) {
        std::ranges::stable_sort(absences, [](const trace::OffCpu& a, const trace::OffCpu& b) {
            return a.in - a.out > b.in - b.out;
        });
        absences.resize(most);
    }
    for (const trace::OffCpu& each : absences)
        off.push_back({since(each.out), since(each.in), each.preempted ? 1 : 0});
    Json waited = Json::array();
    for (const WaitsIn::Wait& wait : waits.of_thread(lane.thread, most))
        waited.push_back(
            {since(wait.begin), since(wait.end), wait.lane, names.of(waits.text(*wait.held, variable_at))});
    return {{"thread", thread_name(run.analysis.report.threads[lane.thread])},
            {"waits", std::move(waited)},
            {"slices", std::move(slices)},
            {"off", std::move(off)},
            {"left_out", left_out},
            {"off_left_out", lane.off.size() - absences.size()}};
}

/// `[{function, thread, begin, end, call: [begin, end], duration, lost, lanes: [{thread, slices: [[begin,
/// end, name, depth, calls, flags], …], off: [[begin, end, preempted], …], waits: [[begin, end, lane of who is
/// waited for, name], …], left_out, off_left_out}], names, left_out, shortened}]`: times in nanoseconds since the window's begin; `begin` since the run's start.
/// Flags: 1 the call that it is about, 2 not seen to end.
Json timelines_json(const PageRun& run, const RunClock& clock, const PageLimits& limits) {
    Json out = Json::array();
    const auto waits = run.around.empty() ? std::nullopt : hints::Waits::of(run.info, run.analysis.report);
    // Asked for few of many objects again and again.
    std::map<std::uint64_t, std::string> known;
    const hints::VariableAt find = variable_names(run.info);
    const hints::VariableAt variable_at = [&](std::uint64_t address) {
        const auto [place, is_new] = known.emplace(address, std::string{});
        if (is_new) place->second = find(address);
        return place->second;
    };
    for (const views::Surroundings& window : run.around) {
        const score::FunctionRow& row = run.analysis.report.functions[window.row];
        Names names;
        Json lanes = Json::array();
        const std::size_t each = most_of_lane(window.lanes, limits.slices);
        const WaitsIn waits_in{run, waits ? &*waits : nullptr, window};
        for (const views::Lane& lane : window.lanes)
            lanes.push_back(lane_json(run, clock, window, lane, each, waits_in, variable_at, names));
        const auto since = [&](std::uint64_t tsc) {
            return tsc > window.begin
                       ? std::round(static_cast<double>(tsc - window.begin) * clock.ns_per_tick)
                       : 0;
        };
        out.push_back({{"function", page_name(row.shown)},
                       {"rank", row.rank},
                       {"thread", thread_name(run.analysis.report.threads[window.thread])},
                       {"begin", nanoseconds(clock.since_begin(window.begin))},
                       {"length", since(window.end)},
                       {"call", {since(window.call_begin), since(window.call_end)}},
                       {"duration", nanoseconds(window.duration_ns)},
                       {"lost", nanoseconds(window.lost_ns)},
                       {"lanes", std::move(lanes)},
                       {"names", names.take()},
                       {"left_out", window.left_out},
                       {"shortened", window.shortened}});
    }
    return out;
}

}  // namespace

void add_settings(const score::Comparison& comparison, std::vector<Fact>& facts) {
    constexpr std::size_t kMaxNames = 100;
    for (const SettingInForce& each : settings_in_force(comparison, kMaxNames))
        facts.push_back({each.name, each.value.empty() ? "yes" : page_text(each.value)});
}

std::vector<Fact> facts(const PageRun& run) {
    const score::Report& report = run.analysis.report;
    const trace::ProcessInfo& process = report.process;
    std::vector<Fact> all{
        {"Command", page_text(command_text(process.command))}, {"Trace", page_name(run.file)},
        {"Started", start_text(report.start_unix_ns)},         {"Duration", human_time(report.duration_ns)},
        {"Process", fmt::format("{}", process.pid)},           {"Threads", grouped(report.threads.size())}};
    if (std::string states = thread_states(report); !states.empty())
        all.push_back({"Running", std::move(states)});
    for (const std::string& line : wait_lines(run.analysis.waits))
        all.push_back({"Waiting", page_text(line)});
    all.push_back({"Events", grouped(report.events)});
    all.push_back({"Calls", grouped(report.counts.calls)});
    if (!process.host.empty()) all.push_back({"Host", page_name(process.host)});
    if (!process.machine.empty()) all.push_back({"Machine", page_name(process.machine)});
    std::string cost = recording_cost(report);
    if (!cost.empty())
        cost.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(cost.front())));
    all.push_back({"Recording", page_text(cost)});
    all.push_back({"Recorded with", page_name(trace::recorded_with(process))});
    add_settings(report.comparison, all);
    return all;
}

std::string title(const PageRun& run) {
    const std::string command = page_name(command_text(run.analysis.report.process.command));
    return command.empty() ? page_name(run.file) : command;
}

Json run_json(const PageRun& run, const PageLimits& limits) {
    const score::Report& report = run.analysis.report;
    const RunClock clock = run_clock(run.info, report);
    Json functions = Json::array();
    std::vector<std::uint32_t> shown;  // index in the trace, by place in `functions`
    for (const score::FunctionRow& row : score::by_rank(report.functions, limits.rows)) {
        functions.push_back(row_json(row));
        if (has_weight(report, row, limits))
            functions.back()["details"] = details_json(run, row, clock, limits);
        shown.push_back(row.function);
    }
    Json threads = Json::array();
    for (const score::ThreadRow& thread : report.threads) {
        if (threads.size() == limits.rows) break;
        threads.push_back(thread_name(thread));
    }
    Json fact_list = Json::array();
    for (const Fact& fact : facts(run))
        fact_list.push_back({fact.name, fact.value});
    Json out{{"title", title(run)},
             {"findings", findings_json(run)},
             {"verdict", run.analysis.findings.verdict},
             {"warnings", warnings(report).size()},
             {"facts", std::move(fact_list)},
             {"duration", nanoseconds(report.duration_ns)},
             {"threshold", finite(report.threshold)},
             {"score", score_in_words(report.comparison.baseline)},
             {"functions", std::move(functions)},
             {"standings", standings_json(report.functions)},
             {"left_out", report.functions.size() - shown.size()},
             {"threads", std::move(threads)},
             {"lives", lives_json(run, limits)},
             {"heat", heat_json(run, shown, limits)},
             {"icicle", Icicle{run}.json(limits)},
             {"timelines", timelines_json(run, clock, limits)}};
    Json note_list = Json::array();
    for (const std::string& note : notes(report, run.symbols))
        note_list.push_back(page_text(note));
    out["notes"] = std::move(note_list);
    return out;
}
}  // namespace rdam::output
