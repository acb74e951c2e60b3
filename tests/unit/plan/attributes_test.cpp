// Parameters are shown, and arguments copied, only where the convention is proven.
#include <string>

#include "tests/unit/catch.h"
#include "wrappers/plan/planner.h"

namespace {

using rdam::plan::Frame;

rdam::FunctionPlan plan_of(const std::string& library, const std::string& name) {
    rdam::PlanRequest request;
    request.list = *rdam::parse_function_list(name, "test");
    request.objects = {{library, "", 0x700000000000}};
    auto plan = rdam::make_plan(request, rdam::Catalogue::builtin());
    INFO(name);
    REQUIRE(plan.answers.size() == 1);
    INFO(plan.answers[0].reason);
    REQUIRE(plan.functions.size() == 1);
    return std::move(plan.functions.front());
}

}  // namespace

TEST_CASE("parameters that are not where System V puts them are neither shown nor copied") {
    for (const char* const library : {ATTRIBUTES_O2, ATTRIBUTES_O0}) {
        INFO(library);
        const auto function = plan_of(library, "microsoft");
        CHECK(function.frame == Frame::shadow);
        CHECK(function.parameters.empty());
        CHECK_FALSE(function.result.has_value());
    }
}

TEST_CASE("ordinary functions keep their stack frame and all values") {
    for (const char* const library : {ATTRIBUTES_O2, ATTRIBUTES_O0}) {
        INFO(library);
        const auto function = plan_of(library, "ordinary");
        CHECK(function.frame == Frame::stack);
        CHECK(function.stack_bytes == 8);
        CHECK(function.parameters.size() == 8);
        const auto with_unused = plan_of(library, "unused");
        CHECK(with_unused.frame == Frame::stack);
        CHECK(with_unused.parameters.size() == 3);
        CHECK(with_unused.result.has_value());
    }
}

TEST_CASE("where debug information has no parameters, nothing is taken for proven") {
    const auto function = plan_of(ATTRIBUTES_G1, "ordinary");
    CHECK(function.frame == Frame::shadow);
    CHECK(function.parameters.empty());
}

#ifdef DROPPED
TEST_CASE("no value is shown of a function whose parameter clang has dropped") {
    const auto function = plan_of(DROPPED, "takes_two");
    for (const auto& parameter : function.parameters)
        CHECK(parameter.name != "first");
    for (const auto& parameter : function.parameters)
        CHECK(parameter.name != "second");
}
#endif
