// Functions that look at their return address are skipped: it would be the recorder's.
#include <string>

#include "tests/unit/catch.h"
#include "wrappers/entry/callee_conduct.h"
#include "wrappers/object/object_file.h"
#include "wrappers/plan/planner.h"

namespace {

std::optional<std::uint64_t> first_read_in(const std::string& name) {
    static const auto kFile = rdam::ObjectFile::open(LOOKS_BACK_FIXTURE);
    REQUIRE(kFile.has_value());
    const auto symbols = kFile->named(name);
    REQUIRE(symbols.size() == 1);
    const rdam::ReturnAddressReads reads{*kFile};
    return reads.first_in(*kFile->extent(kFile->symbols()[symbols[0]].address));
}

}  // namespace

TEST_CASE("reads of the return address are found wherever the stack pointer is") {
    CHECK(first_read_in("reads_at_once") == 0);
    CHECK(first_read_in("reads_behind_pushes") == 10);
    CHECK(first_read_in("reads_through_frame") == 8);
}

TEST_CASE("what lies elsewhere on the stack is no return address") {
    CHECK_FALSE(first_read_in("is_a_barrier"));
    CHECK_FALSE(first_read_in("takes_the_end_of_an_array"));
    CHECK_FALSE(first_read_in("pushes_untold"));
    CHECK_FALSE(first_read_in("has_no_tables"));
}

TEST_CASE("a function that looks at its return address is refused") {
    rdam::PlanRequest request;
    request.list = *rdam::parse_function_list("reads_at_once", "test");
    request.objects = {{LOOKS_BACK_FIXTURE, "", 0x700000000000}};
    const auto plan = rdam::make_plan(request, rdam::Catalogue::builtin());
    REQUIRE(plan.answers.size() == 1);
    CHECK(plan.answers[0].verdict == rdam::ListVerdict::refused);
    CHECK(plan.answers[0].reason == "reads its return address (at +0), which would point into the recorder");
}
