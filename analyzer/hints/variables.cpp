#include "analyzer/hints/variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>

#include "wrappers/catalogue/catalogue.h"

namespace rdam::hints {
namespace {

struct TimedLoss {
    Loss loss;
    std::uint64_t begin = 0;
};

/// Strata get numbers without gaps.
std::vector<TimedLoss> losses_of(const LossPart& loss, const ValueOf& variable) {
    const auto& calls = loss.row.sample.calls;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> strata;
    std::vector<TimedLoss> losses;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const auto value = variable(i);
        if (!value) continue;
        const auto number = static_cast<std::uint32_t>(strata.size());
        const auto stratum = strata.emplace(std::pair{calls[i].thread, calls[i].group}, number).first->second;
        losses.push_back({{loss.lost[i], calls[i].weight, stratum, *value}, calls[i].begin});
    }
    return losses;
}

std::vector<Moment> moments_of(std::span<const TimedLoss> calls) {
    std::vector<Moment> moments;
    moments.reserve(calls.size());
    for (const TimedLoss& call : calls)
        moments.push_back(
            {call.loss.stratum, call.begin, call.loss.value, call.loss.lost * call.loss.weight});
    return moments;
}

double lost_in(std::span<const Loss> calls) {
    double lost = 0;
    for (const Loss& call : calls)
        lost += call.lost * call.weight;
    return lost;
}

bool varies(std::span<const TimedLoss> calls) {
    constexpr double kMaxAlike = 0.9;
    std::map<std::uint64_t, std::size_t> counts;
    std::size_t most = 0;
    for (const TimedLoss& call : calls)
        most = std::max(most, ++counts[call.loss.value]);
    return static_cast<double>(most) <= kMaxAlike * static_cast<double>(calls.size());
}

/// The calls of each stratum cut into pieces of time, each a stratum of its own; those in which the variable
/// varies.
std::vector<Loss> slices_of(std::vector<TimedLoss> calls) {
    constexpr std::size_t kInSlice = 3 * kMinInStratum;
    constexpr std::size_t kMaxSlices = 16;
    std::ranges::sort(calls, {}, [](const TimedLoss& call) {
        return std::pair{call.loss.stratum, call.begin};
    });
    std::vector<Loss> sliced;
    std::uint32_t number = 0;
    for (std::size_t begin = 0, end = 0; begin < calls.size(); begin = end) {
        while (end < calls.size() && calls[end].loss.stratum == calls[begin].loss.stratum)
            ++end;
        const std::size_t size = end - begin;
        const std::size_t slices = std::clamp<std::size_t>(size / kInSlice, 1, kMaxSlices);
        for (std::size_t s = 0; s < slices; ++s, ++number) {
            const auto slice = std::span{calls}.subspan(begin + size * s / slices,
                                                        size * (s + 1) / slices - size * s / slices);
            if (!varies(slice)) continue;
            for (const TimedLoss& call : slice) {
                sliced.push_back(call.loss);
                sliced.back().stratum = number;
            }
        }
    }
    return sliced;
}

}  // namespace

Explanation explanation_by(const LossPart& loss, const ValueOf& variable) {
    constexpr double kHardly = 0.2;
    constexpr double kPartly = 0.25, kWholly = 0.75;  // goes_with_time
    const std::vector<TimedLoss> timed = losses_of(loss, variable);
    std::vector<Loss> losses;
    losses.reserve(timed.size());
    for (const TimedLoss& call : timed)
        losses.push_back(call.loss);
    const double told = lost_in(losses);
    if (!(told > 0)) return {};
    const double known = told / loss.lost_ns;
    const double whole = explained(losses);
    // There are few calls of the same time, and disturbances account for more of their differences. So they
    // are compared only if that is necessary and can decide.
    const double with_time = whole > 0 ? goes_with_time(moments_of(timed)) : 0;
    if (with_time < kPartly) return {.share = whole * known};
    const std::vector<Loss> slices = slices_of(timed);
    if (with_time >= kWholly || lost_in(slices) < kHardly * told)
        return {.share = whole * known, .or_time = true};
    const double within = explained(slices);
    return {.share = (within < whole / 2 ? within : whole) * known};
}

double explained_by(const LossPart& loss, const ValueOf& variable) {
    return explanation_by(loss, variable).share;
}

