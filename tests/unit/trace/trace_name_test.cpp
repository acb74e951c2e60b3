// Which run has the name of a trace, and what is never written over.
#include "tools/trace/trace_name.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/temporary_folder.h"
#include "tools/trace/format.h"
#include "tools/trace/open_for_writing.h"

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
    CHECK(listens.inner().empty());
    tells.tell_inner("/a/inner.bin");
    tells.tell_inner(std::string(5000, 'x'));
    tells.tell_inner("/b.bin");
    CHECK(listens.inner() == "/a/inner.bin\n/b.bin");
}

TEST_CASE("the processes of a run tell each other into what the recorder was loaded", "[name]") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("trace.bin");
    const NameLock listens(path, "run");
    NameLock tells(path, "run");
    CHECK_FALSE(listens.loaded().programs);
    CHECK(listens.loaded().launchers.empty());
    for (const char* launcher : {"sudo", "sh", "sudo", "su"})
        tells.tell_loaded(launcher);
    tells.tell_loaded(std::string(200, 'x'));
    CHECK(listens.loaded().launchers == "sudo, sh, su");
    CHECK_FALSE(listens.loaded().programs);
    tells.tell_loaded("");
    CHECK(listens.loaded().programs);
    CHECK_FALSE(listens.has_plan());
}

TEST_CASE("where no lock can be made the name is nobody's", "[name]") {
    const test::TemporaryFolder folder;
    NameLock lock(folder.file("missing/trace.bin"), "run");
    CHECK(lock.state() == State::none);
    CHECK(lock.error() == ENOENT);
    CHECK_FALSE(lock.tell_failure("nobody hears it"));
}

TEST_CASE("rdam replaces only traces", "[name]") {
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
    CHECK(other.error().message.find("it is not a trace") != std::string::npos);
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

TEST_CASE("what another user has laid out in a shared folder is not written through", "[name]") {
    if (geteuid() != 0) {
        WARN("skipped: to make files of another user takes root");
        return;
    }
    constexpr uid_t kNobody = 65534;
    const test::TemporaryFolder folder;
    const test::TemporaryFolder shared;
    const std::string victim = folder.file("victim.bin");
    const std::string trap = shared.file("trace.bin");
    fs::create_symlink(victim, trap);
    REQUIRE(lchown(trap.c_str(), kNobody, kNobody) == 0);
    // In a folder of one's own whatever is there may stay in use.
    CHECK(check_place(trap));
    fs::permissions(shared.path(), fs::perms::all | fs::perms::sticky_bit);
    CHECK_THAT(check_place(trap).error().message, Catch::Contains("another user's symbolic link"));
    CHECK_FALSE(open_for_writing(trap));
    CHECK_FALSE(fs::exists(victim));
    // Through a link of our own, too.
    fs::create_symlink(trap, folder.file("own.bin"));
    CHECK_FALSE(open_for_writing(folder.file("own.bin")));
    fs::remove(trap);
    std::ofstream(trap) << "";
    REQUIRE(chown(trap.c_str(), kNobody, kNobody) == 0);
    CHECK_THAT(open_for_writing(trap).error().message, Catch::Contains("another user's file"));
    REQUIRE(chown(trap.c_str(), geteuid(), kNobody) == 0);
    const auto own = open_for_writing(trap);
    REQUIRE(own);
    close(*own);
}

TEST_CASE("another user's lock file neither takes a name nor says anything, and is not written to",
          "[name]") {
    if (geteuid() != 0) {
        WARN("skipped: to make files of another user takes root");
        return;
    }
    constexpr uid_t kNobody = 65534;
    const test::TemporaryFolder shared;
    fs::permissions(shared.path(), fs::perms::all | fs::perms::sticky_bit);
    const std::string path = shared.file("trace.bin");
    const auto plant = [&](const std::string& name) {
        std::string content("other");
        content.resize(256);
        content += "words of somebody else";
        content.resize(4096, '1');
        std::ofstream(shared.file(name)) << content;
        REQUIRE(chown(shared.file(name).c_str(), kNobody, kNobody) == 0);
        return content;
    };
    const std::string content = plant(".trace.bin.lock");
    {
        NameLock lock(path, "run/secret");
        CHECK(lock.state() == State::held);
        CHECK(lock.failure().empty());
        CHECK_FALSE(lock.has_events());
        CHECK(lock.inner().empty());
        lock.tell_planned();
        CHECK(lock.has_plan());
        CHECK(check_place(path, lock) == Occupant::none);
        // Two of this user's still find each other.
        CHECK(NameLock(path, "two").state() == State::taken);
    }
    std::ifstream file(shared.file(".trace.bin.lock"));
    CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == content);
    plant(".trace.bin.0.lock");
    const NameLock none(path, "run/secret");
    CHECK(none.state() == State::none);
    CHECK(check_place(path, none) == Occupant::none);
}

TEST_CASE("of other users' words those count that know the run's secret", "[name]") {
    if (geteuid() != 0) {
        WARN("skipped: to make files of another user takes root");
        return;
    }
    constexpr uid_t kNobody = 65534;
    constexpr uid_t kStranger = 65533;
    const test::TemporaryFolder shared;
    fs::permissions(shared.path(), fs::perms::all | fs::perms::sticky_bit);
    const std::string path = shared.file("trace.bin");
    NameLock first(path, "run/secret");
    const auto tell_as = [&](uid_t user, const char* run) {
        REQUIRE(seteuid(user) == 0);
        NameLock lock(path, run);
        CHECK(lock.state() == State::held);
        lock.tell_events();
        lock.tell_failure("said by " + std::to_string(user));
        REQUIRE(seteuid(0) == 0);
    };
    std::optional<NameLock> strangers;
    REQUIRE(seteuid(kStranger) == 0);
    strangers.emplace(path, "run");
    strangers->tell_failure("words");
    REQUIRE(seteuid(0) == 0);
    tell_as(kNobody, "run/secret");
    CHECK(first.failure().empty());
    first.gather();
    CHECK(first.failure() == "said by 65534");
    CHECK(first.has_events());
    CHECK(first.users() == std::vector<unsigned>{0, kNobody});
    CHECK_FALSE(fs::exists(shared.file(".trace.bin.65534.lock")));
}

TEST_CASE("links of one's own are followed, to where there is nothing yet as well", "[name]") {
    const test::TemporaryFolder folder;
    fs::create_symlink("second.bin", folder.file("first.bin"));
    fs::create_symlink("target.bin", folder.file("second.bin"));
    CHECK(check_place(folder.file("first.bin")) == Occupant::none);
    const auto fd = open_for_writing(folder.file("first.bin"));
    REQUIRE(fd);
    close(*fd);
    CHECK(fs::is_regular_file(fs::symlink_status(folder.file("target.bin"))));
    fs::create_symlink("round.bin", folder.file("round.bin"));
    CHECK_FALSE(open_for_writing(folder.file("round.bin")));
}

TEST_CASE("a process's own name has its pid in front of the extension", "[name]") {
    CHECK(numbered_name("/a/trace.bin", 12) == "/a/trace.12.bin");
    CHECK(numbered_name("trace", 12, 2) == "trace.12.2");
    CHECK(name_beside("/a/trace.bin", 12) == "/a/trace-12.bin");
}

}  // namespace rdam::trace
