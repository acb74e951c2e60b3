// For whom threads wait, by the calls of the functions that end waits.
#include "analyzer/hints/waits.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/hints/owners.h"
#include "tests/unit/catch.h"
#include "wrappers/catalogue/catalogue.h"

using namespace rdam;
using hints::Held;
using samples::Returned;

namespace {

constexpr std::uint64_t kWaitedFor = 0x5000, kAnother = 0x6000;
constexpr std::size_t kNobody = Held::kWoken, kUnknown = Held::kNotKnown;

/// Four threads, and functions by their names, of which each test makes up the calls.
struct MadeCalls {
    explicit MadeCalls(const std::vector<std::string>& names) {
        for (const std::string& name : names) {
            trace::FunctionInfo& function = info.functions.emplace_back();
            function.name = function.linkage_name = name;
            const CatalogueFunction* const known = Catalogue::builtin().find(name);
            function.waits = known == nullptr || known->waits || known->busy_waits;
        }
        report.threads.resize(4);
        for (std::uint32_t t = 0; t < 4; ++t)
            report.threads[t].tid = 101 + t;
        report.timeline.resize(4);
        for (auto& timeline : report.timeline)
            timeline.end = 100000;
    }

    void call(std::size_t thread, const std::string& name, std::uint64_t begin, std::uint64_t end,
              std::uint64_t object = kWaitedFor, Returned returned = Returned::not_known) {
        for (std::uint32_t f = 0; f < info.functions.size(); ++f)
            if (info.functions[f].name == name)
                report.timeline[thread].calls.push_back({f, begin, end, object, end - begin, returned});
    }

    void join(std::size_t thread, std::uint64_t begin, std::uint64_t end, std::uint32_t joined) {
        report.timeline[thread].waits.push_back(
            {.begin = begin, .end = end, .mutex = kAnother, .owner = joined, .joins = true});
    }

    using Part = std::tuple<std::uint64_t, std::uint64_t, std::size_t>;  // begin, end, owner

    std::vector<Part> parts(std::size_t thread, Held::By by) const {
        const auto waits = hints::Waits::of(info, report);
        REQUIRE(waits);
        std::vector<Part> all;
        for (const Held& part : waits->of_thread(thread, by))
            all.emplace_back(part.time.begin, part.time.end, part.owner);
        return all;
    }
    std::vector<Part> owners(std::size_t thread) const { return parts(thread, Held::By::owner); }
    std::vector<Part> notifiers(std::size_t thread) const { return parts(thread, Held::By::notifier); }

    trace::TraceInfo info;
    score::Report report;
};

struct Locks : MadeCalls {
    Locks()
        : MadeCalls{{"pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "pthread_rwlock_unlock",
                     "pthread_rwlock_tryrdlock", "pthread_rwlock_trywrlock", "pthread_rwlock_timedwrlock"}} {}
    void read(std::size_t thread, std::uint64_t begin, std::uint64_t end) {
        call(thread, "pthread_rwlock_rdlock", begin, end);
    }
    void write(std::size_t thread, std::uint64_t begin, std::uint64_t end) {
        call(thread, "pthread_rwlock_wrlock", begin, end);
    }
    void unlock(std::size_t thread, std::uint64_t begin, std::uint64_t end) {
        call(thread, "pthread_rwlock_unlock", begin, end);
    }
};

struct Conditions : MadeCalls {
    Conditions()
        : MadeCalls{{"pthread_cond_wait", "pthread_cond_signal", "pthread_cond_broadcast",
                     "pthread_cond_timedwait"}} {}
    void wait(std::size_t thread, std::uint64_t begin, std::uint64_t end, std::uint64_t object = kWaitedFor) {
        call(thread, "pthread_cond_wait", begin, end, object);
    }
    void signal(std::size_t thread, std::uint64_t begin) {
        call(thread, "pthread_cond_signal", begin, begin + 5);
    }
};

struct Semaphores : MadeCalls {
    Semaphores() : MadeCalls{{"sem_wait", "sem_post"}} {}
    void wait(std::size_t thread, std::uint64_t begin, std::uint64_t end) {
        call(thread, "sem_wait", begin, end);
    }
    void post(std::size_t thread, std::uint64_t begin) { call(thread, "sem_post", begin, begin + 5); }
};

struct Futexes : MadeCalls {
    Futexes() : MadeCalls{{"syscall"}} {}
    using Call = sequences::FutexCall;
    /// `returned`: 0 of a wait that was ended, and of what has woken nobody.
    void call(std::size_t thread, Call what, std::uint64_t begin, std::uint64_t end,
              Returned returned = Returned::not_known, std::uint64_t futex = kWaitedFor) {
        MadeCalls::call(thread, "syscall", begin, end, futex, returned);
        report.timeline[thread].calls.back().futex = what;
    }
    void wait(std::size_t thread, std::uint64_t begin, std::uint64_t end) {
        call(thread, Call::wait, begin, end, Returned::zero);
    }
    void wake(std::size_t thread, Call what, std::uint64_t begin) {
        call(thread, what, begin, begin + 5, Returned::other);
    }
};

/// A robust or priority-inheriting mutex, of which every lock and unlock is recorded.
struct RecordedMutex : MadeCalls {
    RecordedMutex() : MadeCalls{{"pthread_mutex_lock", "on its way", "on its way back"}} {
        for (const std::size_t way : {1U, 2U}) {
            info.functions[way].wait_of = 1;
            info.functions[way].partner = true;
        }
        info.functions[2].wakes = true;
    }
    /// `owner`: whom the mutex names when the call begins, a thread or one of these.
    static constexpr std::uint32_t kNone = 0, kInconsistent = 0x7fffffff, kNotRecoverable = 0x7ffffffe;
    static constexpr std::uint32_t tid(std::size_t thread) {
        return 101 + static_cast<std::uint32_t>(thread);
    }
    void lock(std::size_t thread, std::uint64_t begin, std::uint64_t end, std::uint32_t owner) {
        report.timeline[thread].waits.push_back(
            {.begin = begin, .end = end, .mutex = kWaitedFor, .owner = owner, .function = 0, .all = true});
    }
    void unlock(std::size_t thread, std::uint64_t at) {
        report.timeline[thread].waits.push_back(
            {.begin = at, .end = at, .mutex = kWaitedFor, .given_back = true, .all = true});
    }
};

using Parts = std::vector<MadeCalls::Part>;

}  // namespace

