// What perf script prints of samples, line by line.
#include "wrappers/perf/perf_samples.h"

#include <map>

#include "tests/unit/catch.h"
#include "wrappers/hot/hot_functions.h"
#include "wrappers/perf/sample_header.h"

using namespace rdam;
using Offsets = SamplePlaces::Offsets;

namespace {

constexpr std::string_view kChains =
    "PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x12090c8) @ 0xffffffff81000000]: x [kernel.kallsyms]_text\n"
    "PERF_RECORD_MMAP2 7/7: [0x556521c3e000(0x3000) @ 0x2000 fe:00 99 66]: r-xp /tmp/my folder (1)/app\n"
    "PERF_RECORD_MMAP2 7/7: [0x556521c3f000(0x3000) @ 0x2000 fe:00 99 66]: r--p /tmp/data\n"
    "PERF_RECORD_MMAP2 7/7: [0x556521c3e000(0x3000) @ 0x2000 fe:00 99 66]: r-xp /tmp/my folder (1)/app\n"
    "PERF_RECORD_MMAP2 7/7: [0x7ff327434000(0x2000) @ 0 00:00 0 0]: r-xp [vdso]\n"
    "         3 cpu-clock:u: \n"
    "\t    2e23 std::map<int, char const*>::find(int const&)+0xa5 (/tmp/my folder (1)/app)\n"
    "\t    1000 main+0x10 (/tmp/my folder (1)/app)\n"
    "\n"
    "         1 cpu-clock:u: \n"
    "\tffffffff821f5b65 copy_page+0x5 ([kernel.kallsyms])\n"
    "\tffffffff821f5b00 asm_exc_page_fault+0x22 ([kernel.kallsyms])\n"
    "\t    99c3 [unknown] (/usr/lib/libx.so)\n"
    "\t    2000 (anonymous namespace)::fill(int)+0x10 (/tmp/my folder (1)/app (deleted))\n"
    "\t    1000 main+0x10 (/tmp/my folder (1)/app)\n"
    "\n"
    "         1 cpu-clock:u: \n"
    "\tffffffff821f5b65 worker_thread+0x5 ([kernel.kallsyms])\n"
    "\n"
    "         5 cpu-clock:u: \n"
    "\t7ff32727a758 [unknown] ([unknown])\n"
    "\n";

PerfSamples samples_of(std::string_view text, std::size_t piece = SIZE_MAX) {
    PerfSamples samples;
    for (; text.size() > piece; text.remove_prefix(piece))
        samples.add(text.substr(0, piece));
    samples.add(text);
    return samples;
}

std::map<std::string, double> rows_of(const PerfReport& report) {
    std::map<std::string, double> rows;
    for (const auto& row : report.rows)
        rows[std::string(1, row.level).append(row.module).append(":").append(row.symbol)] = row.self;
    return rows;
}

}  // namespace

TEST_CASE(
    "samples are added up by function, the kernel's for the innermost function outside that has a name") {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, SIZE_MAX}) {
        const auto samples = samples_of(kChains, piece);
        CHECK(samples.samples() == 4);
        CHECK(samples.objects() == std::vector<std::string>{"/tmp/my folder (1)/app"});
        CHECK(samples.inodes() == std::map<std::string, std::uint64_t>{{"/tmp/my folder (1)/app", 99}});
        const auto report = samples.report();
        CHECK(report.event == "cpu-clock:u");
        CHECK(samples.has_chains());
        CHECK(rows_of(report) ==
              std::map<std::string, double>{
                  {"./tmp/my folder (1)/app:std::map<int, char const*>::find(int const&)", 30},
                  {"k[kernel.kallsyms]:copy_page", 10},
                  {"k[kernel.kallsyms]:worker_thread", 10},
                  {".[unknown]:0x7ff32727a758", 50}});
        REQUIRE(report.kernel_callers.size() == 1);
        CHECK(report.kernel_callers.front().function == "(anonymous namespace)::fill(int)");
        CHECK(report.kernel_callers.front().percent == 10);
        CHECK(samples.places().of("app", "std::map<int, char const*>::find(int const&)") ==
              Offsets{{0xa5, 1}});
        CHECK(samples.places().of("", "main").empty());
    }
}

