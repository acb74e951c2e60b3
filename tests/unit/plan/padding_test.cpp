// Functions shorter than the patch: planned where the padding before them can take it.
#include <string>

#include "tests/unit/catch.h"
#include "wrappers/entry/entry_points.h"
#include "wrappers/object/object_file.h"
#include "wrappers/plan/planner.h"

namespace {

using rdam::ListVerdict;
using rdam::Plan;

Plan plan_of(const std::string& name) {
    rdam::PlanRequest request;
    request.list = *rdam::parse_function_list(name, "test");
    request.objects = {{PADDING_FIXTURE, "", 0x700000000000}};
    return rdam::make_plan(request, rdam::Catalogue::builtin());
}

bool is_refused_as_too_short(const std::string& name) {
    const Plan plan = plan_of(name);
    return plan.answers.size() == 1 && plan.answers[0].verdict == ListVerdict::refused &&
           plan.answers[0].reason.find("shorter than the patch") != std::string::npos;
}

}  // namespace

TEST_CASE("the jump goes to the padding before a function that is too short") {
    const Plan plan = plan_of("padded");
    REQUIRE(plan.functions.size() == 1);
    CHECK(plan.functions[0].prologue.jump_before == 6);
    CHECK(plan.functions[0].prologue.original.size() == 2);
}

TEST_CASE("padding that somebody jumps into is left alone") {
    CHECK(is_refused_as_too_short("entered"));
}

TEST_CASE("padding whose beginning is not known is left alone") {
    CHECK(is_refused_as_too_short("first_of_all"));
    CHECK(is_refused_as_too_short("behind_unsized"));
    CHECK(is_refused_as_too_short("behind_unlabelled"));
}

TEST_CASE("padding that is too short, or that the function before may need, is left alone") {
    CHECK(is_refused_as_too_short("crowded"));
    CHECK(is_refused_as_too_short("behind_cut_nop"));
}

TEST_CASE("the patches of two short functions share the padding between them") {
    const Plan plan = plan_of("tiny\nbehind_tiny");
    REQUIRE(plan.functions.size() == 2);
    CHECK(plan.functions[0].linkage_name == "tiny");
    CHECK(plan.functions[0].prologue.jump_before == 0);
    CHECK(plan.functions[1].linkage_name == "behind_tiny");
    CHECK(plan.functions[1].prologue.jump_before == 5);
}

TEST_CASE("padding before a function reaches back to what precedes it") {
    const auto file = rdam::ObjectFile::open(PADDING_FIXTURE);
    REQUIRE(file.has_value());
    const auto padding_of = [&](const std::string& name) {
        const auto symbols = file->named(name);
        REQUIRE(symbols.size() == 1);
        const std::uint64_t address = file->symbols()[symbols[0]].address;
        return rdam::padding_before(*file, *file->extent(address)).size();
    };
    CHECK(padding_of("padded") == 11);
    CHECK(padding_of("entered") == 14);
    CHECK(padding_of("crowded") == 4);
    CHECK(padding_of("jumps_into_padding") == 0);
    CHECK(padding_of("behind_unsized") == 0);
    CHECK(padding_of("behind_tiny") == 10);
    CHECK(padding_of("behind_cut_nop") == 3);
    CHECK(padding_of("behind_unlabelled") == 15);
}