TEST_CASE("who ended a wait is the last one whom it was for") {
    Locks made;
    made.write(1, 10, 20);
    made.unlock(1, 300, 305);
    made.write(2, 200, 310);
    made.unlock(2, 600, 605);
    made.write(0, 100, 620);
    made.unlock(0, 650, 655);
    const auto waits = hints::Waits::of(made.info, made.report);
    REQUIRE(waits);
    const hints::Releases all = waits->releases(10);
    REQUIRE(all.largest.size() == 2);
    CHECK(all.left_out == 0);
    // Who had it before the first one is not known.
    CHECK(all.waited == 10 + 630);
    CHECK(all.released == 630);
    const hints::Release& first = all.largest[0];
    CHECK(first.waiter == 0);
    CHECK(first.releaser == 2);
    CHECK(first.at == 600);
    CHECK(first.wait == hints::Interval{100, 620});
    CHECK(first.waited == 290);
    CHECK(first.by == Held::By::owner);
    CHECK(first.object == kWaitedFor);
    CHECK(first.kind == "read-write lock");
    const hints::Release& second = all.largest[1];
    CHECK(second.waiter == 2);
    CHECK(second.releaser == 1);
    CHECK(second.at == 300);
    CHECK(second.waited == 100);
    const hints::Releases one = waits->releases(1);
    CHECK(one.largest.size() == 1);
    CHECK(one.left_out == 1);
    CHECK(one.released == 630);
}

TEST_CASE("a join has a release, and counts for no share") {
    MadeCalls made{{"pthread_join"}};
    made.join(0, 100, 720, 102);
    made.report.timeline[1].end = 700;
    const auto waits = hints::Waits::of(made.info, made.report);
    REQUIRE(waits);
    const hints::Releases all = waits->releases(10);
    REQUIRE(all.largest.size() == 1);
    CHECK(all.largest[0].releaser == 1);
    CHECK(all.largest[0].at == 700);
    CHECK(all.largest[0].by == Held::By::end);
    CHECK(all.waited == 0);
    CHECK(all.released == 0);
}

TEST_CASE("a wait whose end nobody is known for has no release") {
    Conditions made;
    made.wait(0, 100, 700);
    made.wait(1, 100, 300);
    made.signal(2, 250);
    const auto waits = hints::Waits::of(made.info, made.report);
    REQUIRE(waits);
    const hints::Releases all = waits->releases(10);
    REQUIRE(all.largest.size() == 1);
    CHECK(all.largest[0].waiter == 1);
    CHECK(all.largest[0].releaser == 2);
    CHECK(all.largest[0].at == 250);
    CHECK(all.largest[0].by == Held::By::notifier);
    CHECK(all.waited == 800);
    CHECK(all.released == 200);
}

TEST_CASE("Who has taken a lock has it until giving it back, and what nobody has is not waited for") {
    Locks made;
    made.write(0, 100, 110);
    made.unlock(0, 500, 510);
    made.write(1, 200, 520);
    made.unlock(1, 530, 540);
    made.write(2, 600, 610);
    CHECK(made.owners(0) == Parts{{100, 110, kUnknown}});
    CHECK(made.owners(1) == Parts{{200, 500, 0}, {500, 520, kNobody}});
    CHECK(made.owners(2).empty());
}

TEST_CASE("Of several that have a lock, the one that gives it back last is waited for") {
    Locks made;
    made.read(0, 100, 110);
    made.read(1, 120, 130);
    made.unlock(0, 300, 310);
    made.unlock(1, 700, 710);
    made.write(2, 200, 720);
    CHECK(made.owners(2) == Parts{{200, 700, 1}, {700, 720, kNobody}});
}

TEST_CASE("Who gives back what it was not seen to take had it since an unknown time") {
    Locks made;
    made.unlock(0, 100, 110);
    made.unlock(1, 500, 510);
    made.write(2, 200, 520);
    CHECK(made.owners(2) == Parts{{200, 500, kUnknown}, {500, 520, kNobody}});
}

TEST_CASE("Locks are told apart by their addresses; nothing is known where calls are missing") {
    Locks made;
    made.write(0, 100, 110);
    made.unlock(0, 500, 510);
    made.call(1, "pthread_rwlock_wrlock", 200, 520, kAnother);
    CHECK(made.owners(1) == Parts{{200, 520, kUnknown}});
    made.write(2, 300, 520);
    CHECK(made.owners(2) == Parts{{300, 500, 0}, {500, 520, kNobody}});
    made.info.functions[2].windowed_since = 1;
    CHECK(made.owners(2).empty());
}

TEST_CASE("What is not given back by who took it, or not seen to be, has no known owner") {
    // Its own call failed, or another thread gives it back.
    Locks made;
    made.write(0, 100, 110);
    made.unlock(1, 300, 310);
    made.write(1, 320, 330);
    made.unlock(1, 500, 510);
    made.write(2, 200, 520);
    CHECK(made.owners(2) == Parts{{200, 330, kUnknown}, {330, 500, 1}, {500, 520, kNobody}});
    // One reads by a call that is not recorded, so that another one, which reads for a short time, is not to blame.
    Locks tried;
    tried.read(1, 150, 160);
    tried.unlock(1, 170, 180);
    tried.unlock(0, 700, 710);
    tried.write(2, 165, 720);
    CHECK(tried.owners(2) == Parts{{165, 700, kUnknown}, {700, 720, kNobody}});
}

TEST_CASE("In a time that is not kept, a lock may have been given back and taken by others") {
    Locks made;
    made.report.windows.shift = 10;
    made.report.windows.limit = UINT64_MAX / 2;
    const auto keeps = [&](std::uint64_t number) { return made.report.windows.keeps(number); };
    // A window that is kept before one that is not.
    std::uint64_t number = 1;
    while (!keeps(number) || keeps(number + 1))
        ++number;
    const std::uint64_t begin = number << 10, gap = begin + 1024;
    made.write(0, begin + 10, begin + 20);
    made.unlock(0, begin + 300, begin + 310);
    made.write(1, begin + 100, gap + 500);
    REQUIRE(made.owners(1).size() == 2);
    CHECK(std::get<2>(made.owners(1)[0]) == 0);
    CHECK(std::get<2>(made.owners(1)[1]) == kUnknown);
}

TEST_CASE("A signal ends the wait of the thread that returns first of those that waited") {
    Conditions made;
    made.wait(0, 100, 420);
    made.wait(1, 200, 620);
    made.wait(2, 410, 900);
    made.signal(3, 50);
    made.signal(3, 400);
    made.signal(2, 390);
    CHECK(made.notifiers(0) == Parts{{100, 390, 2}, {390, 420, kNobody}});
    CHECK(made.notifiers(1) == Parts{{200, 400, 3}, {400, 620, kNobody}});
    // Its time was up, perhaps.
    CHECK(made.notifiers(2) == Parts{{410, 900, kUnknown}});
    made.wait(3, 1000, 1100, kAnother);
    CHECK(made.notifiers(3) == Parts{{1000, 1100, kUnknown}});
}

TEST_CASE("A broadcast ends the waits of all") {
    Conditions made;
    made.wait(0, 100, 420);
    made.wait(1, 200, 620);
    made.wait(2, 410, 900);
    made.call(3, "pthread_cond_broadcast", 400, 405);
    CHECK(made.notifiers(0) == Parts{{100, 400, 3}, {400, 420, kNobody}});
    CHECK(made.notifiers(1) == Parts{{200, 400, 3}, {400, 620, kNobody}});
    CHECK(made.notifiers(2) == Parts{{410, 900, kUnknown}});
}

