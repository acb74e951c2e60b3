#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/inputs/chrome/json_events.h"

// From begins and ends to calls.

namespace rdam::inputs::chrome {
namespace {

/// The values of a "B" and those of its "E", which count where both have a name.
std::uint32_t joined(std::uint32_t begin, std::uint32_t end, std::vector<Value>& values) {
    if (begin == kNoValues) return end;
    if (end == kNoValues || values.size() >= kNoValues / 2) return begin;
    const auto first = static_cast<std::uint32_t>(values.size());
    for (const std::uint32_t list : {begin, end})
        for (std::uint32_t at = list;; ++at) {
            const Value value = values[at];
            values.push_back(value);
            values.back().last = false;
            if (value.last) break;
        }
    values.back().last = true;
    return first;
}

/// When what is not seen to end is over: a moment behind the last time, or what comes then would not be inside.
std::int64_t end_of(const Thread& thread) {
    std::int64_t last = thread.marks.empty() ? INT64_MIN : thread.marks.back().at;
    for (const Call& call : thread.calls)
        last = std::max(last, call.end);
    return last + 1;
}

/// Makes calls of a thread's marks.
class MarkMatcher {
  public:
    /// `last`: end_of() the thread.
    MarkMatcher(Thread& thread, Collected& collected, std::int64_t last)
        : thread_(thread), collected_(collected), last_(last) {}

    void match() {
        std::vector<Mark>& marks = thread_.marks;
        for (const Mark& mark : marks)
            if (mark.name != Mark::kNoName) surplus_[mark.name] += mark.begins ? 1 : -1;
        taken_.assign(marks.size(), false);
        for (std::size_t at = 0; at < marks.size(); ++at) {
            if (at == 0 || marks[at].at != marks[at - 1].at) list_same_time(at);
            const auto same = same_time_.find(marks[at].name);
            if (same != same_time_.end() && !taken_[at]) ++same->second.next;
            if (marks[at].begins)
                begin(marks[at]);
            else if (!taken_[at])
                end(marks[at]);
        }
        collected_.unfinished += open_.size();
        while (!open_.empty())
            close(last_, false, open_.back().values);
    }

  private:
    /// Marks of one name and one time: places in the thread's, those from `next` on are still to come.
    struct SameTime {
        std::vector<std::size_t> marks;
        std::size_t next = 0;
    };

    void list_same_time(std::size_t from) {
        // An empty map keeps its buckets, and would go through all of them each time.
        constexpr std::size_t kFewBuckets = 64;
        const std::vector<Mark>& marks = thread_.marks;
        if (same_time_.bucket_count() > kFewBuckets)
            same_time_ = {};
        else
            same_time_.clear();
        const bool is_alone = from + 1 == marks.size() || marks[from + 1].at != marks[from].at;
        for (std::size_t i = from; !is_alone && i < marks.size() && marks[i].at == marks[from].at; ++i)
            if (marks[i].name != Mark::kNoName) same_time_[marks[i].name].marks.push_back(i);
    }

    void begin(const Mark& mark) {
        open_.push_back(mark);
        ++open_names_[mark.name];
    }

    /// An "E" with a name ends the innermost call of that name. Where there is none, it is left of a call that
    /// began before the file does, or the call has been renamed: then there are more begins than ends of the name
    /// that it had.
    void end(const Mark& mark) {
        const bool named = mark.name != Mark::kNoName;
        if (named && open_names_[mark.name] == 0) {
            if (open_.empty() || surplus_[open_.back().name] <= 0) {
                ++collected_.unmatched;
                return;
            }
            --surplus_[open_.back().name];
            ++collected_.renamed;
        } else if (open_.empty()) {
            ++collected_.unmatched;
            return;
        } else {
            while (named && open_.back().name != mark.name)
                end_inside(mark.at);
        }
        close_with(mark);
    }

    /// The innermost call is inside one that ends now. Its own "E" may come later, at the same time.
    void end_inside(std::int64_t at) {
        const auto same = same_time_.find(open_.back().name);
        if (same != same_time_.end() && same->second.next < same->second.marks.size()) {
            const std::size_t next = same->second.marks[same->second.next];
            const Mark& its_end = thread_.marks[next];
            if (!its_end.begins) {
                ++same->second.next;
                taken_[next] = true;
                return close_with(its_end);
            }
        }
        ++collected_.unfinished;
        close(at, false, open_.back().values);
    }

