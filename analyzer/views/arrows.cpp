#include "analyzer/views/arrows.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analyzer/views/lane_reader.h"

namespace rdam::around {
namespace {

/// A call that lost time, and who may be why.
struct Loss {
    const score::ScoredCall* call = nullptr;
    const Suspect* suspect = nullptr;
};

/// The call of a function of this name in the thread that covers most of the loss. Ticks.
struct Cover {
    std::uint64_t ticks = 0, at = 0;
    std::uint32_t function = 0;
};

Result<Cover> cover_in(const trace::TraceReader& reader, const calls::KnownEnds& ends, std::uint32_t thread,
                       const Loss& loss) {
    constexpr std::size_t kColumns = 100;
    const trace::TimePart part{loss.call->begin, loss.call->end};
    const auto lane = read_lane(reader, ends, thread, part, kColumns);
    if (!lane) return tl::unexpected{lane.error()};
    Cover best;
    for (const Slice& slice : lane->slices) {
        if (slice.calls > 1 || reader.info().functions[slice.function].name != loss.suspect->concurrent)
            continue;
        const std::uint64_t begin = std::max(slice.begin, part.begin), end = std::min(slice.end, part.end);
        if (end > begin && end - begin > best.ticks)
            best = {end - begin, begin + (end - begin) / 2, slice.function};
    }
    return best;
}

}  // namespace

Result<std::vector<Arrow>> arrows(const trace::TraceReader& reader, const score::Report& report,
                                  std::span<const Suspect> suspects, const ArrowLimits& limits) {
    std::vector<Loss> losses;
    for (const Suspect& suspect : suspects)
        for (const score::ScoredCall& call : suspect.row.sample.calls)
            if (call.lost_half() && call.end > call.begin) losses.push_back({&call, &suspect});
    std::ranges::stable_sort(losses,
                             [](const Loss& a, const Loss& b) { return a.call->lost_ns > b.call->lost_ns; });
    losses.resize(std::min(losses.size(), limits.most));
    const calls::KnownEnds ends = calls::KnownEnds::of(reader.info());
    std::vector<Arrow> found;
    std::uint64_t events = 0;
    for (const Loss& loss : losses) {
        Cover best;
        std::uint32_t best_thread = 0;
        for (std::size_t t = 0; t < report.threads.size(); ++t) {
            const score::ThreadRow& row = report.threads[t];
            if (t == loss.call->thread || (loss.suspect->tid && row.tid != *loss.suspect->tid)) continue;
            const std::uint64_t more = reader.events_of_part(row.number, {loss.call->begin, loss.call->end});
            if (events + more > limits.events) continue;
            events += more;
            const auto cover = cover_in(reader, ends, row.number, loss);
            if (!cover) return tl::unexpected{cover.error()};
            if (cover->ticks <= best.ticks) continue;
            best = *cover;
            best_thread = row.number;
        }
        if (best.ticks > 0)
            found.push_back({.from = {report.threads[loss.call->thread].number, loss.suspect->row.function},
                             .to = {best_thread, best.function},
                             .at = best.at});
    }
    return found;
}

}  // namespace rdam::around
