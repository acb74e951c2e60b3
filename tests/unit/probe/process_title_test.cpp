// What servers write over their command lines.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "tests/unit/catch.h"
#include "tools/agent/process/process_facts.h"

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
    std::array<int, 2> to{}, from{};
    REQUIRE(pipe2(to.data(), O_CLOEXEC) == 0);
    REQUIRE(pipe2(from.data(), O_CLOEXEC) == 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        execl("/bin/cat", "cat", "-", nullptr);
        _exit(1);
    }
    close(to[0]);
    close(from[1]);
    // When it answers, it has become that program in every respect.
    char byte = 'x';
    REQUIRE(write(to[1], &byte, 1) == 1);
    REQUIRE(read(from[0], &byte, 1) == 1);
    ProcessTitle same(static_cast<std::uint32_t>(child), {"cat", "-"});
    same.look(true);
    CHECK(same.text().empty());
    ProcessTitle other(static_cast<std::uint32_t>(child), {"./server", "-d"});
    other.look();
    CHECK(other.text() == "cat -");
    close(to[1]);
    close(from[0]);
    CHECK(waitpid(child, nullptr, 0) == child);
    other.look(true);
    CHECK(other.text() == "cat -");
}