TEST_CASE("What a semaphore counts is used up by the first to return") {
    Semaphores made;
    made.post(3, 10);      // before anybody waits
    made.wait(0, 20, 30);  // uses it up
    made.wait(1, 40, 600);
    made.post(3, 100);
    made.wait(0, 110, 115);  // comes later, and is faster
    made.post(2, 500);
    CHECK(made.notifiers(0) == Parts{{20, 30, kUnknown}, {110, 115, kUnknown}});
    CHECK(made.notifiers(1) == Parts{{40, 500, 2}, {500, 600, kNobody}});
}

TEST_CASE("What is taken back by calls that are not recorded ends no wait") {
    // One posts and tries at once, again and again.
    Semaphores made;
    made.wait(0, 10, 900);
    for (std::uint64_t at = 50; at < 800; at += 50)
        made.post(1, at);
    made.post(1, 880);
    CHECK(made.notifiers(0) == Parts{{10, 880, 1}, {880, 900, kNobody}});
    // If another one posts as well, either may have ended it.
    made.post(2, 890);
    CHECK(made.notifiers(0) == Parts{{10, 900, kUnknown}});
}

TEST_CASE("Two that wait are woken in their order") {
    Semaphores made;
    made.wait(0, 10, 500);
    made.wait(1, 20, 600);
    made.post(2, 400);
    made.post(3, 410);
    CHECK(made.notifiers(0) == Parts{{10, 400, 2}, {400, 500, kNobody}});
    CHECK(made.notifiers(1) == Parts{{20, 410, 3}, {410, 600, kNobody}});
}

TEST_CASE("What a semaphore had at the beginning does not shift who is waited for") {
    Semaphores made;
    for (const std::uint64_t begin : {10, 20, 30})
        made.wait(0, begin, begin + 5);
    made.wait(0, 40, 400);
    made.post(2, 380);
    made.post(3, 500);
    made.wait(0, 510, 515);
    made.wait(0, 520, 900);
    made.post(2, 880);
    CHECK(made.notifiers(0)[3] == MadeCalls::Part{40, 380, 2});
    CHECK(made.notifiers(0).back() == MadeCalls::Part{880, 900, kNobody});
}

TEST_CASE("A rule says which functions of the program take and give back, wait and wake") {
    MadeCalls made{{"take", "give", "pop", "push"}};
    made.report.comparison.rules.given_back_by = {"take=give"};
    made.report.comparison.rules.woken_by = {"pop=push", "pop=missing"};
    made.call(0, "take", 100, 110, 0);
    made.call(0, "give", 500, 510, 0);
    made.call(1, "take", 200, 520, 0);
    CHECK(made.owners(1) == Parts{{200, 500, 0}, {500, 520, kNobody}});
    made.call(2, "pop", 100, 420);
    made.call(3, "push", 400, 405);
    CHECK(made.notifiers(2) == Parts{{100, 400, 3}, {400, 420, kNobody}});
    const auto waits = hints::Waits::of(made.info, made.report);
    REQUIRE(waits);
    CHECK(waits->of_thread(1, Held::By::owner)[0].kind == "lock");
    CHECK(waits->of_thread(2, Held::By::notifier)[0].kind == "condition");
}

TEST_CASE(
    "Rules that have a function in common are about the same objects, and an address that is no key hides "
    "them") {
    MadeCalls made{{"take", "give", "give_last"}};
    made.report.comparison.rules.given_back_by = {"take=give", "take=give_last"};
    made.call(0, "take", 100, 110, 0);
    made.call(0, "give_last", 500, 510, 0);
    made.call(1, "take", 200, 520, 0);
    CHECK(made.owners(1) == Parts{{200, 500, 0}, {500, 520, kNobody}});
    made.info.functions[0].parameters = {
        {.name = "lock", .kind = static_cast<std::uint8_t>(ValueKind::pointer), .size = 8, .type = {}}};
    CHECK(made.owners(1).empty());
}

TEST_CASE("A wait inside another one counts once") {
    MadeCalls made{{"pop", "push", "pthread_cond_wait", "pthread_cond_signal"}};
    made.report.comparison.rules.woken_by = {"pop=push"};
    made.call(0, "pop", 100, 500, 0);
    made.call(0, "pthread_cond_wait", 120, 450);
    made.call(1, "push", 300, 420, 0);
    made.call(1, "pthread_cond_signal", 400, 410);
    CHECK(made.notifiers(0) == Parts{{100, 120, 1}, {120, 400, 1}, {400, 450, kNobody}, {450, 500, kNobody}});
}

TEST_CASE("In the graph, waits by design stand behind others that are worth a line") {
    MadeCalls made{
        {"pthread_cond_wait", "pthread_cond_signal", "pthread_rwlock_wrlock", "pthread_rwlock_unlock"}};
    for (std::uint32_t t = 0; t < 4; ++t)
        made.report.threads[t] = {.tid = t + 1, .name = "t" + std::to_string(t)};
    made.call(0, "pthread_cond_wait", 1000, 91000);
    made.call(1, "pthread_cond_signal", 90000, 90010);
    made.call(2, "pthread_rwlock_wrlock", 100, 110, kAnother);
    made.call(2, "pthread_rwlock_unlock", 20000, 20010, kAnother);
    for (const bool long_wait : {true, false}) {
        made.report.timeline[3].calls.clear();
        made.call(3, "pthread_rwlock_wrlock", long_wait ? 200 : 19000, 20100, kAnother);
        const hints::WaitGraph graph =
            hints::wait_graph(made.info, made.report, hints::Activities{made.info, made.report}, {});
        REQUIRE(graph.edges.size() == 2);
        const hints::WaitEdge& edge = graph.edges[long_wait ? 0 : 1];
        CHECK(edge.kind == "read-write lock");
        CHECK(edge.owners == "thread 3 (t2)");
        CHECK(edge.share == Approx(long_wait ? 0.198 : 0.01).margin(0.001));
        const hints::WaitEdge& other = graph.edges[long_wait ? 1 : 0];
        CHECK(other.kind == "condition variable");
        CHECK(other.reason == hints::WaitEdge::For::notifier);
        CHECK(other.owners == "thread 2 (t1)");
        CHECK(graph.known + graph.woken == Approx(1).margin(0.001));
    }
}

TEST_CASE("Where the functions that end waits are sampled, it is not known who ended one") {
    Conditions made;
    made.wait(0, 100, 420);
    made.signal(3, 400);
    made.info.functions[1].sampled = true;
    CHECK(made.notifiers(0) == Parts{{100, 420, kUnknown}});
    // Nor is it a wait of that kind where none of them is recorded.
    made.info.functions[1].name = made.info.functions[1].linkage_name = "f";
    made.info.functions[2].name = made.info.functions[2].linkage_name = "g";
    CHECK(made.notifiers(0).empty());
}

TEST_CASE("Who wakes a futex ends the wait of the first to return, or of all that wait") {
    for (const bool all : {true, false}) {
        Futexes made;
        made.wait(0, 100, 420);
        made.wait(1, 150, 450);
        made.wake(3, all ? Futexes::Call::wake_all : Futexes::Call::wake_one, 400);
        CHECK(made.notifiers(0) == Parts{{100, 400, 3}, {400, 420, kNobody}});
        CHECK(made.notifiers(1) ==
              (all ? Parts{{150, 400, 3}, {400, 450, kNobody}} : Parts{{150, 450, kUnknown}}));
    }
}

