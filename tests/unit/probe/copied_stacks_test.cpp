#include "tools/agent/plan/copied_stacks.h"

#include "tests/unit/catch.h"

using namespace rdam::agent;

TEST_CASE("libraries that copy stacks away are known by their files", "[copied stacks]") {
    CHECK(stacks_copied_by_object("/usr/lib/python3/dist-packages/greenlet/"
                                  "_greenlet.cpython-311-x86_64-linux-gnu.so") == "greenlet");
    CHECK(stacks_copied_by_object("/opt/_greenlet.abi3.so") == "greenlet");
    CHECK(stacks_copied_by_object("/usr/lib/x86_64-linux-gnu/ruby/3.1.0/continuation.so") ==
          "Ruby's Continuation");
    CHECK(stacks_copied_by_object("/usr/lib/libaco.so.1") == "libaco");
    CHECK(stacks_copied_by_object("/usr/lib/libboost_context.so.1.74.0").empty());
    CHECK(stacks_copied_by_object("/opt/greenlet/_greenlets.so").empty());
    CHECK(stacks_copied_by_object("/opt/_greenlet.py").empty());
}

TEST_CASE("functions of such a library are known wherever they are linked to", "[copied stacks]") {
    CHECK(stacks_copied_by_function("greenlet::Greenlet::g_switchstack()") == "greenlet");
    CHECK(stacks_copied_by_function("slp_save_state") == "greenlet");
    CHECK(stacks_copied_by_function("slp_switch(void)") == "greenlet");
    CHECK(stacks_copied_by_function("my_slp_switch").empty());
    CHECK(stacks_copied_by_function("slp_switches").empty());
}
