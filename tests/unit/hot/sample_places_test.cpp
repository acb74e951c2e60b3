// What perf script prints of samples, line by line.
#include "wrappers/list/sample_places.h"

#include "tests/unit/catch.h"

using rdam::parse_sample_places;
using Offsets = rdam::SamplePlaces::Offsets;

TEST_CASE("samples are counted by module, function and offset") {
    const auto places = parse_sample_places(
        "    7f7122fbbadf __strlen_evex+0x1f (/usr/lib/x86_64-linux-gnu/libc.so.6)\n"
        "    7f7122fbbadf __strlen_evex+0x1f (/usr/lib/x86_64-linux-gnu/libc.so.6)\n"
        "    556f2102e2d5 __strlen_evex+0x0 (/tmp/my folder (1)/app (deleted))\n"
        "    556f2102e2d5 std::map<int, char const*>::find(int const&)+0xa5 (/tmp/app)\n"
        "ffffffff821f5b65 operator+0x105 ([kernel.kallsyms])");
    CHECK(places.of("libc.so.6", "__strlen_evex") == Offsets{{0x1f, 2}});
    CHECK(places.of("app", "__strlen_evex") == Offsets{{0, 1}});
    CHECK(places.of("", "__strlen_evex") == Offsets{{0, 1}, {0x1f, 2}});
    CHECK(places.of("app", "std::map<int, char const*>::find(int const&)") == Offsets{{0xa5, 1}});
    CHECK(places.of("[kernel.kallsyms]", "operator") == Offsets{{0x105, 1}});
    CHECK(places.of("app", "find").empty());
    CHECK(places.of("libm.so.6", "__strlen_evex").empty());
}

TEST_CASE("lines without an offset, a module or a name say nothing") {
    const auto places = parse_sample_places(
        "\n  7f71 [unknown] (/app)\nf+0x1\nf+0x1 (/app)\n  7f71 f+0x (/app)\n  7f71 f+0x1\n  7f71 f+0x1 "
        "/app\n"
        "  7f71 f+0x1 ()\n+0x\n 7f71 f+0xfffffffffffffffff (/app)\n");
    for (const auto* name : {"f", "", "[unknown]"})
        CHECK(places.of("", name).empty());
}
