// Settings with the names of one trace looked up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analyzer/calls/call.h"
#include "analyzer/calls/matcher.h"
#include "analyzer/score/call_sample.h"
#include "analyzer/score/sampling_windows.h"
#include "analyzer/sequences/keys.h"
#include "analyzer/sequences/sequence_builder.h"
#include "analyzer/settings/settings.h"
#include "analyzer/statistics/loss.h"

namespace rdam::score {

/// Shared by the threads' analyses.
struct ResolvedSettings {
    sequences::SequenceOptions sequences;
    sequences::KeyTable keys;
    std::vector<bool> ignored;        ///< by function
    std::vector<bool> windowed = {};  ///< by function: sampled in windows, so that calls of it come and go
    std::vector<std::uint64_t> sampled_since =
        {};                                   ///< when the first of them was, the next, …; ticks, rising
    std::vector<bool> waits = {};             ///< by function: the waits of another one
    std::vector<std::uint32_t> wait_of = {};  ///< trace::waiters(). Empty: there are none
    std::vector<std::optional<trace::OwnerWords>> owner_words = {};  ///< by function, where there are waits
    std::uint64_t recorder_begin = 0, recorder_end = 0;  ///< addresses of librdam.so, where there are waits
    /// By function: the size of its result, if that says whether it has done what it is for; 0: it does not.
    std::vector<std::uint8_t> result_bytes = {};
    std::shared_ptr<const WindowTable> windows = {};  ///< of the process; null if no function is
    sequences::LoopRests loop_rests{trace::TraceInfo{}};
    calls::ProbeCost cost;
    calls::KnownEnds ends = {};
    calls::ProbeInstructions probe_instructions = {};
    Baseline baseline = {};
    Comparison comparison = {};  ///< what the report says of all this
    /// Everything that may become a key, the keys among it, in the order of a KeyTable. Empty: calls are
    /// grouped by the keys alone.
    sequences::KeyTable candidates = {};
    std::size_t max_candidate_groups = 0;  ///< of each function and thread, before a candidate is given up
    std::size_t candidate_groups_of_thread = 0;  ///< of all its functions; beyond, each may have a few
    bool any_baseline = false;                   ///< keeps what another baseline needs
    bool patterns = false;
    std::size_t bars = 0;
    std::size_t few_groups = 4096;     ///< of a thread: they fit into a cache
    std::size_t batch_bytes = 0;       ///< of a thread that has more: CallBatch
    double threshold = kWorthALook;    ///< what scores less gets no hints
    std::size_t largest_sampled = 0;   ///< so many of those that lost most have a sample, whatever they score
    std::vector<bool> asked_for = {};  ///< by function: those that have a sample, too; empty: none
    std::size_t max_sampled = 0;       ///< calls of each function and thread that are kept for hints; 0: none
    std::size_t max_in_windows = 0;    ///< calls of each thread that are kept for its timeline; 0: none
    unsigned window_shift = 0;         ///< samples::Windows
    /// By function: its calls say who waits for whom, and all of them are recorded; null: there are none.
    std::shared_ptr<const std::vector<bool>> about_waits = {};
    /// The file descriptors through which threads of the process send and receive what others of them receive and send, at any
    /// time; sorted.
    std::vector<std::uint64_t> channel_descriptors = {};
    bool off_in_timeline = false;     ///< it is to be known what those do who are waited for
    std::size_t max_paths = 0;        ///< paths that each thread tells apart; 0: Report::paths is not wanted
    bool path_callers = false;        ///< … by where their first calls return to, too
    std::size_t max_path_groups = 0;  ///< pairs of a path and a group that each thread tells apart
    std::size_t max_course = 0;       ///< pairs of a bin and a group; 0: Report::course is not wanted

    bool is_wait(std::uint32_t function) const { return function < waits.size() && waits[function]; }
    /// By function: calls around it are as if it had never been wrapped.
    std::vector<bool> transparent() const {
        std::vector<bool> all = windowed;
        for (std::size_t function = 0; function < waits.size(); ++function)
            if (waits[function]) all[function] = true;
        return all;
    }
    /// Whether every wait of the function's calls is known by itself.
    bool has_waits(std::uint32_t function) const {
        return std::ranges::find(wait_of, function) != wait_of.end();
    }

    /// Whether a call may say who waits for whom, whose group has these keys: if it receives or sends, that is through a channel.
    /// Servers do so a thousand times as often through others as they signal.
    bool says_for_whom(std::uint32_t function, std::span<const std::uint64_t> of_group) const {
        if (!about_waits || !(*about_waits)[function]) return false;
        const std::vector<sequences::KeyWord>& all = (candidates.empty() ? keys : candidates)[function];
        const auto key = std::ranges::find(all, true, &sequences::KeyWord::of_descriptor);
        const auto place = static_cast<std::size_t>(key - all.begin());
        return place >= std::min(all.size(), of_group.size()) ||
               std::ranges::binary_search(channel_descriptors, of_group[place]);
    }

    bool tells_success(std::uint32_t function) const {
        return function < result_bytes.size() && result_bytes[function] != 0;
    }
    samples::Returned returned(const calls::Call& call) const {
        if (!tells_success(call.function) || !call.own_leave || call.last->unwound ||
            call.last->words.empty())
            return samples::Returned::not_known;
        const unsigned unused = 8 * (8U - result_bytes[call.function]);
        const auto result = static_cast<std::int64_t>(call.last->words.front() << unused);
        return result == 0  ? samples::Returned::zero
               : result > 0 ? samples::Returned::other
                            : samples::Returned::negative;
    }

    /// GroupList.
    bool all_self_times() const { return any_baseline || baseline.kind == Baseline::Kind::percentile; }
};

}  // namespace rdam::score
