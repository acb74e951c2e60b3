// Which waiting functions a program can call.
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "tests/unit/catch.h"
#include "tests/unit/temporary_folder.h"
#include "wrappers/find/function_list.h"
#include "wrappers/hot/hot_functions.h"
#include "wrappers/hot/hot_report.h"

using namespace rdam;

namespace {

bool holds(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

HotReport report_of(const HotRequest& request) {
    auto report = make_hot_report(request, Catalogue::builtin());
    REQUIRE(report.has_value());
    return std::move(*report);
}

/// A request for a report's text.
class Input {
  public:
    Input() {
        request.input = folder_.file("report.txt");
        std::ofstream(request.input) << "# Overhead  Shared Object  Symbol\n"
                                        "# ........  .............  ..................\n"
                                        "    65.45%  libc.so.6      [.] __memcmp_evex\n"
                                        "    10.00%  libc.so.6      [.] __GI___libc_read\n";
    }
    HotRequest request;

  private:
    test::TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("the waiting functions are those that the program imports") {
    const auto own = waiting_functions({"/proc/self/exe"}, Catalogue::builtin());
    CHECK(own.objects == 1);
    CHECK(own.unreadable.empty());
    CHECK(holds(own.names, "read"));
    CHECK(holds(own.names, "poll"));
    CHECK_FALSE(holds(own.names, "mq_receive"));
    CHECK_FALSE(holds(own.names, "memcpy"));
    CHECK(std::is_sorted(own.names.begin(), own.names.end()));
    // As used here, so that the imports above are there for certain.
    char byte = 0;
    CHECK(::read(-1, &byte, 1) == -1);
}

TEST_CASE("launchers are not looked at, unreadable objects are named") {
    const auto result =
        waiting_functions({"/bin/sh", "/usr/bin/env", "/no/such/app", "/etc/passwd"}, Catalogue::builtin());
    CHECK(result.objects == 0);
    CHECK(result.names.empty());
    CHECK(result.unreadable ==
          std::vector<std::string>{"/no/such/app: cannot be opened: No such file or directory",
                                   "/etc/passwd: is not an ELF file"});
}

TEST_CASE("a text that names no files gets all waits of the catalogue, and says so") {
    const auto report = report_of(Input().request);
    CHECK(holds(report.waits, "pthread_cond_wait"));
    CHECK(holds(report.waits, "write"));
    // read is among the hot ones already.
    CHECK_FALSE(holds(report.waits, "read"));
    REQUIRE(!report.notes.empty());
    CHECK(report.notes[0].find("the files of the program are unknown") == 0);
    const auto list = parse_function_list(hot_list_text(report), "hot.txt");
    REQUIRE(list.has_value());
    CHECK(list->entries.size() == report.hot.functions.size() + report.waits.size());
    for (const auto& entry : list->entries)
        CHECK(entry.added_wait == holds(report.waits, entry.name));
}

TEST_CASE("--program narrows them, --no-waits leaves them out") {
    Input input;
    input.request.programs = {"/proc/self/exe"};
    CHECK_FALSE(holds(report_of(input.request).waits, "mq_receive"));
    input.request.waits = false;
    const auto report = report_of(input.request);
    CHECK(report.waits.empty());
    CHECK(hot_list_text(report).find("# wait") == std::string::npos);
}
