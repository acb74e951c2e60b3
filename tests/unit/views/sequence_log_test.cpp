// The sequences of calls, kept from pass to pass.
#include "analyzer/views/sequence_log.h"

#include <random>
#include <vector>

#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

using views::LogRoom;
using views::SequenceLog;

}  // namespace

TEST_CASE("a log gives back what was added", "[sequence_log]") {
    std::mt19937_64 random{2};
    LogRoom room{std::size_t{1} << 24};
    SequenceLog log;
    std::vector<std::uint32_t> all{0, 1, 127, 128, 16383, 16384, UINT32_MAX};
    for (int i = 0; i < 100'000; ++i)
        all.push_back(static_cast<std::uint32_t>(random() >> (32 + random() % 32)));
    for (const std::uint32_t each : all)
        log.add(each, room);
    REQUIRE(log.whole());
    SequenceLog::Reader reader{log};
    std::size_t wrong = 0;
    for (const std::uint32_t each : all)
        if (reader.next() != each) ++wrong;
    CHECK(wrong == 0);
    CHECK(reader.next() == 0);  // beyond the end
}

TEST_CASE("a log without room is not whole, and leaves the room to others", "[sequence_log]") {
    LogRoom room{10'000};
    SequenceLog first, second;
    for (int i = 0; i < 20'000; ++i)
        first.add(1, room);
    CHECK_FALSE(first.whole());
    for (int i = 0; i < 2000; ++i)
        second.add(1, room);
    CHECK(second.whole());
}

}  // namespace rdam::test
