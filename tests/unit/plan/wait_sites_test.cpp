// The ways into the waits of locks: found by their code, and planned as parts of the locks.
#include "wrappers/entry/wait_sites.h"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/unit/catch.h"
#include "wrappers/object/object_file.h"
#include "wrappers/plan/planner.h"

namespace {

using rdam::FunctionPlan;
using rdam::ObjectFile;
using rdam::WaitSite;

rdam::CodeRange range_of(const ObjectFile& file, const std::string& name) {
    const auto named = file.named(name);
    REQUIRE_FALSE(named.empty());
    const auto extent = file.extent(file.symbols()[named.front()].address);
    REQUIRE(extent);
    return *extent;
}

std::vector<WaitSite> sites_in(const ObjectFile& file, const std::string& name) {
    return rdam::wait_sites(file, range_of(file, name));
}

std::vector<WaitSite> sites_in(const std::string& name) {
    const auto file = ObjectFile::open(WAITS_FIXTURE);
    REQUIRE(file);
    return sites_in(*file, name);
}

/// Where the library is that has this function.
std::string library_of(void* function) {
    Dl_info info{};
    REQUIRE(dladdr(function, &info) != 0);
    return std::filesystem::canonical(info.dli_fname);
}

std::vector<FunctionPlan> planned(const std::string& library, const std::string& name) {
    rdam::PlanRequest request;
    request.list = *rdam::parse_function_list(name, "test");
    request.has_executable = false;
    request.objects = {{"/proc/self/exe", "", 0x600000000000}, {library, "", 0x700000000000}};
    return rdam::make_plan(request, rdam::Catalogue::builtin()).functions;
}

/// What is listed, no part of it and no partner.
bool is_listed(const FunctionPlan& function) {
    return function.wait_of == 0 && !function.partner;
}

}  // namespace

TEST_CASE("a lock's slow path is called or jumped to behind an atomic instruction") {
    for (const auto& [name, call] : {std::pair{"calls_behind", true},
                                     {"jumps_behind", false},
                                     {"swaps", true},
                                     {"sees_and_tries", false}}) {
        INFO(name);
        const auto sites = sites_in(name);
        REQUIRE(sites.size() == 1);
        CHECK(sites.front().call == call);
    }
}

TEST_CASE("what is no slow path is none") {
    for (const char* name :
         {"decides_before", "calls_exported", "calls_writer", "swaps_registers", "loops_inside", "sleeps"}) {
        INFO(name);
        CHECK(sites_in(name).empty());
    }
}

TEST_CASE("a lock's way for objects of other kinds is the one jump to what sleeps before anything is tried") {
    const auto file = ObjectFile::open(WAITS_FIXTURE);
    REQUIRE(file);
    for (const auto& [name, target] :
         {std::pair{"leaves_before", "sleeps_by_copy"}, {"leaves_behind_jump", "sleeps"}}) {
        INFO(name);
        const auto site = rdam::way_of_other_kinds(*file, range_of(*file, name));
        REQUIRE(site);
        CHECK(site->target == range_of(*file, target).begin);
        CHECK(!site->call);
    }
    // What has no way of its own for what it tries to get is no such lock.
    for (const char* name : {"leaves_twice", "decides_before", "calls_behind", "jumps_behind", "sleeps"}) {
        INFO(name);
        CHECK(!rdam::way_of_other_kinds(*file, range_of(*file, name)));
    }
}

TEST_CASE("what looks for waiters before all else says where they are seen") {
    const auto file = ObjectFile::open(WAITS_FIXTURE);
    REQUIRE(file);
    const auto seen = rdam::waiters_seen(*file, range_of(*file, "sees_waiters").begin);
    REQUIRE(seen);
    CHECK(seen->offset == 36);
    CHECK(seen->mask == 0xfffffff8);
    for (const char* name : {"sees_waiters_later", "sees_waiters_of_another", "sees_something_else",
                             "sees_and_goes_on", "sees_and_works", "reads_member", "sleeps"}) {
        INFO(name);
        CHECK(!rdam::waiters_seen(*file, range_of(*file, name).begin));
    }
}

