// What the agent says of a recording in its trace.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/catch.h"
#include "tools/agent/chunks/trace_file.h"
#include "tools/trace/event.h"

namespace rdam::agent {
namespace {

std::vector<std::string> remarks_of(const shm::Control& control) {
    trace::TraceInfo info;
    add_remarks(control, 0, info);
    return info.remarks;
}

/// As a stray write leaves it: the two copies differ.
void damage(shm::PublishedCount& count) {
    const std::uint64_t garbage = 0x5a5a;
    std::memcpy(static_cast<void*>(&count), &garbage, sizeof garbage);
}

}  // namespace

TEST_CASE("a count that was overwritten is damage, and says nothing else") {
    const auto control = std::make_unique<shm::Control>();
    CHECK(remarks_of(*control).empty());
    for (shm::PublishedCount* count :
         {&control->dropped, &control->lent, &control->without_site, &control->counterless,
          &control->filtered_changes, &control->filtered_forks, &control->disturbed}) {
        const shm::PublishedCount before{};
        damage(*count);
        const auto remarks = remarks_of(*control);
        REQUIRE(remarks.size() == 1);
        CHECK(remarks[0].starts_with("the trace is damaged"));
        CHECK(remarks[0].find("invalid in 1 place,") != std::string::npos);
        std::memcpy(static_cast<void*>(count), static_cast<const void*>(&before), sizeof before);
    }
}

TEST_CASE("what a process has printed at its start is not printed again where it was killed") {
    using trace::is_left_to_say;
    CHECK(is_left_to_say("something was lost", true));
    CHECK_FALSE(is_left_to_say("something was lost", false));
    CHECK_FALSE(is_left_to_say("/bin/app was replaced while the program ran: call stacks end", true));
    CHECK_FALSE(is_left_to_say("9 of 8000 functions were skipped: rdam can wrap 7934 in a process", true));
    CHECK(is_left_to_say("the process went on as cat, which is not recorded", false));
}

}  // namespace rdam::agent
