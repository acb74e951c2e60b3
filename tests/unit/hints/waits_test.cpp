// For whom threads wait, by the calls of the functions that end waits.
#include "analyzer/hints/waits.h"

#include <string>
#include <tuple>
#include <vector>

#include "analyzer/hints/owners.h"
#include "tests/unit/catch.h"

using namespace rdam;
using hints::Held;

namespace {

constexpr std::uint64_t kWaitedFor = 0x5000, kAnother = 0x6000;
constexpr std::size_t kNobody = Held::kWoken, kUnknown = Held::kNotKnown;

/// Four threads, and functions by their names, of which each test makes up the calls.
struct MadeCalls {
    explicit MadeCalls(const std::vector<std::string>& names) {
        for (const std::string& name : names) {
            trace::FunctionInfo& function = info.functions.emplace_back();
            function.name = function.linkage_name = name;
            function.waits = name != "pthread_rwlock_unlock" && name != "pthread_cond_signal" &&
                             name != "pthread_cond_broadcast" && name != "sem_post";
        }
        report.threads.resize(4);
        report.timeline.resize(4);
        for (auto& timeline : report.timeline)
            timeline.end = 100000;
    }

    void call(std::size_t thread, const std::string& name, std::uint64_t begin, std::uint64_t end,
              std::uint64_t object = kWaitedFor) {
        for (std::uint32_t f = 0; f < info.functions.size(); ++f)
            if (info.functions[f].name == name)
                report.timeline[thread].calls.push_back({f, begin, end, object, end - begin});
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
    Locks() : MadeCalls{{"pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "pthread_rwlock_unlock"}} {}
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
    Conditions() : MadeCalls{{"pthread_cond_wait", "pthread_cond_signal", "pthread_cond_broadcast"}} {}
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

using Parts = std::vector<MadeCalls::Part>;

}  // namespace

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
