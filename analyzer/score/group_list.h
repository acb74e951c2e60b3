// The times of all groups of a thread.
//
// Where a program has very many groups, most of them have few calls. Of these the calls are kept as they came, in some
// bytes each, and what GroupTimes says of them is made of that for whoever asks: it is the same, as the same calls are
// added in the same order. Fifteen calls of ten callers take a line of a cache or two, and not six lines in three
// places.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "analyzer/calls/call.h"
#include "analyzer/score/group_times.h"
#include "analyzer/sequences/sequence_store.h"
#include "libprobe/format/varint.h"

namespace rdam::score {

/// Memory in pieces of 16, 24, 32, 48, … 256 bytes, all given back at once in the end. Not thread-safe.
class Pieces {
  public:
    static constexpr unsigned kSizes = 9;
    static constexpr std::size_t bytes_of(unsigned size) {
        return (std::size_t{2} + size % 2) << (size / 2 + 3);
    }
    /// So many bytes behind each piece can be read.
    static constexpr std::size_t kSlack = varint::kSlack;

    /// Of bytes_of(size).
    std::uint8_t* take(unsigned size) {
        std::uint8_t*& free = free_[size];
        return free != nullptr ? take_free(free) : take_new(bytes_of(size));
    }
    void give_back(std::uint8_t* piece, unsigned size) {
        std::memcpy(piece, &free_[size], sizeof(std::uint8_t*));
        free_[size] = piece;
    }

  private:
    static std::uint8_t* take_free(std::uint8_t*& first) {
        std::uint8_t* const piece = first;
        std::memcpy(&first, piece, sizeof(std::uint8_t*));
        return piece;
    }
    std::uint8_t* take_new(std::size_t bytes);

    std::vector<std::unique_ptr<std::uint8_t[]>> blocks_;
    std::size_t left_ = 0;                      // in the last block
    std::array<std::uint8_t*, kSizes> free_{};  // by size: the first one, which names the next
};

/// By sequences::GroupId. Not thread-safe; const methods may be called by several threads at once.
class GroupList {
  public:
    GroupList() = default;
    /// `all_self_times`: GroupTimes::keep_all_self_times() of each.
    explicit GroupList(bool all_self_times) : all_self_times_(all_self_times) {}

    std::size_t size() const { return entries_.size(); }
    /// The next group, without calls.
    void make() { entries_.emplace_back(); }

    /// A timed call, by CallerNumbers.
    void add(sequences::GroupId id, const calls::Call& call, std::uint32_t caller) {
        Entry& entry = entries_[id];
        if (!entry.has_few() || !add_to_few(entry, call, caller)) times(id).add(call, caller);
    }
    /// To which anything may be added. For groups with many calls, or with special ones: it takes memory from now on.
    GroupTimes& times(sequences::GroupId id) {
        Entry& entry = entries_[id];
        return entry.has_few() ? spell_out(entry) : *entry.times();
    }
    /// In `scratch`, unless it is kept as such. Valid until either changes. Without `callers`, it may not be asked for
    /// them.
    const GroupTimes& times(sequences::GroupId id, GroupTimes& scratch, bool callers = true) const;
    /// use(caller) for all callers of the group's calls, and perhaps several times for one.
    template <class Use>
    void for_each_caller(sequences::GroupId id, const Use& use) const;
    /// Null: it has few calls, and nothing special.
    const GroupTimes* kept_times(sequences::GroupId id) const {
        return entries_[id].has_few() ? nullptr : entries_[id].times();
    }

    /// The groups in this order: order[id] is the number so far of the one that is `id` from now on.
    void reorder(std::span<const sequences::GroupId> order);
    /// No call will be added for some time.
    void seal();

    // A call of the group is about to be added, and nothing of it is in a cache: call these in turn, each when what the one
    // before asked for has come. Always inline, as GroupTimes::prefetch().
    [[gnu::always_inline]] void prefetch(sequences::GroupId id) const { __builtin_prefetch(&entries_[id]); }
    [[gnu::always_inline]] void prefetch_calls(sequences::GroupId id) const {
        const Entry& entry = entries_[id];
        if (entry.has_few()) return __builtin_prefetch(entry.calls() + entry.size);
        entry.times()->prefetch();
    }
    [[gnu::always_inline]] void prefetch_tables(sequences::GroupId id, std::uint64_t duration) const {
        if (!entries_[id].has_few()) entries_[id].times()->prefetch_tables(duration);
    }
    [[gnu::always_inline]] void prefetch_caller(sequences::GroupId id, std::uint32_t caller) const {
        if (!entries_[id].has_few()) entries_[id].times()->prefetch_caller(caller);
    }
    /// Instead of the last two: all of the group is about to be looked at.
    [[gnu::always_inline]] void prefetch_all(sequences::GroupId id) const {
        const Entry& entry = entries_[id];
        if (!entry.has_few()) return entry.times()->prefetch_all();
        constexpr std::size_t kLine = 64;
        for (std::size_t at = 0; at < entry.size; at += kLine)
            __builtin_prefetch(entry.calls() + at);
    }

