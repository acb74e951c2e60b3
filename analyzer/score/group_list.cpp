#include "analyzer/score/group_list.h"

#include "tools/base/byte_archive.h"

namespace rdam::score {

std::uint8_t* Pieces::take_new(std::size_t bytes) {
    constexpr std::size_t kBlock = std::size_t{1} << 18;
    if (left_ < bytes) {
        // Not written, so that what is never used takes no memory.
        blocks_.emplace_back(new std::uint8_t[kBlock + kSlack]);
        left_ = kBlock;
    }
    left_ -= bytes;
    return blocks_.back().get() + left_;
}

bool GroupList::are_calls(std::span<const std::uint8_t> bytes) {
    std::size_t at = 0;
    std::uint64_t value = 0;
    const auto read = [&](std::uint64_t limit) {
        if (at >= bytes.size()) return false;
        const varint::Read number = varint::get(bytes.data() + at);
        at += number.length;
        value = number.value;
        return number.length > 0 && at <= bytes.size() && value < limit;
    };
    while (at < bytes.size()) {
        if (!read(kLongest << kMarks)) return false;
        const bool own_self = (value & kOwnSelf) != 0;
        if (!read(std::uint64_t{1} << 32) || (own_self && !read(kLongest))) return false;
    }
    return true;
}

bool GroupList::grow(Entry& entry, std::size_t size) {
    unsigned piece = entry.piece;  // the next size
    while (piece < Pieces::kSizes && Pieces::bytes_of(piece) < size)
        ++piece;
    if (piece == Pieces::kSizes) return false;
    std::uint8_t* const larger = pieces_.take(piece);
    if (entry.size > 0) std::memcpy(larger, entry.calls(), entry.size);
    if (entry.piece > 0) pieces_.give_back(entry.calls(), entry.piece - 1U);
    entry.memory = larger;
    entry.piece = static_cast<std::uint8_t>(piece + 1);
    return true;
}

GroupTimes& GroupList::make_many(Entry& entry) {
    GroupTimes& times = *many_.emplace_back(std::make_unique<GroupTimes>());
    if (all_self_times_) times.keep_all_self_times();
    entry = {.memory = &times, .size = Entry::kMany, .piece = 0};
    return times;
}

void GroupList::add_all(const Entry& entry, bool callers, GroupTimes& to) {
    if (!callers && add_times(entry, to)) return;
    for_each_call(entry, [&](const FewCall& call) {
        const calls::Call times{.outermost = call.outermost, .duration = call.duration, .self = call.self};
        if (callers)
            to.add(times, static_cast<std::uint32_t>(call.caller));
        else
            to.add_times(times);
    });
}

/// All at once. False: nothing was added, for some are inside another call of the function.
bool GroupList::add_times(const Entry& entry, GroupTimes& to) {
    constexpr std::size_t kLeastBytes = 2;
    std::array<std::uint64_t, kMostBytes / kLeastBytes> durations, self;
    std::size_t count = 0;
    bool outermost = true, same = true;
    for_each_call(entry, [&](const FewCall& call) {
        durations[count] = call.duration;
        self[count] = call.self;
        outermost = outermost && call.outermost;
        same = same && call.self == call.duration;
        ++count;
    });
    if (!outermost) return false;
    to.add_all(std::span{durations}.first(count), std::span{self}.first(same ? 0 : count), true, 0);
    return true;
}

GroupTimes& GroupList::spell_out(Entry& entry) {
    const Entry few = entry;
    GroupTimes& times = make_many(entry);
    add_all(few, true, times);
    if (few.piece > 0) pieces_.give_back(few.calls(), few.piece - 1U);
    return times;
}

const GroupTimes& GroupList::times(sequences::GroupId id, GroupTimes& scratch, bool callers) const {
    const Entry& entry = entries_[id];
    if (!entry.has_few()) return *entry.times();
    scratch.clear();
    if (all_self_times_) scratch.keep_all_self_times();
    add_all(entry, callers, scratch);
    scratch.seal();
    return scratch;
}

void GroupList::reorder(std::span<const sequences::GroupId> order) {
    std::vector<Entry> entries;
    entries.reserve(order.size());
    for (const sequences::GroupId id : order)
        entries.push_back(entries_[id]);
    entries_ = std::move(entries);
}

void GroupList::seal() {
    std::size_t bytes = Pieces::kSlack;
    for (const Entry& entry : entries_)
        bytes += entry.has_few() ? entry.size : 0;
    std::vector<std::uint8_t> packed(bytes);
    std::size_t at = 0;
    std::vector<std::unique_ptr<GroupTimes>> many;
    many.reserve(many_.size());
    for (auto& times : many_)
        static_cast<void>(times.release());  // their entries know them
    for (Entry& entry : entries_) {
        if (!entry.has_few()) {
            entry.times()->seal();
            many.emplace_back(entry.times());
            continue;
        }
        if (entry.size > 0) std::memcpy(packed.data() + at, entry.calls(), entry.size);
        entry.memory = packed.data() + at;
        entry.piece = 0;
        at += entry.size;
    }
    many_ = std::move(many);
    packed_ = std::move(packed);
    pieces_ = {};
}

template <class Archive>
void GroupList::fields(Archive& archive) {
    std::vector<std::uint16_t> sizes;
    sizes.reserve(entries_.size());
    for (const Entry& entry : entries_)
        sizes.push_back(entry.size);
    archive(sizes, packed_, many_);
    if constexpr (Archive::kReads) {
        if (archive.good()) archive.expect(take(sizes));
    }
}
template void GroupList::fields(ByteWriter& archive);
template void GroupList::fields(ByteReader& archive);

/// Of what comes from a file: whether packed_ and many_ are what these sizes say.
bool GroupList::take(std::span<const std::uint16_t> sizes) {
    std::size_t many = 0, at = 0;
    entries_.clear();
    entries_.reserve(sizes.size());
    for (const std::uint16_t size : sizes) {
        if (size == Entry::kMany) {
            if (many == many_.size() || many_[many] == nullptr) return false;
            entries_.push_back({.memory = many_[many++].get(), .size = size, .piece = 0});
            continue;
        }
        if (size > kMostBytes || packed_.size() - at < size + Pieces::kSlack ||
            !are_calls(std::span{packed_}.subspan(at, size)))
            return false;
        entries_.push_back({.memory = packed_.data() + at, .size = size, .piece = 0});
        at += size;
    }
    return many == many_.size() && (sizes.empty() || packed_.size() == at + Pieces::kSlack);
}

}  // namespace rdam::score
