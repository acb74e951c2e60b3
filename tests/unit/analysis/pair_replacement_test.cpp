// Pair replacement against an implementation that follows the text word by word.
#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/sequences/pattern_store.h"
#include "tests/unit/analysis/reference_patterns.h"
#include "tests/unit/catch.h"
#include "tests/unit/rounds.h"

namespace rdam::test {
namespace {

using Symbols = std::vector<std::uint32_t>;

struct Occurrence {
    std::uint32_t meta = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;

    friend bool operator==(const Occurrence&, const Occurrence&) = default;
};

struct Outcome {
    std::vector<sequences::MetaEvent> metas;
    std::vector<Occurrence> occurrences;
};

bool operator==(const Outcome& a, const Outcome& b) {
    const auto fields = [](const sequences::MetaEvent& m) {
        return std::tie(m.left, m.right, m.length, m.occurrences);
    };
    return a.occurrences == b.occurrences &&
           std::ranges::equal(a.metas, b.metas,
                              [&](const auto& x, const auto& y) { return fields(x) == fields(y); });
}

class Collector : public sequences::ReplacementSink {
  public:
    void made(std::uint32_t meta, std::uint32_t left, std::uint32_t right) override {
        if (meta != made_.size()) wrong = true;
        made_.emplace_back(left, right);
    }
    void replaced(std::uint32_t meta, std::uint32_t first, std::uint32_t last) override {
        if (meta + 1 != made_.size()) wrong = true;
        occurrences.push_back({meta, first, last});
    }
    bool wrong = false;
    std::vector<Occurrence> occurrences;

  private:
    std::vector<std::pair<std::uint32_t, std::uint32_t>> made_;
};

Outcome fast(Symbols symbols) {
    Collector collector;
    Outcome outcome;
    outcome.metas = sequences::replace_pairs(symbols, collector);
    if (!collector.wrong) outcome.occurrences = std::move(collector.occurrences);
    return outcome;
}

Outcome by_the_letter(const Symbols& symbols) {
    Outcome outcome;
    for (const LetterPattern& pattern : replace_pairs_by_the_letter(symbols)) {
        const auto meta = static_cast<std::uint32_t>(outcome.metas.size());
        const auto& [first, last] = pattern.occurrences.front();
        outcome.metas.push_back({pattern.left, pattern.right, last - first + 1,
                                 static_cast<std::uint32_t>(pattern.occurrences.size())});
        for (const auto& each : pattern.occurrences)
            outcome.occurrences.push_back({meta, each.first, each.second});
    }
    return outcome;
}

Symbols letters(const std::string& text) {
    return {text.begin(), text.end()};
}

/// The patterns as text, each with its number of occurrences.
std::vector<std::pair<std::string, std::uint32_t>> spelled(const std::string& text) {
    const Outcome outcome = fast(letters(text));
    std::vector<std::pair<std::string, std::uint32_t>> result;
    for (std::uint32_t meta = 0; meta < outcome.metas.size(); ++meta)
        for (const Occurrence& each : outcome.occurrences)
            if (each.meta == meta) {
                result.emplace_back(text.substr(each.first, each.last - each.first + 1),
                                    outcome.metas[meta].occurrences);
                break;
            }
    return result;
}

Symbols structured(std::mt19937& random) {
    Symbols symbols;
    const auto letter = [&, alphabet = 1 + random() % 5] {
        return static_cast<std::uint32_t>(random() % alphabet);
    };
    const std::size_t length = random() % 60;
    while (symbols.size() < length) {
        const std::size_t from = symbols.empty() ? 0 : random() % symbols.size();
        if (random() % 3 == 0)
            for (std::size_t i = from; i < symbols.size() && i < from + 8; ++i)
                symbols.push_back(symbols[i]);
        symbols.push_back(letter());
    }
    return symbols;
}

}  // namespace

TEST_CASE("the thesis's example", "[patterns]") {
    CHECK(spelled("abcbdabeabc") ==
          std::vector<std::pair<std::string, std::uint32_t>>{{"ab", 3}, {"abc", 2}});
}

TEST_CASE("pairs that overlap are counted without overlap", "[patterns]") {
    using Patterns = std::vector<std::pair<std::string, std::uint32_t>>;
    CHECK(spelled("").empty());
    CHECK(spelled("a").empty());
    CHECK(spelled("aaa").empty());
    CHECK(spelled("aaaa") == Patterns{{"aa", 2}});
    CHECK(spelled("aaaaa") == Patterns{{"aa", 2}});
    CHECK(spelled("aaabaaa") == Patterns{{"aa", 2}, {"aaa", 2}});
    CHECK(spelled("aaaaaaaa") == Patterns{{"aa", 4}, {"aaaa", 2}});
}

TEST_CASE("all short sequences over three letters", "[patterns]") {
    constexpr std::uint32_t kLetters = 3;
    for (std::uint32_t length = 0; length <= 11; ++length) {
        std::uint32_t all = 1;
        for (std::uint32_t i = 0; i < length; ++i)
            all *= kLetters;
        Symbols symbols(length);
        for (std::uint32_t number = 0; number < all; ++number) {
            std::uint32_t rest = number;
            for (std::uint32_t& symbol : symbols) {
                symbol = rest % kLetters;
                rest /= kLetters;
            }
            if (fast(symbols) == by_the_letter(symbols)) continue;
            FAIL("sequence " << number << " of length " << length);
        }
    }
}

TEST_CASE("random sequences", "[patterns][random]") {
    std::mt19937 random{20181};
    for (int round = 0; round < rounds(300'000); ++round) {
        const Symbols symbols = structured(random);
        if (fast(symbols) == by_the_letter(symbols)) continue;
        FAIL("round " << round);
    }
}

TEST_CASE("a long run of one pattern", "[patterns]") {
    Symbols symbols;
    for (int i = 0; i < (1 << 16); ++i) {
        symbols.push_back(1);
        symbols.push_back(2);
    }
    const Outcome outcome = fast(symbols);
    REQUIRE(outcome.metas.size() == 16);
    for (std::uint32_t i = 0; i < outcome.metas.size(); ++i) {
        CHECK(outcome.metas[i].length == 2U << i);
        CHECK(outcome.metas[i].occurrences == (1U << 16) >> i);
    }
}

}  // namespace rdam::test
