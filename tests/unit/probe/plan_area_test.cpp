// What the process reads of a plan.
#include "tools/agent/plan/plan_area.h"

#include <cstring>

#include "tests/unit/catch.h"
#include "tests/unit/probe/fresh_memory.h"

namespace rdam::agent {
namespace {

std::vector<shm::PlannedFunction> functions_in(const SharedMemory& shared) {
    const auto area = shared.plan_area();
    shm::PlanReply reply;
    std::memcpy(&reply, area.data(), sizeof reply);
    std::vector<shm::PlannedFunction> functions(reply.functions.size / sizeof(shm::PlannedFunction));
    std::memcpy(functions.data(), area.data() + reply.functions.offset, reply.functions.size);
    return functions;
}

}  // namespace

TEST_CASE("the process is told which functions are sampled") {
    const SharedMemory shared = test::fresh_memory();
    ProcessDescription process;
    process.objects.push_back({"/usr/bin/app", {}, 0x10000, 0x20000});
    FunctionPlan every;
    every.address = 0x100;
    FunctionPlan some;
    some.address = 0x200;
    some.sampled = true;
    REQUIRE(
        write_plan(shared, process, {{0, &every}, {1, &some}}, {.message = "said", .wrapped = "wrapped"}, 0));
    const auto functions = functions_in(shared);
    REQUIRE(functions.size() == 2);
    CHECK(functions[0].address == 0x10100);
    CHECK(functions[0].sampled == 0);
    CHECK(functions[1].address == 0x10200);
    CHECK(functions[1].sampled == 1);
}

}  // namespace rdam::agent
