#include "analyzer/sequences/pattern_miner.h"

#include <algorithm>
#include <new>

namespace rdam::sequences {

namespace {

/// Gives the meta-events of one list their lasting numbers.
class Numbering : public ReplacementSink {
  public:
    explicit Numbering(PatternStore& store) : store_{store} {}
    void made(std::uint32_t, std::uint32_t left, std::uint32_t right) override {
        numbers_.push_back(store_.intern(number(left), number(right)));
    }

  protected:
    PatternId latest() const { return numbers_.back(); }

  private:
    Symbol number(std::uint32_t side) const {
        return side < kFirstMeta ? side : kFirstMeta + numbers_[side - kFirstMeta];
    }

    PatternStore& store_;
    std::vector<PatternId> numbers_;
};

}  // namespace

PatternMiner::PatternMiner(const SequenceStore& sequences, bool fold_loops, PatternTimesSink& sink)
    : sequences_{sequences}, fold_loops_{fold_loops}, sink_{sink} {}

void PatternMiner::expect(std::uint64_t siblings) {
    constexpr std::uint64_t kMax = std::uint64_t{1} << 28;
    try {
        siblings_.shapes.reserve(std::min(siblings, kMax));
        siblings_.times.reserve(std::min(siblings, kMax));
    } catch (const std::bad_alloc&) {
        // Addresses are scarce (ulimit -v): then it grows.
    }
}

void PatternMiner::close(ShapeId shape, const SiblingTime& time, const Paused& paused) {
    const std::size_t first = open_.back().first;
    open_.pop_back();
    tell_patterns(shape, first);
    siblings_.shrink(first);
    std::uint64_t& before = open_.empty() ? top_paused_ : open_.back().paused;
    append(shape, time, {.before = paused.begin > before, .inside = paused.end > paused.begin});
    before = paused.end;
}

void PatternMiner::append(ShapeId shape, const SiblingTime& time, const SiblingPauses& pauses) {
    const std::size_t first = open_.empty() ? 0 : open_.back().first;
    if (fold_loops_ && siblings_.size() > first && siblings_.shapes.back() == shape) {
        SiblingTime last = siblings_.times.back();
        SiblingPauses all = siblings_.times.pauses(siblings_.size() - 1);
        last.end = last.known() ? time.end : SiblingTime::kUnknown;
        all.inside = all.inside || pauses.before || pauses.inside;
        siblings_.times.replace_back(last, all);
        return;
    }
    // A longer list cannot be mined at once: at the top level, the patterns in its pieces are found.
    if (open_.empty() && siblings_.size() + 1 == kFirstMeta) mine_top();
    siblings_.shapes.push_back(shape);
    siblings_.times.push_back(time, pauses);
}

PatternMiner::List PatternMiner::list_from(std::size_t first) const {
    return {first, siblings_.times.known(first, siblings_.size() - first)};
}

void PatternMiner::tell_patterns(ShapeId shape, std::size_t first_child) {
    constexpr std::size_t kMin = 4;  // ab ab, aa aa
    if (siblings_.size() - first_child < kMin) return;
    if (sequences_.shape(shape).kind != ShapeKind::complete) return mine(list_from(first_child), nullptr);
    if (shape >= of_shape_.size()) of_shape_.resize(sequences_.shapes());
    Kept& kept = of_shape_[shape];
    if (!kept.known) {
        // There are fewer occurrences than children.
        const bool fits = kept_.size() + siblings_.size() - first_child <= kMaxKept;
        return mine(list_from(first_child), fits ? &kept : nullptr);
    }
    if (kept.count == 0) return;
    const List list = list_from(first_child);
    for (const Occurrence& each : std::span{kept_}.subspan(kept.first, kept.count))
        tell(each, list);
}

void PatternMiner::tell(const Occurrence& each, const List& list) {
    const bool known =
        list.all_known || siblings_.times.known(list.first + each.first, each.last - each.first + 1);
    const std::uint64_t begin = siblings_.times[list.first + each.first].begin;
    const std::uint64_t end = siblings_.times[list.first + each.last].end;
    sink_.occurred({.pattern = each.pattern,
                    .duration = known && end > begin ? end - begin : 0,
                    .timed = known,
                    .held = siblings_.times.paused_between(list.first + each.first, list.first + each.last)});
}

/// Reports the patterns it finds, and keeps them if there is room.
void PatternMiner::mine(const List& list, Kept* kept) {
    class Teller : public Numbering {
      public:
        Teller(PatternMiner& miner, const List& siblings, Kept* to_keep)
            : Numbering{miner.store_}, miner_{miner}, list_{siblings}, kept_{to_keep} {}
        void replaced(std::uint32_t, std::uint32_t first, std::uint32_t last) override {
            const Occurrence occurrence{latest(), first, last};
            miner_.tell(occurrence, list_);
            if (kept_ != nullptr) miner_.kept_.push_back(occurrence);
        }

      private:
        PatternMiner& miner_;
        const List& list_;
        Kept* kept_;
    };
    const std::size_t first = kept_.size();
    Teller teller{*this, list, kept};
    replace_pairs(std::span{siblings_.shapes}.subspan(list.first), teller);
    if (kept != nullptr) *kept = {first, static_cast<std::uint32_t>(kept_.size() - first), true};
}

void PatternMiner::abandon(std::span<const ShapeId> shapes) {
    const std::vector<Open> lost(open_.end() - static_cast<std::ptrdiff_t>(shapes.size()), open_.end());
    const std::size_t base = lost.front().first;
    struct Sibling {
        ShapeId shape;
        SiblingTime time;
        SiblingPauses pauses;
    };
    std::vector<Sibling> theirs;
    for (std::size_t i = base; i < siblings_.size(); ++i)
        theirs.push_back({siblings_.shapes[i], siblings_.times[i], siblings_.times.pauses(i)});
    open_.resize(open_.size() - shapes.size());
    siblings_.shrink(base);
    for (std::size_t i = 0; i < lost.size(); ++i) {
        append(shapes[i], {}, {});
        const std::size_t end = i + 1 < lost.size() ? lost[i + 1].first - base : theirs.size();
        for (std::size_t j = lost[i].first - base; j < end; ++j)
            append(theirs[j].shape, theirs[j].time, theirs[j].pauses);
    }
}

void PatternMiner::gap() {
    mine_top();
}

void PatternMiner::finish() {
    mine_top();
}

void PatternMiner::mine_top() {
    mine(list_from(0), nullptr);
    siblings_.shrink(0);
}

void SiblingTimes::reserve(std::size_t count) {
    cells_.reserve(count);
    bases_.reserve(count / kBlock + 1);
}

void SiblingTimes::push_back(const SiblingTime& time, const SiblingPauses& pauses) {
    if (pauses.before) pauses_.push_back(before(size()));
    if (pauses.inside) pauses_.push_back(inside(size()));
    if (cells_.size() % kBlock == 0) bases_.push_back(kNoBase);
    if (!time.known()) {
        cells_.push_back({0, kUnknownDuration});
        return;
    }
    std::uint64_t& base = bases_.back();
    if (base == kNoBase) base = time.begin;
    // Also when it begins before the base: the difference is then a large one.
    const std::uint64_t begin = time.begin - base;
    const std::uint64_t duration = time.end - time.begin;
    if (begin <= UINT32_MAX && duration < kFarDuration) {
        cells_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(duration)});
        return;
    }
    far_.push_back({cells_.size(), time});
    cells_.push_back({0, kFarDuration});
}

