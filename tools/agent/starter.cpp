#include "tools/agent/starter.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libprobe/format/starter.h"
#include "tools/agent/process/proc_text.h"

namespace rdam::agent {
namespace {

constexpr std::string_view kTitle = "rdam-starter";
constexpr std::string_view kOfParent = "parent";
constexpr int kBacklog = 512;
constexpr long kMaxSeconds = 5;

enum Argument { kName, kAgent, kListening, kFirst, kArguments };

int open_process(int pid) {
    return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
}

/// What cannot be read is empty.
std::string target(const std::string& link) {
    std::error_code error;
    return std::filesystem::read_symlink(link, error).string();
}

/// Under the name of a process; -1: another starter does.
int listen_for(int pid) {
    const auto name =
        starter::Name(target("/proc/self/ns/pid"), geteuid()).with(static_cast<std::uint32_t>(pid));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.text(), name.size());
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    if (bind(fd, reinterpret_cast<const sockaddr*>(&address), length) == 0 && listen(fd, kBacklog) == 0)
        return fd;
    close(fd);
    return -1;
}

std::string in_proc(int pid, const char* name) {
    return "/proc/" + std::to_string(pid) + "/" + name;
}

/// Whether an agent that we start has the files, the names of processes, and the share of the machine, that
/// one started by the process would have. What cannot be read is not the same.
bool stands_where_we_do(int pid) {
    const int own = getpid();
    for (const char* space : {"ns/mnt", "ns/pid", "ns/user"}) {
        const std::string ours = target(in_proc(own, space));
        if (ours.empty() || ours != target(in_proc(pid, space))) return false;
    }
    const std::string group = contents(in_proc(own, "cgroup"));
    if (group != contents(in_proc(pid, "cgroup"))) return false;
    struct stat ours {};
    struct stat theirs {};
    return stat(in_proc(own, "root/.").c_str(), &ours) == 0 &&
           stat(in_proc(pid, "root/.").c_str(), &theirs) == 0 && ours.st_dev == theirs.st_dev &&
           ours.st_ino == theirs.st_ino;
}

/// The number that `status` has behind `name`, in octal.
std::optional<mode_t> mask_in(const std::string& status) {
    constexpr std::string_view kMask = "\nUmask:";
    const std::size_t at = status.find(kMask);
    if (at == std::string::npos) return {};
    return static_cast<mode_t>(std::strtoul(status.c_str() + at + kMask.size(), nullptr, 8));
}

struct Wanted {
    starter::Request request;
    int memory = -1;
};

std::optional<Wanted> receive(int connection) {
    Wanted wanted;
    iovec part{&wanted.request, sizeof wanted.request};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (recvmsg(connection, &message, MSG_WAITALL) != sizeof wanted.request) return {};
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(int)))
        return {};
    std::memcpy(&wanted.memory, CMSG_DATA(header), sizeof wanted.memory);
    if (wanted.request.magic != starter::kMagic || wanted.request.environment == 0 ||
        wanted.request.environment > starter::kMaxEnvironment)
        return {};
    return wanted;
}

/// Each variable with its \0.
std::optional<std::vector<char>> receive_environment(int connection, std::uint32_t size) {
    std::vector<char> block(size);
    if (recv(connection, block.data(), size, MSG_WAITALL) != static_cast<ssize_t>(size)) return {};
    if (block.back() != '\0') return {};
    return block;
}

std::vector<char*> as_environment(std::vector<char>& block) {
    std::vector<char*> variables;
    for (char* at = block.data(); at < block.data() + block.size(); at += std::strlen(at) + 1)
        variables.push_back(at);
    variables.push_back(nullptr);
    return variables;
}

/// In a child of the starter: becomes the agent of the process at the other end.
int start_agent(int connection, const ucred& peer, const char* agent) {
    setsid();
    const timeval patience{kMaxSeconds, 0};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const auto wanted = receive(connection);
    if (!wanted || static_cast<pid_t>(wanted->request.pid) != peer.pid || peer.uid != geteuid() ||
        peer.gid != getegid() || !stands_where_we_do(peer.pid))
        return 1;
    auto block = receive_environment(connection, wanted->request.environment);
    if (!block) return 1;
    if (const auto mask = mask_in(contents(in_proc(peer.pid, "status")))) umask(*mask);
    // A list of functions may have a relative name.
    if (chdir(in_proc(peer.pid, "cwd").c_str()) != 0) return 1;
    const int memory = dup(wanted->memory);
    const auto own = static_cast<std::uint32_t>(getpid());
    if (memory < 3 || send(connection, &own, sizeof own, MSG_NOSIGNAL) != sizeof own) return 1;
    const std::string descriptor = std::to_string(memory);
    const std::string process = std::to_string(peer.pid);
    const char* arguments[] = {agent, descriptor.c_str(), process.c_str(), nullptr};
    execve(agent, const_cast<char**>(arguments), as_environment(*block).data());
    return 1;
}