TEST_CASE("samples without chains and periods count once each, on a line of their own") {
    const auto samples = samples_of(
        "instructions:      2e23 f+0x1f (/tmp/app)\n"
        "cycles:ppp:      2e23 f+0x1f (/tmp/app)\n"
        "cycles:ppp:      2e23 f+0x0 (/tmp/app (deleted))\n"
        "cycles:ppp:      2e23 f+0x1f (/tmp/app)\n"
        "cycles:ppp:  ffffffff821f5b65 operator+0x105 ([kernel.kallsyms])");
    auto ended = samples;
    ended.add("\n");
    const auto report = ended.report();
    CHECK(report.event == "cycles:ppp");
    CHECK(report.other_events == std::vector<std::string>{"instructions"});
    CHECK_FALSE(ended.has_chains());
    CHECK(ended.places().of("app", "f") == Offsets{{0, 1}, {0x1f, 2}});
    CHECK(ended.places().of("[kernel.kallsyms]", "operator") == Offsets{{0x105, 1}});
    const auto hot = hot_functions(report, {});
    REQUIRE(hot.functions.size() == 1);
    CHECK(hot.functions[0].percent == 75);
    CHECK(hot.kernel_percent == 25);
}

TEST_CASE("lines without an address, an offset, a module or a name say nothing") {
    const auto samples = samples_of(
        "\n1 cpu-clock: \n\tf+0x1\n\tf+0x1 (/app)\n\t7f71 f+0x (/app)\n\t7f71 f+0x1\n\t7f71 f+0x1 /app\n"
        "\t\n\t+0x\n\t7f71 f+0xfffffffffffffffff (/app)\n");
    CHECK(samples.report().rows.empty());
    CHECK(samples.places().of("", "f").empty());
}

TEST_CASE("what the kernel's modules and generated code do is told apart from the program's") {
    const auto report = samples_of(
                            "1 cycles: ffffffffc0001234 nft_do_chain+0x1 ([nf_tables])\n"
                            "1 cycles: 1234 nft_do_chain+0x1 (/lib/modules/6.1/nf_tables.ko)\n"
                            "1 cycles: 7f12 Interpreter+0x1 (/tmp/perf-7.map)\n"
                            "1 cycles: 7f12 f+0x1 (//anon)\n"
                            "1 cycles: ffffffffff600000 gettimeofday+0x0 ([vsyscall])\n")
                            .report();
    const auto hot = hot_functions(report, {});
    CHECK(hot.functions.empty());
    CHECK(hot.kernel_percent == 40);
    CHECK(hot.left_out.size() == 5);
}

TEST_CASE("a line break in a name breaks neither its frame nor the next sample") {
    const auto samples = samples_of(
        "PERF_RECORD_MMAP2 7/7: [0x1000(0x3000) @ 0x2000 fe:00 99 66]: r-xp /tmp/co\nu\tnts\n"
        "         1 cpu-clock:u: \n"
        "\t    2e23 work+0xa5 (/tmp/co\n"
        "u\tnts)\n"
        "\t    1000 ma\n"
        "in+0x10 (/tmp/co\n"
        "u\tnts)\n"
        "\n"
        "         3 cpu-clock:u: \n"
        "\t    2e23 honest+0xa5 (/tmp/app)\n"
        "\n");
    CHECK(samples.samples() == 2);
    CHECK(samples.objects() == std::vector<std::string>{"/tmp/co\nu\tnts"});
    CHECK(rows_of(samples.report()) ==
          std::map<std::string, double>{{"./tmp/co\nu\tnts:work", 25}, {"./tmp/app:honest", 75}});
}

