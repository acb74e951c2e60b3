#include "analyzer/hints/explain.h"

#include <algorithm>
#include <random>

#include "wrappers/catalogue/catalogue.h"

namespace rdam::hints {
namespace {

constexpr int kShuffles = 4;
constexpr std::size_t kInClass = 16;  ///< calls in each interval of values, if there are many values
constexpr std::size_t kMaxParameterClasses = 256;

/// Calls of one stratum, in the order of their values, with the ends of the classes that they are put into.
struct Classes {
    std::vector<Loss> calls;
    std::vector<std::size_t> by_value;  ///< a class for each value
    std::vector<std::size_t>
        by_interval;  ///< classes of about the same size; equal values are in the same one
};

std::size_t begin_of_last(std::span<const std::size_t> ends) {
    return ends.size() > 1 ? ends[ends.size() - 2] : 0;
}

Classes classify(std::vector<Loss> calls) {
    std::ranges::stable_sort(calls, {}, &Loss::value);
    const std::size_t wanted = std::clamp<std::size_t>(calls.size() / kInClass, 2, kMaxParameterClasses);
    const std::size_t in_class = std::max<std::size_t>(calls.size() / wanted, 1);
    Classes classes;
    classes.by_value = class_ends(std::span<const Loss>{calls}, 1);
    classes.by_interval = class_ends(std::span<const Loss>{calls}, in_class);
    const std::size_t last = calls.size() - begin_of_last(classes.by_interval);
    if (classes.by_interval.size() > 1 && 2 * last < in_class)
        classes.by_interval.erase(classes.by_interval.end() - 2);
    classes.calls = std::move(calls);
    return classes;
}

/// What is lost against the fastest of each class, all of it where a class is too small.
double loss_within(std::span<const Loss> calls, std::span<const std::size_t> ends) {
    double lost = 0;
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
        double least = calls[begin].lost;
        double sum = 0, weight = 0;
        for (std::size_t i = begin; i < end; ++i) {
            least = std::min(least, calls[i].lost);
            sum += calls[i].lost * calls[i].weight;
            weight += calls[i].weight;
        }
        lost += end - begin < kMinInClass ? sum : std::max(sum - least * weight, 0.0);
        begin = end;
    }
    return lost;
}

struct Left {
    double by_value = 0;
    double by_interval = 0;

    void add(const Classes& classes, std::span<const Loss> calls) {
        by_value += loss_within(calls, classes.by_value);
        by_interval += loss_within(calls, classes.by_interval);
    }
};

double corrected(double left, double by_chance) {
    return by_chance > 0 ? std::clamp(1 - left / by_chance, 0.0, 1.0) : 0;
}

}  // namespace

// With e = 1 − L′/L and e₀ = 1 − L₀/L, (e − e₀)/(1 − e₀) is 1 − L′/L₀.
double explained(std::span<const Loss> calls) {
    std::vector<std::vector<Loss>> strata;
    double untold = 0;
    for (const Loss& call : calls) {
        if (call.stratum >= strata.size()) strata.resize(call.stratum + 1);
        strata[call.stratum].push_back(call);
    }
    Left left, by_chance;
    std::mt19937 random;
    for (std::vector<Loss>& stratum : strata) {
        if (stratum.size() < kMinInStratum) {
            for (const Loss& call : stratum)
                untold += call.lost * call.weight;
            continue;
        }
        Classes classes = classify(std::move(stratum));
        left.add(classes, classes.calls);
        Left shuffled;
        for (int i = 0; i < kShuffles; ++i) {
            std::ranges::shuffle(classes.calls, random);
            shuffled.add(classes, classes.calls);
        }
        by_chance.by_value += shuffled.by_value / kShuffles;
        by_chance.by_interval += shuffled.by_interval / kShuffles;
    }
    return std::max(corrected(left.by_value + untold, by_chance.by_value + untold),
                    corrected(left.by_interval + untold, by_chance.by_interval + untold));
}

std::uint64_t ordered(std::uint64_t word, std::uint8_t kind, std::uint8_t size) {
    constexpr unsigned kBits = 64;
    const unsigned unused = size < sizeof word ? kBits - 8U * size : 0;
    const std::uint64_t sign = std::uint64_t{1} << (kBits - 1);
    const std::uint64_t high = word << unused;
    switch (static_cast<ValueKind>(kind)) {
        case ValueKind::signed_integer:
        case ValueKind::enumeration:
            return high ^ sign;
        case ValueKind::floating:
            return (high & sign) != 0 ? ~high : high | sign;
        default:
            return high;
    }
}

}  // namespace rdam::hints
