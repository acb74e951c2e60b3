// When each call of a thread was made and by which path it came, counted while the thread is read. What its
// calls lost is known only when the fastest of each group is: so what is kept is how many calls of which group
// were in which bin of time, or came by which path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/calls/call.h"
#include "tools/trace/clock.h"

namespace rdam::score {

// What is kept of the calls of each group, put together when no more comes.

/// Entries with a member `group`, by group; in the order in which they came. Memory: 4 bytes for each group.
template <class Entry>
class ByGroup {
  public:
    ByGroup() = default;
    explicit ByGroup(const std::vector<Entry>& entries) {
        for (const Entry& entry : entries) {
            if (entry.group + std::size_t{2} > first_.size()) first_.resize(entry.group + std::size_t{2});
            ++first_[entry.group + std::size_t{1}];
        }
        for (std::size_t i = 1; i < first_.size(); ++i)
            first_[i] += first_[i - 1];
        entries_.resize(entries.size());
        std::vector<std::uint32_t> next = first_;
        for (const Entry& entry : entries)
            entries_[next[entry.group]++] = entry;
    }

    std::span<const Entry> of(std::uint32_t group) const {
        if (group + std::size_t{1} >= first_.size()) return {};
        return std::span{entries_}.subspan(first_[group], first_[group + std::size_t{1}] - first_[group]);
    }
    std::span<const Entry> all() const { return entries_; }

    /// For an archive (tools/base/byte_archive.h); there are so many groups.
    template <class Archive>
    void fields(Archive& archive, std::size_t groups) {
        archive(entries_);
        if constexpr (Archive::kReads) {
            for (const Entry& entry : entries_)
                archive.expect(entry.group < groups);
            if (archive.good()) *this = ByGroup{std::exchange(entries_, {})};
        }
    }

  private:
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> first_;
};

// Finds the number of a thing by what it is; the things themselves are kept elsewhere.

/// Numbers are added in their order, from 0 on. Memory: 8 to 16 bytes for each. Not thread-safe.
class NumberIndex {
  public:
    static constexpr std::uint32_t kNone = UINT32_MAX;

    /// `same(number)`: whether it is the one. kNone: there is none.
    template <class Same>
    std::uint32_t find(std::uint64_t hash, const Same& same) const {
        if (slots_.empty()) return kNone;
        for (std::size_t i = hash & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
            if (slots_[i] == kNone || same(slots_[i])) return slots_[i];
        }
    }

    /// The next number, of a thing that was not found. `hash_of(number)`, of those before it too.
    template <class HashOf>
    void add(const HashOf& hash_of) {
        constexpr std::size_t kLeast = 64;
        const std::uint32_t number = size_++;
        if (std::size_t{2} * size_ <= slots_.size()) return place(hash_of(number), number);
        slots_.assign(slots_.empty() ? kLeast : slots_.size() * 2, kNone);
        for (std::uint32_t each = 0; each <= number; ++each)
            place(hash_of(each), each);
    }

    void clear() {
        slots_.clear();
        size_ = 0;
    }

  private:
    void place(std::uint64_t hash, std::uint32_t number) {
        std::size_t i = hash & (slots_.size() - 1);
        while (slots_[i] != kNone)
            i = (i + 1) & (slots_.size() - 1);
        slots_[i] = number;
    }

    std::vector<std::uint32_t> slots_;  // a power of two, half of them empty at least
    std::uint32_t size_ = 0;
};

/// Of three numbers.
constexpr std::uint64_t number_hash(std::uint32_t a, std::uint32_t b, std::uint32_t c = 0) {
    std::uint64_t hash = (std::uint64_t{a} << 32 | b) * 0x9e3779b97f4a7c15;
    hash = (hash ^ (hash >> 32) ^ c) * 0xff51afd7ed558ccd;
    return hash ^ (hash >> 32);
}

/// Timed calls. Ticks; sums stay at 2^64 − 1 instead of overflowing.
struct PathSums {
    std::uint64_t calls = 0;
    std::uint64_t self_timed = 0;  ///< calls::Call
    std::uint64_t time = 0;
    std::uint64_t self = 0;

