// Which name a trace gets: nothing of the same run is overwritten, an older trace is.
#include "tools/agent/chunks/output_file.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/catch.h"
#include "tests/unit/temporary_folder.h"
#include "tools/agent/process/process_facts.h"
#include "tools/trace/writer.h"

namespace rdam::agent {
namespace {

namespace fs = std::filesystem;

class Folder : public test::TemporaryFolder {
  public:
    std::string operator/(const char* name) const { return file(name); }
};

trace::ProcessInfo this_process(const std::string& run = "") {
    trace::ProcessInfo process = describe_machine(static_cast<std::uint32_t>(getpid()));
    process.run = run;
    return process;
}

/// Writes a trace as `process` would have.
void leave_trace(const std::string& path, const trace::ProcessInfo& process) {
    const auto file = open_output(path, process);
    REQUIRE(file);
    auto writer = trace::TraceWriter::create(file->fd, file->path);
    REQUIRE(writer);
    trace::TraceInfo info;
    info.process = process;
    REQUIRE(writer->finish(info));
}

std::string name_for(const std::string& path, const trace::ProcessInfo& process) {
    const auto file = open_output(path, process);
    REQUIRE(file);
    close(file->fd);
    return file->path;
}

}  // namespace

TEST_CASE("a name that is free, or an older run's, is taken", "[output]") {
    const Folder folder;
    const std::string path = folder / "trace.bin";
    CHECK(name_for(path, this_process()) == path);
    trace::ProcessInfo other = this_process("another run");
    other.pid = 1;
    other.start_ticks += 1;
    leave_trace(path, other);
    CHECK(name_for(path, this_process("this run")) == path);
    CHECK(fs::file_size(path) == 0);
}

TEST_CASE("without the name of a run, what began before this process is an older run's", "[output]") {
    const Folder folder;
    const std::string path = folder / "trace.bin";
    trace::ProcessInfo other = this_process();
    other.pid += 1;
    SECTION("a child that has ended") {
        leave_trace(path, other);
        CHECK(name_for(path, this_process()) != path);
    }
    SECTION("before") {
        other.start_ticks -= 1;
        leave_trace(path, other);
        CHECK(name_for(path, this_process()) == path);
    }
    SECTION("a run of `rdam record` meanwhile") {
        other.run = "another run";
        leave_trace(path, other);
        CHECK(name_for(path, this_process()) == path);
    }
}

TEST_CASE("traces of the same run are never overwritten", "[output]") {
    const Folder folder;
    const std::string own = std::to_string(getpid());
    SECTION("of the same process, before it became another program") {
        leave_trace(folder / "trace.bin", this_process());
    }
    SECTION("of an ancestor") {
        const auto parent = static_cast<std::uint32_t>(getppid());
        trace::ProcessInfo ancestor = this_process();
        ancestor.pid = parent;
        ancestor.start_ticks = read_stat(parent)->start_ticks;
        leave_trace(folder / "trace.bin", ancestor);
    }
    SECTION("of another process under the same rdam record") {
        trace::ProcessInfo sibling = this_process("run");
        sibling.pid = 1;
        sibling.start_ticks += 1;
        leave_trace(folder / "trace.bin", sibling);
    }
    const trace::ProcessInfo process = this_process("run");
    CHECK(name_for(folder / "trace.bin", process) == folder / ("trace." + own + ".bin").c_str());
    leave_trace(folder / "trace.bin", process);
    CHECK(name_for(folder / "trace.bin", process) == folder / ("trace." + own + ".2.bin").c_str());
}

TEST_CASE("a trace that is being written is never overwritten", "[output]") {
    const Folder folder;
    const auto writing = open_output(folder / "trace.bin", this_process());
    REQUIRE(writing);
    const auto second = open_output(folder / "trace.bin", this_process());
    REQUIRE(second);
    CHECK(second->path != writing->path);
    CHECK_FALSE(second->remark.empty());
    close(second->fd);
    close(writing->fd);
}

TEST_CASE("a file that is no trace is never replaced", "[output]") {
    const Folder folder;
    const std::string path = folder / "trace.bin";
    std::ofstream(path) << "precious";
    const auto file = open_output(path, this_process());
    REQUIRE_FALSE(file);
    CHECK(file.error().message.find("it is not a trace") != std::string::npos);
    CHECK(fs::file_size(path) == std::string_view{"precious"}.size());
}

}  // namespace rdam::agent