TEST_CASE("A futex is known by its address, and other system calls are neither waits nor ends of any") {
    Futexes made;
    made.wait(0, 100, 420);
    made.call(2, Futexes::Call::none, 380, 390, Returned::other);
    made.call(2, Futexes::Call::none, 200, 500, Returned::zero);
    made.call(3, Futexes::Call::wake_one, 395, 399, Returned::other, kAnother);
    CHECK(made.notifiers(0) == Parts{{100, 420, kUnknown}});
    CHECK(made.notifiers(2).empty());
}

TEST_CASE(
    "What has woken nobody ends no wait of a futex, and a wait that has failed has been ended by nobody") {
    Futexes made;
    made.wait(0, 100, 420);
    made.call(3, Futexes::Call::wake_one, 390, 395, Returned::zero);
    made.call(1, Futexes::Call::wait, 100, 410, Returned::other);
    made.wake(2, Futexes::Call::wake_one, 405);
    CHECK(made.notifiers(0) == Parts{{100, 405, 2}, {405, 420, kNobody}});
    CHECK(made.notifiers(1) == Parts{{100, 410, kUnknown}});
}

TEST_CASE("Where those that wait for a futex are moved to another one, it is not known who wakes them") {
    Futexes made;
    made.wait(0, 100, 420);
    made.call(3, Futexes::Call::other, 200, 205);
    made.wake(3, Futexes::Call::wake_one, 400);
    CHECK(made.notifiers(0) == Parts{{100, 420, kUnknown}});
    // To which one is not recorded.
    for (const Futexes::Call what : {Futexes::Call::moves, Futexes::Call::other}) {
        Futexes moved;
        moved.wait(0, 100, 420);
        moved.call(3, what, 200, 205, Returned::other, kAnother);
        moved.wake(3, Futexes::Call::wake_one, 400);
        CHECK(moved.notifiers(0) == (what == Futexes::Call::moves
                                         ? Parts{{100, 420, kUnknown}}
                                         : Parts{{100, 400, 3}, {400, 420, kNobody}}));
    }
}

TEST_CASE("Who tries to take a lock has it if that succeeds, and not if it fails") {
    for (const bool succeeds : {true, false}) {
        Locks made;
        made.write(0, 50, 55);
        made.call(1, "pthread_rwlock_trywrlock", 60, 65, kWaitedFor, Returned::other);
        made.unlock(0, 90, 95);
        made.call(1, "pthread_rwlock_trywrlock", 100, 110, kWaitedFor,
                  succeeds ? Returned::zero : Returned::not_known);
        made.unlock(1, 500, 510);
        made.write(2, 200, 520);
        // Of the first one it is known that it failed; of what is given back it is known that it was taken.
        CHECK(made.owners(2) == Parts{{200, 500, 1}, {500, 520, kNobody}});
        CHECK(made.owners(1).empty());
    }
    // It is not known whether it had it meanwhile.
    Locks made;
    made.call(1, "pthread_rwlock_trywrlock", 100, 110);
    made.write(2, 200, 520);
    CHECK(made.owners(2) == Parts{{200, 520, kUnknown}});
    Locks failed;
    failed.write(0, 50, 55);
    failed.call(1, "pthread_rwlock_tryrdlock", 100, 110, kWaitedFor, Returned::other);
    failed.unlock(0, 500, 505);
    failed.write(2, 200, 520);
    CHECK(failed.owners(2) == Parts{{200, 500, 0}, {500, 520, kNobody}});
}

TEST_CASE("A wait whose time is up has waited for the owner, and has not got what it waited for") {
    Locks made;
    made.write(0, 100, 110);
    made.call(1, "pthread_rwlock_timedwrlock", 200, 300, kWaitedFor, Returned::other);
    made.write(2, 210, 520);
    made.unlock(0, 500, 510);
    CHECK(made.owners(1) == Parts{{200, 300, 0}});
    CHECK(made.owners(2) == Parts{{210, 500, 0}, {500, 520, kNobody}});
}

TEST_CASE("Who has waited for a mutex for a certain time may have it or not") {
    MadeCalls made{{"pthread_mutex_lock", "pthread_mutex_timedlock"}};
    const auto wait = [&](std::size_t thread, std::uint64_t begin, std::uint64_t end, std::uint32_t owner,
                          std::uint32_t function) {
        made.report.timeline[thread].waits.push_back(
            {.begin = begin, .end = end, .mutex = kWaitedFor, .owner = owner, .function = function});
    };
    const auto give_back = [&](std::size_t thread, std::uint64_t at) {
        made.report.timeline[thread].waits.push_back(
            {.begin = at, .end = at, .mutex = kWaitedFor, .given_back = true});
    };
    // Thread 1 gives up at 200, and gets it at 410.
    wait(0, 100, 800, 104, 0);
    wait(1, 120, 200, 104, 1);
    wait(1, 300, 410, 104, 1);
    give_back(3, 400);
    CHECK(made.owners(1) == Parts{{120, 200, 3}, {300, 400, 3}, {400, 410, kNobody}});
    CHECK(made.owners(0) ==
          Parts{{100, 120, 3}, {120, 300, 3}, {300, 400, 3}, {400, 410, kNobody}, {410, 800, kUnknown}});
}

TEST_CASE("A signal does not end a wait whose time is up") {
    Conditions made;
    made.wait(0, 100, 430);
    made.call(1, "pthread_cond_timedwait", 110, 420, kWaitedFor, Returned::other);
    made.signal(3, 400);
    CHECK(made.notifiers(0) == Parts{{100, 400, 3}, {400, 430, kNobody}});
    CHECK(made.notifiers(1) == Parts{{110, 420, kUnknown}});
}

TEST_CASE("Who is already back at a barrier has not come last to the round that others have still to leave") {
    MadeCalls made{{"pthread_barrier_wait"}};
    const auto meet = [&](std::size_t thread, std::uint64_t begin, std::uint64_t end) {
        made.call(thread, "pthread_barrier_wait", begin, end);
    };
    // The third one comes last to each round. The first one is back while the other two have not left.
    constexpr std::uint64_t kRound = 1000;
    for (std::uint64_t round = 0; round < 5; ++round) {
        const std::uint64_t begin = round * kRound;
        meet(0, begin + (round == 0 ? 10 : 25), begin + kRound + 10);
        meet(1, begin + 60, begin + kRound + 50);
        meet(2, begin + kRound, begin + kRound + 40);
    }
    for (const std::size_t thread : {0U, 1U}) {
        Parts known;
        for (const auto& [begin, end, owner] : made.parts(thread, Held::By::arrival))
            if (owner != kNobody) known.emplace_back(begin, end, owner);
        Parts expected;
        for (std::uint64_t round = 0; round < 5; ++round)
            expected.emplace_back(round * kRound + (thread == 1  ? 60
                                                    : round == 0 ? 10
                                                                 : 25),
                                  (round + 1) * kRound, 2);
        CHECK(known == expected);
    }
    // One may come last right after the round before, which it was late to leave.
    MadeCalls other{{"pthread_barrier_wait"}};
    for (std::uint64_t round = 0; round < 3; ++round) {
        const std::uint64_t begin = round * kRound;
        other.call(0, "pthread_barrier_wait", begin + 60, begin + kRound + 10);
        other.call(1, "pthread_barrier_wait", begin + kRound, begin + kRound + 90);
    }
    Parts last;
    for (const auto& part : other.parts(0, Held::By::arrival))
        if (std::get<2>(part) == 1) last.push_back(part);
    CHECK(last == Parts{{60, 1000, 1}, {1060, 2000, 1}, {2060, 3000, 1}});
}

