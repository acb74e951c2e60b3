#include "analyzer/output/html/timelines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
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
        slices.push_back({since(slice->begin), since(slice->end), names.of(page_name(run, slice->function)),
                          slice->depth, slice->calls,
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

}  // namespace

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

}  // namespace rdam::output
