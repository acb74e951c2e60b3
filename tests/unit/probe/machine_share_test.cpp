#include "tools/agent/machine_share.h"

#include <sched.h>

#include <catch2/catch.hpp>

#include "tools/agent/placement.h"

using namespace rdam::agent;

TEST_CASE("what the machine takes is a share", "[machine]") {
    MachineShare machine(processors_of(0));
    const double share = machine.result();
    CHECK(share >= 0);
    CHECK(share <= 1);
}

TEST_CASE("without a processor nothing is known of the machine", "[machine]") {
    CHECK(MachineShare{{}}.result() == 0);
    CHECK(MachineShare{{CPU_SETSIZE - 1}}.result() == 0);
    CHECK(MachineShare{{CPU_SETSIZE + 7}}.result() == 0);
}

TEST_CASE("nobody is bound to a processor afterwards", "[machine]") {
    const auto before = processors_of(0);
    MachineShare machine(before);
    machine.result();
    CHECK(processors_of(0) == before);
}
