// The hardware counter is read by the kernel's protocol: a page made here stands in for the kernel's, a
// function for the instruction.
#include "libprobe/event/counter.h"

#include <linux/perf_event.h>
#include <sys/mman.h>

#include <cerrno>
#include <functional>
#include <vector>

#include "tests/unit/catch.h"
#include "tools/agent/counters.h"
#include "tools/agent/process/privileges.h"

// What the recorder has of these.
__thread rdam::probe::ThreadState rdam_thread;
rdam::probe::Guard rdam_guard = {};

namespace {

/// What happens when the processor is asked for the counter of this number.
std::function<std::uint64_t(std::uint32_t)> on_read;

}  // namespace

extern "C" {
std::uint64_t rdam_test_changed_registers();
std::uint64_t rdam_test_counter(std::uint32_t number) {
    return on_read(number);
}
}

namespace rdam::probe {
namespace {

/// A thread with a counter: number 5, of 48 bits, with the value `value`.
class Thread {
  public:
    Thread() {
        rdam_guard.counters.store(~std::uint64_t{0});
        page.lock = 6;
        page.index = 6;
        page.cap_user_rdpmc = 1;
        page.pmc_width = 48;
        page.time_enabled = 1000;
        page.time_running = 1000;
        rdam_thread.counter = reinterpret_cast<std::uint64_t>(&page);
        rdam_thread.counter_gap = 0;
        on_read = [this](std::uint32_t number) {
            asked.push_back(number);
            return value;
        };
    }
    ~Thread() { rdam_thread.counter = 0; }
    Thread(const Thread&) = delete;
    Thread& operator=(const Thread&) = delete;
    Thread(Thread&&) = delete;
    Thread& operator=(Thread&&) = delete;