    /// For an archive (tools/base/byte_archive.h), after seal(), with the same `all_self_times`.
    template <class Archive>
    void fields(Archive& archive);

  private:
    /// The memory is a piece, a part of packed_ or, if there are kMany, one of many_.
    struct Entry {
        static constexpr std::uint16_t kMany = UINT16_MAX;

        void* memory = nullptr;
        std::uint16_t size = 0;  ///< bytes of the calls
        std::uint8_t piece = 0;  ///< its size + 1; 0: none

        bool has_few() const { return size != kMany; }
        std::uint8_t* calls() const { return static_cast<std::uint8_t*>(memory); }
        GroupTimes* times() const { return static_cast<GroupTimes*>(memory); }
        std::size_t room() const { return piece > 0 ? Pieces::bytes_of(piece - 1U) : 0; }
    };

    // A call: its duration and two marks, its caller and, unless it is the duration, its self time, as varint.
    static constexpr std::uint64_t kOutermost = 1;
    static constexpr std::uint64_t kOwnSelf = 2;
    static constexpr unsigned kMarks = 2;
    static constexpr std::uint64_t kLongest = std::uint64_t{1} << 48;                ///< ticks
    static constexpr std::size_t kMostBytes = Pieces::bytes_of(Pieces::kSizes - 1);  ///< of a group

    struct FewCall {
        bool outermost = true;
        std::uint64_t duration = 0;
        std::uint64_t self = 0;
        std::uint64_t caller = 0;
        std::size_t bytes = 0;  ///< 0: this is no call
    };
    static FewCall next_call(const std::uint8_t* at);
    /// use(call) for each call of a group that has few.
    template <class Use>
    static void for_each_call(const Entry& entry, const Use& use);
    /// Whether these bytes are calls; kSlack bytes behind them can be read.
    static bool are_calls(std::span<const std::uint8_t> bytes);
    static void add_all(const Entry& entry, bool callers, GroupTimes& to);
    static bool add_times(const Entry& entry, GroupTimes& to);

    bool add_to_few(Entry& entry, const calls::Call& call, std::uint32_t caller);
    bool grow(Entry& entry, std::size_t size);
    GroupTimes& spell_out(Entry& entry);
    GroupTimes& make_many(Entry& entry);
    bool take(std::span<const std::uint16_t> sizes);

    std::vector<Entry> entries_;
    std::vector<std::uint8_t> packed_;  // calls of one group after the other, and Pieces::kSlack
    Pieces pieces_;
    std::vector<std::unique_ptr<GroupTimes>> many_;  // in the order of their groups, after seal()
    bool all_self_times_ = false;
};

inline GroupList::FewCall GroupList::next_call(const std::uint8_t* at) {
    const varint::Read duration = varint::get(at);
    const varint::Read caller = varint::get_small(at + duration.length);
    FewCall call{.outermost = (duration.value & kOutermost) != 0,
                 .duration = duration.value >> kMarks,
                 .self = duration.value >> kMarks,
                 .caller = caller.value,
                 .bytes = duration.length + caller.length};
    if ((duration.value & kOwnSelf) == 0) return call;
    const varint::Read self = varint::get(at + call.bytes);
    call.self = self.value;
    call.bytes += self.length;
    return call;
}

template <class Use>
void GroupList::for_each_call(const Entry& entry, const Use& use) {
    const std::uint8_t* at = entry.calls();
    for (const std::uint8_t* const end = at + entry.size; at != end;) {
        const FewCall call = next_call(at);
        use(call);
        at += call.bytes;
    }
}

template <class Use>
void GroupList::for_each_caller(sequences::GroupId id, const Use& use) const {
    const Entry& entry = entries_[id];
    if (entry.has_few())
        for_each_call(entry, [&](const FewCall& call) { use(static_cast<std::uint32_t>(call.caller)); });
    else
        entry.times()->for_each_caller([&](const CallerEntry& each) { use(each.caller); });
}

inline bool GroupList::add_to_few(Entry& entry, const calls::Call& call, std::uint32_t caller) {
    if (call.weight != 1 || call.held > 0 || !call.self_timed ||
        std::max(call.duration, call.self) >= kLongest)
        return false;
    std::array<std::uint8_t, 3 * varint::kSlack> bytes;
    const bool same = call.self == call.duration;
    std::uint8_t* end = varint::put(
        bytes.data(), call.duration << kMarks | (same ? 0 : kOwnSelf) | (call.outermost ? kOutermost : 0));
    end = varint::put_small(end, caller);
    if (!same) end = varint::put(end, call.self);
    const auto size = static_cast<std::size_t>(end - bytes.data());
    if (entry.size + size > entry.room() && !grow(entry, entry.size + size)) return false;
    std::memcpy(entry.calls() + entry.size, bytes.data(), size);
    entry.size = static_cast<std::uint16_t>(entry.size + size);
    return true;
}

}  // namespace rdam::score
