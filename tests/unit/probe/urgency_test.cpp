// When the agent keeps out of the program's way, and where it runs.
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <memory>
#include <thread>

#include "tests/unit/catch.h"
#include "tests/unit/temporary_folder.h"
#include "tools/agent/process/machine_share.h"
#include "tools/agent/process/numa_nodes.h"
#include "tools/agent/process/priorities.h"
#include "tools/agent/process/priority_keeper.h"

using namespace rdam;
using namespace rdam::agent;

namespace {

/// As the shared memory begins.
struct Beginning {
    shm::Control control{};
    std::byte between[shm::kBirthsOffset - sizeof(shm::Control)]{};
    shm::Births births{};
};

static_assert(offsetof(Beginning, births) == shm::kBirthsOffset);

/// The part of the shared memory that says who waits; a process that runs and has its file.
std::shared_ptr<shm::Control> running(std::uint32_t chunks = 100) {
    const auto memory = std::make_shared<Beginning>();
    const std::shared_ptr<shm::Control> control(memory, &memory->control);
    control->chunks = chunks;
    control->file_futex = 1;
    control->process_state = shm::ProcessState::running;
    return control;
}

class FakePriorities final : public Priorities {
  public:
    void lower() override { low = true, ++changes; }
    void raise() override { low = false, ++changes; }
    bool settle() override { return ++tries > defer; }

