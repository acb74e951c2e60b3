#include <algorithm>
#include <random>

#include "analyzer/score/call_sample.h"
#include "tests/unit/catch.h"

using rdam::samples::window_shift;
using rdam::samples::WindowCall;
using rdam::samples::Windows;
using rdam::samples::WindowSample;

namespace {

constexpr unsigned kShift = 10;

/// Short calls one after the other, now and then a long one around some of them.
std::vector<WindowCall> window_calls(std::size_t count, std::uint64_t apart) {
    std::vector<WindowCall> calls;
    std::mt19937 random;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t begin = i * apart + random() % apart;
        const std::uint64_t length = random() % 100 == 0 ? 200'000 : random() % 50;
        calls.push_back({.begin = begin, .end = begin + length, .duration = length});
    }
    return calls;
}

bool reaches_in(const Windows& windows, const WindowCall& call) {
    for (std::uint64_t number = call.begin >> kShift; number <= call.end >> kShift; ++number)
        if (windows.keeps(number)) return true;
    return false;
}

}  // namespace

TEST_CASE("With room for all calls all are kept") {
    WindowSample sample{1000, kShift};
    for (const WindowCall& call : window_calls(900, 100))
        sample.offer(call);
    CHECK(sample.calls().size() == 900);
    CHECK(sample.windows().all());
}

TEST_CASE("Of the windows that are kept every call is there") {
    const auto offered = window_calls(200'000, 100);
    WindowSample sample{2000, kShift};
    for (const WindowCall& call : offered)
        sample.offer(call);
    REQUIRE(sample.calls().size() <= 2000);
    CHECK(sample.calls().size() > 500);
    const Windows windows = sample.windows();
    std::size_t inside = 0;
    for (const WindowCall& call : offered)
        inside += reaches_in(windows, call) ? 1 : 0;
    // Very long calls are kept without a look at all of their windows.
    CHECK(sample.calls().size() >= inside);
    for (const WindowCall& call : sample.calls())
        if (call.end - call.begin < 1000) CHECK(reaches_in(windows, call));
}

TEST_CASE("Two threads keep the same windows") {
    WindowSample busy{500, kShift}, idle{500, kShift};
    for (const WindowCall& call : window_calls(100'000, 50))
        busy.offer(call);
    for (const WindowCall& call : window_calls(5000, 1000))
        idle.offer(call);
    REQUIRE(busy.windows().limit < idle.windows().limit);
    for (std::uint64_t number = 0; number < 5000; ++number)
        if (busy.windows().keeps(number)) REQUIRE(idle.windows().keeps(number));
}

TEST_CASE("No windows where none are wanted") {
    WindowSample none{0, kShift};
    none.offer({.begin = 5, .end = 7});
    CHECK(none.calls().empty());
}

TEST_CASE("Windows are short, but not too many") {
    CHECK(window_shift(3e9, 3'000'000'000) == 21);  // 0.7 ms
    CHECK(window_shift(3e9, std::uint64_t{1} << 45) == 28);
    CHECK(window_shift(0, 1000) == 1);
    CHECK(window_shift(1e300, UINT64_MAX) == 46);
}
