#include "tests/unit/analysis/reference_places.h"

#include <algorithm>
#include <string>
#include <tuple>

namespace rdam::test {
namespace {

using Calls = std::vector<std::vector<ReferenceCall>>;

/// Times of the calls of each sequence, in each thread and in all.
class Bases {
  public:
    template <class Takes, class Time>
    Bases(const Recording& recording, const ReferenceSettings& settings, const Calls& calls,
          const Takes& takes, const Time& time)
        : step_(recording.info.clock.step_ticks), process_(settings.process_baseline) {
        for (std::size_t t = 0; t < calls.size(); ++t)
            for (const ReferenceCall& call : calls[t])
                if (takes(call)) {
                    times_[{t, call.identity}].add(time(call), call.held);
                    all_[call.identity].add(time(call), call.held);
                }
    }

    double of(std::size_t thread, const std::string& identity) const {
        const Durations& compared = process_ ? all_.at(identity) : times_.at({thread, identity});
        return reference_base(compared.for_base(), step_);
    }
    double lost(std::size_t thread, const std::string& identity) const {
        double lost = 0;
        for (const std::uint64_t time : times_.at({thread, identity}).taken(step_))
            lost += static_cast<double>(time) - of(thread, identity);
        return lost > 1e-9 ? lost : 0;
    }

  private:
    std::uint64_t step_;
    bool process_;
    std::map<std::pair<std::size_t, std::string>, Durations> times_;
    std::map<std::string, Durations> all_;
};

struct PlaceTime {
    double above = 0;  ///< beyond the base
    double all = 0;
    double calls = 0;

    void add(double part, std::uint64_t ticks, double base) {
        above += part * (static_cast<double>(ticks) - base);
        all += part * static_cast<double>(ticks);
        calls += part;
    }
};

/// Of each group (thread and sequence) in each place, as it was measured.
template <class Place>
using Above = std::map<std::pair<std::size_t, std::string>, std::map<Place, PlaceTime>>;

/// No place of a group is below 0, and together they come to what the group has lost.
template <class Place, class Charge>
void charge(const Above<Place>& above, const Bases& bases, const Charge& charge) {
    for (const auto& [group, places] : above) {
        double above_all = 0, time = 0, calls = 0;
        for (const auto& [place, ticks] : places) {
            above_all += std::max(ticks.above, 0.0);
            time += ticks.all;
            calls += ticks.calls;
        }
        const double lost = bases.lost(group.first, group.second);
        for (const auto& [place, ticks] : places) {
            // Calls in which the recorder held the thread may be all that has lost.
            if (above_all > 0)
                charge(place, lost * std::max(ticks.above, 0.0) / above_all);
            else if (time > 0)
                charge(place, lost * ticks.all / time);
            else
                charge(place, lost * ticks.calls / calls);
        }
    }
}

bool is_scored(const ReferenceCall& call) {
    return call.timed && call.outermost;
}

bool has_self(const ReferenceCall& call) {
    return call.self_timed;
}

std::uint64_t duration_of(const ReferenceCall& call) {
    return call.duration;
}

std::uint64_t self_of(const ReferenceCall& call) {
    return call.self;
}

}  // namespace

std::map<std::vector<std::uint32_t>, ReferencePath> reference_paths(const Recording& recording,
                                                                    const ReferenceSettings& settings) {
    using Path = std::vector<std::uint32_t>;
    const Calls calls = reference_calls(recording, settings);
    const Bases outermost{recording, settings, calls, is_scored, duration_of};
    const Bases self{recording, settings, calls, has_self, self_of};
    std::map<Path, ReferencePath> paths;
    using Place = std::pair<Path, std::vector<bool>>;
    Above<Place> above, above_self;
    for (std::size_t t = 0; t < calls.size(); ++t) {
        for (const ReferenceCall& call : calls[t]) {
            ReferencePath& path = paths[call.path];
            ++path.calls;
            if (call.timed) path.time += static_cast<double>(call.duration);
            if (call.self_timed) path.self += static_cast<double>(call.self);
            if (is_scored(call))
                above[{t, call.identity}][{call.path, call.outermost_in_path}].add(
                    1, call.duration, outermost.of(t, call.identity));
            if (call.self_timed)
                above_self[{t, call.identity}][{call.path, call.outermost_in_path}].add(
                    1, call.self, self.of(t, call.identity));
        }
    }
    charge(above, outermost, [&](const Place& place, double lost) { paths[place.first].lost += lost; });
    charge(above_self, self, [&](const Place& place, double lost) { paths[place.first].lost_self += lost; });
    return paths;
}

std::map<ReferencePlace, ReferenceBin> reference_course(const Recording& recording,
                                                        const ReferenceSettings& settings,
                                                        std::uint64_t begin, std::uint64_t end) {
    const Calls calls = reference_calls(recording, settings);
    const Bases bases{recording, settings, calls, is_scored, duration_of};
    constexpr std::uint32_t kBins = score::Course::kBins;
    const auto edge = [&](std::uint32_t bin) { return begin + (end - begin) * bin / kBins; };
    std::map<ReferencePlace, ReferenceBin> course;
    Above<ReferencePlace> above;
    for (std::size_t t = 0; t < calls.size(); ++t) {
        for (const ReferenceCall& call : calls[t]) {
            if (!is_scored(call)) continue;
            for (std::uint32_t bin = 0; bin < kBins; ++bin) {
                const std::uint64_t from = bin == 0 ? 0 : edge(bin);
                const std::uint64_t to = bin + 1 == kBins ? UINT64_MAX : edge(bin + 1);
                const std::uint64_t first = std::max(from, call.begin), last = std::min(to, call.end);
                double part = 0;
                if (call.begin == call.end)
                    part = call.begin >= from && call.begin < to ? 1 : 0;
                else if (last > first)
                    part = static_cast<double>(last - first) / static_cast<double>(call.end - call.begin);
                if (part == 0) continue;
                const ReferencePlace place{t, call.function, bin};
                course[place].calls += part;
                course[place].time += part * static_cast<double>(call.duration);
                above[{t, call.identity}][place].add(part, call.duration, bases.of(t, call.identity));
            }
        }
    }
    charge(above, bases, [&](const ReferencePlace& place, double lost) { course[place].lost += lost; });
    return course;
}

}  // namespace rdam::test