TEST_CASE("the line in front of a sample, with whatever fields it has") {
    struct Expected {
        std::string_view line, command;
        std::int64_t pid;
        double period;
        std::string_view event;
    };
    for (const Expected& each : {
             Expected{"my app 12/34   868.028088:     250000 cpu-clock:u: ", "my app", 12, 250000,
                      "cpu-clock:u"},
             Expected{"app  12 [001]   868.028088:     250000 cpu-clock: ", "app", 12, 250000, "cpu-clock"},
             Expected{"app 12/34     250000 cycles:ppp: ", "app", 12, 250000, "cycles:ppp"},
             Expected{"app 12 cycles: ", "app", 12, 1, "cycles"},
             Expected{"app 12 250000 cycles: ", "app", 12, 250000, "cycles"},
             Expected{"   250000 cpu/event=0x3c,umask=0x0/: ", "", -1, 250000, "cpu/event=0x3c,umask=0x0/"},
             Expected{"cpu-clock: ", "", -1, 1, "cpu-clock"},
             Expected{"Web Content 2 12 [000] 1.5: 7 cycles:", "Web Content 2", 12, 7, "cycles"},
         }) {
        INFO(each.line);
        const auto header = sample_header(each.line);
        REQUIRE(header.has_value());
        CHECK(header->command == each.command);
        CHECK(header->pid == each.pid);
        CHECK(header->period == each.period);
        CHECK(header->event == each.event);
    }
    for (const std::string_view line : {"", "app 12/34", "two words: ", "12:", "868.028088: "}) {
        INFO(line);
        const auto header = sample_header(line);
        CHECK((!header || header->event.find(' ') == std::string_view::npos));
    }
}

namespace {

constexpr std::string_view kSeveral =
    "app 7/7 PERF_RECORD_COMM exec: app:7/7\n"
    "app 7/7 PERF_RECORD_MMAP2 7/7: [0x1000(0x3000) @ 0x2000 fe:00 99 66]: r-xp /bin/app\n"
    "app 7/7 PERF_RECORD_FORK(8:8):(7:7)\n"
    "other 9/9 PERF_RECORD_COMM exec: other:9/9\n"
    "other 9/9 PERF_RECORD_MMAP2 9/9: [0x1000(0x3000) @ 0x2000 fe:00 99 66]: r-xp /bin/other\n"
    "app 7/7 4 cpu-clock: \n\t 1010 f+0x1 (/bin/app)\n\n"
    "worker 8/10 2 cpu-clock: \n\t 1010 g+0x1 (/bin/app)\n\n"
    "other 9/9 1 cpu-clock: \n\t 1010 h+0x1 (/bin/other)\n\n"
    "other 9/9 1 cpu-clock: \n\t 1020 [unknown] (/bin/other)\n\n";

}  // namespace

TEST_CASE("samples of one process, by its name or its number, and the files of that process") {
    const auto of = [](std::string_view process) {
        PerfSamples samples(process);
        samples.add(kSeveral);
        return samples;
    };
    CHECK(of("").samples() == 4);
    const auto app = of("app");  // a child is called as its parent, and a thread as it likes
    CHECK(app.samples() == 2);
    CHECK(app.objects() == std::vector<std::string>{"/bin/app"});
    CHECK(of("8").samples() == 1);
    CHECK(of("worker").samples() == 1);
    const auto other = of("other");
    CHECK(other.objects() == std::vector<std::string>{"/bin/other"});
    // An address without a name is where it is in its file.
    CHECK(rows_of(other.report()) ==
          std::map<std::string, double>{{"./bin/other:h", 50}, {"./bin/other:0x2020", 50}});
    CHECK(of("nobody").samples() == 0);
    CHECK(of("nobody").processes().seen() == "app (2 samples), other (2 samples)");
}

TEST_CASE("text of perf script is told from that of a report") {
    CHECK(is_perf_script_text(kSeveral));
    CHECK(is_perf_script_text("# a header\napp 12 1.5:  7 cycles:  1010 f+0x1 (/bin/app)\n"));
    CHECK_FALSE(is_perf_script_text("# Overhead  Symbol\n    12.00%  [.] f\n"));
    CHECK_FALSE(is_perf_script_text(""));
    PerfSamples samples;
    samples.add("app 12 1.5:  7 cycles:  1010 operator() (/tmp/my app (1)/app)\n");
    CHECK(rows_of(samples.report()) ==
          std::map<std::string, double>{{"./tmp/my app (1)/app:operator()", 100}});
}