TEST_CASE("what reads a member of its first argument's object gets that object") {
    const auto file = ObjectFile::open(WAITS_FIXTURE);
    REQUIRE(file);
    const auto reads = [&](const char* name) {
        return rdam::reads_member(*file, range_of(*file, name).begin, 16);
    };
    CHECK(reads("reads_member"));
    CHECK(!reads("reads_other_member"));
    CHECK(!reads("reads_of_another"));
    CHECK(!reads("reads_perhaps"));
    CHECK(!reads("sleeps"));
}

TEST_CASE("the C library's locks are planned with their waits, with and without its symbols") {
    const std::string library = library_of(reinterpret_cast<void*>(&pthread_mutex_lock));
    for (const char* name : {"pthread_mutex_lock", "pthread_rwlock_wrlock", "sem_wait"}) {
        INFO(name);
        const auto functions = planned(library, name);
        const auto is_wait = [](const FunctionPlan& each) { return each.wait_of != 0 && !each.wakes; };
        const auto lock = std::ranges::find_if(functions, is_listed);
        REQUIRE(lock != functions.end());
        CHECK(std::ranges::count_if(functions, is_wait) >= 1);
        for (const FunctionPlan& wait : functions) {
            if (!is_wait(wait)) continue;
            CHECK(wait.name == lock->name + (wait.partner ? " (robust or inheriting)" : " (waiting)"));
            CHECK(wait.wait_of == lock->address);
            CHECK(wait.address >= lock->address + lock->prologue.original.size());
            CHECK(wait.address + wait.prologue.original.size() <= lock->address + lock->size);
            REQUIRE(wait.prologue.fixups.size() >= 1);
        }
    }
}

TEST_CASE("the waits of mutexes record their owners, and who wakes a waiter gives the mutex back") {
    const std::string library = library_of(reinterpret_cast<void*>(&pthread_mutex_lock));
    const auto functions = planned(library, "pthread_mutex_lock");
    const auto lock = std::ranges::find_if(functions, is_listed);
    REQUIRE(lock != functions.end());
    int waits = 0, wakes = 0, locks = 0, unlocks = 0;
    for (const FunctionPlan& each : functions) {
        if (each.wait_of == 0) continue;
        // All calls for robust and priority-inheriting mutexes are recorded, but behind a gate.
        CHECK(each.takes_flags == !each.partner);
        if (each.partner)
            ++(each.wakes ? unlocks : locks);
        else
            ++(each.wakes ? wakes : waits);
        CHECK(each.wait_of == lock->address);
        CHECK(each.recording.integer_registers == 1);
        CHECK((each.recording.owner == 1) == !each.wakes);
        // Where the unlock was called from is on the stack behind what the call of what wakes has pushed.
        const bool wakes_by_call = each.wakes && each.prologue.call;
        CHECK((each.recording.stack_words > 0) == wakes_by_call);
        CHECK((each.parameters.back().name == rdam::plan::kCallerName) == wakes_by_call);
        CHECK(each.parameters.back().word + 1U == each.recording.enter_words());
        REQUIRE(!each.parameters.empty());
        CHECK(each.parameters[0].name == "mutex");
        if (each.wakes)
            CHECK(each.name == (each.partner ? "pthread_mutex_unlock (robust or inheriting)"
                                             : "pthread_mutex_unlock (waking)"));
        else
            CHECK(each.parameters.back().name == rdam::plan::kOwnerName);
    }
    CHECK(waits >= 1);
    CHECK(wakes >= 1);
    CHECK(locks == 1);
    CHECK(unlocks == 1);
    // These call more than what waits, with other arguments than the mutex; known where libc's debug symbols are.
    for (const char* name : {"__pthread_mutex_lock_full", "__pthread_mutex_clocklock_common"})
        for (const FunctionPlan& each : planned(library, name))
            CHECK(each.recording.owner == 0);
    // Others do not name an owner.
    for (const char* name : {"pthread_rwlock_wrlock", "sem_wait"}) {
        const auto others = planned(library, name);
        CHECK(others.size() >= 2);
        for (const FunctionPlan& each : others) {
            CHECK(each.recording.owner == 0);
            CHECK(!each.wakes);
        }
    }
}