    perf_event_mmap_page page{};
    std::uint64_t value = 1234;
    std::vector<std::uint32_t> asked;
};

using Asked = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("a counter that runs is read", "[counter]") {
    Thread thread;
    thread.page.offset = 1'000'000;
    CHECK(rdam_read_counter() == 1'001'234);
    CHECK(thread.asked == Asked{5});
    thread.page.index = (1U << 30U) + 1;  // a fixed one of Intel's
    CHECK(rdam_read_counter() == 1'001'234);
    CHECK(thread.asked.back() == 1U << 30U);
}

TEST_CASE("nothing but three registers is changed by reading", "[counter]") {
    Thread thread;
    CHECK(rdam_test_changed_registers() == 0);
    CHECK(thread.asked.size() == 1);
    thread.page.index = 0;
    CHECK(rdam_test_changed_registers() == 0);
    rdam_thread.counter = 0;
    CHECK(rdam_test_changed_registers() == 0);
    CHECK(thread.asked.size() == 1);
}

TEST_CASE("the counter has as many bits as the page says, the highest being the sign", "[counter]") {
    struct Case {
        std::uint16_t width;
        std::uint64_t value, count;
    };
    constexpr std::uint64_t kOffset = std::uint64_t{1} << 50;
    Thread thread;
    thread.page.offset = static_cast<std::int64_t>(kOffset);
    for (const Case& each : {
             Case{48, 0x7fffffffffff, kOffset + 0x7fffffffffff},
             Case{48, 0x800000000000, kOffset - 0x800000000000},
             Case{48, 0xffffffffffff, kOffset - 1},
             Case{48, 0xabcd000000000007, kOffset + 7},
             Case{40, 0xffffffffff, kOffset - 1},
             Case{40, 0x0000ffffffffff, kOffset - 1},
             Case{32, 0x00000000ffffffff, kOffset - 1},
             Case{32, 0x000000017fffffff, kOffset + 0x7fffffff},
             Case{64, ~std::uint64_t{0} - 9, kOffset - 10},
         }) {
        CAPTURE(each.width, each.value);
        thread.page.pmc_width = each.width;
        thread.value = each.value;
        CHECK(rdam_read_counter() == each.count);
    }
}

TEST_CASE("without a counter, or with one that does not run, nothing is known and nothing asked",
          "[counter]") {
    Thread thread;
    SECTION("the thread has none") {
        rdam_thread.counter = 0;
    }
    SECTION("the page was the parent's, which fork does not hand on") {
        void* gone = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        REQUIRE(gone != MAP_FAILED);
        munmap(gone, 4096);
        rdam_thread.counter = reinterpret_cast<std::uint64_t>(gone);
        rdam_guard.counters.store(0);
    }
    SECTION("it is not on the processor") {
        thread.page.index = 0;
    }
    SECTION("the kernel does not allow it") {
        thread.page.cap_user_rdpmc = 0;
        thread.page.cap_user_time = 1;
    }
    CHECK(rdam_read_counter() == 0);
    CHECK(thread.asked.empty());
}

TEST_CASE("a page that the kernel changes meanwhile is read again", "[counter]") {
    Thread thread;
    thread.page.offset = 1'000'000;
    on_read = [&](std::uint32_t number) {
        thread.asked.push_back(number);
        if (thread.asked.size() > 1) return std::uint64_t{10};
        thread.page.lock = thread.page.lock + 2;
        thread.page.index = 3;
        thread.page.offset = 2'000'000;
        return std::uint64_t{77};
    };
    CHECK(rdam_read_counter() == 2'000'010);
    CHECK(thread.asked == Asked{5, 2});
}

TEST_CASE("a counter that is taken away meanwhile is not known", "[counter]") {
    Thread thread;
    on_read = [&](std::uint32_t number) {
        thread.asked.push_back(number);
        thread.page.lock = thread.page.lock + 2;
        thread.page.index = 0;
        return std::uint64_t{77};
    };
    CHECK(rdam_read_counter() == 0);
    CHECK(thread.asked.size() == 1);
}

TEST_CASE("a page that does not come to rest is given up", "[counter]") {
    Thread thread;
    on_read = [&](std::uint32_t number) {
        thread.asked.push_back(number);
        thread.page.lock = thread.page.lock + 2;
        return std::uint64_t{77};
    };
    CHECK(rdam_read_counter() == 0);
    CHECK(thread.asked.size() == 4);
}

TEST_CASE("a count is known only if the counter was never away", "[counter]") {
    Thread thread;
    rdam_thread.counter_gap = 40;
    thread.page.time_running = 960;
    CHECK(rdam_read_counter() == 1234);
    thread.page.time_enabled = 5000;
    thread.page.time_running = 4960;
    CHECK(rdam_read_counter() == 1234);
    thread.page.time_running = 4959;
    CHECK(rdam_read_counter() == 0);
}

TEST_CASE("why there are no counts is said in words", "[counter]") {
    using State = trace::CounterInfo::State;
    const auto measured = std::make_unique<shm::Measured>();
    CHECK(agent::describe_counters(*measured).state == State::off);
    measured->counters = shm::Counters::counting;
    measured->probe_instructions_x16 = 16 * 90 + 8;
    measured->inner_instructions_x16 = std::uint64_t{16} * 31;
    const trace::CounterInfo counted = agent::describe_counters(*measured);
    CHECK(counted.state == State::counted);
    CHECK(counted.reason.empty());
    CHECK(counted.probe == 90.5);
    CHECK(counted.probe_inner == 31);
    const auto why = [&](shm::Counters counters, int error = 0) {
        measured->counters = counters;
        measured->counters_error = static_cast<std::uint32_t>(error);
        const trace::CounterInfo info = agent::describe_counters(*measured);
        CHECK(info.state == State::unavailable);
        return info.reason;
    };
    CHECK_THAT(why(shm::Counters::refused, ENOENT), Catch::Contains("no hardware counters"));
    CHECK_THAT(why(shm::Counters::refused, EACCES), Catch::Contains("forbidden by "));
    CHECK_THAT(why(shm::Counters::refused, ENOSYS), Catch::Contains("no perf events"));
    CHECK_THAT(why(shm::Counters::refused, EMFILE), Catch::Contains("Too many open files"));
    CHECK_THAT(why(shm::Counters::unmappable, EPERM), Catch::Contains("ulimit -l"));
    CHECK_THAT(why(shm::Counters::unreadable), Catch::Contains("rdpmc"));
    CHECK_THAT(why(shm::Counters::occupied), Catch::Contains("something else"));
    CHECK_THAT(why(shm::Counters::unlike), Catch::Contains("two kinds"));
    CHECK_FALSE(why(static_cast<shm::Counters>(99)).empty());
}

TEST_CASE("the kernel's level is named as what forbids counting only if it may be", "[counter]") {
    for (const char* harmless : {"-1", "0", "2"})
        CHECK(agent::who_forbids_perf(harmless) == "forbidden by seccomp or a container's rules");
    CHECK_THAT(
        agent::who_forbids_perf("3"),
        Catch::StartsWith("forbidden by kernel.perf_event_paranoid, which is 3 and must be at most 2"));
    CHECK_THAT(agent::who_forbids_perf(""),
               Catch::EndsWith("or by kernel.perf_event_paranoid, which must be at most 2"));
}

}  // namespace rdam::probe