    void add(const calls::Call& call);
    void add(const PathSums& more);

    template <class Archive>
    void fields(Archive& archive) {
        archive(calls, self_timed, time, self);
    }
};

/// The sums of one group on one path.
struct PathCalls : PathSums {
    std::uint32_t group = 0;
    std::uint32_t path = 0;

    template <class Archive>
    void fields(Archive& archive) {
        PathSums::fields(archive);
        archive(group, path);
    }
};

/// A path is as in report/report.h, and distinguished by more: whether its calls are outermost, and whether
/// they were recorded in windows and stand for more. Path 0 is the root, 1 the one for those without room.
struct Path {
    std::uint32_t parent = 0;
    std::uint32_t function = 0;
    std::uint32_t depth = 0;
    std::uint32_t last_child = 0;  ///< that was asked for; 0: none
    bool outermost = true;
    bool in_window = false;
    std::uint64_t caller =
        0;  ///< of a child of the root: where its calls return to; 0: that is not told apart
    std::uint64_t calls = 0;  ///< entered, weighted
    PathSums rest = {};       ///< calls of groups that had no more room

    template <class Archive>
    void fields(Archive& archive) {
        archive(parent, function, depth, last_child, outermost, in_window, caller, calls, rest);
    }
};

/// Memory: 80 bytes for each path, 56 for each pair of a path and a group. Not thread-safe.
class PathTally {
  public:
    static constexpr std::uint32_t kRoot = 0;
    static constexpr std::uint32_t kElsewhere = 1;
    static constexpr std::uint32_t kNone = UINT32_MAX;
    /// What is deeper counts as if it were as deep.
    static constexpr std::uint32_t kMaxDepth = 256;

    /// What is known of a call besides its function.
    enum class Kind : std::uint8_t {
        usual,
        windowed,   ///< of a function that is sampled in windows, from before that; a leaf, as the next ones
        in_window,  ///< it stands for more
        outside,    ///< it does not count
    };

    /// For a thread with `functions` functions. Has `max_paths` paths, and four more for each function.
    PathTally(std::size_t functions, std::size_t max_paths, std::size_t max_pairs);

    /// `caller`: where the call returns to; 0: callers are not told apart.
    void open(std::uint32_t function, bool outermost, std::uint64_t weight, Kind kind,
              std::uint64_t caller = 0);
    /// The innermost open call has ended: its path, kNone if it does not count.
    std::uint32_t close();
    /// Where calls begin now.
    std::uint32_t around() const { return open_.empty() ? kRoot : open_.back().inside; }
    /// The path of `count` usual calls, one after the other, that begin where `parent` leads and have ended.
    std::uint32_t pass(std::uint32_t parent, std::uint32_t function, bool outermost, std::uint64_t count,
                       std::uint64_t caller);
    /// The `count` innermost open calls will never be seen to end.
    void abandon(std::size_t count);

    /// A timed call of a group that came by `path`; or the PathSums of several, for which there is room.
    template <class Calls>
    void add(std::uint32_t group, std::uint32_t path, const Calls& call);
    /// Whether so many calls find room whatever their groups are, so that it is no matter which come first.
    bool has_room(std::size_t calls) const { return pairs_.size() + calls <= max_pairs_; }
    /// An add() for the group will come: call these in turn, when the data of the one before has arrived.
    void prefetch(std::uint32_t group) const {
        if (group < last_.size()) __builtin_prefetch(&last_[group]);
    }
    void prefetch_pair(std::uint32_t group) const {
        if (group < last_.size() && last_[group] < pairs_.size())
            __builtin_prefetch(&pairs_[last_[group]], 1);
    }

    /// `numbers`: the new number of each group.
    void renumber(const std::vector<std::uint32_t>& numbers);
    /// No more calls.
    void finish();