TEST_CASE("Who comes last to a barrier is known where some are not in each round, or come later") {
    MadeCalls made{{"pthread_barrier_wait"}};
    constexpr std::uint64_t kRound = 1000;
    std::array<Parts, 4> expected;
    // The first one comes last; the third one is there from the third round on, the fourth in each second one.
    for (std::uint64_t round = 0; round < 8; ++round) {
        const std::uint64_t begin = round * kRound, all = begin + 900;
        made.call(0, "pthread_barrier_wait", all, all + 10);
        for (const std::size_t thread : {1U, 2U, 3U}) {
            if (thread == 2 ? round < 2 : thread == 3 && round % 2 == 0) continue;
            made.call(thread, "pthread_barrier_wait", begin + 100 * thread, all + 10 + thread);
            expected[thread].emplace_back(begin + 100 * thread, all, 0);
        }
    }
    for (const std::size_t thread : {1U, 2U, 3U}) {
        Parts known;
        for (const auto& part : made.parts(thread, Held::By::arrival))
            if (std::get<2>(part) != kNobody) known.push_back(part);
        CHECK(known == expected[thread]);
    }
}

TEST_CASE("Of the call with which an owner ends a wait it is known where it was made") {
    constexpr std::uint64_t kThere = 0x7000;
    const auto ended_from = [](const MadeCalls& made, std::size_t thread, Held::By by) {
        std::vector<std::uint64_t> all;
        const auto waits = hints::Waits::of(made.info, made.report);
        REQUIRE(waits);
        for (const Held& part : waits->of_thread(thread, by))
            all.push_back(part.ended_from);
        return all;
    };
    using Places = std::vector<std::uint64_t>;
    Locks locks;
    locks.write(0, 100, 110);
    locks.unlock(0, 500, 510);
    locks.report.timeline[0].calls.back().caller = kThere;
    locks.write(1, 200, 520);
    locks.unlock(1, 530, 540);
    CHECK(ended_from(locks, 1, Held::By::owner) == Places{kThere, 0});

    Conditions conditions;
    conditions.wait(0, 100, 520);
    conditions.signal(1, 500);
    conditions.report.timeline[1].calls.back().caller = kThere;
    CHECK(ended_from(conditions, 0, Held::By::notifier) == Places{kThere, 0});

    MadeCalls barrier{{"pthread_barrier_wait"}};
    barrier.call(0, "pthread_barrier_wait", 100, 520);
    barrier.call(1, "pthread_barrier_wait", 500, 510);
    barrier.report.timeline[1].calls.back().caller = kThere;
    CHECK(ended_from(barrier, 0, Held::By::arrival) == Places{kThere, 0});

    RecordedMutex mutex;
    mutex.lock(0, 100, 110, RecordedMutex::kNone);
    mutex.lock(1, 200, 520, RecordedMutex::tid(0));
    mutex.lock(2, 300, 620, RecordedMutex::tid(0));
    mutex.unlock(0, 500);
    mutex.report.timeline[0].waits.back().caller = kThere;
    mutex.unlock(1, 600);
    CHECK(ended_from(mutex, 1, Held::By::owner) == Places{kThere, kThere, 0});
}

TEST_CASE("Who receives through a channel waits for who sends through it") {
    using Kind = trace::ChannelInfo::Kind;
    MadeCalls made{{"read", "write", "recv", "send"}};
    const auto call = [&](std::size_t thread, const char* name, std::uint64_t begin, std::uint64_t end,
                          std::uint64_t descriptor, Returned returned = Returned::other) {
        made.call(thread, name, begin, end, descriptor, returned);
        made.report.timeline[thread].calls.back().descriptor = true;
    };
    const auto channel = [&](std::uint32_t descriptor, Kind kind, std::uint64_t reads, std::uint64_t writes,
                             std::uint64_t since, std::uint64_t until) {
        made.info.channels.push_back({descriptor, kind, reads, writes, since, until});
    };
    channel(3, Kind::pipe, 70, 0, 0, 1000);
    channel(4, Kind::pipe, 0, 70, 0, 1000);
    call(0, "read", 100, 520, 3);
    call(1, "write", 500, 510, 4);
    CHECK(made.notifiers(0) == Parts{{100, 500, 1}, {500, 520, kNobody}});
    // The end of a file: nobody has sent.
    call(0, "read", 600, 700, 3, Returned::zero);
    CHECK(made.notifiers(0) == Parts{{100, 500, 1}, {500, 520, kNobody}, {600, 700, kUnknown}});
    // A descriptor's number is used again: what it was is known at some times only.
    channel(3, Kind::pipe, 71, 0, 2000, 3000);
    call(0, "read", 1100, 1300, 3);
    call(1, "write", 1200, 1210, 4);
    call(0, "read", 2100, 2300, 3);
    call(1, "write", 2200, 2210, 4);
    CHECK(made.notifiers(0).size() == 3);

    // Sends that fail or send nothing end no wait; of several threads it is not known whose did, nor where it goes on for long.
    channel(8, Kind::pipe, 72, 72, 0, 1'000'000);
    made.info.clock.ticks_per_second = 1000;
    const auto last = [&] { return made.notifiers(0).back(); };
    call(0, "read", 10'000, 10'500, 8);
    call(1, "write", 10'100, 10'110, 8, Returned::zero);
    call(1, "write", 10'200, 10'210, 8, Returned::negative);
    CHECK(last() == MadeCalls::Part{10'000, 10'500, kUnknown});
    call(1, "write", 10'450, 10'460, 8);
    CHECK(last() == MadeCalls::Part{10'450, 10'500, kNobody});
    call(2, "write", 10'300, 10'310, 8);
    CHECK(last() == MadeCalls::Part{10'000, 10'500, kUnknown});
    call(0, "read", 20'000, 20'500, 8);
    call(1, "write", 20'100, 20'110, 8);
    CHECK(last() == MadeCalls::Part{20'000, 20'500, kUnknown});
    call(1, "write", 20'490, 20'495, 8);
    CHECK(last() == MadeCalls::Part{20'490, 20'500, kNobody});

    // A socket receives from itself, and its peer sends to it; another process's socket is none of ours.
    channel(5, Kind::socket, 80, 81, 0, 9000);
    channel(6, Kind::socket, 81, 80, 0, 9000);
    channel(7, Kind::socket, 90, 0, 0, 9000);
    call(2, "recv", 4100, 4520, 5);
    call(3, "send", 4500, 4510, 6);
    call(3, "recv", 4600, 4920, 6);
    call(2, "send", 4900, 4910, 5);
    call(2, "recv", 5000, 6000, 7);
    CHECK(made.notifiers(2) == Parts{{4100, 4500, 3}, {4500, 4520, kNobody}});
    CHECK(made.notifiers(3) == Parts{{4600, 4900, 2}, {4900, 4920, kNobody}});
    const hints::WaitGraph graph =
        hints::wait_graph(made.info, made.report, hints::Activities{made.info, made.report}, {});
    const auto pipe = std::ranges::find(graph.edges, "pipe:[70]", &hints::WaitEdge::variable);
    REQUIRE(pipe != graph.edges.end());
    CHECK(pipe->kind == "pipe");
    CHECK(pipe->object == 0);
    CHECK(pipe->object_name == "pipe:[70]");
}

