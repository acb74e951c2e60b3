#include "analyzer/score/call_sample.h"

#include <bit>
#include <functional>

namespace rdam::samples {

std::uint32_t CallSample::take(SampledCall call, std::span<const std::uint64_t> words,
                               std::span<const Repeats> repeats) {
    const double priority = size_ / uniform_;
    auto place = static_cast<std::uint32_t>(taken_.size());
    if (places_.size() == most_) {
        std::ranges::pop_heap(places_, std::ranges::greater{}, &Place::priority);
        place = places_.back().call;
        places_.pop_back();
    } else {
        taken_.emplace_back();
        words_.resize(words_.size() + words_per_call_);
    }
    taken_[place] = call;
    const auto first = words_.begin() + static_cast<std::ptrdiff_t>(place * words_per_call_);
    for (std::size_t i = 0; i < words_per_call_; ++i)
        first[static_cast<std::ptrdiff_t>(i)] = i < words.size() ? words[i] : 0;
    if (!repeats.empty() || !repeats_.empty()) note_repeats(place, repeats);
    places_.push_back({priority, size_, place});
    std::ranges::push_heap(places_, std::ranges::greater{}, &Place::priority);
    if (places_.size() == most_) threshold_ = places_.front().priority;
    return place;
}

void CallSample::note_repeats(std::size_t call, std::span<const Repeats> repeats) {
    repeats_.resize(taken_.size());
    repeats_[call] = {};
    for (const auto& [function, count] : repeats) {
        const auto known = std::ranges::find(repeated_, function);
        const auto number = static_cast<std::size_t>(known - repeated_.begin());
        if (number == kMaxRepeated) continue;
        if (known == repeated_.end()) repeated_.push_back(function);
        repeats_[call][number] = count;
    }
}

void CallSample::finish() {
    // Every call is in the sample if none was rejected. Otherwise the lowest kept priority replaces the
    // highest rejected one, and that call is given up.
    if (count_ > places_.size() && places_.size() > 1) {
        const double limit = places_.front().priority;
        const std::uint32_t lowest = places_.front().call;
        for (const Place& place : places_)
            taken_[place.call].weight *= std::max(place.size, limit) / place.size;
        taken_[lowest].weight = 0;
    }
    places_ = {};
    most_ = 0;
}

CallSample CallSample::renumbered(std::span<const std::uint32_t> numbers) const {
    CallSample sample = *this;
    for (SampledCall& call : sample.taken_) {
        call.group = numbers[call.group];
        if (call.group == UINT32_MAX) call.weight = 0;
    }
    return sample;
}

unsigned window_shift(double ticks_per_second, std::uint64_t run_ticks) {
    constexpr double kWindowsASecond = 1000;
    constexpr unsigned kMaxWindows = 18;  // bits
    const double ticks = ticks_per_second / kWindowsASecond;
    const bool sane = ticks >= 2 && ticks < 1e15;
    const auto wanted =
        sane ? static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(ticks)) - 1) : 1U;
    const auto run = static_cast<unsigned>(std::bit_width(run_ticks));
    return run > kMaxWindows + wanted ? run - kMaxWindows : wanted;
}

}  // namespace rdam::samples