double median_ns(const LossPart& loss, const std::function<bool(std::size_t)>& chosen) {
    const auto& calls = loss.row.sample.calls;
    std::vector<std::pair<double, double>> durations;  // and weights
    double half = 0;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if (!chosen(i)) continue;
        durations.emplace_back(calls[i].duration_ns, calls[i].weight);
        half += calls[i].weight / 2;
    }
    std::ranges::sort(durations);
    for (const auto& [duration, weight] : durations) {
        half -= weight;
        if (half <= 0) return duration;
    }
    return 0;
}

Shares shares_of(const LossPart& loss, const std::function<bool(std::size_t)>& chosen) {
    const auto& calls = loss.row.sample.calls;
    Shares shares;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if (!chosen(i)) continue;
        shares.lost += loss.lost[i] * calls[i].weight / loss.lost_ns;
        shares.calls += calls[i].weight / loss.calls;
    }
    return shares;
}

Shares shares_without_worst(const LossPart& loss, const std::function<bool(std::size_t)>& chosen) {
    Shares shares = shares_of(loss, chosen);
    const auto& calls = loss.row.sample.calls;
    double worst = 0;
    for (std::size_t i = 0; i < calls.size(); ++i)
        if (chosen(i)) worst = std::max(worst, loss.lost[i] * calls[i].weight / loss.lost_ns);
    if (worst >= 1) return {0, shares.calls};
    shares.lost = (shares.lost - worst) / (1 - worst);
    return shares;
}

std::string share_text(double share) {
    constexpr double kRoundsToOne = 0.005;
    return share > 0 && share < kRoundsToOne ? "less than 1 %" : fmt::format("{:.0f} %", 100 * share);
}

bool stands_out(const Shares& shares) {
    return shares.calls < 1 && (shares.lost - shares.calls) / (1 - shares.calls) >= kMinExplained;
}

namespace {

constexpr std::size_t kMaxConfoundingClasses = 32;

struct Placed {
    std::uint64_t value = 0;
    double order = 0;  ///< in time, from 0 on
};

std::vector<Placed> in_order_of_value(std::span<Moment> calls) {
    std::ranges::stable_sort(calls, {}, &Moment::begin);
    std::vector<Placed> placed;
    placed.reserve(calls.size());
    for (const Moment& call : calls)
        placed.push_back({call.value, static_cast<double>(placed.size())});
    std::ranges::stable_sort(placed, {}, &Placed::value);
    return placed;
}

/// For the calls of one stratum.
double of_stratum(std::span<Moment> moments) {
    const std::vector<Placed> calls = in_order_of_value(moments);
    const std::size_t in_class = std::max(calls.size() / kMaxConfoundingClasses, kMinInClass);
    const std::vector<std::size_t> ends = class_ends(std::span<const Placed>{calls}, in_class);
    const auto n = static_cast<double>(calls.size());
    if (ends.size() < 2) return 0;
    double within = 0;  // of the squares, if the calls of a class were anywhere: n · (n² − 1) / 12 for all
    double least = 0;   // … if the calls of each class were consecutive
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
        const auto size = static_cast<double>(end - begin);
        double sum = 0, squares = 0;
        for (std::size_t i = begin; i < end; ++i) {
            sum += calls[i].order;
            squares += calls[i].order * calls[i].order;
        }
        within += squares - sum * sum / size;
        least += size * (size * size - 1) / 12;
        begin = end;
    }
    const double all = n * (n * n - 1) / 12;
    const double by_chance = all * (n - static_cast<double>(ends.size())) / (n - 1);
    return by_chance > least ? std::clamp((by_chance - within) / (by_chance - least), 0.0, 1.0) : 0;
}

}  // namespace

double goes_with_time(std::vector<Moment> calls) {
    std::ranges::stable_sort(calls, {}, &Moment::stratum);
    double sum = 0, weight = 0;
    for (std::size_t begin = 0, end = 0; begin < calls.size(); begin = end) {
        double here = 0;
        for (; end < calls.size() && calls[end].stratum == calls[begin].stratum; ++end)
            here += calls[end].weight;
        if (end - begin < kMinInStratum) continue;
        sum += here * of_stratum(std::span{calls}.subspan(begin, end - begin));
        weight += here;
    }
    return weight > 0 ? sum / weight : 0;
}

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
