// What properties of an archive say of sampling.
#include "analyzer/otf2/sampling.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

using otf2::FunctionSampling;

TEST_CASE("What is told of a function comes back, and nothing of one that is recorded whole") {
    CHECK(otf2::text_of({}).empty());
    CHECK(otf2::sampling_in("") == FunctionSampling{});
    const FunctionSampling all{.sampled = true,
                               .counted = true,
                               .most_rate = 7,
                               .windowed_since = 0,
                               .window_group = 9,
                               .switched_off = 1U << 30U,
                               .wait_of = 3};
    CHECK(otf2::sampling_in(otf2::text_of(all)) == all);
    const FunctionSampling some{.counted = true, .windowed_since = UINT64_MAX};
    CHECK(otf2::sampling_in(otf2::text_of(some)) == some);
    // Of a later version, or damaged.
    CHECK(otf2::sampling_in("more=3 counted rate=200 since= off=-1 off=x group=64 group=") ==
          FunctionSampling{.counted = true});
}

TEST_CASE("Windows come back from texts of any length") {
    std::mt19937_64 random;  // NOLINT(cert-msc51-cpp): the same windows every time
    for (const std::size_t longest : {64, 100, 4000}) {
        std::vector<trace::Window> windows;
        std::uint64_t at = 0;
        for (int i = 0; i < 5000; ++i) {
            const std::uint64_t begin = at + random() % (i % 7 == 0 ? std::uint64_t{1} << 40U : 2);
            windows.push_back({begin, begin + 1 + random() % 1000, static_cast<std::uint32_t>(random() % 3)});
            at = windows.back().end;
        }
        const std::vector<std::string> texts = otf2::texts_of(windows, longest);
        CHECK(texts.size() > 1);
        std::vector<trace::Window> read;
        for (const std::string& text : texts) {
            CHECK(text.size() <= longest);
            REQUIRE(otf2::read_windows(text, UINT64_MAX, read));
        }
        CHECK(read == windows);
    }
    CHECK(otf2::texts_of({}, 64).empty());
}

TEST_CASE("What are no windows in the order of time is not read") {
    for (const std::string text :
         {"1", "1+", "+1", "1+0", "-1+2", "1+2+3", "x+2", "90+11", "101+1", "1+2/64", "1+2/", "1/2+3",
          "1+2/x", "18446744073709551615+2", "2+18446744073709551615"}) {
        std::vector<trace::Window> windows;
        INFO(text);
        CHECK_FALSE(otf2::read_windows("10+5 " + text, 100 + 15, windows));
        CHECK(windows == std::vector<trace::Window>{{10, 15}});
    }
    std::vector<trace::Window> windows;
    CHECK(otf2::read_windows("90+10", 100, windows));
    CHECK_FALSE(otf2::read_windows("0+1", 100, windows));
}

}  // namespace
}  // namespace rdam::test
