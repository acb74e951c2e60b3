#include "analyzer/output/html/timelines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/hints/waits.h"
#include "analyzer/output/html/page_words.h"
#include "analyzer/output/json_parts.h"
#include "analyzer/output/symbols.h"

namespace rdam::output {
namespace {

constexpr unsigned kMarked = 1, kOpen = 2;

/// The most slices of a lane, so that all lanes together have about `room`: what short ones leave is for
/// others.
std::size_t most_of_lane(const std::vector<views::Lane>& lanes, std::size_t room) {
    std::vector<std::size_t> sizes;
    sizes.reserve(lanes.size());
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
            return fmt::format("waits in {} for {}, which comes last", page_name(run_, held.function), owner);
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

/// What single calls have lost: of those that are in a sample. Each is told by thread, function and the tick at which it
/// began.
class KnownLosses {
  public:
    KnownLosses(const score::Report& report, std::span<const views::Surroundings> windows) {
        for (const score::FunctionRow& row : report.functions)
            for (const score::ScoredCall& call : row.sample.calls)
                if (std::ranges::any_of(windows, [&](const views::Surroundings& window) {
                        return call.begin < window.end && call.end > window.begin;
                    }))
                    lost_[{call.thread, row.function, call.begin}] = call.lost_ns;
    }

    /// Nothing: it is not known, or there are several calls in the slice.
    std::optional<double> of(std::size_t thread, const views::Slice& slice) const {
        if (slice.calls > 1 || slice.open) return std::nullopt;
        const auto found = lost_.find({thread, slice.function, slice.begin});
        return found == lost_.end() ? std::nullopt : std::optional{found->second};
    }

  private:
    std::map<std::tuple<std::size_t, std::uint32_t, std::uint64_t>, double> lost_;
};

/// Who had the processor meanwhile; no number of a name.
constexpr int kByOthers = -1, kByRecorder = -2, kByProgram = -3, kByNobodyKnown = -4;

/// Where no thread of the program can be named.
int who_else(const trace::OffCpu& off, const views::Meanwhile& meanwhile) {
    if (off.by_recorder) return kByRecorder;
    if (off.by_program) return kByProgram;
    return meanwhile.processor == trace::kNoCpu ? kByNobodyKnown : kByOthers;
}

/// `[out, in, preempted]`; where it was preempted also who had the processor, as a place in `names` or who_else(),
/// and for how long that is known.
Json absence_json(const PageRun& run, const RunClock& clock, const trace::OffCpu& off,
                  const views::Meanwhile& meanwhile, Json out, Json in, Names& names) {
    Json json{std::move(out), std::move(in), off.preempted ? 1 : 0};
    if (!off.preempted) return json;
    const bool known = meanwhile.thread != views::Meanwhile::kNotKnown && !off.by_recorder;
    if (known)
        json.push_back(names.of(thread_name(run.analysis.report.threads[meanwhile.thread])));
    else
        json.push_back(who_else(off, meanwhile));
    json.push_back(known ? std::round(static_cast<double>(meanwhile.ticks) * clock.ns_per_tick) : 0.0);
    return json;
}

Json lane_json(const PageRun& run, const RunClock& clock, const views::Surroundings& window,
               const views::Lane& lane, std::size_t most, const WaitsIn& waits, const KnownLosses& losses,
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
    for (const views::Slice* slice : chosen) {
        slices.push_back({since(slice->begin), since(slice->end), names.of(page_name(run, slice->function)),
                          slice->depth, slice->calls,
                          (slice->marked ? kMarked : 0) | (slice->open ? kOpen : 0)});
        if (const auto lost = losses.of(lane.thread, *slice)) slices.back().push_back(std::round(*lost));
    }
    std::vector<std::size_t> absences(lane.off.size());
    std::iota(absences.begin(), absences.end(), std::size_t{0});
    if (absences.size() > most) {
        std::ranges::stable_sort(absences, std::ranges::greater{},
                                 [&](std::size_t i) { return lane.off[i].in - lane.off[i].out; });
        absences.resize(most);
    }
    for (const std::size_t i : absences)
        off.push_back(absence_json(run, clock, lane.off[i],
                                   i < lane.meanwhile.size() ? lane.meanwhile[i] : views::Meanwhile{},
                                   since(lane.off[i].out), since(lane.off[i].in), names));
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

}  // namespace

Json timelines_json(const PageRun& run, const RunClock& clock, const PageLimits& limits) {
    Json out = Json::array();
    const KnownLosses losses{run.analysis.report, run.around};
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
            lanes.push_back(lane_json(run, clock, window, lane, each, waits_in, losses, variable_at, names));
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

}  // namespace rdam::output
