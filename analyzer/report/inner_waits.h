// The waits of a function, where they are known to be inside another one that is sampled in windows.
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

/// A function that takes a lock has waited as long as the lock has: every wait of that is known, and of the
/// function's own calls only those in windows are. This holds in a thread in which it makes all calls of the
/// lock that were recorded, itself or by other functions, and, by the counts, the same number in each of its
/// own. Refers to nothing. May be asked by several threads at once.
class InnerWaits {
  public:
    InnerWaits(const trace::TraceInfo& info, const ResolvedSettings& settings,
               std::span<const std::unique_ptr<ThreadTimes>> threads, const MergedGroups& merged,
               std::span<const trace::TickRange> lives);

    /// What the calls of a thread have waited since the function is sampled. Null: this is not known.
    const WaitTimes* of(std::uint32_t function, std::size_t thread) const {
        const auto found = all_.find({function, thread});
        return found != all_.end() ? &found->second : nullptr;
    }

  private:
    std::map<std::pair<std::uint32_t, std::size_t>, WaitTimes> all_;
};

}  // namespace rdam::score