void SiblingTimes::shrink(std::size_t size) {
    cells_.resize(size);
    bases_.resize((size + kBlock - 1) / kBlock);
    while (!far_.empty() && far_.back().at >= size)
        far_.pop_back();
    while (!pauses_.empty() && pauses_.back() >= before(size))
        pauses_.pop_back();
}

void SiblingTimes::replace_back(const SiblingTime& time, const SiblingPauses& pauses) {
    shrink(size() - 1);
    push_back(time, pauses);
}

SiblingPauses SiblingTimes::pauses(std::size_t at) const {
    return {.before = std::ranges::binary_search(pauses_, before(at)),
            .inside = std::ranges::binary_search(pauses_, inside(at))};
}

bool SiblingTimes::paused_between(std::size_t first, std::size_t last) const {
    const auto pause = std::ranges::lower_bound(pauses_, inside(first));
    return pause != pauses_.end() && *pause <= inside(last);
}

bool SiblingTimes::known(std::size_t first, std::size_t count) const {
    const auto from = cells_.begin() + static_cast<std::ptrdiff_t>(first);
    return std::none_of(from, from + static_cast<std::ptrdiff_t>(count),
                        [](const Cell& cell) { return cell.duration == kUnknownDuration; });
}

SiblingTime SiblingTimes::beyond_cells(std::size_t at) const {
    if (!known(at)) return {};
    return std::ranges::lower_bound(far_, at, {}, &Far::at)->time;
}

}  // namespace rdam::sequences
