// What servers write over their command lines.
#include "tools/agent/process_title.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <csignal>

using namespace rdam::agent;

TEST_CASE("a title is the text between the zeroes") {
    CHECK(title_text(std::string{"server: writer\0\0\0", 17}) == "server: writer");
    CHECK(title_text(std::string{"./app\0-n\0002\0", 11}) == "./app -n 2");
    CHECK(title_text(std::string{"server: idle   "}) == "server: idle");
    CHECK(title_text(std::string(5, '\0')).empty());
    CHECK(title_text("").empty());
}

TEST_CASE("of titles that change, the words with which they begin are kept") {
    CHECK(common_title("pg: u bench idle", "pg: u bench UPDATE waiting") == "pg: u bench");
    CHECK(common_title("pg: u bench", "pg: u bench idle") == "pg: u bench");
    CHECK(common_title("pg: u bench idle", "pg: u bench") == "pg: u bench");
    CHECK(common_title("worker 12", "worker 17") == "worker");
    CHECK(common_title("starting", "ready") == "starting");
    CHECK(common_title("same", "same") == "same");
}

TEST_CASE("a process without a title of its own has none") {
    std::array<int, 2> ends{};
    REQUIRE(pipe(ends.data()) == 0);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        char end = 0;
        // Until the parent is through.
        execl("/bin/cat", "cat", ("/dev/fd/" + std::to_string(ends[0])).c_str(), nullptr);
        _exit(read(ends[0], &end, 1) == 0 ? 0 : 1);
    }
    close(ends[0]);
    const auto pid = static_cast<std::uint32_t>(child);
    while (program_name(pid) != "cat" && kill(child, 0) == 0)
        usleep(1000);
    ProcessTitle same(pid, {"cat", "/dev/fd/" + std::to_string(ends[0])});
    same.look(true);
    CHECK(same.text().empty());
    ProcessTitle other(pid, {"./server", "-d"});
    other.look();
    CHECK(other.text() == "cat /dev/fd/" + std::to_string(ends[0]));
    close(ends[1]);
    CHECK(waitpid(child, nullptr, 0) == child);
    other.look(true);
    CHECK(other.text() == "cat /dev/fd/" + std::to_string(ends[0]));
}
