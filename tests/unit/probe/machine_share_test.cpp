#include "tools/agent/processors/machine_share.h"

#include <sched.h>
#include <unistd.h>

#include <vector>

#include "tests/unit/catch.h"
#include "tools/agent/processors/placement.h"

using namespace rdam::agent;

namespace {

/// A slice of a thousand readings 40 ns apart, `interrupts` of which came so much later.
Gaps slice(int interrupts, std::int64_t each) {
    Gaps gaps(40);
    for (int i = 0; i < 1000; ++i)
        gaps.add(i < interrupts ? each : 40 + i % 7);
    return gaps;
}

}  // namespace

TEST_CASE("only readings far apart count as taken", "[machine]") {
    Gaps gaps(40);
    gaps.add(40);
    gaps.add(240);
    CHECK(gaps.taken() == 0);
    gaps.add(241);
    CHECK(gaps.taken() == 241);
    CHECK(gaps.all() == 521);
}

TEST_CASE("a slice that was disturbed far more than the others does not count", "[machine]") {
    std::vector<Gaps> slices(5, slice(2, 500));
    const double usual = share_of(slices);
    CHECK(usual == Approx(1000.0 / static_cast<double>(slices[0].all())));
    slices[3] = slice(1, 2000000);
    CHECK(share_of(slices) == Approx(usual));
    CHECK(share_of(std::span{slices}.first(2)) == 0);
    CHECK(share_of({}) == 0);
}

TEST_CASE("what the host kept back is the eighth number of /proc/stat", "[machine]") {
    const double second = static_cast<double>(sysconf(_SC_CLK_TCK));
    CHECK(stolen_seconds("cpu  5009021 626952 654652 1915230 12868 0 3073 16118 0 0") ==
          Approx(16118 / second));
    CHECK(stolen_seconds("cpu  1 2 3") == 0);
    CHECK(stolen_seconds("intr 1 2 3 4 5 6 7 8 9") == 0);
    CHECK(stolen_seconds("") == 0);
    const StolenShare since;
    CHECK(since.now() >= 0);
    CHECK(since.now() <= 1);
}

TEST_CASE("what the machine takes is a share, and nobody is bound to a processor for it", "[machine]") {
    const auto before = processors_of(0);
    MachineShare machine(before);
    const double share = machine.result();
    CHECK(share >= 0);
    CHECK(share < 1);
    CHECK(processors_of(0) == before);
}

TEST_CASE("without a processor nothing is known of the machine", "[machine]") {
    CHECK(MachineShare{{}}.result() == 0);
    CHECK(MachineShare{{CPU_SETSIZE - 1}}.result() == 0);
    CHECK(MachineShare{{CPU_SETSIZE + 7}}.result() == 0);
}
