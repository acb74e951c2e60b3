// The times of the calls of one group, of one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "analyzer/calls/call.h"
#include "analyzer/score/callers.h"
#include "analyzer/score/sampling_windows.h"
#include "analyzer/statistics/distribution.h"
#include "analyzer/statistics/loss.h"

namespace rdam::score {

/// Moments and the two least of self times; all of them only where a percentile is the baseline.
struct SelfTimes {
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
    SureLeast least;
    double squares = 0;
    const Distribution* all = nullptr;

    /// What they lost against `baseline`, and what that says of it. `thread` and `process` as for base_of().
    Loss::Group loss(const Baseline& baseline, const Least& thread, const Least& process) const;

  private:
    double gap() const;
};

struct WindowedTimes;

/// The scored calls of one sequence in one thread, durations in ticks. Of a function that is sampled in
/// windows, those that began in one. Memory: 192 bytes, and what is in its parts (GroupList has less for few calls).
class alignas(64) GroupTimes {
  public:
    GroupTimes();
    ~GroupTimes();
    GroupTimes(GroupTimes&&) noexcept;
    GroupTimes& operator=(GroupTimes&&) noexcept;
    GroupTimes(const GroupTimes&) = delete;
    GroupTimes& operator=(const GroupTimes&) = delete;

    /// Keeps what another baseline than the minimum needs of self times. Before anything is added.
    void keep_all_self_times() { keeps_all_self_ = true; }

    /// A timed call, by CallerNumbers.
    void add(const calls::Call& call, std::uint32_t caller) {
        add_caller(caller, call);
        add_times(call);
    }
    /// The same, if nobody asks for callers.
    void add_times(const calls::Call& call);
    /// Timed calls by the same caller, as one after the other. `self` is that of each, or empty: their durations.
    void add_all(std::span<const std::uint64_t> durations, std::span<const std::uint64_t> self,
                 bool outermost, std::uint32_t caller);
    /// Made at the first time.
    WindowedTimes& make_windowed();
    /// Afterwards as if every call of `other` had been added here; its caller numbers mean the same.
    void add(const GroupTimes& other);
    /// No call will be added for some time.
    void seal();
    /// As a new one; it keeps memory for the next calls.
    void clear();

    // For an imminent add(call, caller) whose group is probably in no cache: call these in turn, each when
    // the data requested by the one before has arrived. Always inline, as all that only prefetch: gcc takes them
    // for functions without effects, and calls to them for superfluous.
    [[gnu::always_inline]] void prefetch() const {
        const auto* const line = reinterpret_cast<const char*>(this);
        __builtin_prefetch(line, 1);
        __builtin_prefetch(line + 64, 1);
    }
    [[gnu::always_inline]] void prefetch_tables(std::uint64_t duration) const {
        outermost_.prefetch(duration);
        callers_.prefetch();
    }
    [[gnu::always_inline]] void prefetch_caller(std::uint32_t caller) const { callers_.prefetch(caller); }

    /// For an archive (tools/base/byte_archive.h).
    template <class Archive>
    void fields(Archive& archive);

    /// All that it knows is about to be looked at. After prefetch(), as those above.
    [[gnu::always_inline]] void prefetch_all() const {
        outermost_.prefetch_all();
        callers_.prefetch_all();
    }

    /// The durations of calls without pauses …
    const Distribution& outermost() const { return outermost_; }
    /// … within another call of the same function; null: there were none.
    const Distribution* inner() const;
    /// What the calls seem to have taken of which that is not sure (calls::Call::held), and at most. They
    /// have lost what they took beyond the baseline, or nothing.
    struct HeldTimes {
        Distribution seeming;
        Least bound;

        void add(std::uint64_t time, const calls::Call& call) {
            seeming.add(time, call.weight);
            bound.add(Distribution::saturating_sum(time, call.held), call.weight);
        }
        void merge(const HeldTimes& other) {
            seeming.merge(other.seeming);
            bound.merge(other.bound);
        }
        template <class Archive>
        void fields(Archive& archive) {
            archive(seeming, bound);
        }
    };
    /// Null: there were none.
    struct Held {
        HeldTimes outermost, inner, self;

        void merge(const Held& other) {
            outermost.merge(other.outermost);
            inner.merge(other.inner);
            self.merge(other.self);
        }
        template <class Archive>
        void fields(Archive& archive) {
            archive(outermost, inner, self);
        }
    };
    const Held* held() const;
    const WindowedTimes* windowed() const;  ///< null: the function is not sampled in windows
    /// Of all of them, for a baseline with this step; refers to the group.
    SelfTimes self(std::uint64_t step) const;

    /// CallerEntry by CallerEntry, in the order of first use.
    template <class Use>
    void for_each_caller(const Use& use) const {
        if (!callers_.empty()) return callers_.for_each(use);
        if (const CallerEntry only = only_caller(); only.calls > 0) use(only);
    }
    bool has_callers() const { return !callers_.empty(); }  ///< several
    /// Whether what keep_all_self_times() is about is there, and in all of its parts, or in none.
    bool keeps_all_self_times(bool all) const;

  private:
    struct OwnSelf;
    struct Rare;

    SelfTimes self_without_pauses() const;
    void add_held(const calls::Call& call);
    bool knows_caller(std::uint32_t caller) const { return !callers_.empty() || caller == caller_; }

    CallerEntry only_caller() const;  ///< of a group without a table
    CallerTable& caller_table();
    void add_caller(std::uint32_t caller, const calls::Call& call);
    void add_callers(const GroupTimes& other);
    void add_self_times(const GroupTimes& other);
    OwnSelf& own_self();
    Rare& rare();

    Distribution outermost_;
    double self_squares_ = 0;
    CallerTable callers_;                // none: they all return to the same address
    std::unique_ptr<OwnSelf> own_self_;  // null: the self times are the durations of outermost_
    std::unique_ptr<Rare> rare_;
    std::uint32_t caller_ = 0;  // meaningless if there are callers_
    bool keeps_all_self_ = false;
};

/// … and what else is known of it.
struct WindowedTimes {
    GroupTimes before;     ///< the calls from before it was sampled: all of them
    ClusterSums clusters;  ///< of the outermost calls in windows

    template <class Archive>
    void fields(Archive& archive) {
        archive(before, clusters);
    }
};

}  // namespace rdam::score
