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

std::vector<WaitSite> sites_in(const ObjectFile& file, const std::string& name) {
    const auto named = file.named(name);
    REQUIRE_FALSE(named.empty());
    const auto extent = file.extent(file.symbols()[named.front()].address);
    REQUIRE(extent);
    return rdam::wait_sites(file, *extent);
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

TEST_CASE("the C library's locks are planned with their waits, with and without its symbols") {
    const std::string library = library_of(reinterpret_cast<void*>(&pthread_mutex_lock));
    for (const char* name : {"pthread_mutex_lock", "pthread_rwlock_wrlock", "sem_wait"}) {
        INFO(name);
        const auto functions = planned(library, name);
        const auto is_wait = [](const FunctionPlan& function) { return function.wait_of != 0; };
        const auto lock = std::ranges::find_if_not(functions, is_wait);
        REQUIRE(lock != functions.end());
        CHECK(std::ranges::count_if(functions, is_wait) >= 1);
        for (const FunctionPlan& wait : functions) {
            if (!is_wait(wait)) continue;
            CHECK(wait.name == lock->name + " (waiting)");
            CHECK(wait.wait_of == lock->address);
            CHECK(wait.address >= lock->address + lock->prologue.original.size());
            CHECK(wait.address + wait.prologue.original.size() <= lock->address + lock->size);
            REQUIRE(wait.prologue.fixups.size() >= 1);
        }
    }
}

TEST_CASE("what gives a lock back has no wait") {
    const auto functions =
        planned(library_of(reinterpret_cast<void*>(&pthread_mutex_lock)), "pthread_mutex_unlock");
    CHECK(functions.size() == 1);
}
