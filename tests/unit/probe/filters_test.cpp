// What the agent does for a process whose system calls are filtered.
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/catch.h"
#include "tests/unit/probe/fresh_memory.h"
#include "tools/agent/memory/ready_chunks.h"
#include "tools/agent/process/privileges.h"

namespace rdam::agent {
namespace {

constexpr std::uint32_t kChunks = 300;

TEST_CASE("the number of filters is read from /proc/PID/status") {
    CHECK(parse_filters("Name:\ta\nSeccomp:\t0\nSeccomp_filters:\t0\n") == 0);
    CHECK(parse_filters("Name:\ta\nSeccomp:\t2\nSeccomp_filters:\t3\n") == 3);
    // Strict mode, and kernels before 5.9.
    CHECK(parse_filters("Name:\ta\nSeccomp:\t1\nSeccomp_filters:\t0\n") == 1);
    CHECK(parse_filters("Name:\ta\nSeccomp:\t2\n") == 1);
    CHECK_FALSE(parse_filters("Name:\ta\n"));
    CHECK_FALSE(parse_filters(""));
}

TEST_CASE("a process without a new filter has no more") {
    CHECK_FALSE(FilterWatch(static_cast<std::uint32_t>(getpid())).more());
}

TEST_CASE("chunks have memory ahead of threads under a filter, and no others") {
    const SharedMemory shared = test::fresh_memory(kChunks);
    shm::Control& control = shared.control();
    ReadyChunks ready(shared);
    ready.look();
    CHECK(control.ready_chunks.load() == 0);
    control.filtered = shm::kFilterSeen;
    control.fresh_chunks.store(5);
    ready.look();
    const std::uint32_t first = control.ready_chunks.load();
    CHECK(first > 5);
    CHECK(first < 100);
    // Who takes many is given many.
    control.fresh_chunks.store(first);
    ready.look();
    CHECK(control.ready_chunks.load() >= 2 * first - 5);
    // Somebody waits.
    control.waiters = 1;
    ready.look();
    CHECK(control.ready_chunks.load() > 256);
    // There are no more than there are, whatever stands there.
    control.fresh_chunks.store(100000);
    ready.look();
    CHECK(control.ready_chunks.load() <= kChunks);
}

}  // namespace
}  // namespace rdam::agent