/// The processes that have asked for an agent. Knows when all of them have ended.
class Server {
  public:
    /// `first` is a process, or with `asks` a connection to it, which it closes at the run's end.
    Server(int listening, int first, bool asks, const char* agent) : agent_(agent), asks_(asks) {
        watch(first, listening);
    }

    /// False: no process is left that could ask.
    bool wait() {
        // poll() passes over negative descriptors.
        std::vector<pollfd> polled;
        for (const Client& client : clients_) {
            polled.push_back({client.process, POLLIN, 0});
            polled.push_back({client.listening, POLLIN, 0});
        }
        if (poll(polled.data(), polled.size(), -1) < 0) return errno == EINTR;
        // Answering adds to the clients.
        for (std::size_t i = 0; i < polled.size(); i += 2)
            if (polled[i + 1].revents != 0) answer_all(polled[i + 1].fd);
        // The first process last: it asks whether there are others.
        for (std::size_t i = polled.size(); i >= 2; i -= 2)
            if (polled[i - 2].revents != 0) end(clients_[i / 2 - 1], i == 2);
        clients_.erase(std::remove_if(clients_.begin() + 1, clients_.end(),
                                      [](const Client& client) { return client.process == kNone; }),
                       clients_.end());
        return living_ > 0;
    }

  private:
    static constexpr int kNone = -1;

    struct Client {
        int process = kNone;    ///< its pidfd; none: it has ended
        int listening = kNone;  ///< the socket under its name; none: another starter has that
    };

    void watch(int process, int listening) {
        clients_.push_back({.process = process, .listening = listening});
        ++living_;
    }

    /// The socket of the first process stays: under its name fork children look for us as their parents did.
    void end(Client& client, bool first) {
        --living_;
        if (first && asks_ && living_ > 0 && write(client.process, "", 1) < 0) asks_ = false;
        close(client.process);
        if (!first && client.listening != kNone) close(client.listening);
        client.process = kNone;
    }

    void answer_all(int listening) {
        for (;;) {
            const int connection = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
            if (connection < 0) return;
            ucred peer{};
            socklen_t size = sizeof peer;
            if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0)
                answer(connection, peer);
            close(connection);
        }
    }

    void answer(int connection, const ucred& peer) {
        const int process = open_process(peer.pid);
        // A process asks again when it has become another program.
        if (process >= 0) watch(process, listen_for(peer.pid));
        if (fork() == 0) _exit(start_agent(connection, peer, agent_));
    }

    const char* agent_;
    bool asks_;
    std::vector<Client> clients_;  ///< the first stays
    std::size_t living_ = 0;
};

}  // namespace

void leave_starter(const char* agent, int pid) {
    const int first = open_process(pid);
    if (first < 0) return;
    const int listening = listen_for(pid);
    if (listening >= 0 && fork() == 0) {
        // A session has one share of the processors, and the agent will lower its own.
        setsid();
        // Above all the shared memory of the first process.
        close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
        for (const int fd : {listening, first})
            fcntl(fd, F_SETFD, 0);
        const std::string listens = std::to_string(listening);
        const std::string process = std::to_string(first);
        execl(agent, kTitle.data(), agent, listens.c_str(), process.c_str(), nullptr);
        _exit(1);
    }
    close(listening);
    close(first);
}

bool is_starter(int count, const char* const* arguments) {
    return count == kArguments && arguments[kName] == kTitle;
}

int serve_run(const char* const* arguments) {
    // The folder in which the run began may be removed, or unmounted, under a program that goes on.
    if (chdir("/") != 0) return 1;
    // Nobody waits for the agents.
    std::signal(SIGCHLD, SIG_IGN);
    const bool of_parent = arguments[kListening] == kOfParent;
    const int listening = of_parent ? listen_for(getppid()) : std::atoi(arguments[kListening]);
    const int first = std::atoi(arguments[kFirst]);
    if (listening < 0 || (of_parent && write(first, "", 1) != 1)) return 1;
    for (const int fd : {listening, first})
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_NAME, kTitle.data());
    Server server(listening, first, of_parent, arguments[kAgent]);
    while (server.wait()) {
    }
    // An agent that is still ending would become a child of whoever takes in orphans.
    while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
    return 0;
}

}  // namespace rdam::agent
