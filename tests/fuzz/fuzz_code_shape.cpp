// Any bytes as a function: its shape is told without reading behind their end, and makes sense.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "wrappers/hot/code_shape.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::vector<std::uint8_t> body(data, data + size);
    const auto shape = rdam::shape_of_code(body);
    const bool leaves = std::all_of(shape.exits.begin(), shape.exits.end(),
                                    [&](std::uint64_t exit) { return exit >= body.size(); });
    // A loop polls, and something is followed.
    const bool sound = shape.in_loop.size() == body.size() && leaves && (!shape.polls || shape.loops()) &&
                       (!body.empty() || !shape.followed);
    if (sound) return 0;
    std::fprintf(stderr, "a shape that no code has\n");
    std::abort();
}
