// What ran where, and parts of an output that are written side by side.
#include "analyzer/export/processors.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <vector>

#include "analyzer/export/slices.h"
#include "tests/unit/catch.h"
#include "tests/unit/formats/collected.h"
#include "tools/base/in_parallel.h"

namespace rdam::test {
namespace {

using exports::OnProcessor;
using exports::Processors;

bool same(const OnProcessor& a, const OnProcessor& b) {
    return a.cpu == b.cpu && a.thread == b.thread && a.function == b.function && a.begin == b.begin &&
           a.end == b.end;
}
bool same(const std::vector<OnProcessor>& a, const std::vector<OnProcessor>& b) {
    return std::ranges::equal(a, b, [](const OnProcessor& x, const OnProcessor& y) { return same(x, y); });
}

/// Refuses what comes after so many bytes.
class ShortSink final : public exports::Sink {
  public:
    explicit ShortSink(std::size_t most) : most_(most) {}
    Result<void> write(std::string_view bytes) override {
        text.append(bytes);
        if (text.size() > most_) return fail("no room");
        return {};
    }
    std::string text;

  private:
    std::size_t most_;
};

}  // namespace

TEST_CASE("a call is where its thread was between its times off the processors", "[processors]") {
    Processors processors{100};
    const std::vector<trace::OffCpu> off{{.out = 50, .in = 90, .cpu = 1},
                                         {.out = 120, .in = 150, .cpu = 2},
                                         {.out = 180, .in = 200, .cpu = 3},
                                         {.out = 400, .in = 500, .cpu = 0}};
    processors.add({.cpu = 7, .thread = 4, .function = 5, .begin = 100, .end = 300}, 3, off);
    CHECK(same(processors.by_processor(), {{2, 4, 5, 150, 180}, {3, 4, 5, 200, 300}, {7, 4, 5, 100, 120}}));
}

TEST_CASE("where a thread moved at an unknown time is not said", "[processors]") {
    Processors processors{100};
    processors.add({.cpu = 1, .begin = 100, .end = 300}, 2, {});
    CHECK(processors.by_processor().empty());
    processors.add({.cpu = trace::kNoCpu, .begin = 100, .end = 300}, trace::kNoCpu, {});
    CHECK(processors.by_processor().empty());
    processors.add({.cpu = 2, .begin = 400, .end = 500}, 2, {});
    CHECK(processors.by_processor().size() == 1);
}

TEST_CASE("who begins on a processor ends the one before", "[processors]") {
    Processors processors{100};
    processors.add({.cpu = 1, .thread = 1, .begin = 100, .end = 300}, 1, {});
    processors.add({.cpu = 1, .thread = 2, .begin = 200, .end = 250}, 1, {});
    processors.add({.cpu = 0, .thread = 3, .begin = 150, .end = 400}, 0, {});
    CHECK(same(processors.by_processor(), {{0, 3, 0, 150, 400}, {1, 1, 0, 100, 200}, {1, 2, 0, 200, 250}}));
}

TEST_CASE("the longest stretches are kept, in any order", "[processors]") {
    std::mt19937_64 random{8};
    std::vector<OnProcessor> all;
    for (std::uint32_t i = 0; i < 5000; ++i)
        all.push_back({.cpu = static_cast<std::uint16_t>(i % 4),
                       .thread = i,
                       .begin = 100'000 * std::uint64_t{i},
                       .end = 100'000 * std::uint64_t{i} + 1 + random() % 300});
    const auto kept_of = [&](std::size_t parts) {
        std::vector<Processors> some(parts, Processors{200});
        for (std::size_t i = 0; i < all.size(); ++i)
            some[i % parts].add(all[i], all[i].cpu, {});
        Processors together{200};
        for (const Processors& each : some)
            together.add(each);
        return together.by_processor();
    };
    const std::vector<OnProcessor> kept = kept_of(1);
    REQUIRE(kept.size() == 200);
    std::uint64_t least = UINT64_MAX;
    for (const OnProcessor& each : kept)
        least = std::min(least, each.end - each.begin);
    CHECK(std::ranges::count_if(
              all, [&](const OnProcessor& each) { return each.end - each.begin > least; }) <= 200);
    std::ranges::shuffle(all, random);
    CHECK(same(kept_of(1), kept));
    CHECK(same(kept_of(7), kept));
}

TEST_CASE("parts that are written side by side come in their order", "[in_order]") {
    for (const std::size_t most : {std::size_t{0}, std::size_t{100}, std::size_t{1} << 20}) {
        TextSink sink;
        exports::InOrder in_order{sink, most};
        constexpr std::size_t kParts = 200;
        score::in_parallel(kParts, 8, [&](std::size_t i) {
            exports::InOrder::Part part{in_order, i};
            for (std::size_t line = 0; line < i % 9; ++line)
                (void)part.write(std::to_string(i) + "." + std::to_string(line) + "\n");
        });
        std::string expected;
        for (std::size_t i = 0; i < kParts; ++i)
            for (std::size_t line = 0; line < i % 9; ++line)
                expected += std::to_string(i) + "." + std::to_string(line) + "\n";
        CHECK(sink.text == expected);
    }
}

TEST_CASE("no part is written after an error, and none waits for ever", "[in_order]") {
    ShortSink sink{500};
    exports::InOrder in_order{sink, 64};
    std::atomic<int> failed = 0;
    score::in_parallel(100, 8, [&](std::size_t i) {
        exports::InOrder::Part part{in_order, i};
        const std::string line(20, static_cast<char>('a' + i % 26));
        for (int n = 0; n < 5; ++n)
            if (const auto written = part.write(line); !written) {
                ++failed;
                break;
            }
    });
    CHECK(failed > 0);
    // The one that was refused, at most with what waited for its turn.
    CHECK(sink.text.size() <= 500 + 64 + 20);
}

}  // namespace rdam::test