    // After finish().
    const std::vector<Path>& paths() const { return paths_; }
    const ByGroup<PathCalls>& calls() const { return calls_; }
    std::uint64_t left_out() const { return left_out_; }        ///< PathTree
    std::uint64_t approximate() const { return approximate_; }  ///< PathTree

    /// For an archive (tools/base/byte_archive.h), after finish(), of a thread with as many functions.
    template <class Archive>
    void fields(Archive& archive, std::size_t groups) {
        archive(paths_, left_out_, approximate_);
        calls_.fields(archive, groups);
        if constexpr (Archive::kReads) archive.expect(archive.good() && is_sound());
    }

  private:
    /// Of what comes from a file: parents come before their children, and nothing is out of range.
    bool is_sound() const;
    struct Open {
        std::uint32_t path = 0;
        std::uint32_t inside = 0;  ///< the path that calls inside it continue
    };

    /// What tells apart the children of a path.
    struct Step {
        std::uint32_t function = 0;
        bool outermost = true;
        bool in_window = false;
        std::uint64_t caller = 0;  ///< 0 but for children of the root

        bool leads_to(const Path& path) const {
            return path.function == function && path.outermost == outermost && path.in_window == in_window &&
                   path.caller == caller;
        }
        std::uint64_t hash(std::uint32_t parent) const;
    };

    std::uint32_t child(std::uint32_t parent, const Step& step);
    std::uint32_t find_child(std::uint32_t parent, Step step);
    std::uint32_t make_child(std::uint32_t parent, const Step& step);
    std::uint32_t find_pair(std::uint32_t group, std::uint32_t path);
    std::uint64_t path_hash(std::uint32_t path) const;
    std::uint64_t pair_hash(std::uint32_t pair) const;

    std::size_t max_paths_;
    std::size_t max_pairs_;
    std::size_t functions_;
    std::vector<Path> paths_;
    NumberIndex path_index_;
    std::vector<Open> open_;
    std::vector<PathCalls> pairs_;
    NumberIndex pair_index_;
    std::vector<std::uint32_t> last_;  // by group: the pair that was used last
    ByGroup<PathCalls> calls_;
    std::uint64_t left_out_ = 0;
    std::uint64_t approximate_ = 0;
};

inline void PathSums::add(const PathSums& more) {
    const auto grow = [](std::uint64_t& sum, std::uint64_t by) {
        if (__builtin_add_overflow(sum, by, &sum)) sum = UINT64_MAX;
    };
    calls += more.calls;
    self_timed += more.self_timed;
    grow(time, more.time);
    grow(self, more.self);
}

inline void PathSums::add(const calls::Call& call) {
    const auto weighted = [&](std::uint64_t ticks) {
        std::uint64_t product = 0;
        return __builtin_mul_overflow(ticks, call.weight, &product) ? UINT64_MAX : product;
    };
    add(PathSums{.calls = call.weight,
                 .self_timed = call.self_timed ? call.weight : 0,
                 .time = weighted(call.duration),
                 .self = call.self_timed ? weighted(call.self) : 0});
}

inline std::uint32_t PathTally::child(std::uint32_t parent, const Step& step) {
    const std::uint32_t last = paths_[parent].last_child;
    return last != 0 && step.leads_to(paths_[last]) ? last : find_child(parent, step);
}

inline void PathTally::open(std::uint32_t function, bool outermost, std::uint64_t weight, Kind kind,
                            std::uint64_t caller) {
    const std::uint32_t around = open_.empty() ? kRoot : open_.back().inside;
    if (kind == Kind::outside) {
        open_.push_back({kNone, around});
        return;
    }
    const std::uint32_t path =
        child(around, {function, outermost, kind == Kind::in_window, around == kRoot ? caller : 0});
    paths_[path].calls += weight;
    open_.push_back({path, kind == Kind::usual ? path : around});
}

inline std::uint32_t PathTally::close() {
    const Open call = open_.back();
    open_.pop_back();
    return call.path;
}

inline std::uint32_t PathTally::pass(std::uint32_t parent, std::uint32_t function, bool outermost,
                                     std::uint64_t count, std::uint64_t caller) {
    const std::uint64_t left_out = left_out_;
    const std::uint32_t path = child(parent, {function, outermost, false, parent == kRoot ? caller : 0});
    left_out_ += (count - 1) * (left_out_ - left_out);
    paths_[path].calls += count;
    return path;
}

template <class Calls>
void PathTally::add(std::uint32_t group, std::uint32_t path, const Calls& call) {
    if (group < last_.size() && last_[group] < pairs_.size()) {
        PathCalls& pair = pairs_[last_[group]];
        if (pair.path == path) return pair.add(call);
    }
    const std::uint32_t pair = find_pair(group, path);
    if (pair != kNone) return pairs_[pair].add(call);
    paths_[path].rest.add(call);
    ++approximate_;
}

// When each thread's calls were, by bins of the run's time, counted while it is read. What its calls lost is
// known only when the fastest of each group is: so what is kept is how many calls of which group were when.

/// Course::kBins.
inline constexpr std::uint32_t kCourseBins = 192;

/// Parts of calls of a group in a bin, weighted. Ticks.
struct CourseCalls {
    std::uint32_t group = 0;
    std::uint32_t bin = 0;  ///< TimeBins; of calls in windows, which stand for more, plus their number
    double calls = 0;
    double time = 0;