    void close_with(const Mark& end) {
        const Mark begin = open_.back();
        close(end.at, true, joined(begin.values, end.values, collected_.values));
        const bool knows = begin.on_cpu != kNoTime && end.on_cpu != kNoTime && begin.on_cpu <= end.on_cpu;
        if (knows) thread_.calls.back().on_cpu = end.on_cpu - begin.on_cpu;
    }

    void close(std::int64_t at, bool ends, std::uint32_t values) {
        const Mark begin = open_.back();
        open_.pop_back();
        --open_names_[begin.name];
        thread_.calls.push_back({.begin = begin.at,
                                 .end = at,
                                 .function = begin.function,
                                 .values = values,
                                 .order = begin.order,
                                 .ends = ends});
    }

    Thread& thread_;
    Collected& collected_;
    std::int64_t last_;
    std::vector<Mark> open_;
    std::unordered_map<std::uint32_t, std::size_t> open_names_;  // how many of each are open
    std::unordered_map<std::uint32_t, std::int64_t> surplus_;    // begins without the ends, by name
    std::unordered_map<std::uint32_t, SameTime> same_time_;      // by name
    std::vector<bool> taken_;                                    // by mark: an "E" that has ended a call
};

/// Of a thread.
void match_thread(Thread& thread, Collected& collected) {
    std::ranges::stable_sort(thread.marks, {}, &Mark::at);
    const std::int64_t last = end_of(thread);
    MarkMatcher{thread, collected, last}.match();
    thread.marks = {};
    for (Call& call : thread.calls)
        if (!call.ends && call.end == call.begin) call.end = last;
}

/// By begin; of those that begin together the longer ones first. Of equal ones that which was written first
/// is around the others.
void sort_calls(std::vector<Call>& calls) {
    std::ranges::sort(calls, [](const Call& a, const Call& b) {
        if (a.begin != b.begin) return a.begin < b.begin;
        if (a.end != b.end) return a.end > b.end;
        return a.order < b.order;
    });
}

/// Of the asynchronous events of a category. On a track an "e" ends the last "b" of its name, whatever else is
/// open: what they tell of need not be nested. One without a name ends the last of any name. Where several happen at one
/// time, a call that began before ends first: one follows another more often than one is empty.
class TrackMatcher {
  public:
    TrackMatcher(Thread& category, Collected& collected)
        : category_(category), collected_(collected), last_(end_of(category)) {}

    void match() {
        for (const Mark& mark : category_.marks) {
            if (mark.begins)
                begin(mark);
            else
                end(mark);
        }
        collected_.unfinished += unfinished_;
    }

  private:
    using Calls = std::vector<std::size_t>;

    static std::uint64_t key_of(const Mark& mark) {
        constexpr unsigned kHalf = 32;
        return std::uint64_t{mark.track} << kHalf | mark.name;
    }

    void begin(const Mark& mark) {
        open_[key_of(mark)].push_back(category_.calls.size());
        of_track_[mark.track].push_back(category_.calls.size());
        ++unfinished_;
        category_.calls.push_back({.begin = mark.at,
                                   .end = last_,
                                   .function = mark.function,
                                   .values = mark.values,
                                   .order = mark.order,
                                   .row = mark.track,
                                   .ends = false});
    }

    void end(const Mark& mark) {
        const auto number = mark.name == Mark::kNoName ? last_open(of_track_[mark.track])
                                                       : last_open(open_[key_of(mark)], mark.at);
        if (!number) {
            ++collected_.unmatched;
            return;
        }
        Call& call = category_.calls[*number];
        --unfinished_;
        call.end = mark.at;
        call.ends = true;
        call.values = joined(call.values, mark.values, collected_.values);
    }

    /// The last that began before `at`, or else the last of all. Those that have ended are left out for good.
    std::optional<std::size_t> last_open(Calls& calls, std::int64_t at = INT64_MAX) const {
        const auto has_ended = [&](std::size_t call) { return category_.calls[call].ends; };
        while (!calls.empty() && has_ended(calls.back()))
            calls.pop_back();
        if (calls.empty()) return std::nullopt;
        for (std::size_t i = calls.size(); i-- > 0 && calls.size() - i <= kLooks;)
            if (!has_ended(calls[i]) && category_.calls[calls[i]].begin < at) return calls[i];
        return calls.back();
    }

    static constexpr std::size_t kLooks = 64;

