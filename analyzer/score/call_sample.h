// A bounded random sample of the calls of one function in one thread, for questions that are asked once it is
// known which functions are worth asking about.
//
// Priority sampling (N. Duffield, C. Lund, M. Thorup, Priority sampling for estimation of arbitrary subset
// sums, J. ACM 54, 2007): a call of size s gets the priority s/u, u uniform on (0, 1]; the k highest stay,
// and stand for max(s, τ)/s calls each, τ being the highest priority that was not kept. Sums over any subset
// of the calls are estimated without bias. The size is the duration plus the mean so far: half of the sample
// is drawn by time, half by number.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace rdam::samples {

/// Times in ticks.
struct SampledCall {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t duration = 0;     ///< net (calls::Call)
    std::uint64_t caller = 0;       ///< return address
    std::uint64_t result = 0;       ///< meaningful if `returned`
    double weight = 1;              ///< the number of calls it represents
    std::uint64_t inside_keys = 0;  ///< a hash of the keys of the calls directly inside it, those of folded
                                    ///< loops once; 0: they have none
    std::uint64_t blocked = 0;      ///< of end - begin, off the processor by its own doing
    std::uint64_t preempted = 0;    ///< … because another thread was to run
    std::uint32_t inside = 0;       ///< calls directly inside it
    std::uint32_t group = 0;        ///< sequences::GroupId in its thread
    std::uint16_t enter_cpu = 0;
    std::uint16_t leave_cpu = 0;
    bool returned = false;
    std::uint64_t instructions = 0;  ///< without those of the probes (calls/instructions.h); 0: not known
};

/// How often a function was called again, directly inside a call, right after an equal call of it. If loops
/// are folded, this is not part of the call's sequence.
struct Repeats {
    std::uint32_t function = 0;
    std::uint32_t count = 0;
};
/// The maximum number of functions for which repetitions are kept with the calls of a sample.
inline constexpr std::size_t kMaxRepeated = 8;

/// Not thread-safe.
class CallSample {
  public:
    /// For a function whose enter events have `words` words. Keeps at most `most` calls; 0: none. Samples
    /// with different seeds are independent.
    CallSample(std::size_t most, std::size_t words, std::uint64_t seed)
        : most_(most), words_per_call_(words), random_((seed + 1) * 0x9e3779b97f4a7c15 | 1) {}

    /// Whether a call of this duration is to be offered: asked once for each call.
    bool wants(std::uint64_t duration) {
        if (most_ == 0) return false;
        note(duration);
        size_ = static_cast<double>(duration) + mean_;
        uniform_ = draw();
        return size_ > threshold_ * uniform_;
    }
    /// The call that wants() was last asked about; its weight is that of the call itself. `repeats` has each
    /// function once. Its place, for set_group().
    std::uint32_t take(SampledCall call, std::span<const std::uint64_t> words,
                       std::span<const Repeats> repeats = {});

    /// Sets the group of the call last stored at `place`.
    void set_group(std::uint32_t place, std::uint32_t group) { taken_[place].group = group; }

    /// For each call that is kept: number(group) instead of its group.
    template <class Number>
    void set_groups(const Number& number) {
        for (SampledCall& call : taken_)
            call.group = number(call.group);
    }

    /// For each call that is kept, blocked and preempted: since(tsc) says how long the thread was off the
    /// processor up to then, as a structure of both.
    template <class Since>
    void set_off_times(const Since& since) {
        for (SampledCall& call : taken_) {
            const auto begin = since(call.begin);
            const auto end = since(std::max(call.begin, call.end));
            call.blocked = end.blocked - begin.blocked;
            call.preempted = end.preempted - begin.preempted;
        }
    }

    /// Afterwards the calls have their weights, and nothing more can be taken.
    void finish();

    /// After finish(): the same calls with other groups, numbers[group]. UINT32_MAX: the call has no weight.
    CallSample renumbered(std::span<const std::uint32_t> numbers) const;

    /// For an archive (tools/base/byte_archive.h): what was kept, after finish(), of a function with as many words.
    template <class Archive>
    void fields(Archive& archive) {
        archive(count_, taken_, words_, repeated_, repeats_);
        if constexpr (Archive::kReads) {
            most_ = 0;
            archive.expect(words_.size() == taken_.size() * words_per_call_ &&
                           repeated_.size() <= kMaxRepeated &&
                           repeats_.size() == (repeats_.empty() && repeated_.empty() ? 0 : taken_.size()));
        }
    }

