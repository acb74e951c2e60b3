// Which run has the name of a trace, and what is never written over.
#include "analyzer/trace/trace_name.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <optional>

#include "analyzer/trace/format.h"
#include "tests/unit/temporary_folder.h"

namespace rdam::trace {
namespace {

namespace fs = std::filesystem;
using State = NameLock::State;

}  // namespace

TEST_CASE("a name belongs to one run as long as one of its processes is there", "[name]") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("trace.bin");
    std::optional<NameLock> first(std::in_place, path, "one");
    std::optional<NameLock> second(std::in_place, path, "one");
    CHECK(first->state() == State::held);
    CHECK(second->state() == State::held);
    CHECK(NameLock(path, "two").state() == State::taken);
    first.reset();
    CHECK(NameLock(path, "two").state() == State::taken);
    second.reset();
    CHECK(fs::is_empty(folder.path()));
    CHECK(NameLock(path, "two").state() == State::held);
}

TEST_CASE("a lock that was left behind is in nobody's way", "[name]") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("trace.bin");
    std::ofstream(folder.file(".trace.bin.lock")) << "of a run that was killed";
    const NameLock lock(path, "run");
    CHECK(lock.state() == State::held);
    CHECK(lock.failure().empty());
    CHECK_FALSE(lock.has_events());
}

TEST_CASE("the processes of a run tell each other what is missing", "[name]") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("trace.bin");
    const NameLock listens(path, "run");
    NameLock tells(path, "run");
    CHECK_FALSE(listens.has_events());
    tells.tell_events();
    CHECK(listens.has_events());
    CHECK(tells.tell_failure("the disk is full"));
    CHECK(tells.tell_failure("something else"));
    CHECK(listens.failure() == "the disk is full");
}

TEST_CASE("where no lock can be made the name is nobody's", "[name]") {
    const test::TemporaryFolder folder;
    NameLock lock(folder.file("missing/trace.bin"), "run");
    CHECK(lock.state() == State::none);
    CHECK(lock.error() == ENOENT);
    CHECK_FALSE(lock.tell_failure("nobody hears it"));
}

TEST_CASE("only a trace is replaced", "[name]") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("trace.bin");
    CHECK(check_place(path) == Occupant::none);
    CHECK_FALSE(fs::exists(path));
    std::ofstream{path};
    CHECK(check_place(path) == Occupant::none);
    std::ofstream(path).write(reinterpret_cast<const char*>(format::kFileMagic.data()),
                              format::kFileMagic.size());
    CHECK(check_place(path) == Occupant::trace);
    std::ofstream(path) << "precious";
    const auto other = check_place(path);
    REQUIRE_FALSE(other);
    CHECK(other.error().message.find("it is no trace") != std::string::npos);
}

TEST_CASE("a place that cannot be written is said before the program runs", "[name]") {
    const test::TemporaryFolder folder;
    const auto missing = check_place(folder.file("no/such/folder/trace.bin"));
    REQUIRE_FALSE(missing);
    CHECK(missing.error().message.find("no/such/folder") != std::string::npos);
    CHECK_FALSE(check_place(folder.path()));
    CHECK_FALSE(check_place("/dev/null"));
    const std::string nowhere = "/proc/no-such-file";
    CHECK_FALSE(check_place(nowhere, NameLock(nowhere, "run")));
}

TEST_CASE("a process's own name has its pid in front of the extension", "[name]") {
    CHECK(numbered_name("/a/trace.bin", 12) == "/a/trace.12.bin");
    CHECK(numbered_name("trace", 12, 2) == "trace.12.2");
    CHECK(name_beside("/a/trace.bin", 12) == "/a/trace-12.bin");
}

}  // namespace rdam::trace
