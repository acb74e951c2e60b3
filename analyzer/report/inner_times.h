// What is known of the calls of a function that is sampled in windows, though most of them were not recorded: the
// calls and waits inside them that were.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/score/common_sequences.h"
#include "analyzer/score/resolved_settings.h"
#include "analyzer/score/thread_times.h"
#include "tools/trace/event.h"

namespace rdam::score {

/// Of a function that is sampled in windows only some calls are recorded, but all calls that it makes itself of
/// functions that are not sampled: by their return addresses, they are its own. A function that takes a lock which
/// is sampled has waited as long as the lock has, of which every wait is recorded. This holds in a thread in which
/// it makes all calls of the lock that were recorded, itself or by other sampled functions, if by the counts these
/// are a multiple of its own calls. Both are left to the windows where they are no matter of few of its calls, as
/// the fastest one may then have some. Refers to nothing. May be asked by several threads at once.
class InnerTimes {
  public:
    InnerTimes(const trace::TraceInfo& info, const ResolvedSettings& settings,
               std::span<const std::unique_ptr<ThreadTimes>> threads, const MergedGroups& merged,
               std::span<const trace::TickRange> lives);

    /// What the calls of a thread have spent so since the function is sampled. Null: this is not known.
    const WaitTimes* of(std::uint32_t function, std::size_t thread) const {
        const auto found = all_.find({function, thread});
        return found != all_.end() ? &found->second : nullptr;
    }

  private:
    std::map<std::pair<std::uint32_t, std::size_t>, WaitTimes> all_;
};

}  // namespace rdam::score
