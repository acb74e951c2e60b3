#include "tools/base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>
#include <thread>

#include "tools/base/files.h"

namespace rdam {

namespace {

struct Pipe {
    Descriptor read;
    Descriptor write;
    bool open() {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
        read = Descriptor(ends[0]);
        write = Descriptor(ends[1]);
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
        if (std::ranges::none_of(
                changes, [&](const std::string& change) { return name_of(change) == name_of(known); }))
            result.emplace_back(known);
    }
    std::ranges::copy_if(changes, std::back_inserter(result),
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

/// What is done with a piece of output; false: no more of it is wanted.
using Take = std::function<bool(std::string_view)>;

/// Reads one of the pipes once; closes it at its end.
bool drain_once(Descriptor& from, const Take& take) {
    std::array<char, 1U << 16U> buffer;
    const auto got = ::read(from.get(), buffer.data(), buffer.size());
    if (got > 0) return take({buffer.data(), static_cast<std::size_t>(got)});
    if (got == 0 || errno != EINTR) from.close();
    return true;
}

bool drain(Pipe& out, Pipe& err, const Take& take_out, const Take& take_err) {
    while (out.read.get() >= 0 || err.read.get() >= 0) {
        std::array<pollfd, 2> wait = {pollfd{out.read.get(), POLLIN, 0}, pollfd{err.read.get(), POLLIN, 0}};
        if (::poll(wait.data(), wait.size(), -1) < 0 && errno != EINTR) return false;
        if (wait[0].revents != 0 && !drain_once(out.read, take_out)) return false;
        if (wait[1].revents != 0 && !drain_once(err.read, take_err)) return false;
    }
    return true;
}

/// nullopt: it was ended because no more was wanted. The exit code otherwise.
Result<std::optional<int>> run(const std::vector<std::string>& arguments,
                               const std::vector<std::string>& environment, const Take& take_out,
                               const Take& take_err) {
    Pipe out;
    Pipe err;
    if (!out.open() || !err.open())
        return fail("{}: no pipe for its output: {}", arguments[0], std::strerror(errno));
    pid_t child = 0;
    if (const int error = spawn(child, arguments, changed_environment(environment), out, err); error != 0)
        return fail("{}: cannot be run: {}", arguments[0], std::strerror(error));
    out.write.close();
    err.write.close();
    const bool complete = drain(out, err, take_out, take_err);
    if (!complete) ::kill(child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!complete) return std::optional<int>{};
    return std::optional<int>{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
}

}  // namespace

Result<ChildOutput> run_child(const std::vector<std::string>& arguments,
                              const std::vector<std::string>& environment, std::size_t limit) {
    ChildOutput output;
    const auto append_to = [limit](std::string& into) {
        return [limit, &into](std::string_view piece) { return into.append(piece).size() <= limit; };
    };
    const auto ended = run(arguments, environment, append_to(output.out), append_to(output.err));
    if (!ended) return tl::unexpected(ended.error());
    if (!*ended) return fail("{}: prints more than {} MiB", arguments[0], limit >> 20U);
    output.exit_code = **ended;
    return output;
}

Result<ChildOutput> run_child(const std::vector<std::string>& arguments,
                              const std::vector<std::string>& environment,
                              const std::function<void(std::string_view)>& take) {
    constexpr std::size_t kMaxErrors = 1U << 16U;
    ChildOutput output;
    const auto ended = run(
        arguments, environment,
        [&](std::string_view piece) {
            take(piece);
            return true;
        },
        [&](std::string_view piece) {
            output.err.append(piece.substr(0, kMaxErrors - output.err.size()));
            return true;
        });
    if (!ended) return tl::unexpected(ended.error());
    output.exit_code = **ended;
    return output;
}

std::optional<bool> ends_within(int process, std::chrono::milliseconds time) {
    if (process >= 0) {
        pollfd wait{process, POLLIN, 0};
        const int ready = poll(&wait, 1, static_cast<int>(time.count()));
        if (ready >= 0 || errno == EINTR) return ready > 0;
    }
    std::this_thread::sleep_for(time);
    return {};
}

namespace {

constexpr int kBacklog = 4096;  // more than a kernel allows is what it allows

/// A new socket, and what connect() or bind() makes of it with the name; -1: it fails.
int open_socket(const starter::Name& name, int flags, decltype(&connect) use) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + name.begin(), name.text(), name.size());
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    if (fd < 0) return -1;
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.begin() + name.size());
    if (use(fd, reinterpret_cast<const sockaddr*>(&address), length) == 0) return fd;
    close(fd);
    return -1;
}

}  // namespace

int listen_at(const starter::Name& name) {
    constexpr mode_t kUsersAlone = 0177;
    const mode_t before = umask(kUsersAlone);
    const int fd = open_socket(name, SOCK_NONBLOCK, bind);
    umask(before);
    if (fd < 0 || listen(fd, kBacklog) == 0) return fd;
    if (!name.is_abstract()) unlink(name.text());
    close(fd);
    return -1;
}

int connect_to(const starter::Name& name) {
    return open_socket(name, 0, connect);
}

}  // namespace rdam