    template <class Archive>
    void fields(Archive& archive) {
        archive(group, bin, calls, time);
    }
};

/// Parts of equal length of a time that is not empty. Whatever is before or after it is in the first or last.
class TimeBins {
  public:
    TimeBins(const trace::TickRange& range, std::uint32_t bins);

    std::uint32_t of(std::uint64_t t) {
        if (t - low_ >= width_) find(t);
        return bin_;
    }
    /// The first tick in it; 0 of the first.
    std::uint64_t begin_of(std::uint32_t bin) const;
    std::uint32_t count() const { return bins_; }
    const trace::TickRange& range() const { return range_; }

  private:
    void find(std::uint64_t t);

    trace::TickRange range_;
    std::uint32_t bins_;
    // The bin of the last answer: low_ ≤ t < low_ + width_.
    std::uint64_t low_ = 0;
    std::uint64_t width_ = 0;
    std::uint32_t bin_ = 0;
};

/// Adds up what comes in the order of time, more or less: for each group, sums of the bin that was the last.
class BinLog {
  public:
    explicit BinLog(std::size_t most) : most_(most) {}

    /// False: there is no room.
    bool add(std::uint32_t group, std::uint32_t bin, double calls, double time) {
        if (group < last_.size() && last_[group] < entries_.size()) {
            CourseCalls& entry = entries_[last_[group]];
            if (entry.bin == bin) {
                entry.calls += calls;
                entry.time += time;
                return true;
            }
        }
        return append(group, bin, calls, time);
    }
    bool has_room(std::size_t entries) const { return entries_.size() + entries <= most_; }
    /// Where there is no room, in the group's last bin, whatever that is.
    void add_anyway(std::uint32_t group, std::uint32_t bin, double calls, double time);
    void prefetch(std::uint32_t group) const {
        if (group < last_.size()) __builtin_prefetch(&last_[group]);
    }
    void prefetch_entry(std::uint32_t group) const {
        if (group < last_.size() && last_[group] < entries_.size())
            __builtin_prefetch(&entries_[last_[group]], 1);
    }
    void renumber(const std::vector<std::uint32_t>& numbers);
    /// All that was added. Empty afterwards.
    std::vector<CourseCalls> take();

  private:
    static constexpr std::uint32_t kNone = UINT32_MAX;

    bool append(std::uint32_t group, std::uint32_t bin, double calls, double time);

