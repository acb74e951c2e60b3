// What a data directory of uftrace lacks without being damaged.
#include "tests/unit/catch.h"
#include "tests/unit/inputs/uftrace_folder.h"

using namespace rdam;
using namespace rdam::test;
using Lines = std::vector<std::string>;

namespace {

constexpr std::uint64_t kWithSwitches = 1U << 8U;

/// Of two processors.
UftraceFolder folder_with_calls() {
    UftraceFolder folder;
    folder.files["10.dat"] = entry(10, kF) + exit(40, kF);
    folder.info_lines += "cpuinfo:lines=1\ncpuinfo:nr_cpus=2 / 4 (online/possible)\n";
    return folder;
}

}  // namespace

TEST_CASE("threads without a file are named, and without any file there is nothing") {
    UftraceFolder folder;
    folder.files["task.txt"] += "TASK timestamp=0.000000008 tid=11 pid=10\n";
    CHECK(folder.error() == "memory/10.dat is missing: copy the directory again, or record again");
    folder.files["10.dat"] = entry(10, kF) + exit(40, kF);
    CHECK(remarks_of(folder) == Lines{"The directory has no file of 1 thread that task.txt names: 11.dat."});
    folder.files["11.dat"];
    CHECK(remarks_of(folder) == Lines{"The files of 1 thread that task.txt names are empty: 11.dat."});
}

TEST_CASE("files of switches that are missing are named, if there should be some") {
    UftraceFolder folder = folder_with_calls();
    CHECK(remarks_of(folder).empty());
    folder.features = kWithSwitches;
    CHECK(
        remarks_of(folder) ==
        Lines{
            "The directory has no perf-cpu0.dat, perf-cpu1.dat: times off the processors are not complete."});
    folder.features = 0;
    folder.files["perf-cpu1.dat"] = thread_switch(20, 10, true) + thread_switch(30, 10, false);
    CHECK(remarks_of(folder) ==
          Lines{"The directory has no perf-cpu0.dat: times off the processors are not complete."});
    folder.files["perf-cpu0.dat"];
    CHECK(remarks_of(folder).empty());
}

TEST_CASE("an empty file of switches is told where threads must have been on its processor") {
    UftraceFolder folder = folder_with_calls();
    folder.files["perf-cpu0.dat"];
    folder.files["perf-cpu1.dat"] =
        thread_switch(20, 10, true) + thread_switch(25, 10, true) + thread_switch(30, 10, false);
    CHECK(remarks_of(folder) ==
          Lines{"perf-cpu0.dat is empty, although threads were on another processor 1 time: "
                "times off the processors are not complete."});
    folder.files["perf-cpu1.dat"] = "";
    CHECK(remarks_of(folder) ==
          Lines{"perf-cpu0.dat, perf-cpu1.dat are empty: times off the processors are not known."});
}