TEST_CASE("Who joins a thread waits until that ends") {
    MadeCalls made{{}};
    made.report.timeline[1].end = 700;
    made.join(0, 100, 720, 102);
    made.join(0, 800, 900, 999);  // not in the trace
    made.join(2, 100, 300, 102);  // its time is up
    made.join(3, 100, 300, 104);  // itself
    CHECK(made.parts(0, Held::By::end) == Parts{{100, 700, 1}, {700, 720, kNobody}, {800, 900, kUnknown}});
    CHECK(made.parts(2, Held::By::end) == Parts{{100, 300, 1}});
    CHECK(made.parts(3, Held::By::end) == Parts{{100, 300, kUnknown}});
    made.report.threads[2].tid = 102;  // two with one number
    CHECK(made.parts(0, Held::By::end) == Parts{{100, 720, kUnknown}, {800, 900, kUnknown}});
}

TEST_CASE("In the graph, joins hide nothing of other waits") {
    Locks made;
    made.report.timeline[1].end = 90000;
    made.join(0, 1000, 90010, 102);
    const auto graph = [&] {
        return hints::wait_graph(made.info, made.report, hints::Activities{made.info, made.report}, {});
    };
    CHECK(graph().recorded);
    CHECK(graph().joins_alone);
    REQUIRE(graph().edges.size() == 1);
    CHECK(graph().edges[0].reason == hints::WaitEdge::For::end);
    CHECK(graph().edges[0].owners == "thread 102");
    CHECK(graph().edges[0].share == Approx(0.89).margin(0.001));
    made.write(2, 100, 110);
    made.write(3, 200, 300);  // for somebody
    CHECK_FALSE(graph().joins_alone);
    CHECK(graph().known == 0);
}

TEST_CASE("Who has locked a mutex of which all is recorded has it until unlocking it") {
    RecordedMutex made;
    made.lock(0, 100, 101, RecordedMutex::kNone);
    made.lock(1, 200, 520, RecordedMutex::tid(0));
    made.unlock(0, 500);
    made.lock(2, 300, 720, RecordedMutex::tid(0));
    made.unlock(1, 700);
    made.unlock(2, 800);
    made.lock(3, 900, 901, RecordedMutex::kNone);
    // What nobody has is not waited for.
    CHECK(made.owners(0).empty());
    CHECK(made.owners(1) == Parts{{200, 300, 0}, {300, 500, 0}, {500, 520, kNobody}});
    CHECK(made.owners(2) == Parts{{300, 500, 0}, {500, 520, kNobody}, {520, 700, 1}, {700, 720, kNobody}});
    CHECK(made.owners(3).empty());
}

TEST_CASE("A mutex that is taken by a call that is not recorded has no known owner until it names it") {
    // By pthread_mutex_trylock(), or in pthread_cond_wait().
    RecordedMutex made;
    made.lock(0, 100, 101, RecordedMutex::kNone);
    made.lock(1, 200, 720, RecordedMutex::tid(0));
    made.unlock(0, 300);
    made.unlock(3, 500);
    made.unlock(3, 700);
    CHECK(made.owners(1) ==
          Parts{{200, 300, 0}, {300, 500, kUnknown}, {500, 700, kUnknown}, {700, 720, kNobody}});
    made.lock(2, 400, 740, RecordedMutex::tid(3));
    CHECK(
        made.owners(1) ==
        Parts{{200, 300, 0}, {300, 400, kNobody}, {400, 500, 3}, {500, 700, kUnknown}, {700, 720, kNobody}});
    // The thread that locked it last is not the one that has it.
    RecordedMutex last;
    last.lock(0, 100, 101, RecordedMutex::kNone);
    last.unlock(0, 150);
    last.lock(1, 200, 520, RecordedMutex::tid(3));
    last.unlock(3, 500);
    CHECK(last.owners(1) == Parts{{200, 500, 3}, {500, 520, kNobody}});
}

TEST_CASE("Who has a mutex several times has it until unlocking it as often") {
    RecordedMutex made;
    made.lock(0, 100, 101, RecordedMutex::kNone);
    made.lock(0, 110, 111, RecordedMutex::tid(0));
    made.lock(1, 200, 520, RecordedMutex::tid(0));
    made.unlock(0, 300);
    made.unlock(0, 500);
    CHECK(made.owners(0).empty());
    CHECK(made.owners(1) == Parts{{200, 500, 0}, {500, 520, kNobody}});
}

TEST_CASE("Who ends with a mutex has it until then, and who repairs it has it afterwards") {
    RecordedMutex made;
    made.report.timeline[0].end = 400;
    made.lock(0, 100, 101, RecordedMutex::kNone);
    made.lock(1, 200, 420, RecordedMutex::tid(0));
    made.lock(2, 430, 620, RecordedMutex::kInconsistent);
    made.unlock(1, 600);
    made.unlock(2, 650);
    CHECK(made.owners(1) == Parts{{200, 400, 0}, {400, 420, kNobody}});
    CHECK(made.owners(2) == Parts{{430, 600, 1}, {600, 620, kNobody}});
    // It names the dead one until it is locked.
    RecordedMutex later;
    later.report.timeline[0].end = 400;
    later.lock(0, 100, 101, RecordedMutex::kNone);
    later.lock(1, 500, 501, RecordedMutex::tid(0));
    CHECK(later.owners(1).empty());
}

TEST_CASE("Who is refused a mutex does not have it") {
    RecordedMutex made;
    made.lock(0, 100, 101, RecordedMutex::kInconsistent);
    made.lock(1, 200, 510, RecordedMutex::kInconsistent);
    made.lock(2, 210, 590, RecordedMutex::kInconsistent);
    made.unlock(0, 500);  // without having repaired it
    made.lock(3, 700, 701, RecordedMutex::kNotRecoverable);
    CHECK(made.owners(1) == Parts{{200, 500, 0}, {500, 510, kNobody}});
    CHECK(made.owners(2)[0] == MadeCalls::Part{210, 500, 0});
    CHECK(made.owners(2)[2] == MadeCalls::Part{510, 590, kUnknown});
    CHECK(made.owners(3).empty());
}

