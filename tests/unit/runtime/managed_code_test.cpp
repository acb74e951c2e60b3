// Code of managed runtimes is recognized by its sections and symbols, and what is written in C beside it is
// not taken for it.
#include "wrappers/object/managed_code.h"

#include <string>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/object/fixtures.h"
#include "wrappers/find/name_query.h"
#include "wrappers/object/object_file.h"
#include "wrappers/plan/planner.h"

namespace {

using rdam::test::fixture;

struct Expectation {
    std::string library;
    std::string runtime;
    std::vector<std::string> managed;
    std::vector<std::string> in_c;
};

const std::vector<Expectation> kExpectations{
    {"libocaml.so", "OCaml", {"camlStartup__entry", "camlEx__cat_12", "caml_call_gc"}, {"caml_alloc_shr"}},
    {"libocaml5.so", "OCaml", {"camlEx.cat_12", "caml_call_gc"}, {"caml_alloc_shr"}},
    {"libghc.so",
     "Haskell (GHC)",
     {"Main_work_info", "Main_zdwgo_info", "Main_zdwgo_slow", "stg_ap_v_fast", "stg_upd_frame_info"},
     {"stg_exit", "print_info", "scheduleWaitThread"}},
    {"libmono.so", "Mono, compiled ahead of time", {"M_Cat_int"}, {}},
    {"libmono_linked.so", "Mono, compiled ahead of time", {"M_Cat_int"}, {"mono_jit_exec", "mono_main"}},
    {"libnative_aot.so", ".NET NativeAOT", {"Program__Main", "unbox_Program__Main"}, {"RhpNewFast"}},
    {"libgraal.so", "GraalVM native image", {"String_concat_1234"}, {"JNI_OnLoad"}},
    {"libgraal_stripped.so", "GraalVM native image", {"graal_create_isolate"}, {}},
    {"libdart.so", "Dart, compiled ahead of time", {"precompiled_main"}, {"in_c"}},
    {"libsbcl.so", "SBCL", {"lisp_function"}, {"collect_garbage"}},
    {"libmlton.so", "MLton", {"MLton_jumpToSML", "L_12"}, {"GC_collect"}},
    {"libluajit.so",
     "LuaJIT's interpreter",
     {"lj_BC_ADD", "lj_ff_print", "lj_vm_call"},
     {"lj_gc_step", "lj_vm_foldarith"}},
    {"libswift.so",
     "Swift's asynchronous functions",
     {"$s4main4workyyYaF", "$s4main4workyyYaFTY1_", "$s4main4workyyYaFTQ0_"},
     {"$s4main5plainyyF", "swift_task_create"}},
    {"libstack_maps.so", "LLVM stack maps", {"collected", "also_collected"}, {"in_c"}},
    {"libchicken.so", "CHICKEN Scheme", {"C_toplevel", "f_123", "va343"}, {"main", "f_printer"}},
    {"libjulia.so",
     "Julia",
     {"julia_fib_123", "julia_fib_123.clone_1", "jfptr_fib_124", "exported", "tojlinvoke42"},
     {"init_julia", "julia_main"}},
    {"libjulia_stripped.so", "Julia", {"exported"}, {}},
    {"libpoly_ml.so", "Poly/ML", {"area1"}, {"after_area"}},
    {"libgnu_prolog.so",
     "GNU Prolog",
     {"X0_insert__a3", "Lpred1_1", "X1_2464__a2", "fail"},
     {"Pl_Unify", "X_not__a"}},
    {"libgo.so", "Go", {"main.work"}, {"_cgo_wrapper", "in_c"}},
};

const rdam::ManagedRuntime* runtime_of(const rdam::ObjectFile& file, const rdam::ManagedCode& code,
                                       const std::string& name) {
    const auto symbols = file.named(name);
    INFO(name);
    REQUIRE_FALSE(symbols.empty());
    return code.at(file.symbols()[symbols.front()].address);
}

}  // namespace

TEST_CASE("the code of each runtime is recognized, and C functions in the same object are not taken for it") {
    for (const Expectation& expected : kExpectations) {
        const auto file = rdam::ObjectFile::open(fixture(expected.library));
        INFO(expected.library);
        REQUIRE(file.has_value());
        const rdam::ManagedCode code{*file};
        REQUIRE(code.runtimes().size() == 1);
        CHECK(code.runtimes().front()->name == expected.runtime);
        for (const std::string& name : expected.managed) {
            const auto* runtime = runtime_of(*file, code, name);
            INFO(name);
            REQUIRE(runtime != nullptr);
            CHECK(runtime->name == expected.runtime);
        }
        for (const std::string& name : expected.in_c) {
            INFO(name);
            CHECK(runtime_of(*file, code, name) == nullptr);
        }
    }
}

TEST_CASE("the functions of OCaml 4 and 5 answer to the names that perf prints") {
    for (const char* const library : {"libocaml.so", "libocaml5.so"}) {
        const auto file = rdam::ObjectFile::open(fixture(library));
        REQUIRE(file.has_value());
        INFO(library);
        CHECK(rdam::NameQuery{"Ex.cat_12"}.find_in(*file).size() == 1);
    }
}

TEST_CASE("names alone make no managed code") {
    const auto file = rdam::ObjectFile::open(fixture("libplain.so"));
    REQUIRE(file.has_value());
    const rdam::ManagedCode code{*file};
    CHECK(code.runtimes().empty());
    for (const char* const name :
         {"camlEx__cat_12", "Main_work_info", "f_123", "lj_BC_ADD", "julia_fib_123", "X0_insert__a3"})
        CHECK(runtime_of(*file, code, name) == nullptr);
}

TEST_CASE("stack maps behind each other are read, and damaged ones up to the damage") {
    const auto file = rdam::ObjectFile::open(fixture("libstack_maps.so"));
    REQUIRE(file.has_value());
    CHECK(rdam::functions_with_stack_maps(*file).size() == 2);
}

TEST_CASE("managed code is refused with the reason, also where its symbols are no functions") {
    for (const Expectation& expected : kExpectations) {
        rdam::PlanRequest request;
        std::string names;
        for (const std::string& name : expected.managed)
            names += expected.library + ":" + name + "\n";
        for (const std::string& name : expected.in_c)
            names += expected.library + ":" + name + "\n";
        request.list = *rdam::parse_function_list(names, "test");
        request.objects = {{fixture(expected.library), "", 0x700000000000}};
        const auto plan = rdam::make_plan(request, rdam::Catalogue::builtin());
        INFO(expected.library);
        CHECK(plan.functions.size() == expected.in_c.size());
        const auto file = rdam::ObjectFile::open(fixture(expected.library));
        const rdam::ManagedCode code{*file};
        for (std::size_t index = 0; index < expected.managed.size(); ++index) {
            REQUIRE(index < plan.answers.size());
            INFO(plan.answers[index].entry.name);
            CHECK(plan.answers[index].verdict == rdam::ListVerdict::refused);
            CHECK(plan.answers[index].reason == code.runtimes().front()->reason);
        }
    }
}
