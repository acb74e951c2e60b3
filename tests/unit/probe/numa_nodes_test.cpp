#include "tools/agent/process/numa_nodes.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/temporary_folder.h"

using namespace rdam;
using agent::parse_cpu_list;
using agent::read_nodes;
using Cpus = std::vector<std::uint32_t>;

namespace {

void put(const std::filesystem::path& folder, const std::string& node, const std::string& cpulist) {
    std::filesystem::create_directories(folder / node);
    std::ofstream(folder / node / "cpulist") << cpulist;
}

}  // namespace

TEST_CASE("a list of processors", "[nodes]") {
    CHECK(parse_cpu_list("0-3,8,10-11\n") == Cpus{0, 1, 2, 3, 8, 10, 11});
    CHECK(parse_cpu_list("5") == Cpus{5});
    CHECK(parse_cpu_list("65534") == Cpus{65534});
}

TEST_CASE("what is no list of processors gives none", "[nodes]") {
    for (const std::string text :
         {"",      "\n",  ",",   "1,",   ",1",  "-",     "1-",      "-1",           "3-1",
          "1--2",  "a",   "1 2", "1\n2", "0x1", "65535", "0-65535", "0-4294967295", "99999999999999999999",
          "1-2-3", "\xff"})
        CHECK(parse_cpu_list(text).empty());
    CHECK(parse_cpu_list(std::string(1, '\0')).empty());
    std::string again = "0-60000";
    for (int i = 0; i < 1000; ++i)
        again += ",0-60000";
    CHECK(parse_cpu_list(again).empty());
}

TEST_CASE("the nodes of a machine are those with processors, by number", "[nodes]") {
    const test::TemporaryFolder folder;
    put(folder.path(), "node10", "4-5\n");
    put(folder.path(), "node2", "0-1,3\n");
    put(folder.path(), "node3", "\n");
    put(folder.path(), "node4", std::string(10000, '1'));
    put(folder.path(), "nodes", "6");
    put(folder.path(), "node", "7");
    put(folder.path(), "node-1", "8");
    std::filesystem::create_directories(folder.path() / "node5" / "cpulist");
    std::ofstream(folder.path() / "node6") << "a file";
    CHECK(read_nodes(folder.path()) == std::vector<trace::NodeInfo>{{2, {0, 1, 3}}, {10, {4, 5}}});
}

TEST_CASE("a machine that tells no nodes has none", "[nodes]") {
    CHECK(read_nodes("/nonexistent/folder").empty());
    CHECK(read_nodes("/dev/null").empty());
}
