// Whole plans: exclusions, prototypes and catalogue together, on this process's own libraries.
#include <link.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/contains.h"
#include "tests/unit/object/fixtures.h"
#include "wrappers/object/object_file.h"
#include "wrappers/plan/planner.h"

namespace {

using rdam::Answer;
using rdam::FunctionPlan;
using rdam::ListVerdict;
using rdam::Plan;
using rdam::PlanRequest;
using rdam::test::contains;
using rdam::test::fixture;

/// What is loaded into this process, the main program first.
std::vector<rdam::LoadedObject> loaded_objects() {
    std::vector<rdam::LoadedObject> objects;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* list) {
            auto& all = *static_cast<std::vector<rdam::LoadedObject>*>(list);
            const std::string path = all.empty() ? "/proc/self/exe" : info->dlpi_name;
            all.push_back({path, "", info->dlpi_addr});
            return 0;
        },
        &objects);
    return objects;
}

PlanRequest request_for(const std::string& names) {
    PlanRequest request;
    auto list = rdam::parse_function_list(names, "test");
    REQUIRE(list.has_value());
    request.list = *list;
    request.objects = loaded_objects();
    request.resolve_ifunc = [](std::uint64_t resolver) {
        return reinterpret_cast<std::uint64_t (*)()>(resolver)();
    };
    return request;
}

Plan plan_here(const std::string& names) {
    return rdam::make_plan(request_for(names), rdam::Catalogue::builtin());
}