TEST_CASE("Once locks and unlocks of such mutexes are not recorded any more, nothing is said of them") {
    RecordedMutex made;
    made.lock(0, 100, 101, RecordedMutex::kNone);
    made.lock(1, 200, 520, RecordedMutex::tid(0));
    made.info.functions[2].windowed_since = 300;
    made.lock(2, 310, 520, RecordedMutex::tid(0));
    CHECK(made.owners(1) == Parts{{200, 300, 0}, {300, 520, kUnknown}});
    CHECK(made.owners(2) == Parts{{310, 520, kUnknown}});
}

TEST_CASE("Nothing is said of such mutexes behind a time of which not all is kept") {
    RecordedMutex made;
    made.report.owned_windows.shift = 10;
    made.report.owned_windows.limit = UINT64_MAX / 2;
    const auto keeps = [&](std::uint64_t number) { return made.report.owned_windows.keeps(number); };
    std::uint64_t number = 1;
    while (!keeps(number) || keeps(number + 1) || !keeps(number + 2))
        ++number;
    const std::uint64_t begin = number << 10, gap = begin + 1024, later = gap + 1024;
    made.lock(0, begin + 10, begin + 20, RecordedMutex::kNone);
    made.lock(1, begin + 100, later + 600, RecordedMutex::tid(0));
    // Others may have had it in between.
    made.lock(2, later + 100, later + 700, RecordedMutex::tid(0));
    made.unlock(0, later + 500);
    made.unlock(1, later + 650);
    CHECK(made.owners(1) == Parts{{begin + 100, gap, 0},
                                  {gap, later + 100, kUnknown},
                                  {later + 100, later + 500, 0},
                                  {later + 500, later + 600, kNobody}});
}

TEST_CASE("An owner in another process, or one of two with one number, is not known") {
    RecordedMutex made;
    made.lock(0, 100, 101, RecordedMutex::kNone);
    made.unlock(0, 150);
    made.lock(1, 200, 520, 999);
    CHECK(made.owners(1) == Parts{{200, 520, kUnknown}});
    // What is behind such a one is no wait for the last owner that is known.
    made.report.threads[3].tid = RecordedMutex::tid(0);
    made.lock(2, 600, 700, RecordedMutex::tid(0));
    CHECK(made.owners(2) == Parts{{600, 700, kUnknown}});
}

namespace {

/// A robust or priority-inheriting mutex as it behaves, with the locks and unlocks that tell of it.
class MutexAtWork {
  public:
    /// `hidden`: it is also taken by calls that are not recorded. `hands_over`: who unlocks it gives it to one that waits.
    MutexAtWork(std::uint32_t seed, bool hidden, bool hands_over)
        : random_{seed}, hidden_{hidden}, hands_over_{hands_over} {}

    void run(std::size_t steps) {
        for (std::size_t i = 0; i < steps; ++i)
            step(random_() % 4);
        while (owner_ != kUnknown)
            unlock();
    }

    bool had(std::size_t thread, std::uint64_t begin, std::uint64_t end) const {
        return std::ranges::any_of(had_, [&](const auto& each) {
            const auto& [from, to, owner] = each;
            return owner == thread && from <= begin && end <= to;
        });
    }

    RecordedMutex made;

  private:
    struct State {
        bool waits = false, hidden = false;
        std::uint64_t since = 0;
        std::uint32_t named = 0;
    };

    std::uint64_t tick() { return time_ += 1 + random_() % 9; }

    void step(std::size_t thread) {
        State& state = state_[thread];
        if (owner_ == thread) {
            if (random_() % 3 == 0) return unlock();
            if (random_() % 8 == 0 && times_ < 3) {
                const std::uint64_t begin = tick();
                made.lock(thread, begin, tick(), RecordedMutex::tid(thread));
                ++times_;
            }
            return;
        }
        if (state.waits) {
            // It comes to run, and may find that another one has been faster.
            if (owner_ == kUnknown) take(thread);
            return;
        }
        state.hidden = hidden_ && random_() % 3 == 0;
        if (state.hidden && owner_ != kUnknown && random_() % 2 == 0) return;  // it has only tried
        state.since = tick();
        state.named = owner_ == kUnknown ? RecordedMutex::kNone : RecordedMutex::tid(owner_);
        state.waits = true;
        if (owner_ == kUnknown) take(thread);
    }

    void take(std::size_t thread) {
        State& state = state_[thread];
        owner_ = thread;
        times_ = 1;
        begin_ = time_;
        state.waits = false;
        if (!state.hidden) made.lock(thread, state.since, tick(), state.named);
    }

    void unlock() {
        const std::size_t owner = owner_;
        made.unlock(owner, tick());
        if (--times_ > 0) return;
        had_.emplace_back(begin_, time_, owner);
        owner_ = kUnknown;
        if (hands_over_)
            for (std::size_t other = 0; other < 4 && owner_ == kUnknown; ++other)
                if (state_[other].waits) take(other);
    }

    std::mt19937 random_;
    bool hidden_, hands_over_;
    std::uint64_t time_ = 10, begin_ = 0;
    std::size_t owner_ = kUnknown, times_ = 0;
    std::array<State, 4> state_{};
    Parts had_;
};

}  // namespace

TEST_CASE("Who is said to have a mutex of which all is recorded has it, however others take it") {
    for (const bool hidden : {false, true}) {
        for (const bool hands_over : {false, true}) {
            double known = 0, all = 0;
            for (std::uint32_t seed = 0; seed < 60; ++seed) {
                MutexAtWork mutex{seed, hidden, hands_over};
                mutex.run(400);
                for (std::size_t t = 0; t < 4; ++t) {
                    for (const auto& [begin, end, owner] : mutex.made.owners(t)) {
                        all += static_cast<double>(end - begin);
                        if (owner != kUnknown) known += static_cast<double>(end - begin);
                        if (owner < kNobody) {
                            INFO(seed << ' ' << hidden << hands_over << ' ' << t << ' ' << begin << ' ' << end
                                      << ' ' << owner);
                            CHECK(mutex.had(owner, begin, end));
                        }
                    }
                }
            }
            INFO(hidden << hands_over << ' ' << known / all);
            CHECK(known > (hidden ? 0.9 : 0.98) * all);
        }
    }
}

namespace {

/// A read-write lock as it behaves, with the calls that tell of it.
class LockAtWork {
  public:
    /// `tells`: what calls return is known. `handed_over`: sometimes a thread that does not have it gives it back for
    /// another one.
    LockAtWork(std::uint32_t seed, bool tells, bool handed_over)
        : random_{seed}, tells_{tells}, handed_over_{handed_over} {}

    struct Had {
        std::uint64_t begin, end;
        std::size_t thread;
    };

    void run(std::size_t steps) {
        for (std::size_t i = 0; i < steps; ++i)
            step(random_() % 4);
        for (std::size_t t = 0; t < 4; ++t)
            if (state_[t].holds) release(t, t);
    }

    /// Whether the thread had it all that time.
    bool had(std::size_t thread, std::uint64_t begin, std::uint64_t end) const {
        return std::ranges::any_of(had_, [&](const Had& each) {
            return each.thread == thread && each.begin <= begin && end <= each.end;
        });
    }

    Locks made;
    std::size_t waits = 0;

