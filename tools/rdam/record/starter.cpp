#include "tools/rdam/record/starter.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "libprobe/format/starter.h"
#include "tools/base/child_process.h"

namespace rdam {
namespace {

namespace fs = std::filesystem;

constexpr int kPatienceMs = 2000;

std::string find_agent(const std::string& library) {
    for (const char* place : {agent_process::kInstalled, agent_process::kInBuildTree}) {
        std::string path = (fs::path(library).parent_path() / place).lexically_normal().string();
        if (access(path.c_str(), X_OK) == 0) return path;
    }
    return {};
}

void raise_limits() {
    for (const auto which : agent_process::kRaisedLimits) {
        rlimit limit{};
        if (getrlimit(which, &limit) != 0) continue;
        limit.rlim_cur = limit.rlim_max;
        setrlimit(which, &limit);
    }
}

/// Descriptors of the starter's.
struct Sockets {
    int parent;
    int listening;
    int in_folder;
};

/// `has_list`: it need not read the catalogue for the default one. Returns where it cannot be executed.
void become_starter(const std::string& agent, const Sockets& sockets, std::uint32_t token, bool has_list,
                    const sigset_t& unblocked) {
    setsid();
    raise_limits();
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3; ++fd)
        dup2(null, fd);
    for (const int signal :
         {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE, SIGUSR1, SIGUSR2})
        std::signal(signal, SIG_IGN);
    sigprocmask(SIG_SETMASK, &unblocked, nullptr);
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    for (const int fd : {sockets.parent, sockets.listening, sockets.in_folder})
        fcntl(fd, F_SETFD, 0);
    // It is no program to be recorded.
    std::vector<char*> environment;
    for (char** variable = environ; *variable != nullptr; ++variable)
        if (!std::string_view{*variable}.starts_with("LD_")) environment.push_back(*variable);
    // What is looked up before it forks, its agents need not look up.
    std::string bind = "LD_BIND_NOW=1";
    environment.push_back(bind.data());
    std::string list = "RDAM_FUNCTIONS=given";
    if (has_list) environment.push_back(list.data());
    environment.push_back(nullptr);
    const std::string parent = std::to_string(sockets.parent);
    const std::string listening = std::to_string(sockets.listening);
    const std::string in_folder = std::to_string(sockets.in_folder);
    const std::string of_run = std::to_string(token);
    const std::string room(agent_process::kRoomSize, ' ');
    const char* arguments[] = {"rdam-starter", agent.c_str(),     "parent",
                               parent.c_str(), listening.c_str(), in_folder.c_str(),
                               of_run.c_str(), room.c_str(),      nullptr};
    execve(agent.c_str(), const_cast<char**>(arguments), environment.data());
}

std::uint32_t random_token() {
    std::uint32_t random = 0;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
        random = static_cast<std::uint32_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    return run_mark::token_of(random);
}

enum class Heard { byte, end, nothing };

Heard listen_to(int socket) {
    pollfd waited{socket, POLLIN, 0};
    int ready = 0;
    do
        ready = poll(&waited, 1, kPatienceMs);
    while (ready < 0 && errno == EINTR);
    char byte = 0;
    if (ready <= 0) return Heard::nothing;
    return read(socket, &byte, 1) == 1 ? Heard::byte : Heard::end;
}

}  // namespace

Starter::Starter(const std::string& library, bool has_list) {
    // What runs under another recording has that one's.
    if (std::getenv("RDAM_RUN") != nullptr) return;
    const std::string agent = find_agent(library);
    if (agent.empty()) return;
    const std::uint32_t token = random_token();
    // So the program need not wait for the starter: it waits for an answer, or is refused when that is gone.
    const int listening = listen_at(starter::Name(token, geteuid()));
    int ends[2];
    if (listening < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        if (listening >= 0) close(listening);
        return;
    }
    const starter::Name file(token);
    // Whoever is interrupted between these lines would leave the file behind.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    const int in_folder = listen_at(file);
    pid_ = fork();
    if (pid_ == 0) become_starter(agent, {ends[1], listening, in_folder}, token, has_list, before);
    if (pid_ <= 0 && in_folder >= 0) unlink(file.text());
    if (pid_ == 0) _exit(1);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    if (pid_ > 0 && in_folder >= 0) file_ = file.text();
    for (const int fd : {ends[1], listening, in_folder})
        if (fd >= 0) close(fd);
    socket_ = ends[0];
    if (pid_ > 0) token_ = token;
}

void Starter::let_end() {
    if (socket_ >= 0) shutdown(socket_, SHUT_WR);
}

bool Starter::end() {
    if (socket_ < 0) return false;
    let_end();
    const Heard answer = listen_to(socket_);
    close(std::exchange(socket_, -1));
    if (pid_ > 0) waitpid(pid_, nullptr, answer == Heard::end ? 0 : WNOHANG);
    // One that was killed, or could not begin, has left it.
    if (answer == Heard::end && !file_.empty()) unlink(file_.c_str());
    return answer == Heard::byte;
}

}  // namespace rdam
