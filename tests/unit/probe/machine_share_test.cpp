#include "tools/agent/process/machine_share.h"

#include <sched.h>
#include <unistd.h>

#include <ctime>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/temporary_folder.h"
#include "tools/agent/process/numa_nodes.h"

using namespace rdam::agent;
using rdam::PlanStore;
using rdam::test::TemporaryFolder;

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
    slices[3] = slice(20, 50000);
    CHECK(share_of(slices) == Approx(usual));
    CHECK(share_of(std::span{slices}.first(2)) == 0);
    CHECK(share_of({}) == 0);
}

TEST_CASE("what the host ran in between is not an interrupt", "[machine]") {
    Gaps gaps(40);
    gaps.add(40);
    gaps.add(2'000'000);
    CHECK(gaps.taken() == 0);
    CHECK(gaps.all() == 40);
    CHECK(share_of(std::vector<Gaps>(5, slice(500, 2'000'000))) == 0);
}

TEST_CASE("what processors did is in /proc/stat, for each of them", "[machine]") {
    const double second = static_cast<double>(sysconf(_SC_CLK_TCK));
    const std::string text =
        "cpu  11 22 33 44 55 66 77 88 99 0\n"
        "cpu0 1 2 3 1000 500 6 7 8 1 1\n"
        "cpu1 10 20 30 1000 500 60 70 80 10 10\n"
        "cpu10 100 200 300 1000 500 600 700 800 100 100\n"
        "intr 1 2 3 4 5 6 7 8 9\n";
    const ProcessorTimes one = processor_times(text, {0});
    CHECK(one.wanted == Approx(27 / second));
    CHECK(one.interrupts == Approx(13 / second));
    CHECK(one.stolen == Approx(8 / second));
    const ProcessorTimes two = processor_times(text, {0, 10});
    CHECK(two.wanted == Approx(2727 / second));
    CHECK((two - one).stolen == Approx(800 / second));
    CHECK(processor_times("", {0}).wanted == 0);
    CHECK(processor_times("cpu0 1 2 3\n", {0}).wanted == 0);
    CHECK(processor_times(std::vector<std::uint32_t>{0}).wanted > 0);
}

TEST_CASE("what the first milliseconds were like does not stand for the run", "[machine]") {
    // 7 s of steal in 50 minutes of two processors.
    const ProcessorTimes quiet{6000, 3, 7};
    CHECK(share_of_run(0, quiet) == Approx(0.0005 + 7.0 / 6000));
    CHECK(share_of_run(0.012, quiet) == Approx(0.012 + 7.0 / 6000));
    CHECK(share_of_run(0.5, quiet) < 0.06);
    // What was taken all the time is told, whatever the beginning was like.
    CHECK(share_of_run(0, {100, 20, 10}) == Approx(0.3));
    CHECK(share_of_run(0.02, {}) == 0.02);
    CHECK(share_of_run(0, {1, 1, 1}) == 1);
}

TEST_CASE("what the machine takes is a share, and nobody is bound to a processor for it", "[machine]") {
    const auto before = processors_of(0);
    MachineShare machine(before, PlanStore{""});
    const double share = machine.result();
    CHECK(share >= 0);
    CHECK(share < 1);
    CHECK(processors_of(0) == before);
}

TEST_CASE("without a processor nothing is known of the machine", "[machine]") {
    CHECK(MachineShare({}, PlanStore{""}).result() == 0);
    CHECK(MachineShare({CPU_SETSIZE - 1}, PlanStore{""}).result() == 0);
    CHECK(MachineShare({CPU_SETSIZE + 7}, PlanStore{""}).result() == 0);
}

TEST_CASE("measured shares are kept for an hour, for the same processors", "[machine]") {
    const TemporaryFolder folder;
    const PlanStore store{folder.file("cache"), PlanStore::kMeasurements};
    const KeptShares kept(store, {0, 1});
    CHECK_FALSE(kept.load(1000));
    CHECK(kept.add(0.5, 1000) == 0.5);
    // One that is unlike the others is not what the next runs get.
    for (const double share : {0.02, 0.03, 0.01})
        kept.add(share, 1001);
    CHECK_FALSE(kept.load(1002));
    CHECK(kept.add(0.02, 1002) == 0.02);
    CHECK(kept.load(1002) == 0.02);
    CHECK(kept.load(4000) == 0.02);
    CHECK_FALSE(kept.load(4700));
    CHECK_FALSE(kept.load(999));
    CHECK_FALSE(KeptShares(store, {0, 1, 2}).load(1002));
    CHECK(kept.add(0.04, 4700) == 0.04);
    CHECK_FALSE(kept.load(4700));
}

TEST_CASE("what cannot be a share is not kept as one", "[machine]") {
    const TemporaryFolder folder;
    const PlanStore store{folder.file("cache"), PlanStore::kMeasurements};
    const KeptShares kept(store, {0});
    for (const double share : {7.0, -1.0, 0.0, 0.02, 0.02})
        kept.add(share, 1000);
    CHECK_FALSE(kept.load(1000));
    kept.add(0.02, 1000);
    kept.add(0.02, 1000);
    kept.add(0.02, 1000);
    CHECK(kept.load(1000) == 0.02);
}

TEST_CASE("what has been measured is kept", "[machine]") {
    const TemporaryFolder folder;
    const PlanStore store{folder.file("cache"), PlanStore::kMeasurements};
    const auto processors = processors_of(0);
    const double share = MachineShare(processors, store).result();
    if (share == 0) return;  // the processors were too busy
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    CHECK(KeptShares(store, processors).add(share, static_cast<double>(now.tv_sec) + 1) == share);
    for (std::size_t i = 2; i < KeptShares::kEnough; ++i)
        KeptShares(store, processors).add(share, static_cast<double>(now.tv_sec) + 1);
    // With that of the measurement they are enough.
    CHECK(KeptShares(store, processors).load(static_cast<double>(now.tv_sec) + 1) == share);
}

TEST_CASE("what is kept is believed without a measurement", "[machine]") {
    const TemporaryFolder folder;
    const PlanStore store{folder.file("cache"), PlanStore::kMeasurements};
    const auto processors = processors_of(0);
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    for (std::size_t i = 0; i < KeptShares::kEnough; ++i)
        KeptShares(store, processors).add(0.75, static_cast<double>(now.tv_sec));
    CHECK(MachineShare(processors, store).result() == 0.75);
}