  private:
    struct State {
        bool holds = false, waits = false, writes = false, timed = false;
        std::uint64_t since = 0;
    };

    std::uint64_t tick() { return time_ += 1 + random_() % 9; }
    Returned known(Returned returned) const { return tells_ ? returned : Returned::not_known; }

    bool is_free(bool to_write) const {
        return std::ranges::none_of(
            state_, [&](const State& each) { return each.holds && (to_write || each.writes); });
    }

    void take(std::size_t thread, std::uint64_t end) {
        state_[thread].holds = true;
        state_[thread].waits = false;
        state_[thread].since = end;
    }

    void step(std::size_t thread) {
        State& state = state_[thread];
        if (state.holds) {
            if (random_() % 3 != 0) return;
            std::size_t by = thread;
            if (handed_over_ && random_() % 8 == 0)
                for (std::size_t other = 0; other < 4; ++other)
                    if (!state_[other].holds && !state_[other].waits) by = other;
            return release(thread, by);
        }
        if (state.waits) {
            if (!state.timed || random_() % 6 != 0) return;
            made.call(thread, "pthread_rwlock_timedwrlock", state.since, tick(), kWaitedFor,
                      known(Returned::other));
            state.waits = false;
            return;
        }
        const std::uint64_t begin = tick();
        state.writes = random_() % 2 == 0;
        if (random_() % 3 == 0) {
            const bool taken = is_free(state.writes);
            const std::uint64_t end = tick();
            made.call(thread, state.writes ? "pthread_rwlock_trywrlock" : "pthread_rwlock_tryrdlock", begin,
                      end, kWaitedFor, known(taken ? Returned::zero : Returned::other));
            if (taken) take(thread, end);
            return;
        }
        state.timed = state.writes && random_() % 3 == 0;
        state.since = begin;
        state.waits = true;
        if (is_free(state.writes)) grant(thread);
    }

    void grant(std::size_t thread) {
        const State& state = state_[thread];
        const std::uint64_t end = tick();
        made.call(thread,
                  state.timed    ? "pthread_rwlock_timedwrlock"
                  : state.writes ? "pthread_rwlock_wrlock"
                                 : "pthread_rwlock_rdlock",
                  state.since, end, kWaitedFor, known(state.timed ? Returned::zero : Returned::not_known));
        ++waits;
        take(thread, end);
    }

    void release(std::size_t thread, std::size_t by) {
        const std::uint64_t begin = tick();
        had_.push_back({state_[thread].since, begin, thread});
        state_[thread].holds = false;
        made.unlock(by, begin, tick());
        for (std::size_t other = 0; other < 4; ++other)
            if (state_[other].waits && is_free(state_[other].writes)) grant(other);
    }

    std::mt19937 random_;
    bool tells_, handed_over_;
    std::uint64_t time_ = 10;
    std::array<State, 4> state_{};
    std::vector<Had> had_;
};

}  // namespace

TEST_CASE("Who is said to have a lock has it, whatever its calls are") {
    for (const bool tells : {true, false}) {
        for (const bool handed_over : {true, false}) {
            double known = 0, all = 0;
            for (std::uint32_t seed = 0; seed < 60; ++seed) {
                LockAtWork lock{seed, tells, handed_over};
                lock.run(400);
                for (std::size_t t = 0; t < 4; ++t) {
                    for (const auto& [begin, end, owner] : lock.made.owners(t)) {
                        all += static_cast<double>(end - begin);
                        if (owner != kUnknown) known += static_cast<double>(end - begin);
                        if (owner < kNobody) {
                            INFO(seed << ' ' << tells << handed_over << ' ' << t << ' ' << begin << ' ' << end
                                      << ' ' << owner);
                            CHECK(lock.had(owner, begin, end));
                        }
                    }
                }
            }
            if (tells && !handed_over)
                CHECK(known > 0.98 * all);
            else
                CHECK(known > 0.1 * all);
        }
    }
}

TEST_CASE("What a thread waited is what it waited for others, what it was woken, and what is not known") {
    const std::vector<std::string> names{"pthread_rwlock_rdlock",
                                         "pthread_rwlock_wrlock",
                                         "pthread_rwlock_timedwrlock",
                                         "pthread_rwlock_unlock",
                                         "pthread_rwlock_trywrlock",
                                         "pthread_cond_wait",
                                         "pthread_cond_timedwait",
                                         "pthread_cond_signal",
                                         "pthread_cond_broadcast",
                                         "sem_wait",
                                         "sem_timedwait",
                                         "sem_post",
                                         "pthread_barrier_wait",
                                         "pop",
                                         "push"};
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        MadeCalls made{names};
        made.report.comparison.rules.woken_by = {"pop=push"};
        std::mt19937 random{seed};
        struct Expected {
            std::uint64_t begin, end;
            bool lock;
        };
        std::array<std::vector<Expected>, 4> expected;
        for (std::size_t t = 0; t < 4; ++t) {
            std::uint64_t time = 10 + random() % 50;
            while (time < 20000) {
                const std::uint64_t begin = time, end = begin + 1 + random() % 200;
                const std::uint64_t object = random() % 2 == 0 ? kWaitedFor : kAnother;
                const auto returned = static_cast<Returned>(random() % 3);
                const std::size_t kind = random() % (names.size() + 2);
                if (kind < names.size()) {
                    const std::string& name = names[kind];
                    made.call(t, name, begin, end, object, returned);
                    const bool lock = name.find("rwlock") != std::string::npos;
                    if (name.find("try") == std::string::npos && made.info.functions[kind].waits &&
                        name != "push")
                        expected[t].push_back({begin, end, lock});
                } else {
                    made.report.timeline[t].waits.push_back(
                        {.begin = begin,
                         .end = end,
                         .mutex = object,
                         .owner = static_cast<std::uint32_t>(101 + random() % 5),
                         .joins = kind > names.size()});
                    expected[t].push_back({begin, end, false});
                }
                time = end + random() % 40;
            }
            if (t == 3) made.report.timeline[t].end = 9000;
        }
        const auto waits = hints::Waits::of(made.info, made.report);
        REQUIRE(waits);
        for (std::size_t t = 0; t < 4; ++t) {
            std::vector<Held> parts;
            for (const Held::By by : Held::kBys)
                std::ranges::copy(waits->of_thread(t, by), std::back_inserter(parts));
            std::ranges::sort(parts, {}, [](const Held& part) { return part.time.begin; });
            std::uint64_t until = 0, covered = 0, wanted = 0;
            for (const Held& part : parts) {
                CHECK(until <= part.time.begin);
                until = part.time.end;
                covered += part.time.end - part.time.begin;
            }
            for (const Expected& wait : expected[t]) {
                std::uint64_t in_parts = 0;
                for (const Held& part : parts)
                    if (part.time.begin >= wait.begin && part.time.end <= wait.end)
                        in_parts += part.time.end - part.time.begin;
                // A call that takes a lock which nobody has is no wait.
                if (!wait.lock || in_parts > 0) CHECK(in_parts == wait.end - wait.begin);
                wanted += in_parts;
            }
            CHECK(covered == wanted);
        }
    }
}