    std::uint64_t calls() const { return count_; }  ///< asked about
    std::span<const SampledCall> taken() const { return taken_; }
    std::span<const std::uint64_t> words(std::size_t call) const {
        return std::span{words_}.subspan(call * words_per_call_, words_per_call_);
    }
    /// The functions that are repeated inside calls of the sample.
    std::span<const std::uint32_t> repeated() const { return repeated_; }
    /// For number `function` of repeated().
    std::uint32_t repeats(std::size_t call, std::size_t function) const { return repeats_[call][function]; }

  private:
    struct Place {
        double priority = 0;
        double size = 0;
        std::uint32_t call = 0;
    };

    void note_repeats(std::size_t call, std::span<const Repeats> repeats);
    void note(std::uint64_t duration) {
        constexpr std::uint64_t kRenew = 64;
        sum_ += static_cast<double>(duration);
        ++count_;
        if (count_ < kRenew || count_ % kRenew == 0) mean_ = 1 + sum_ / static_cast<double>(count_);
    }
    /// In (0, 1]. xorshift64*: S. Vigna, An experimental exploration of Marsaglia's xorshift generators,
    /// 2016.
    double draw() {
        random_ ^= random_ >> 12;
        random_ ^= random_ << 25;
        random_ ^= random_ >> 27;
        constexpr double kStep = 1.0 / 9007199254740992;  // 2^-53
        return (static_cast<double>(random_ * 0x2545f4914f6cdd1d >> 11) + 1) * kStep;
    }

    std::size_t most_;
    std::size_t words_per_call_;
    std::uint64_t random_;
    std::uint64_t count_ = 0;
    double sum_ = 0;
    double mean_ = 0;
    double size_ = 0;     // of the call that was asked about last
    double uniform_ = 0;  // drawn for it
    double threshold_ = 0;
    std::vector<Place> places_;  // a heap, the lowest priority first
    std::vector<SampledCall> taken_;
    std::vector<std::uint64_t> words_;
    std::vector<std::uint32_t> repeated_;
    std::vector<std::array<std::uint32_t, kMaxRepeated>> repeats_;  // by call, if there are repeated_
};

// All calls of all threads in windows of time that are the same for every thread. They show what ran at the
// same time.
//
// Time is cut into windows; a hash of their number alone decides which of them are kept. A thread with too
// many calls keeps half of its windows. Two threads have in common the windows of the one that keeps fewer.

/// The windows that are kept: of 2^shift ticks each.
struct Windows {
    unsigned shift = 0;
    std::uint64_t limit = UINT64_MAX;

    bool all() const { return limit == UINT64_MAX; }
    /// Window number tsc >> shift.
    bool keeps(std::uint64_t number) const { return all() || number * 0x9e3779b97f4a7c15 <= limit; }
};

/// What a call returned, of a function whose result says whether it has done what it is for.
enum class Returned : std::uint8_t { not_known, zero, other, negative };

/// A call that reaches into such a window. Times in ticks.
struct WindowCall {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t duration = 0;  ///< net (calls::Call)
    std::uint32_t function = 0;
    std::uint32_t group = 0;   ///< sequences::GroupId in its thread
    std::uint32_t caller = 0;  ///< CallerNumbers of its thread
    bool outermost = true;
    Returned returned = Returned::not_known;
};

/// A wait for a mutex, or for a thread's end. Times in ticks.
struct OwnedWait {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t mutex = 0;     ///< its address
    std::uint32_t owner = 0;     ///< tid of its owner at `begin`, or of the thread; 0: not known
    std::uint32_t function = 0;  ///< that waited
    bool given_back = false;     ///< no wait: at `begin`, which is `end`, the thread gave the mutex back
    std::uint64_t caller = 0;    ///< … in a call that returns to this address
    bool joins = false;          ///< until the thread `owner` has ended
    bool all =
        false;  ///< of a mutex whose locks and unlocks are all recorded: it may have had to wait for nobody
};

/// A time in which a thread was on no processor. Ticks.
struct OffTime {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool preempted = false;  ///< because another was to run; else by its own doing
};

/// Of one thread: what reaches into such windows, WindowCall, OwnedWait or OffTime. Not thread-safe.
template <class Call>
class BasicWindowSample {
  public:
    /// Keeps at most `most`; 0: none.
    BasicWindowSample(std::size_t most, unsigned shift) : most_(most), windows_{.shift = shift} {}

    /// Whether one from `begin` to `end`, or a part of that, may be kept.
    bool reaches(std::uint64_t begin, std::uint64_t end) const { return most_ > 0 && reaches_in(begin, end); }

    /// Whether it is kept for now.
    bool offer(const Call& call) { return reaches(call.begin, call.end) && keep(call); }

