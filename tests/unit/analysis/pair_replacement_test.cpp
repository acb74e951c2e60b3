// Pair replacement against an implementation that follows the text word by word.
#include "analyzer/mining/pair_replacement.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <tuple>
#include <vector>

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
    std::vector<mining::MetaEvent> metas;
    std::vector<Occurrence> occurrences;
};

bool operator==(const Outcome& a, const Outcome& b) {
    const auto fields = [](const mining::MetaEvent& m) {
        return std::tie(m.left, m.right, m.length, m.occurrences);
    };
    return a.occurrences == b.occurrences &&
           std::ranges::equal(a.metas, b.metas,
                              [&](const auto& x, const auto& y) { return fields(x) == fields(y); });
}

class Collector : public mining::ReplacementSink {
  public:
    void replaced(std::uint32_t meta, std::uint32_t first, std::uint32_t last) override {
        occurrences.push_back({meta, first, last});
    }
    std::vector<Occurrence> occurrences;
};

Outcome fast(const Symbols& symbols) {
    Collector collector;
    Outcome outcome;
    outcome.metas = mining::replace_pairs(symbols, collector);
    outcome.occurrences = std::move(collector.occurrences);
    return outcome;
}

struct Piece {
    std::uint32_t symbol = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
};

bool is_pair(const std::vector<Piece>& row, std::size_t i, std::uint32_t left, std::uint32_t right) {
    return i + 1 < row.size() && row[i].symbol == left && row[i + 1].symbol == right;
}

Outcome by_the_letter(const Symbols& symbols) {
    Outcome outcome;
    std::vector<Piece> row;
    for (std::uint32_t i = 0; i < symbols.size(); ++i)
        row.push_back({symbols[i], i, i});
    for (std::size_t at = 0; at + 1 < row.size();) {
        const std::uint32_t left = row[at].symbol;
        const std::uint32_t right = row[at + 1].symbol;
        std::uint32_t count = 0;
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (!is_pair(row, i, left, right)) continue;
            ++count;
            ++i;
        }
        if (count < 2) {
            ++at;
            continue;
        }
        const auto meta = static_cast<std::uint32_t>(outcome.metas.size());
        std::vector<Piece> shorter;
        std::uint32_t length = 0;
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (!is_pair(row, i, left, right)) {
                shorter.push_back(row[i]);
                continue;
            }
            shorter.push_back({mining::kFirstMeta + meta, row[i].first, row[i + 1].last});
            length = row[i + 1].last - row[i].first + 1;
            outcome.occurrences.push_back({meta, row[i].first, row[i + 1].last});
            ++i;
        }
        outcome.metas.push_back({left, right, length, count});
        row = std::move(shorter);
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

TEST_CASE("random sequences", "[patterns]") {
    std::mt19937 random{20181};
    for (int round = 0; round < 300'000; ++round) {
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
