#include "analyzer/score/group_times.h"

#include <algorithm>

#include "tools/base/byte_archive.h"

namespace rdam::score {

/// Self times that are not the durations of the outermost calls; their squares are the group's.
struct GroupTimes::OwnSelf {
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
    Least least;
    std::unique_ptr<Distribution> all;

    template <class Archive>
    void fields(Archive& archive) {
        archive(count, sum, least, all);
    }
};

/// What most groups do not have.
struct GroupTimes::Rare {
    std::unique_ptr<Distribution> inner;
    std::unique_ptr<Held> held;
    std::unique_ptr<WindowedTimes> windowed;

    template <class Archive>
    void fields(Archive& archive) {
        archive(inner, held, windowed);
        // What windows have is not in windows itself.
        if (windowed) archive.expect(windowed->before.windowed() == nullptr);
    }
};

template <class Archive>
void GroupTimes::fields(Archive& archive) {
    archive(outermost_, self_squares_, callers_, own_self_, rare_, caller_, keeps_all_self_);
}
template void GroupTimes::fields(ByteWriter& archive);
template void GroupTimes::fields(ByteReader& archive);

GroupTimes::GroupTimes() = default;
GroupTimes::~GroupTimes() = default;
GroupTimes::GroupTimes(GroupTimes&&) noexcept = default;
GroupTimes& GroupTimes::operator=(GroupTimes&&) noexcept = default;

Loss::Group SelfTimes::loss(const Baseline& baseline, const Least& thread, const Least& process) const {
    if (count == 0) return {};
    const auto n = static_cast<double>(count);
    const double mean = static_cast<double>(sum) / n;
    static const Distribution kNone;
    const Base base = base_of(baseline, all != nullptr ? *all : kNone, thread, process);
    return {.count = n,
            .lost = base.cuts ? all->lost_above(base.ticks) : Distribution::lost_from(sum, count, base.ticks),
            .variance = std::max(squares / n - mean * mean, 0.0),
            .base = base.ticks,
            .base_error = base.error,
            .gap = count > 1 ? gap() : 0};
}

/// A lone call that sets a baseline says nothing of how far below the others it may be.
double SelfTimes::gap() const {
    const Least own = least.least();
    return static_cast<double>(own.second() == Least::kNone ? own.min() : own.second() - own.min());
}

bool GroupTimes::keeps_all_self_times(bool all) const {
    return keeps_all_self_ == all && (!own_self_ || (own_self_->all != nullptr) == all) &&
           (windowed() == nullptr || windowed()->before.keeps_all_self_times(all));
}

const Distribution* GroupTimes::inner() const {
    return rare_ ? rare_->inner.get() : nullptr;
}

const GroupTimes::Held* GroupTimes::held() const {
    return rare_ ? rare_->held.get() : nullptr;
}

const WindowedTimes* GroupTimes::windowed() const {
    return rare_ ? rare_->windowed.get() : nullptr;
}

SelfTimes GroupTimes::self(std::uint64_t step) const {
    SelfTimes times = self_without_pauses();
    if (held() == nullptr) return times;
    const HeldTimes& own = held()->self;
    times.least.add_unsure(own.seeming.least(), own.bound);
    Distribution raised;
    raised.merge_unsure(own.seeming, {}, times.least.floor(step));
    times.count += raised.count();
    times.sum = Distribution::saturating_sum(times.sum, raised.sum());
    return times;
}

SelfTimes GroupTimes::self_without_pauses() const {
    SelfTimes times;
    times.squares = self_squares_;
    if (own_self_) {
        times.count = own_self_->count;
        times.sum = own_self_->sum;
        times.least.add(own_self_->least);
        times.all = own_self_->all.get();
    } else {
        times.count = outermost_.count();
        times.sum = outermost_.sum();
        times.least.add(outermost_.least());
        times.all = keeps_all_self_ ? &outermost_ : nullptr;
    }
    return times;
}

GroupTimes::Rare& GroupTimes::rare() {
    if (!rare_) rare_ = std::make_unique<Rare>();
    return *rare_;
}

GroupTimes::OwnSelf& GroupTimes::own_self() {
    if (!own_self_) {
        own_self_ = std::make_unique<OwnSelf>(
            OwnSelf{outermost_.count(), outermost_.sum(), outermost_.least(), nullptr});
        if (keeps_all_self_) own_self_->all = std::make_unique<Distribution>(outermost_);
    }
    return *own_self_;
}

WindowedTimes& GroupTimes::make_windowed() {
    if (!rare().windowed) {
        rare_->windowed = std::make_unique<WindowedTimes>();
        if (keeps_all_self_) rare_->windowed->before.keep_all_self_times();
    }
    return *rare_->windowed;
}

void GroupTimes::add_held(const calls::Call& call) {
    if (!rare().held) rare_->held = std::make_unique<Held>();
    (call.outermost ? rare_->held->outermost : rare_->held->inner).add(call.duration, call);
    if (!call.self_timed) return;
    rare_->held->self.add(call.self, call);
    if (keeps_all_self_) own_self().all->add(call.self, call.weight);
}

void GroupTimes::add_times(const calls::Call& call) {
    if (call.self_timed) {
        const auto value = static_cast<double>(call.self);
        self_squares_ += value * value * static_cast<double>(call.weight);
    }
    if (call.held > 0) [[unlikely]]
        return add_held(call);
    const bool same = call.self_timed && call.outermost && call.self == call.duration;
    if (!same || own_self_) {
        OwnSelf& self = own_self();
        if (call.self_timed) {
            self.count += call.weight;
            self.sum = Distribution::saturating_sum(self.sum,
                                                    Distribution::saturating_product(call.self, call.weight));
            self.least.add(call.self, call.weight);
            if (self.all) self.all->add(call.self, call.weight);
        }
    }
    if (call.outermost) return outermost_.add(call.duration, call.weight);
    if (!rare().inner) rare_->inner = std::make_unique<Distribution>();
    rare_->inner->add(call.duration, call.weight);
}

void GroupTimes::add_all(std::span<const std::uint64_t> durations, std::span<const std::uint64_t> self,
                         bool outermost, std::uint32_t caller) {
    // What makes a table or a second distribution goes one by one.
    const bool same = self.empty() || (!own_self_ && std::ranges::equal(self, durations));
    if (!outermost || !(same || own_self_) || !knows_caller(caller) || (own_self_ && own_self_->all)) {
        for (std::size_t i = 0; i < durations.size(); ++i)
            add({.outermost = outermost,
                 .duration = durations[i],
                 .self = self.empty() ? durations[i] : self[i]},
                caller);
        return;
    }
    if (self.empty()) self = durations;
    if (!callers_.empty()) {
        CallerEntry entry{
            .caller = caller, .calls = durations.size(), .outermost = durations.size(), .sum = 0};
        for (const std::uint64_t duration : durations)
            entry.sum = Distribution::saturating_sum(entry.sum, duration);
        callers_.add(entry);
    }
    double squares = self_squares_;
    for (const std::uint64_t each : self) {
        const auto value = static_cast<double>(each);
        squares += value * value;
    }
    self_squares_ = squares;
    if (own_self_) {
        std::uint64_t least = UINT64_MAX;
        for (const std::uint64_t each : self) {
            least = std::min(least, each);
            own_self_->sum = Distribution::saturating_sum(own_self_->sum, each);
        }
        own_self_->count += self.size();
        own_self_->least.add_all(self, least);
    }
    outermost_.add_all(durations);
}

CallerEntry GroupTimes::only_caller() const {
    CallerEntry entry{.caller = caller_,
                      .calls = outermost_.count() + (inner() != nullptr ? inner()->count() : 0),
                      .outermost = outermost_.count(),
                      .sum = outermost_.sum()};
    if (held() == nullptr) return entry;
    const Distribution& outermost = held()->outermost.seeming;
    entry.calls += outermost.count() + held()->inner.seeming.count();
    entry.outermost += outermost.count();
    entry.sum = Distribution::saturating_sum(entry.sum, outermost.sum());
    return entry;
}

CallerTable& GroupTimes::caller_table() {
    if (callers_.empty())
        if (const CallerEntry first = only_caller(); first.calls > 0) callers_.add(first);
    return callers_;
}

void GroupTimes::add_caller(std::uint32_t caller, const calls::Call& call) {
    if (callers_.empty()) {
        if (caller == caller_) return;
        if (only_caller().calls == 0) {
            caller_ = caller;
            return;
        }
    }
    caller_table().add(
        {.caller = caller,
         .calls = call.weight,
         .outermost = call.outermost ? call.weight : 0,
         .sum = call.outermost ? Distribution::saturating_product(call.duration, call.weight) : 0});
}

void GroupTimes::add_callers(const GroupTimes& other) {
    if (!other.callers_.empty()) return caller_table().add(other.callers_);
    const CallerEntry theirs = other.only_caller();
    if (theirs.calls == 0) return;
    if (callers_.empty() && only_caller().calls == 0) caller_ = theirs.caller;
    if (!callers_.empty() || caller_ != theirs.caller) caller_table().add(theirs);
}

void GroupTimes::add_self_times(const GroupTimes& other) {
    keeps_all_self_ = keeps_all_self_ || other.keeps_all_self_;
    self_squares_ += other.self_squares_;
    if (!own_self_ && !other.own_self_) return;
    const SelfTimes theirs = other.self_without_pauses();
    OwnSelf& self = own_self();
    self.count += theirs.count;
    self.sum = Distribution::saturating_sum(self.sum, theirs.sum);
    self.least.merge(theirs.least.least());
    if (self.all && theirs.all != nullptr) self.all->merge(*theirs.all);
}

void GroupTimes::add(const GroupTimes& other) {
    add_callers(other);
    add_self_times(other);
    outermost_.merge(other.outermost_);
    if (other.inner() != nullptr) {
        if (!rare().inner) rare_->inner = std::make_unique<Distribution>();
        rare_->inner->merge(*other.inner());
    }
    if (const Held* const theirs = other.held(); theirs != nullptr) {
        if (!rare().held) rare_->held = std::make_unique<Held>();
        rare_->held->merge(*theirs);
    }
    if (other.windowed() == nullptr) return;
    make_windowed().before.add(other.windowed()->before);
    rare_->windowed->clusters.add(other.windowed()->clusters);
}

void GroupTimes::seal() {
    outermost_.seal();
    if (own_self_ && own_self_->all) own_self_->all->seal();
    if (!rare_) return;
    if (rare_->inner) rare_->inner->seal();
    if (rare_->held)
        for (HeldTimes* const each : {&rare_->held->outermost, &rare_->held->inner, &rare_->held->self})
            each->seeming.seal();
    if (rare_->windowed) rare_->windowed->before.seal();
}

void GroupTimes::clear() {
    outermost_.clear();
    callers_.clear();
    self_squares_ = 0;
    own_self_.reset();
    rare_.reset();
    caller_ = 0;
    keeps_all_self_ = false;
}

}  // namespace rdam::score
