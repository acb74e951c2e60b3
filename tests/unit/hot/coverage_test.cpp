// What is said of a list that has little of what perf saw.
#include "wrappers/hot/coverage.h"

#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/unit/catch.h"
#include "wrappers/find/function_list.h"

using namespace rdam;

namespace {

const HotOptions kOptions{.min_percent = 1, .module = {}};

HotReport report_with(double listed, LeftOutLine left_out) {
    HotReport report;
    if (listed > 0) report.hot.functions.push_back({"app", "work", listed, {}});
    report.hot.left_out.push_back(std::move(left_out));
    return report;
}

LeftOutLine nameless(double percent, const std::string& module, const std::string& path) {
    return {.why = LeftOut::unresolved,
            .module = module,
            .name = {},
            .percent = percent,
            .rows = 9,
            .path = path};
}

constexpr const char* kServers = "https://debuginfod.debian.net";

SymbolSources stripped() {
    return {.package = "povray",
            .symbols = "povray-dbgsym",
            .has_packages = true,
            .archive = "deb http://deb.debian.org/debian-debug bookworm-debug main",
            .has_build_id = true,
            .is_stripped = true,
            .servers = kServers};
}

}  // namespace

TEST_CASE("a list that has most of the samples needs no word") {
    CHECK(coverage_text(report_with(50, nameless(40, "app", "app")), kOptions).empty());
}

TEST_CASE("the share on the list is said, and where most of the rest is") {
    const std::string share =
        "the listed functions have 3.0 % of the samples: what the program does in the rest is not recorded";
    CHECK(coverage_text(report_with(3, nameless(9, "app", "app")), kOptions) == share);
    CHECK(coverage_text(report_with(3, nameless(91.44, "app", "app")), kOptions) ==
          share + "; 91.4 % are at addresses without a name in app: install its debug symbols");
    CHECK(coverage_text(report_with(3, nameless(91, "[unknown]", "[unknown]")), kOptions) == share);
    CHECK(coverage_text(
              report_with(3, {.why = LeftOut::no_file, .module = "perf-7.map", .name = {}, .percent = 80}),
              kOptions) == share + "; 80.0 % are in code that is in no file, which cannot be recorded");
    HotReport many = report_with(3, nameless(20, "app", "app"));
    many.hot.below_limit_percent = 60;
    CHECK(coverage_text(many, kOptions) ==
          share + "; 60.0 % are in functions of at most 1 % each: a lower rdam hot --min-percent lists them");
    HotReport changed = report_with(3, nameless(90, "app", "/bin/app"));
    changed.changed["/bin/app"] = "/bin/app is gone: sample again";
    CHECK(coverage_text(changed, kOptions) ==
          share + "; 90.0 % are at addresses without a name in app: /bin/app is gone: sample again");
}

TEST_CASE("a file of no package is to be built with symbols") {
    const std::string own = std::filesystem::read_symlink("/proc/self/exe").string();
    const SymbolSources sources = symbol_sources(own);
    CHECK(sources.package.empty());
    CHECK(sources.symbols.empty());
    CHECK_FALSE(sources.is_stripped);
    CHECK(symbols_advice(own, sources) == "its symbol table does not name them");
    const SymbolSources other{.has_packages = true, .is_stripped = true};
    CHECK(symbols_advice("/opt/app", other) ==
          "it has no symbols, and no package has it: build it with -g, and do not strip it");
    CHECK(symbols_advice("/opt/app", {.is_stripped = true}) ==
          "it has no symbols: install those of /opt/app");
}

TEST_CASE("the package of a file is asked for by its name before and behind /usr") {
    if (access("/usr/bin/dpkg-query", X_OK) != 0 || access("/bin/ls", R_OK) != 0) {
        WARN("skipped: there is no dpkg here");
        return;
    }
    for (const char* const path : {"/bin/ls", "/usr/bin/ls"}) {
        if (access(path, R_OK) != 0) continue;
        const SymbolSources sources = symbol_sources(path);
        CHECK(sources.has_packages);
        CHECK(sources.package == "coreutils");
        CHECK(sources.symbols == "coreutils-dbgsym");
    }
}

TEST_CASE("what dpkg says of diversions and architectures is no part of the name") {
    CHECK(owning_package("povray: /usr/bin/povray\n", "/usr/bin/povray") == "povray");
    CHECK(owning_package("libc6:amd64: /lib/libc.so.6\n", "/lib/libc.so.6") == "libc6");
    CHECK(owning_package("a:amd64, b:i386: /x\n", "/x") == "a");
    CHECK(owning_package("diversion by dash from: /bin/sh\ndash: /bin/sh\n", "/bin/sh") == "dash");
    CHECK(owning_package("vim: /usr/share/bin/sh\n", "/bin/sh").empty());
    CHECK(owning_package("/bin/sh\n", "/bin/sh").empty());
    CHECK(owning_package("", "/bin/sh").empty());
}

TEST_CASE("debug symbols come from apt, from an archive of their own, or from debuginfod") {
    const std::string fetch = "debuginfod-find debuginfo /usr/bin/povray";
    CHECK(symbols_advice("/usr/bin/povray", stripped()) ==
          "apt-get install povray-dbgsym, which needs the line 'deb http://deb.debian.org/debian-debug "
          "bookworm-debug "
          "main' in /etc/apt/sources.list, or DEBUGINFOD_URLS=https://debuginfod.debian.net " +
              fetch);
    SymbolSources known = stripped();
    known.installable = true;
    known.servers_set = true;
    CHECK(symbols_advice("/usr/bin/povray", known) == "apt-get install povray-dbgsym, or " + fetch);
    known.has_build_id = false;
    CHECK(symbols_advice("/usr/bin/povray", known) == "apt-get install povray-dbgsym");
    known.installed = true;
    CHECK(symbols_advice("/usr/bin/povray", known) ==
          "povray-dbgsym is installed, but not for this version of povray: update both");
    SymbolSources elsewhere = stripped();
    elsewhere.archive = elsewhere.servers = "";
    CHECK(symbols_advice("/usr/bin/povray", elsewhere) ==
          "install povray-dbgsym, the package with its debug symbols");
}

TEST_CASE("a list says itself how much it has") {
    HotReport report = report_with(3, nameless(90, "app", "app"));
    report.coverage = coverage_text(report, kOptions);
    const std::string text = hot_list_text(report);
    CHECK(text == "# rdam hot: " + report.coverage + "\napp:work  # 3.0 %\n");
    const auto list = parse_function_list(text, "hot.txt");
    REQUIRE(list.has_value());
    CHECK(list->entries.size() == 1);
    CHECK(list->coverage == report.coverage);
    CHECK(parse_function_list("# mine\napp:work  # rdam hot: 3 %\n", "hot.txt")->coverage.empty());
}
