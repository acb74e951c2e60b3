#include "wrappers/list/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

namespace rdam {
namespace {

class Descriptor {
  public:
    explicit Descriptor(int fd = -1) : fd_(fd) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return fd_; }
    void set(int fd) {
        close();
        fd_ = fd;
    }
    void close() {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }

  private:
    int fd_;
};

struct Pipe {
    Descriptor read;
    Descriptor write;
    bool open() {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
        read.set(ends[0]);
        write.set(ends[1]);
        return true;
    }
};

std::string_view name_of(std::string_view entry) {
    return entry.substr(0, entry.find('='));
}

std::vector<std::string> changed_environment(const std::vector<std::string>& changes) {
    std::vector<std::string> result;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view known(*entry);
        if (std::none_of(changes.begin(), changes.end(),
                         [&](const std::string& change) { return name_of(change) == name_of(known); }))
            result.emplace_back(known);
    }
    std::copy_if(changes.begin(), changes.end(), std::back_inserter(result),
                 [](const std::string& change) { return change.find('=') != std::string::npos; });
    return result;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    pointers.reserve(strings.size() + 1);
    for (auto& string : strings)
        pointers.push_back(string.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// errno, 0 when the child runs.
int spawn(pid_t& child, std::vector<std::string> arguments, std::vector<std::string> environment,
          const Pipe& out, const Pipe& err) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out.write.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err.write.get(), STDERR_FILENO);
    const auto argv = pointers_to(arguments);
    const auto envp = pointers_to(environment);
    const int error = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), envp.data());
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/// Reads one of the pipes once; closes it at its end.
void drain_once(Descriptor& from, std::string& into) {
    std::array<char, 1U << 16U> buffer;
    const auto got = ::read(from.get(), buffer.data(), buffer.size());
    if (got > 0)
        into.append(buffer.data(), static_cast<std::size_t>(got));
    else if (got == 0 || errno != EINTR)
        from.close();
}

bool drain(Pipe& out, Pipe& err, ChildOutput& output, std::size_t limit) {
    while (out.read.get() >= 0 || err.read.get() >= 0) {
        std::array<pollfd, 2> wait = {pollfd{out.read.get(), POLLIN, 0}, pollfd{err.read.get(), POLLIN, 0}};
        if (::poll(wait.data(), wait.size(), -1) < 0 && errno != EINTR) return false;
        if (wait[0].revents != 0) drain_once(out.read, output.out);
        if (wait[1].revents != 0) drain_once(err.read, output.err);
        if (output.out.size() > limit || output.err.size() > limit) return false;
    }
    return true;
}

}  // namespace

Result<ChildOutput> run_child(const std::vector<std::string>& arguments,
                              const std::vector<std::string>& environment, std::size_t limit) {
    Pipe out;
    Pipe err;
    if (!out.open() || !err.open())
        return fail("{}: no pipe for its output: {}", arguments[0], std::strerror(errno));
    pid_t child = 0;
    if (const int error = spawn(child, arguments, changed_environment(environment), out, err); error != 0)
        return fail("{}: cannot be run: {}", arguments[0], std::strerror(error));
    out.write.close();
    err.write.close();
    ChildOutput output;
    const bool complete = drain(out, err, output, limit);
    if (!complete) ::kill(child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!complete) return fail("{}: prints more than {} MiB", arguments[0], limit >> 20U);
    output.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return output;
}

}  // namespace rdam
