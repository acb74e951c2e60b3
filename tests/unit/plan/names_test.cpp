// How entries of a list find functions, on libraries made for it. The expectations are the documented rules:
// every name that perf prints must find its function, and every entry is answered.
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/contains.h"
#include "tests/unit/object/fixtures.h"
#include "wrappers/plan/planner.h"

namespace {

using rdam::Answer;
using rdam::FunctionPlan;
using rdam::ListVerdict;
using rdam::Plan;
using rdam::PlanRequest;
using rdam::test::contains;
using rdam::test::fixture;

const std::string kNames = fixture("names");

/// Objects that need not be loaded: the planner reads files, and addresses count only for IFUNCs.
Plan plan_for(const std::vector<std::string>& names, const std::vector<std::string>& files) {
    PlanRequest request;
    for (const std::string& name : names) {
        auto list = rdam::parse_function_list(name, "test");
        REQUIRE(list.has_value());
        request.list.entries.push_back(list->entries.front());
    }
    std::uint64_t base = 0x100000000;
    for (const std::string& file : files) {
        request.objects.push_back({file, "", base});
        base += 0x100000000;
    }
    return rdam::make_plan(request, rdam::Catalogue::builtin());
}

Plan plan_for(const std::string& name, const std::string& file = "libsymbols.so") {
    return plan_for(std::vector{name}, {kNames, fixture(file)});
}

const FunctionPlan& only_function(const Plan& plan) {
    REQUIRE(plan.functions.size() == 1);
    return plan.functions.front();
}

const Answer& only_answer(const Plan& plan) {
    REQUIRE(plan.answers.size() == 1);
    return plan.answers.front();
}

std::vector<std::string> names_of(const Plan& plan) {
    std::vector<std::string> names;
    for (const auto& function : plan.functions)
        names.push_back(function.name);
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

TEST_CASE("a plain name finds its function, and its other names") {
    const Plan plan = plan_for("second_name");
    CHECK(only_function(plan).name == "second_name (also first_name)");
    CHECK(only_function(plan).aliases == std::vector<std::string>{"first_name"});
    CHECK(only_function(plan).object == 1);
    CHECK(only_answer(plan).verdict == ListVerdict::wrapped);
    CHECK(only_answer(plan).function == "libsymbols.so:second_name");
}

TEST_CASE("two names of one function plan it once and answer twice") {
    const Plan plan = plan_for({"first_name", "second_name"}, {kNames, fixture("libsymbols.so")});
    CHECK(plan.functions.size() == 1);
    REQUIRE(plan.answers.size() == 2);
    CHECK(plan.answers[1].verdict == ListVerdict::wrapped);
}

TEST_CASE("a pattern of a module matches its file name, its path or its soname") {
    CHECK(only_function(plan_for("libsym*.so:second_name")).object == 1);
    CHECK(only_function(plan_for("*/libsymbols.so:second_name")).object == 1);
    CHECK(only_answer(plan_for("libother.so*:second_name")).awaits_module);
    CHECK(only_answer(plan_for("libother*:second_name")).awaits_module);
    CHECK_FALSE(only_answer(plan_for("libsym*:third_name")).awaits_module);
    CHECK_FALSE(only_answer(plan_for("other_*.c:second_name")).awaits_module);
}

TEST_CASE("a name in any module may be that of a library that is loaded later") {
    CHECK(only_function(plan_for("*:second_name")).object == 1);
    const Plan plan = plan_for({"*:third_name"}, {"[vdso]", kNames, fixture("libsymbols.so")});
    CHECK(only_answer(plan).awaits_module);
    CHECK(only_answer(plan).verdict == ListVerdict::not_found);
    CHECK(only_answer(plan).reason ==
          "none of the 3 loaded objects has such a symbol; it is looked up in libraries that are loaded "
          "later, too");
}

TEST_CASE("functions that are one code have all of its names, and that is said") {
    const Plan plan = plan_for({"first_name"}, {kNames, fixture("libsymbols.so")});
    CHECK(only_function(plan).name == "first_name (also second_name)");
    CHECK(only_answer(plan).reason == "second_name is the same code: calls of both are in one row");
}

TEST_CASE("modules are file names or sonames; others are source files") {
    CHECK(plan_for("libsymbols.so:calls_twin_a").functions.size() == 1);
    CHECK(plan_for("libsymbols.so.1:calls_twin_a").functions.size() == 1);
    CHECK(plan_for("names:calls_twin_a").functions.empty());
    CHECK(plan_for("libsymbols:calls_twin_a").functions.empty());
    CHECK(plan_for("twin").functions.size() == 2);
    CHECK(only_function(plan_for("symbols_a.c:twin")).source.substr(0, 12) == "symbols_a.c:");
    CHECK(only_function(plan_for("symbols_b.c:twin")).source.substr(0, 12) == "symbols_b.c:");
    CHECK(plan_for("symbols_c.c:twin").functions.empty());
}

TEST_CASE("a global function is found by its source file through the debug information") {
    CHECK(only_function(plan_for("symbols_b.c:calls_twin_b")).name == "calls_twin_b");
    CHECK(plan_for("symbols_a.c:calls_twin_b").functions.empty());
}

TEST_CASE("versions: the default one, the one asked for, or all that exist") {
    const Plan recent = plan_for("versioned");
    const Plan same = plan_for("versioned@@LIB_2.0");
    const Plan old = plan_for("versioned@LIB_1.0");
    CHECK(only_function(recent).address == only_function(same).address);
    CHECK(only_function(recent).address != only_function(old).address);
    CHECK(only_function(plan_for("retired")).linkage_name == "retired");
    CHECK(only_answer(plan_for("versioned@LIB_9.9")).verdict == ListVerdict::not_found);
}

TEST_CASE("names that compilers give are names") {
    CHECK(only_function(plan_for("rhs_._omp_fn.0")).linkage_name == "rhs_._omp_fn.0");
    CHECK(only_function(plan_for("only_copies.isra.1")).frame == rdam::plan::Frame::shadow);
    CHECK(only_function(plan_for("only_copies.isra.1")).parameters.empty());
}

TEST_CASE("a function of which only the compiler's copies exist stands for them, and says so") {
    const Plan plan = plan_for("only_copies");
    CHECK(names_of(plan) == std::vector<std::string>{"only_copies.constprop.0", "only_copies.isra.1"});
    REQUIRE(plan.answers.size() == 2);
    CHECK(contains(plan.answers[0].reason, "the compiler's copy of only_copies"));
}

TEST_CASE("nothing stands in for a missing name outside of the C library") {
    CHECK(only_answer(plan_for("__first_name")).verdict == ListVerdict::not_found);
    CHECK(only_answer(plan_for("__GI_first_name", "libsymbols.bare.so")).verdict == ListVerdict::not_found);
    CHECK(only_answer(plan_for("__first_name_avx2")).verdict == ListVerdict::not_found);
}

TEST_CASE("cold parts are never wrapped") {
    const Plan plan = plan_for("calls_twin_a.cold");
    CHECK(plan.functions.empty());
    CHECK(only_answer(plan).verdict == ListVerdict::refused);
    CHECK(contains(only_answer(plan).reason, "cold part"));
    CHECK(names_of(plan_for("libsymbols.so:calls_twin_*")) ==
          std::vector<std::string>{"calls_twin_a", "calls_twin_b"});
}

TEST_CASE("Fortran names go without their decoration") {
    CHECK(only_function(plan_for("solve")).linkage_name == "solve_");
    CHECK(only_function(plan_for("SOLVE")).linkage_name == "solve_");
    CHECK(only_function(plan_for("grid::relax")).linkage_name == "__grid_MOD_relax");
}

#ifdef HAVE_FORTRAN
TEST_CASE("a Fortran compiler's names") {
    CHECK(only_function(plan_for("solve", "libsolver.so")).linkage_name == "solve_");
    CHECK(only_function(plan_for("solve_", "libsolver.so")).frame == rdam::plan::Frame::shadow);
    CHECK(only_function(plan_for("grid::relax", "libsolver.so")).linkage_name == "__grid_MOD_relax");
    CHECK(only_function(plan_for("__grid_MOD_relax", "libsolver.so")).source == "solver.f90:3");
}
#else
TEST_CASE("a Fortran compiler's names") {
    WARN("skipped: gfortran is not installed");
}
#endif

#ifdef HAVE_RUST
TEST_CASE("a Rust compiler's names") {
    const Plan plan = plan_for("libshelf.so:*shelf::Shelf*weigh", "libshelf.so");
    const FunctionPlan& weigh = only_function(plan);
    CHECK(weigh.frame == rdam::plan::Frame::shadow);
    CHECK(only_function(plan_for(weigh.name, "libshelf.so")).address == weigh.address);
    CHECK(only_function(plan_for(weigh.linkage_name, "libshelf.so")).address == weigh.address);
    CHECK(only_function(plan_for("weigh_shelf", "libshelf.so")).name == "weigh_shelf");
}
#else
TEST_CASE("a Rust compiler's names") {
    WARN("skipped: rustc is not installed");
}
#endif

TEST_CASE("C++ names with and without parameters, with perf's blanks") {
    CHECK(plan_for("shop::Till::take").functions.size() == 2);
    CHECK(names_of(plan_for("shop::Till::take")) ==
          std::vector<std::string>{"shop::Till::take(int)",
                                   "shop::Till::take(std::__cxx11::basic_string<char, "
                                   "std::char_traits<char>, std::allocator<char> > const&)"});
    CHECK(only_function(plan_for("shop::Till::take(int)")).name == "shop::Till::take");
    CHECK(only_function(plan_for("shop::largest<int>")).name == "shop::largest<int>");
    CHECK(plan_for("int shop::largest<int>(std::vector<int,std::allocator<int>>const&)").functions.size() ==
          1);
    CHECK(only_function(plan_for("shop::(anonymous namespace)::hidden")).object == 0);
    CHECK(only_function(plan_for("shop::tagged")).name == "shop::tagged[abi:cxx11]");
    CHECK(only_function(plan_for("shop::tagged[abi:cxx11]")).name == "shop::tagged[abi:cxx11]");
    CHECK(only_function(plan_for("_ZN4shop4Till4takeEi")).name == "shop::Till::take");
}

TEST_CASE("operator* is a name before it is a pattern") {
    const Plan plan = plan_for("shop::Till::operator*");
    CHECK(only_function(plan).linkage_name == "_ZNK4shop4TillmlEi");
}

TEST_CASE("constructors and destructors are wrapped in all their variants") {
    const Plan constructors = plan_for("shop::Till::Till");
    REQUIRE(constructors.functions.size() == 2);
    CHECK(constructors.answers.size() == 2);
    const Plan destructors = plan_for("shop::Till::~Till");
    std::vector<std::string> linkage;
    for (const auto& answer : destructors.answers)
        CHECK(contains(answer.function, "shop::Till::~Till"));
    CHECK(destructors.answers.size() == 3);
}

TEST_CASE("globs match linkage names and demangled names") {
    CHECK(names_of(plan_for("libsymbols.so:container_*")) ==
          std::vector<std::string>{"container_one", "container_three", "container_two"});
    CHECK(names_of(plan_for("shop::Till::t?ke(int)")) == std::vector<std::string>{"shop::Till::take"});
    CHECK(names_of(plan_for("s*o*::*i*l*::*k*e*(int)")) == std::vector<std::string>{"shop::Till::take"});
    CHECK(names_of(plan_for("libsymbols.so:calls_twin_[ab]")) ==
          std::vector<std::string>{"calls_twin_a", "calls_twin_b"});
    CHECK(only_answer(plan_for("nothing_like_this*")).verdict == ListVerdict::not_found);
}

TEST_CASE("a glob without module means the program's own functions") {
    CHECK(plan_for("shop::T*").functions.size() > 1);
    const Answer answer = only_answer(plan_for("container_*"));
    CHECK(answer.verdict == ListVerdict::not_found);
    CHECK(answer.reason ==
          "names has no such function; a pattern without a module matches only its own "
          "functions: for a library's, write module:container_*");
    // A name that looks like a glob is a name everywhere.
    CHECK(
        only_function(plan_for({"shop::Till::operator*"}, {fixture("libsymbols.so"), kNames})).linkage_name ==
        "_ZNK4shop4TillmlEi");
    CHECK(plan_for({"container_*"}, {fixture("libsymbols.so"), kNames}).functions.size() == 3);
}

TEST_CASE("a hundred thousand entries that nothing answers to are answered") {
    std::vector<std::string> names;
    for (int i = 0; i < 50000; ++i) {
        names.push_back(fmt::format("libsymbols.so:absent_{}_*", i));
        names.push_back(fmt::format("absent_{}", i));
        if (i % 2 == 0) names.push_back(fmt::format("*T*i*l*~*~*{}*", i));
    }
    const Plan plan = plan_for(names, {kNames, fixture("libsymbols.so")});
    REQUIRE(plan.answers.size() == names.size());
    CHECK(std::ranges::all_of(plan.answers,
                              [](const Answer& answer) { return answer.verdict == ListVerdict::not_found; }));
}

TEST_CASE("everything means everything of the program's own") {
    const Plan plan = plan_for("*");
    REQUIRE_FALSE(plan.functions.empty());
    CHECK(std::all_of(plan.functions.begin(), plan.functions.end(),
                      [](const FunctionPlan& function) { return function.object == 0; }));
}

TEST_CASE("data, stubs and labels are refused with the reason") {
    CHECK(only_answer(plan_for("counter")).reason == "is data, not a function");
    CHECK(contains(only_answer(plan_for("getenv@plt")).reason, "list getenv itself"));
    CHECK(only_answer(plan_for("bare_label")).verdict == ListVerdict::refused);
    CHECK(contains(only_answer(plan_for("bare_label")).reason, "label"));
    CHECK(contains(only_answer(plan_for("libsymbols.so:getenv")).reason, "calls it but does not contain it"));
}

TEST_CASE("functions that cannot be patched are refused with the reason") {
    const Plan middle = plan_for("entered_at_three");
    CHECK(only_answer(middle).verdict == ListVerdict::refused);
    CHECK(contains(only_answer(middle).reason, "+3"));
    CHECK(plan_for("jumps_into_other").functions.size() == 1);
    CHECK(only_answer(plan_for("too_short")).verdict == ListVerdict::refused);
    CHECK(plan_for("without_size").functions.size() == 1);
    CHECK(only_function(plan_for("without_size")).size == 10);
}

TEST_CASE("inlined copies are counted, and named in the answer") {
    const Plan plan = plan_for("inlined_often");
    CHECK(only_function(plan).inlined_copies == 3);
    CHECK(contains(only_answer(plan).reason, "3 inlined copies will not be seen: in container_"));
    const Plan alone = plan_for("never_alone");
    CHECK(only_answer(alone).verdict == ListVerdict::refused);
    CHECK(only_answer(alone).reason == "only an inlined copy exists: in container_three");
}

TEST_CASE("std::string in a list is what it is short for") {
    for (const std::string entry : {"shop::largest<std::string>", "shop::largest<std::string*"}) {
        INFO(entry);
        CHECK(contains(only_function(plan_for(entry)).name, "shop::largest<std::__cxx11::basic_string<char"));
    }
}

TEST_CASE("what does not exist is answered with what does") {
    const Plan typing_error = plan_for("calls_twin_c");
    CHECK(only_answer(typing_error).verdict == ListVerdict::not_found);
    REQUIRE(only_answer(typing_error).nearest.size() >= 2);
    CHECK(only_answer(typing_error).nearest[0] == "libsymbols.so:calls_twin_a");
    CHECK(only_answer(plan_for("largest")).nearest ==
          std::vector<std::string>{"names:shop::largest<int>",
                                   "names:shop::largest<std::__cxx11::basic_string<char, "
                                   "std::char_traits<char>, std::allocator<char> > >"});
    CHECK(only_answer(plan_for("names:first_name")).nearest ==
          std::vector<std::string>{"libsymbols.so:first_name"});
    CHECK(only_answer(plan_for("qqqqqqqqqqqqqqqqqq")).nearest.empty());
    CHECK(only_answer(plan_for("region:first_nam")).nearest.empty());
    CHECK(only_answer(plan_for("some::long::scope::with::many::parts::qqq(int, int)")).nearest.empty());
}

TEST_CASE("stripped libraries are planned from their exported names") {
    const Plan plan = plan_for("calls_twin_a", "libsymbols.bare.so");
    CHECK(only_function(plan).name == "calls_twin_a");
    CHECK(only_function(plan).frame == rdam::plan::Frame::shadow);
    CHECK(only_function(plan).parameters.empty());
    CHECK(
        contains(only_answer(plan_for("libsymbols.bare.so:twin", "libsymbols.bare.so")).reason, "stripped"));
    CHECK(plan_for("twin", "libsymbols.mini.so").functions.size() == 2);
    CHECK(plan_for("twin", "libsymbols.linked.so").functions.size() == 2);
}

TEST_CASE("IFUNC symbols lead to the implementation that was chosen") {
    const std::string path = fixture("libsymbols.so");
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(handle != nullptr);
    link_map* map = nullptr;
    REQUIRE(dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0);
    PlanRequest request;
    request.list = *rdam::parse_function_list("chosen", "test");
    request.objects = {{kNames, "", 0x100000000}, {path, "", map->l_addr}};
    std::uint64_t asked = 0;
    request.resolve_ifunc = [&](std::uint64_t resolver) {
        asked = resolver;
        return reinterpret_cast<std::uint64_t (*)()>(resolver)();
    };
    const Plan plan = rdam::make_plan(request, rdam::Catalogue::builtin());
    CHECK(asked > map->l_addr);
    CHECK(only_function(plan).name == "chosen");
    CHECK(only_function(plan).aliases == std::vector<std::string>{"chosen_plain"});
    CHECK(only_answer(plan).reason == "its implementation here is chosen_plain");

    request.resolve_ifunc = {};
    const Plan without = rdam::make_plan(request, rdam::Catalogue::builtin());
    CHECK(only_answer(without).verdict == ListVerdict::refused);
    CHECK(contains(only_answer(without).reason, "IFUNC"));
    dlclose(handle);
}

TEST_CASE("nothing is planned for a program that is gone") {
    PlanRequest request;
    request.list = *rdam::parse_function_list("plain\nstep\nwork", "test");
    request.objects = {{kNames, "", 0x100000000}};
    int asked = 0;
    request.unwanted = [&] { return ++asked > 1; };
    const Plan plan = rdam::make_plan(request, rdam::Catalogue::builtin());
    CHECK(asked == 2);
    CHECK(!plan.complete);
    CHECK(plan.functions.empty());
    CHECK(plan.answers.empty());
}
