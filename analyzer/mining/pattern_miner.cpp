#include "analyzer/mining/pattern_miner.h"

#include <algorithm>

namespace rdam::mining {
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

void PatternMiner::close(ShapeId shape, std::uint64_t end, std::uint64_t duration, bool timed) {
    const std::size_t first = open_.back();
    open_.pop_back();
    tell_patterns(shape, std::span{siblings_}.subspan(first));
    siblings_.resize(first);
    append({end - std::min(end, duration), end, shape, timed});
}

void PatternMiner::append(const Sibling& sibling) {
    const std::size_t first = open_.empty() ? 0 : open_.back();
    if (fold_loops_ && siblings_.size() > first && siblings_.back().shape == sibling.shape) {
        siblings_.back().end = sibling.end;
        siblings_.back().timed = siblings_.back().timed && sibling.timed;
        return;
    }
    // A longer list cannot be mined at once: at the top level what is in its pieces is found.
    if (open_.empty() && siblings_.size() + 1 == kFirstMeta) mine_top();
    siblings_.push_back(sibling);
}

void PatternMiner::tell_patterns(ShapeId shape, std::span<const Sibling> children) {
    constexpr std::size_t kFewest = 4;  // ab ab, aa aa
    if (children.size() < kFewest) return;
    if (sequences_.shape(shape).kind != ShapeKind::complete) return mine(children, nullptr);
    if (shape >= of_shape_.size()) of_shape_.resize(sequences_.shapes());
    Kept& kept = of_shape_[shape];
    // There are fewer occurrences than children.
    if (!kept.known) return mine(children, kept_.size() + children.size() <= kMostKept ? &kept : nullptr);
    if (kept.count == 0) return;
    const bool all_timed = std::ranges::all_of(children, &Sibling::timed);
    for (const Occurrence& each : std::span{kept_}.subspan(kept.first, kept.count))
        tell(each, children, all_timed);
}

void PatternMiner::tell(const Occurrence& each, std::span<const Sibling> list, bool all_timed) {
    const auto part = list.subspan(each.first, each.last - each.first + 1);
    const bool timed = all_timed || std::ranges::all_of(part, &Sibling::timed);
    const std::uint64_t begin = part.front().begin;
    const std::uint64_t end = part.back().end;
    sink_.occurred(each.pattern, end > begin ? end - begin : 0, timed);
}

/// What is found is told, and kept if there is room for it.
void PatternMiner::mine(std::span<const Sibling> list, Kept* kept) {
    class Teller : public Numbering {
      public:
        Teller(PatternMiner& miner, std::span<const Sibling> siblings, Kept* to_keep)
            : Numbering{miner.store_}, miner_{miner}, list_{siblings}, kept_{to_keep} {}
        void replaced(std::uint32_t, std::uint32_t first, std::uint32_t last) override {
            const Occurrence occurrence{latest(), first, last};
            miner_.tell(occurrence, list_, all_timed_);
            if (kept_ != nullptr) miner_.kept_.push_back(occurrence);
        }

      private:
        PatternMiner& miner_;
        std::span<const Sibling> list_;
        Kept* kept_;
        bool all_timed_ = std::ranges::all_of(list_, &Sibling::timed);
    };
    symbols_.clear();
    for (const Sibling& sibling : list)
        symbols_.push_back(sibling.shape);
    const std::size_t first = kept_.size();
    Teller teller{*this, list, kept};
    replace_pairs(symbols_, teller);
    if (kept != nullptr) *kept = {first, static_cast<std::uint32_t>(kept_.size() - first), true};
}

void PatternMiner::abandon(std::span<const ShapeId> shapes) {
    const std::vector<std::size_t> lost(open_.end() - static_cast<std::ptrdiff_t>(shapes.size()),
                                        open_.end());
    const std::size_t base = lost.front();
    lost_.assign(siblings_.begin() + static_cast<std::ptrdiff_t>(base), siblings_.end());
    open_.resize(open_.size() - shapes.size());
    siblings_.resize(base);
    for (std::size_t i = 0; i < lost.size(); ++i) {
        append({0, 0, shapes[i], false});
        const std::size_t end = i + 1 < lost.size() ? lost[i + 1] - base : lost_.size();
        for (std::size_t j = lost[i] - base; j < end; ++j)
            append(lost_[j]);
    }
}

void PatternMiner::gap() {
    mine_top();
}

void PatternMiner::finish() {
    mine_top();
}

void PatternMiner::mine_top() {
    mine(siblings_, nullptr);
    siblings_.clear();
}

}  // namespace rdam::mining