    Thread& category_;
    Collected& collected_;
    const std::int64_t last_;
    std::uint64_t unfinished_ = 0;
    std::unordered_map<std::uint64_t, Calls> open_;      // by track and name
    std::unordered_map<std::uint32_t, Calls> of_track_;  // likewise, of all names
};

void match_tracks(Thread& category, Collected& collected) {
    std::ranges::stable_sort(category.marks, {}, &Mark::at);
    TrackMatcher{category, collected}.match();
    category.marks = {};
}

/// The calls of a category, on a thread for each of its tracks, or on as few threads as have room for them.
class TrackRows {
  public:
    TrackRows(Thread& category, const Names& tracks) : category_(category), tracks_(tracks) {}

    std::vector<Thread> rows() && {
        // One after the other by track, and of a track by time.
        sort_calls(category_.calls);
        std::ranges::stable_sort(category_.calls, {}, &Call::row);
        list_stretches();
        if (tracks_seen_ <= kMostTracks)
            by_track();
        else
            in_turns();
        category_.calls = {};
        return std::move(rows_);
    }

  private:
    static constexpr std::size_t kMostTracks = 32;
    /// With more that are open at a time, some would wait for others that do not end.
    static constexpr std::size_t kMostRows = 1024;

    /// Calls of a track, from one that nothing is open around to the next one.
    struct Stretch {
        std::int64_t begin = 0, end = 0;
        std::size_t first = 0, last = 0;  ///< in the calls of the category
    };

    void list_stretches() {
        const std::vector<Call>& calls = category_.calls;
        for (std::size_t i = 0; i < calls.size(); ++i) {
            const bool new_track = i == 0 || calls[i].row != calls[i - 1].row;
            if (new_track) ++tracks_seen_;
            if (new_track || calls[i].begin >= stretches_.back().end)
                stretches_.push_back({.begin = calls[i].begin, .end = calls[i].end, .first = i, .last = i});
            stretches_.back().end = std::max(stretches_.back().end, calls[i].end);
            stretches_.back().last = i;
        }
    }

    void by_track() {
        for (const Stretch& stretch : stretches_) {
            const std::uint32_t track = category_.calls[stretch.first].row;
            if (rows_.empty() || track != track_of_row_) {
                Thread& row = add_row();
                if (tracks_seen_ > 1) row.name += " " + tracks_.text(track);
                track_of_row_ = track;
            }
            append(stretch, rows_.back());
        }
    }

    /// A row takes another track's calls when nothing is open on it.
    void in_turns() {
        using Busy = std::pair<std::int64_t, std::size_t>;  // until when, which row
        std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy;
        std::set<std::size_t> free;
        std::ranges::stable_sort(stretches_, {}, &Stretch::begin);
        for (const Stretch& stretch : stretches_) {
            for (; !busy.empty() && busy.top().first <= stretch.begin; busy.pop())
                free.insert(busy.top().second);
            if (free.empty() && rows_.size() < kMostRows) {
                free.insert(rows_.size());
                add_row();
            }
            if (free.empty()) {
                free.insert(busy.top().second);
                busy.pop();
            }
            const std::size_t row = *free.begin();
            free.erase(free.begin());
            append(stretch, rows_[row]);
            busy.emplace(stretch.end, row);
        }
    }

    Thread& add_row() {
        Thread& row = rows_.emplace_back();
        row.pid = category_.pid;
        row.name = category_.name;
        return row;
    }

    void append(const Stretch& stretch, Thread& row) {
        for (std::size_t i = stretch.first; i <= stretch.last; ++i) {
            row.calls.push_back(category_.calls[i]);
            row.calls.back().order = row.events++;
            row.calls.back().row = 0;
        }
    }

    Thread& category_;
    const Names& tracks_;
    std::vector<Stretch> stretches_;
    std::vector<Thread> rows_;
    std::size_t tracks_seen_ = 0;
    std::uint32_t track_of_row_ = 0;
};

}  // namespace

void match_marks(Collected& collected) {
    std::vector<Thread> rows;
    for (Thread& thread : collected.threads) {
        if (!thread.asynchronous) {
            match_thread(thread, collected);
            sort_calls(thread.calls);
            continue;
        }
        match_tracks(thread, collected);
        for (Thread& row : TrackRows{thread, collected.tracks}.rows())
            rows.push_back(std::move(row));
    }
    for (Thread& row : rows) {
        sort_calls(row.calls);
        collected.threads.push_back(std::move(row));
    }
}

}  // namespace rdam::inputs::chrome