const FunctionPlan* find(const Plan& plan, const std::string& name) {
    const auto found = std::find_if(plan.functions.begin(), plan.functions.end(),
                                    [&](const FunctionPlan& function) { return function.name == name; });
    return found == plan.functions.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("well-known functions have the parameters of the manual, keys included") {
    const Plan plan = plan_here("write\npthread_mutex_lock@@GLIBC_2.2.5\nprintf\n");
    const FunctionPlan* write = find(plan, "write");
    REQUIRE(write != nullptr);
    CHECK(write->frame == rdam::plan::Frame::stack);
    CHECK(write->stack_bytes == 0);
    CHECK(write->recording.integer_registers == 3);
    CHECK(write->recording.return_value == rdam::plan::ReturnValue::rax);
    REQUIRE(write->parameters.size() == 3);
    CHECK(write->parameters[0].name == "fd");
    CHECK(write->parameters[0].key);
    CHECK(write->parameters[2].name == "count");
    CHECK(write->parameters[2].word == 2);
    CHECK(write->parameters[2].key);
    CHECK(write->parameters[2].by_size);
    CHECK_FALSE(write->parameters[0].by_size);
    CHECK_FALSE(write->parameters[1].key);
    REQUIRE(write->result.has_value());
    CHECK(write->result->size == 8);
    CHECK_FALSE(write->result->key);
    const FunctionPlan* lock = find(plan, "pthread_mutex_lock");
    REQUIRE(lock != nullptr);
    REQUIRE(lock->parameters.size() == 1);
    CHECK(lock->parameters[0].key);
    const FunctionPlan* variadic = find(plan, "printf");
    REQUIRE(variadic != nullptr);
    CHECK(variadic->frame == rdam::plan::Frame::shadow);
    CHECK(variadic->parameters.size() == 1);
}

TEST_CASE("a length that is returned is a key, and where a pointer leads to", "[plan]") {
    for (const auto* name : {"read", "strlen", "strchr"}) {
        const Plan plan = plan_here(std::string{"libc.so.6:"} + name);
        REQUIRE(plan.functions.size() == 1);
        REQUIRE(plan.functions[0].result.has_value());
        CHECK(plan.functions[0].result->key);
        CHECK(plan.functions[0].result->by_size);
    }
}

TEST_CASE("arguments are left out on request") {
    auto request = request_for("libc.so.6:write");
    request.record_arguments = false;
    const Plan plan = rdam::make_plan(request, rdam::Catalogue::builtin());
    REQUIRE(plan.functions.size() == 1);
    CHECK(plan.functions[0].recording == rdam::plan::Recording{});
    CHECK(plan.functions[0].parameters.empty());
    CHECK_FALSE(plan.functions[0].result.has_value());
    CHECK(plan.functions[0].frame == rdam::plan::Frame::stack);
}

TEST_CASE("a function is sampled if an entry that means it is marked, and none spells it out without") {
    const auto sampled = [](const std::string& list) {
        const Plan plan = plan_here(list);
        INFO(list);
        REQUIRE(plan.functions.size() == 1);
        return plan.functions.front().sampled;
    };
    CHECK(sampled("~libc.so.6:write"));
    CHECK(sampled("~libc.so.6:writ[e]"));
    CHECK(sampled("~libc.so.6:write\nlibc.so.6:writ[e]"));
    CHECK(sampled("libc.so.6:writ[e]\n~libc.so.6:writ?"));
    CHECK(sampled("~__libc_write\nwrite  # wait"));
    CHECK_FALSE(sampled("libc.so.6:write"));
    CHECK_FALSE(sampled("libc.so.6:writ[e]"));
    CHECK_FALSE(sampled("~libc.so.6:writ[e]\nlibc.so.6:write"));
    CHECK_FALSE(sampled("write\n~libc.so.6:writ[e]"));
    // Another name of the same function is no less written by hand.
    CHECK_FALSE(sampled("~write\n__write"));
}

TEST_CASE("a mark is one function's alone") {
    const Plan plan = plan_here("~libc.so.6:write\nlibc.so.6:read\n");
    REQUIRE(find(plan, "write") != nullptr);
    REQUIRE(find(plan, "read") != nullptr);
    CHECK(find(plan, "write")->sampled);
    CHECK_FALSE(find(plan, "read")->sampled);
}

TEST_CASE("what the catalogue excludes is refused with its reason") {
    const Plan plan = plan_here("setjmp\nvfork\n");
    CHECK(plan.functions.empty());
    REQUIRE(plan.answers.size() >= 2);
    for (const Answer& answer : plan.answers) {
        CHECK(answer.verdict == ListVerdict::refused);
        CHECK(contains(answer.reason, "returns twice"));
    }
}

TEST_CASE("glibc's variants and internal names find their function") {
    const Plan plan = plan_here("libc.so.6:strcmp\n__lll_lock_wait_private\n__GI___libc_write\n__write\n");
    REQUIRE(plan.answers.size() == 4);
    for (const Answer& answer : plan.answers) {
        INFO(answer.entry.text << ": " << answer.reason);
        CHECK(answer.verdict == ListVerdict::wrapped);
    }
    CHECK(plan.functions.size() == 3);
}

TEST_CASE("memcpy is wrapped, although mempcpy jumps behind its first instruction") {
    const Plan chosen = plan_here("libc.so.6:memcpy\nlibc.so.6:memmove\n");
    REQUIRE(chosen.answers.size() == 2);
    for (const Answer& answer : chosen.answers) {
        INFO(answer.entry.text << ": " << answer.reason);
        CHECK(answer.verdict == ListVerdict::wrapped);
    }
    const auto objects = loaded_objects();
    const auto libc = std::find_if(objects.begin(), objects.end(),
                                   [](const auto& object) { return contains(object.path, "libc.so.6"); });
    REQUIRE(libc != objects.end());
    if (rdam::ObjectFile::open(libc->path)->symbol_source() == rdam::SymbolSource::exported_only) {
        WARN("skipped: libc's debug symbols, which name each implementation of memmove, are not installed");
        return;
    }
    const Plan all = plan_here("libc.so.6:__memmove_*_unaligned_erms\n");
    CHECK(all.functions.size() >= 3);
    for (const Answer& answer : all.answers) {
        INFO(answer.function << ": " << answer.reason);
        CHECK(answer.verdict == ListVerdict::wrapped);
    }
    for (const FunctionPlan& function : all.functions) {
        INFO(function.linkage_name);
        if (!contains(function.linkage_name, "_chk_")) CHECK(function.prologue.jump_before >= 5);
    }
}

TEST_CASE("without libc's debug symbols the exported function stands in, and that is said") {
    // A libc without debug file: the same library under a name that has none.
    auto request =
        request_for("__GI___pthread_mutex_unlock_usercnt\n__strcmp_evex\n__GI___write\nlibc.so.6:memcpy\n");
    const auto libc = std::find_if(request.objects.begin(), request.objects.end(),
                                   [](const auto& object) { return contains(object.path, "libc.so.6"); });
    REQUIRE(libc != request.objects.end());
    libc->path = fixture("libc_without_id.so");
    const Plan plan = rdam::make_plan(request, rdam::Catalogue::builtin());
    REQUIRE(plan.answers.size() == 4);
    CHECK(plan.answers[0].verdict == ListVerdict::wrapped);
    CHECK(contains(plan.answers[0].reason, "as pthread_mutex_unlock, the exported function"));
    CHECK(plan.answers[1].verdict == ListVerdict::wrapped);
    CHECK(contains(plan.answers[1].reason, "as strcmp, whose implementation it may be"));
    CHECK(plan.answers[2].verdict == ListVerdict::wrapped);
    CHECK(contains(plan.answers[2].reason, "as write, the exported function"));
    INFO(plan.answers[3].reason);
    CHECK(plan.answers[3].verdict == ListVerdict::wrapped);
    CHECK(find(plan, "strcmp") != nullptr);
}

TEST_CASE("the dynamic linker, the recorder and the vdso are skipped") {
    const Plan linker = plan_here("ld-linux-x86-64.so.2:__tls_get_addr");
    REQUIRE(linker.answers.size() == 1);
    CHECK(linker.answers[0].verdict == ListVerdict::refused);
    CHECK(contains(linker.answers[0].reason, "dynamic linker"));

    auto request = request_for("calls_twin_a");
    request.objects.push_back({fixture("libsymbols.so"), "", 0x700000000000});
    request.own_objects = {fixture("libsymbols.so")};
    const Plan own = rdam::make_plan(request, rdam::Catalogue::builtin());
    REQUIRE(own.answers.size() == 1);
    CHECK(own.answers[0].verdict == ListVerdict::refused);
    CHECK(contains(own.answers[0].reason, "recorder"));
}

TEST_CASE("a file that is not the one that was loaded is refused") {
    auto request = request_for("calls_twin_a");
    request.objects.push_back({fixture("libsymbols.so"), "0011223344", 0x700000000000});
    Plan plan = rdam::make_plan(request, rdam::Catalogue::builtin());
    REQUIRE(plan.answers.size() == 1);
    CHECK(plan.answers[0].verdict == ListVerdict::refused);
    CHECK(contains(plan.answers[0].reason, "is not the file that was loaded"));

    request.objects.back().build_id = rdam::ObjectFile::open(fixture("libsymbols.so"))->build_id();
    plan = rdam::make_plan(request, rdam::Catalogue::builtin());
    CHECK(plan.answers[0].verdict == ListVerdict::wrapped);
}

TEST_CASE("objects that cannot be read are named in the answers that need them") {
    auto request = request_for("libgone.so:work");
    request.objects.push_back({"/no/such/place/libgone.so", "", 0x700000000000});
    const Plan plan = rdam::make_plan(request, rdam::Catalogue::builtin());
    REQUIRE(plan.answers.size() == 1);
    CHECK(plan.answers[0].verdict == ListVerdict::not_found);
    CHECK(contains(plan.answers[0].reason, "libgone.so: cannot be opened: No such file"));
}

TEST_CASE("Go code is refused") {
    auto request = request_for("lines_like_go:outermost");
    request.objects.push_back({fixture("lines_like_go"), "", 0x700000000000});
    const Plan plan = rdam::make_plan(request, rdam::Catalogue::builtin());
    REQUIRE(plan.answers.size() == 1);
    CHECK(plan.answers[0].verdict == ListVerdict::refused);
    CHECK(contains(plan.answers[0].reason, "Go"));
}

TEST_CASE("functions are in order, and no entry is planned twice") {
    const Plan plan = plan_here("write\nread\n__write\nmalloc\n__libc_malloc\nfputs\nmain\n");
    REQUIRE(plan.functions.size() >= 5);
    for (std::size_t index = 1; index < plan.functions.size(); ++index) {
        const auto& a = plan.functions[index - 1];
        const auto& b = plan.functions[index];
        CHECK(std::pair{a.object, a.address} < std::pair{b.object, b.address});
    }
    for (const auto& function : plan.functions) {
        CHECK_FALSE(function.prologue.code.empty());
        CHECK_FALSE(function.prologue.original.empty());
    }
}

TEST_CASE("a module may go by its link's name and by its file's") {
    const Plan link = plan_here("libstdc++.so.6:operator new");
    REQUIRE_FALSE(link.functions.empty());
    const auto objects = loaded_objects();
    const auto library = std::find_if(objects.begin(), objects.end(),
                                      [](const auto& object) { return contains(object.path, "libstdc++"); });
    REQUIRE(library != objects.end());
    const std::string file = std::filesystem::canonical(library->path).filename().string();
    CHECK(plan_here(file + ":operator new").functions.size() == link.functions.size());
}

TEST_CASE("every name of the C library that perf printed finds its function") {
    std::ifstream report{SHARED_PERF "/leveldb.flat.default.txt"};
    if (!report) {
        WARN("skipped: " SHARED_PERF " is not there");
        return;
    }
    std::string list;
    for (std::string line; std::getline(report, line);) {
        const std::size_t mark = line.find(" [.] ");
        if (mark == std::string::npos || !contains(line, " libc.so.6 ")) continue;
        std::string name = line.substr(mark + 5);
        name.erase(name.find_last_not_of(' ') + 1);
        if (!name.starts_with("0x")) list += "libc.so.6:" + name + "\n";
    }
    const Plan plan = plan_here(list);
    CHECK(plan.answers.size() >= 20);
    for (const Answer& answer : plan.answers) {
        INFO(answer.entry.text << ": " << answer.reason);
        CHECK(answer.verdict != ListVerdict::not_found);
    }
}

TEST_CASE("no list, no objects: an answer all the same") {
    PlanRequest request;
    CHECK(rdam::make_plan(request, rdam::Catalogue::builtin()).answers.empty());
    request.list = *rdam::parse_function_list("write", "test");
    const Plan plan = rdam::make_plan(request, rdam::Catalogue::builtin());
    REQUIRE(plan.answers.size() == 1);
    CHECK(plan.answers[0].verdict == ListVerdict::not_found);
}

TEST_CASE("an internal function of the C library that the catalogue has is known by its name") {
    const Plan plan = plan_here("__futex_abstimed_wait_common");
    REQUIRE(plan.answers.size() == 1);
    if (plan.answers[0].verdict != ListVerdict::wrapped) {
        std::puts("skipped: libc has no debug symbols here");
        return;
    }
    REQUIRE(plan.functions.size() == 1);
    CHECK(plan.functions[0].waits);
    REQUIRE_FALSE(plan.functions[0].parameters.empty());
    CHECK(plan.functions[0].parameters[0].key);
}