    std::size_t most_;
    std::vector<CourseCalls> entries_;
    std::vector<std::uint32_t> last_;  // by group: its last entry
};

/// Memory: 24 bytes for each bin of a group, 4 for each group. Not thread-safe.
class CourseTally {
  public:
    /// At most `most` bins of groups; for what comes then, a quarter as many of functions, and one of each.
    CourseTally(const trace::TickRange& range, std::uint32_t bins, std::size_t functions, std::size_t most)
        : bins_(range, bins), functions_(functions), groups_log_(most), rest_log_(most / kRestShare) {}

    /// What an outermost timed call needs to be remembered by.
    struct Time {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        double duration = 0;
        double weight = 1;
        bool in_window = false;  ///< it stands for more
    };
    /// `function` is the group's.
    void add(std::uint32_t group, std::uint32_t function, const Time& call);
    /// As PathTally's, of calls from `begin` to `end`.
    bool has_room(std::size_t calls, std::uint64_t begin, std::uint64_t end) {
        const std::uint32_t first = bins_.of(begin);
        return groups_log_.has_room(calls * (bins_.of(end) - first + std::size_t{1}));
    }
    /// Whether calls from `begin` to `end` are in one bin, so that they may be added at once.
    bool is_one_bin(std::uint64_t begin, std::uint64_t end) { return bins_.of(begin) == bins_.of(end); }
    /// So many of them, for which there is room; `time`: Σ of their durations, a whole number.
    void add_all(std::uint32_t group, std::uint32_t function, std::uint64_t begin, std::uint64_t count,
                 double time) {
        add_part(group, function, bins_.of(begin), false, static_cast<double>(count), time);
    }
    /// As PathTally's.
    void prefetch(std::uint32_t group) const { groups_log_.prefetch(group); }
    void prefetch_entry(std::uint32_t group) const { groups_log_.prefetch_entry(group); }
    void renumber(const std::vector<std::uint32_t>& numbers) { groups_log_.renumber(numbers); }
    /// No more calls.
    void finish();

    const TimeBins& bins() const { return bins_; }
    // After finish(). A group or function may have several entries for a bin.
    const ByGroup<CourseCalls>& calls() const { return calls_; }
    /// … of those that had no room. `group`: a function, or functions() and a function, of calls in windows.
    const ByGroup<CourseCalls>& rest() const { return rest_; }
    std::size_t functions() const { return functions_; }
    std::uint64_t approximate() const { return approximate_; }  ///< Course

    /// For an archive (tools/base/byte_archive.h), after finish(), of the same bins and functions.
    template <class Archive>
    void fields(Archive& archive, std::size_t groups) {
        archive(approximate_);
        calls_.fields(archive, groups);
        rest_.fields(archive, 2 * functions_);
        for (const CourseCalls& each : calls_.all())
            archive.expect(each.bin < 2 * bins_.count());
        for (const CourseCalls& each : rest_.all())
            archive.expect(each.bin < bins_.count());
    }

  private:
    static constexpr std::size_t kRestShare = 4;

    void add_part(std::uint32_t group, std::uint32_t function, std::uint32_t bin, bool in_window,
                  double calls, double time);
    void spread(std::uint32_t group, std::uint32_t function, std::uint32_t first, std::uint32_t last,
                const Time& call);

    TimeBins bins_;
    std::size_t functions_;
    BinLog groups_log_;
    BinLog rest_log_;
    ByGroup<CourseCalls> calls_;
    ByGroup<CourseCalls> rest_;
    std::uint64_t approximate_ = 0;
};

inline void CourseTally::add(std::uint32_t group, std::uint32_t function, const Time& call) {
    const std::uint32_t first = bins_.of(call.begin);
    const std::uint32_t last = bins_.of(call.end);
    if (first < last) return spread(group, function, first, last, call);
    add_part(group, function, last, call.in_window, call.weight, call.weight * call.duration);
}

}  // namespace rdam::score
