// Weights of a Firefox profile's samples: they can be drawn, and add up to what they were.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "analyzer/export/stacks.h"
#include "tests/unit/catch.h"
#include "tests/unit/rounds.h"

namespace rdam::exports::firefox {
namespace {

double sum_of(const std::vector<Sample>& samples, std::uint32_t stack = UINT32_MAX) {
    double sum = 0;
    for (const Sample& sample : samples)
        if (stack == UINT32_MAX || sample.stack == stack) sum += sample.weight;
    return sum;
}

bool can_be_drawn(const std::vector<Sample>& samples) {
    return std::ranges::all_of(samples, [](const Sample& sample) {
        return sample.weight >= 0 && sample.weight == std::floor(sample.weight);
    });
}

std::vector<Sample> samples_of(const std::vector<std::pair<std::uint32_t, double>>& weights) {
    std::vector<Sample> samples;
    for (const auto& [stack, weight] : weights)
        samples.push_back({.stack = stack, .at = 0, .weight = weight});
    return samples;
}

TEST_CASE("what is below 0 is made up for on the same path, whether that comes later or came before") {
    for (const auto& weights : {std::vector<std::pair<std::uint32_t, double>>{{0, -5}, {1, 100}, {0, 12}},
                                {{0, 12}, {1, 100}, {0, -5}}}) {
        std::vector<Sample> samples = samples_of(weights);
        WholeWeights{}.make_whole(samples, 2);
        CHECK(can_be_drawn(samples));
        CHECK(sum_of(samples, 0) == 7);
        CHECK(sum_of(samples, 1) == 100);
    }
}

TEST_CASE("a path that is below 0 altogether lowers the others of the thread") {
    std::vector<Sample> samples = samples_of({{0, 60}, {1, -20}, {2, 40}});
    WholeWeights{}.make_whole(samples, 3);
    CHECK(can_be_drawn(samples));
    CHECK(sum_of(samples) == 80);
    CHECK(sum_of(samples, 1) == 0);
    CHECK(sum_of(samples, 0) == 48);
}

TEST_CASE("parts of nanoseconds add up") {
    std::vector<Sample> samples = samples_of(std::vector<std::pair<std::uint32_t, double>>(1000, {0, 0.3}));
    WholeWeights{}.make_whole(samples, 1);
    CHECK(can_be_drawn(samples));
    CHECK(std::abs(sum_of(samples) - 300) <= 1);
}

TEST_CASE("what one thread lacks, the next one gives") {
    WholeWeights weights;
    std::vector<Sample> first = samples_of({{0, -30}}), second = samples_of({{1, 100}});
    weights.make_whole(first, 1);
    weights.make_whole(second, 2);
    CHECK(sum_of(first) == 0);
    CHECK(sum_of(second) == 70);
}

TEST_CASE("weights that are no numbers or beyond all measure are drawn as something") {
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    std::vector<Sample> samples =
        samples_of({{0, std::nan("")}, {0, kInfinite}, {0, 1e300}, {0, -1e300}, {0, 3}});
    WholeWeights{}.make_whole(samples, 1);
    CHECK(can_be_drawn(samples));
}

TEST_CASE("the sums of random samples stay") {
    std::mt19937 random{1};
    std::uniform_int_distribution<std::uint32_t> stack{0, 4}, count{1, 50};
    std::uniform_real_distribution<double> weight{-50, 100};
    for (int round = 0; round < test::rounds(300); ++round) {
        WholeWeights weights;
        double before = 0, after = 0;
        for (int thread = 0; thread < 4; ++thread) {
            std::vector<Sample> samples;
            // The last one has enough for what all others owe.
            if (thread == 3) samples.push_back({.stack = 0, .at = 0, .weight = 1e5});
            for (std::uint32_t i = count(random); i > 0; --i)
                samples.push_back({.stack = stack(random), .at = 0, .weight = weight(random)});
            before += sum_of(samples);
            weights.make_whole(samples, 5);
            REQUIRE(can_be_drawn(samples));
            after += sum_of(samples);
        }
        // Of each path, and of what the threads owe, a part is left.
        REQUIRE(std::abs(after - before) <= 6);
    }
}

}  // namespace
}  // namespace rdam::exports::firefox