    std::atomic<bool> low{false};
    std::atomic<int> changes{0};
    std::atomic<int> defer{0};  ///< so many tries
    std::atomic<int> tries{0};
};

/// False: it does not come true in half a minute.
bool becomes(const std::atomic<bool>& what, bool value) {
    for (int i = 0; i < 3000 && what.load() != value; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return what.load() == value;
}

void write(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("each of those who wait is a reason, and none is none") {
    Urgency urgency;
    CHECK_FALSE(urgency.update({}));
    CHECK(urgency.update({.starting = true}));
    CHECK(urgency.update({.late_plan = true}));
    CHECK(urgency.update({.ending = true}));
    CHECK(urgency.update({.waiters = 1}));
    CHECK(urgency.update({.late_plan = true, .ending = true}));
    CHECK_FALSE(urgency.update({}));
}

TEST_CASE("a buffer that is nearly full is urgent until half of it is free") {
    Urgency urgency;
    CHECK_FALSE(urgency.update({.used = 0.74}));
    CHECK(urgency.update({.used = 0.75}));
    CHECK(urgency.update({.used = 0.6}));
    CHECK(urgency.update({.used = 0.5}));
    CHECK_FALSE(urgency.update({.used = 0.49}));
    CHECK_FALSE(urgency.update({.used = 0.6}));
    // Who waits while the buffer is half full needs all of it drained to there as well.
    CHECK(urgency.update({.waiters = 1, .used = 0.6}));
    CHECK(urgency.update({.used = 0.6}));
    CHECK_FALSE(urgency.update({.used = 0.4}));
}

TEST_CASE("the shared memory tells who waits") {
    const auto control = running();
    CHECK_FALSE(Urgency{}.update(look_at(*control, false)));
    CHECK(look_at(*control, true).ending);
    control->process_state = shm::ProcessState::ending;
    CHECK(look_at(*control, false).ending);
    control->file_futex = 0;
    CHECK(look_at(*control, false).starting);
    control->late_asked = 3;
    control->late_answered_futex = 2;
    CHECK(look_at(*control, false).late_plan);
    control->late_answered_futex = 3;
    CHECK_FALSE(look_at(*control, false).late_plan);
    control->waiters = 2;
    CHECK(look_at(*control, false).waiters == 2);
}

TEST_CASE("chunks are used from their first use on, unless they are free again") {
    const auto control = running(100);
    control->fresh_chunks.store(80);
    CHECK(look_at(*control, false).used == Approx(0.8));
    // Thirty came back, of which ten were taken again: forty changes of the list.
    control->given_back = 30;
    control->free_chunks = (std::uint64_t{40} << 32U) + 17;
    CHECK(look_at(*control, false).used == Approx(0.6));
    // Counters that have come round.
    control->given_back = 5;
    control->free_chunks = std::uint64_t{0xffffffff} << 32U;
    CHECK(look_at(*control, false).used == Approx(0.69));
}

TEST_CASE("many threads that have ended are like a full buffer") {
    const auto control = running();
    control->threads_ended = 5000;
    control->threads_done = 5000 - shm::kManyEnded;
    CHECK(Urgency{}.update(look_at(*control, false)));
    control->threads_done = 4900;
    CHECK_FALSE(Urgency{}.update(look_at(*control, false)));
}

TEST_CASE("the priority follows those who wait, with one change for each") {
    const auto control = running();
    FakePriorities priorities;
    PriorityKeeper priority_keeper(*control, priorities, [] { return false; });
    REQUIRE(becomes(priorities.low, true));
    CHECK_FALSE(priority_keeper.urgent());
    control->late_asked = 1;
    priority_keeper.wake();
    REQUIRE(becomes(priorities.low, false));
    CHECK(priority_keeper.urgent());
    control->waiters = 1;
    control->late_answered_futex = 1;
    priority_keeper.wake();
    control->waiters = 0;
    priority_keeper.wake();
    REQUIRE(becomes(priorities.low, true));
    control->process_state = shm::ProcessState::ending;
    priority_keeper.wake();
    REQUIRE(becomes(priorities.low, false));
    CHECK(priorities.changes == 4);
}

TEST_CASE("before there is a file nothing is lowered") {
    const auto control = running();
    control->file_futex = 0;
    FakePriorities priorities;
    {
        PriorityKeeper priority_keeper(*control, priorities, [] { return false; });
        priority_keeper.wake();
        // An errand is run behind a look at the memory.
        priority_keeper.run([] {});
    }
    CHECK(priorities.changes == 0);
}

TEST_CASE("an errand is run by the thread of ordinary priority, to its end") {
    const auto control = running();
    FakePriorities priorities;
    PriorityKeeper priority_keeper(*control, priorities, [] { return false; });
    for (int i = 0; i < 100; ++i) {
        std::thread::id who;
        priority_keeper.run([&] { who = std::this_thread::get_id(); });
        REQUIRE(who != std::thread::id{});
        REQUIRE(who != std::this_thread::get_id());
    }
}

TEST_CASE("what the kernel puts off is tried again while an errand is run") {
    const auto control = running();
    FakePriorities priorities;
    priorities.defer = 5;
    PriorityKeeper priority_keeper(*control, priorities, [] { return false; });
    bool tried = false;
    priority_keeper.run([&] {
        for (int i = 0; i < 3000 && !tried; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            tried = priorities.tries.load() > priorities.defer.load();
        }
    });
    CHECK(tried);
}

TEST_CASE("threads that are enlisted are of low priority and come back, if that can be") {
    ThreadPriorities priorities(getpid());  // of our own session: it is not touched
    const int before = sched_getscheduler(0);
    bool low = false;
    int after = -1;
    std::thread([&] {
        priorities.enlist();
        priorities.lower();
        low = sched_getscheduler(0) == SCHED_IDLE ||
              getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())) == 19;
        priorities.raise();
        after = sched_getscheduler(0);
    }).join();
    CHECK(low);
    CHECK(after == before);
    CHECK(sched_getscheduler(0) == before);
}

TEST_CASE("a quota is less than all processors, at all times") {
    CHECK(is_quota("50000 100000", 1));
    CHECK(is_quota("150000 100000", 2));
    CHECK_FALSE(is_quota("200000 100000", 2));
    CHECK_FALSE(is_quota("max 100000", 4));
    CHECK_FALSE(is_quota("-1 100000", 4));
    CHECK_FALSE(is_quota("", 4));
    CHECK_FALSE(is_quota("50000", 4));
    CHECK_FALSE(is_quota("x 100000", 4));
    CHECK_FALSE(is_quota("50000 100000x", 4));
}

TEST_CASE("a quota of a group counts for all groups in it") {
    const test::TemporaryFolder folder;
    const std::string mounts = folder.path().string();
    write(folder.path() / "a/cpu.max", "50000 100000\n");
    write(folder.path() / "a/b/cpu.max", "max 100000\n");
    write(folder.path() / "c/cpu.max", "max 100000\n");
    CHECK(has_cpu_quota("0::/a/b\n", mounts, 2));
    CHECK(has_cpu_quota("0::/a\n", mounts, 2));
    CHECK_FALSE(has_cpu_quota("0::/c\n", mounts, 2));
    CHECK_FALSE(has_cpu_quota("0::/\n", mounts, 2));
    CHECK_FALSE(has_cpu_quota("0::/gone/there\n", mounts, 2));
    CHECK_FALSE(has_cpu_quota("nonsense\n0:\n", mounts, 2));
    write(folder.path() / "cpu.max", "50000 100000\n");  // a container's own group
    CHECK(has_cpu_quota("0::/\n", mounts, 2));
}

TEST_CASE("the control groups of version 1 have quotas as well") {
    const test::TemporaryFolder folder;
    const std::string mounts = folder.path().string();
    write(folder.path() / "cpu/a/cpu.cfs_quota_us", "50000\n");
    write(folder.path() / "cpu/a/cpu.cfs_period_us", "100000\n");
    write(folder.path() / "cpu/b/cpu.cfs_quota_us", "-1\n");
    write(folder.path() / "cpu/b/cpu.cfs_period_us", "100000\n");
    CHECK(has_cpu_quota("4:memory:/b\n3:cpu,cpuacct:/a/inside\n0::/\n", mounts, 2));
    CHECK_FALSE(has_cpu_quota("4:memory:/a\n3:cpu,cpuacct:/b\n", mounts, 2));
    CHECK_FALSE(has_cpu_quota("3:cpuacct:/a\n", mounts, 2));
}

TEST_CASE("the agent gets the processors that the program is not bound to") {
    CHECK(others({0, 1, 2, 3}, {1, 2}) == std::vector<std::uint32_t>{0, 3});
    CHECK(others({0, 1}, {0, 1}).empty());
    CHECK(others({0, 1}, {}).empty());
}

TEST_CASE("a list of processors is one, or an error that says so") {
    CHECK(read_agent_cpus("").value().empty());
    CHECK(read_agent_cpus("3").value() == std::vector<std::uint32_t>{3});
    CHECK(read_agent_cpus("0,2-4").value() == std::vector<std::uint32_t>{0, 2, 3, 4});
    for (const char* text : {"x", "1-", "3-1", "1,,2", "-1", "1;2", "99999999999"}) {
        CAPTURE(text);
        const auto cpus = read_agent_cpus(text);
        REQUIRE_FALSE(cpus);
        CHECK(cpus.error().message.find("is not a list of processors") != std::string::npos);
    }
}