    /// For each call that is kept: number(group) instead of its group.
    template <class Number>
    void set_groups(const Number& number) {
        for (Call& call : calls_)
            call.group = number(call.group);
    }

    /// The same calls with other groups, numbers[group]. UINT32_MAX: the call is left out. No further calls
    /// can be offered to the result.
    BasicWindowSample renumbered(std::span<const std::uint32_t> numbers) const {
        BasicWindowSample sample{0, windows_.shift};
        sample.windows_ = windows_;
        sample.calls_.reserve(calls_.size());
        for (Call call : calls_) {
            call.group = numbers[call.group];
            if (call.group != UINT32_MAX) sample.calls_.push_back(call);
        }
        return sample;
    }

    const Windows& windows() const { return windows_; }
    std::span<const Call> calls() const { return calls_; }  ///< in the order in which they ended

    /// For an archive (tools/base/byte_archive.h). To what was read nothing more can be offered.
    template <class Archive>
    void fields(Archive& archive) {
        archive(windows_.shift, windows_.limit, calls_);
        archive.expect(windows_.shift < 64);
        if constexpr (Archive::kReads) most_ = 0;
    }

  private:
    bool reaches_in(std::uint64_t begin, std::uint64_t end) const {
        const std::uint64_t first = begin >> windows_.shift, last = end >> windows_.shift;
        return windows_.keeps(first) || (first != last && reaches_in_behind(first, last));
    }

    bool reaches_in_behind(std::uint64_t first, std::uint64_t last) const {
        // With so many it is as good as certain that one is kept, or the call is cut to none later on.
        constexpr std::uint64_t kLookedAt = 64;
        if (last - first > kLookedAt) return true;
        for (std::uint64_t number = first + 1; number <= last; ++number)
            if (windows_.keeps(number)) return true;
        return false;
    }

    bool keep(const Call& call) {
        if (call.end < call.begin) return false;
        while (calls_.size() >= most_ && windows_.limit > 1) {
            windows_.limit /= 2;
            std::erase_if(calls_, [this](const Call& each) { return !reaches_in(each.begin, each.end); });
        }
        if (calls_.size() >= most_ || !reaches_in(call.begin, call.end)) return false;
        calls_.push_back(call);
        return true;
    }

    std::size_t most_;
    Windows windows_;
    std::vector<Call> calls_;
};

using WindowSample = BasicWindowSample<WindowCall>;
using WaitSample = BasicWindowSample<OwnedWait>;
using OffSample = BasicWindowSample<OffTime>;

/// The calls of one thread in windows, and once more those of the functions that say who waits for whom, which are kept
/// in more windows where the other calls are many. Not thread-safe.
class CallWindows {
  public:
    CallWindows() = default;
    /// As BasicWindowSample, for each of the two. `about_waits`: which functions these are; null: none.
    CallWindows(std::size_t most, unsigned shift, std::shared_ptr<const std::vector<bool>> about_waits)
        : all_(most, shift), of_waits_(about_waits ? most : 0, shift), about_waits_(std::move(about_waits)) {}

    bool is_about_waits(std::uint32_t function) const { return about_waits_ && (*about_waits_)[function]; }
    /// As BasicWindowSample::reaches(). `waits`: there may be calls among them that say who waits for whom.
    bool reaches(std::uint64_t begin, std::uint64_t end, bool waits) const {
        return all_.reaches(begin, end) || (waits && of_waits_.reaches(begin, end));
    }
    /// `says_for_whom`: the call may say it, and its function is one of those.
    bool offer(const WindowCall& call, bool says_for_whom) {
        const bool kept = all_.offer(call);
        return (says_for_whom && of_waits_.offer(call)) || kept;
    }
    template <class Number>
    void set_groups(const Number& number) {
        all_.set_groups(number);
        of_waits_.set_groups(number);
    }
    CallWindows renumbered(std::span<const std::uint32_t> numbers) const {
        CallWindows out;
        out.all_ = all_.renumbered(numbers);
        out.of_waits_ = of_waits_.renumbered(numbers);
        out.about_waits_ = about_waits_;
        return out;
    }

    const WindowSample& all() const { return all_; }
    const WindowSample& of_waits() const { return of_waits_; }

    template <class Archive>
    void fields(Archive& archive) {
        archive(all_, of_waits_);
    }

  private:
    WindowSample all_{0, 0};
    WindowSample of_waits_{0, 0};
    std::shared_ptr<const std::vector<bool>> about_waits_;
};

/// Windows of about a millisecond, or longer if the run is so long that there would be too many.
unsigned window_shift(double ticks_per_second, std::uint64_t run_ticks);

}  // namespace rdam::samples