TEST_CASE("a place is wrapped once, whoever leads there") {
    const auto functions = planned(library_of(reinterpret_cast<void*>(&pthread_mutex_lock)),
                                   "pthread_mutex_lock\npthread_mutex_unlock\nmtx_lock\n");
    std::vector<std::uint64_t> places;
    for (const FunctionPlan& each : functions)
        places.push_back(each.address);
    std::ranges::sort(places);
    CHECK(std::ranges::adjacent_find(places) == places.end());
    CHECK(std::ranges::count_if(functions, &FunctionPlan::wakes) >= 1);
}

TEST_CASE("a join records whose end it waits for") {
    const std::string library = library_of(reinterpret_cast<void*>(&pthread_mutex_lock));
    for (const char* name : {"pthread_join", "pthread_timedjoin_np"}) {
        INFO(name);
        const auto functions = planned(library, name);
        const auto join = std::ranges::find_if(functions, is_listed);
        const auto wait =
            std::ranges::find_if(functions, [](const FunctionPlan& each) { return each.wait_of != 0; });
        REQUIRE(join != functions.end());
        REQUIRE(wait != functions.end());
        CHECK(functions.size() == 2);
        CHECK(wait->wait_of == join->address);
        CHECK(wait->recording.enter_words() == 2);
        CHECK(wait->recording.owner == 0);
        CHECK(wait->parameters.back().name == rdam::plan::kJoinedName);
    }
    // Where both are listed, what they have in common is planned once.
    const auto functions = planned(library, "pthread_join\npthread_timedjoin_np");
    CHECK(std::ranges::count_if(functions, [](const FunctionPlan& each) { return each.wait_of != 0; }) == 1);
}

TEST_CASE("what gives a lock back has no wait") {
    const auto functions =
        planned(library_of(reinterpret_cast<void*>(&pthread_mutex_lock)), "pthread_mutex_unlock");
    CHECK(functions.size() == 1);
}

TEST_CASE("who ends waits is planned with who waits, unless it is listed or spins") {
    const std::string library = library_of(reinterpret_cast<void*>(&pthread_mutex_lock));
    const auto partners = [&](const std::string& list) {
        rdam::PlanRequest request;
        request.list = *rdam::parse_function_names(list, "test");
        request.has_executable = false;
        request.objects = {{"/proc/self/exe", "", 0x600000000000}, {library, "", 0x700000000000}};
        const rdam::Plan plan = rdam::make_plan(request, rdam::Catalogue::builtin());
        CHECK(plan.answers.size() == request.list.entries.size());
        std::vector<std::string> names;
        for (const FunctionPlan& each : plan.functions)
            if (each.partner && each.wait_of == 0) names.push_back(each.name);
        std::ranges::sort(names);
        return names;
    };
    using Names = std::vector<std::string>;
    CHECK(partners("pthread_cond_wait") == Names{"pthread_cond_broadcast", "pthread_cond_signal"});
    CHECK(partners("pthread_cond_wait,pthread_cond_signal") == Names{"pthread_cond_broadcast"});
    CHECK(partners("sem_wait") == Names{"sem_post"});
    CHECK(partners("pthread_rwlock_wrlock,pthread_rwlock_rdlock") ==
          Names{"pthread_rwlock_tryrdlock", "pthread_rwlock_trywrlock", "pthread_rwlock_unlock"});
    CHECK(partners("pthread_rwlock_trywrlock").empty());
    CHECK(partners("pthread_spin_lock,pthread_mutex_lock,write").empty());
}
