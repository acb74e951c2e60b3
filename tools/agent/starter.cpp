#include "tools/agent/starter.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
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
#include "tools/agent/memory/measured_once.h"
#include "tools/agent/plan/configuration.h"
#include "tools/agent/process/priorities.h"
#include "tools/agent/process/process_facts.h"
#include "tools/agent/process/process_numbers.h"
#include "tools/base/child_process.h"
#include "tools/base/unmovable.h"
#include "tools/trace/trace_name.h"
#include "wrappers/catalogue/catalogue.h"
#include "wrappers/catalogue/known_programs.h"
#include "wrappers/plan/plan_store.h"

namespace rdam::agent {
namespace {

constexpr std::string_view kTitle = "rdam-starter";
constexpr std::string_view kAgentTitle = "rdam-agent";
constexpr std::string_view kOfParent = "parent";
constexpr std::string_view kOfProcess = "process";
constexpr long kMaxSeconds = 5;

/// kRoom is nothing but room, for the arguments that agents show.
enum Argument { kName, kAgent, kWhose, kFirst, kListening, kInFolder, kToken, kRoom, kArguments };

int open_process(int pid) {
    return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
}

/// What cannot be read is empty.
std::string target(const std::string& link) {
    std::error_code error;
    return std::filesystem::read_symlink(link, error).string();
}

/// The token of the run that this process belongs to; 0: it has no starter.
std::uint32_t run_token = 0;

/// The file of a socket, which goes with the starter.
class SocketFile : private Unmovable {
  public:
    explicit SocketFile(std::uint32_t token) : name_(token) {}
    ~SocketFile() {
        if (maker_ == getpid()) unlink(name_.text());
    }

  private:
    starter::Name name_;
    pid_t maker_ = getpid();
};

std::string in_proc(int pid, const char* name) {
    return "/proc/" + std::to_string(pid) + "/" + name;
}

/// Whether an agent that we start has the files, and the share of the machine, that one started by the
/// process would have. What cannot be read is not the same.
bool stands_where_we_do(int pid) {
    const int own = getpid();
    const std::string ours_mounts = target(in_proc(own, "ns/mnt"));
    if (ours_mounts.empty() || ours_mounts != target(in_proc(pid, "ns/mnt"))) return false;
    const std::string group = contents(in_proc(own, "cgroup"));
    if (group != contents(in_proc(pid, "cgroup"))) return false;
    struct stat ours {};
    struct stat theirs {};
    return stat(in_proc(own, "root/.").c_str(), &ours) == 0 &&
           stat(in_proc(pid, "root/.").c_str(), &theirs) == 0 && ours.st_dev == theirs.st_dev &&
           ours.st_ino == theirs.st_ino;
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

/// The block stays: it becomes the environment.
void take_environment(std::vector<char> block) {
    static std::vector<char> kept;
    kept = std::move(block);
    clearenv();
    for (char* at = kept.data(); at < kept.data() + kept.size(); at += std::strlen(at) + 1)
        putenv(at);
}

/// As `ps` and `rdam record` see them: the agent, its descriptor, its process, its run.
void show_arguments(char** arguments, const std::vector<std::string>& shown) {
    char* const begin = arguments[kName];
    char* const end = arguments[kRoom] + std::strlen(arguments[kRoom]);
    std::fill(begin, end, '\0');
    char* at = begin;
    for (const std::string& word : shown) {
        const auto room = static_cast<std::size_t>(end - at);
        if (room < 2) break;
        at += word.copy(at, room - 1) + 1;
    }
    prctl(PR_SET_NAME, kAgentTitle.data());
}

/// Whether the process, by its status, knows itself by this number. Linux before 4.1 does not tell others
/// than its number here.
bool calls_itself(const std::string& status, int pid, std::uint32_t own) {
    const auto numbers = parse_numbers(status);
    return own == (numbers.empty() ? static_cast<std::uint32_t>(pid) : numbers.back());
}

/// In a child of the starter: becomes the agent of the process at the other end, or of that one's child.
Served become_agent(int connection, int sender, char** arguments) {
    setsid();
    const timeval patience{kMaxSeconds, 0};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const auto wanted = receive(connection);
    if (!wanted) return {};
    const bool for_child = wanted->request.for_child != 0;
    const int pid = for_child ? static_cast<int>(wanted->request.pid) : sender;
    const std::string status = contents(in_proc(pid, "status"));
    if (!for_child && !calls_itself(status, pid, wanted->request.pid)) return {};
    auto block = receive_environment(connection, wanted->request.environment);
    if (!block) return {};
    if (auto words = status_words(status, "Umask:")) {
        mode_t mask = 0;
        *words >> std::oct >> mask;
        umask(mask);
    }
    // The names of files may be relative; not those that a fork child has from its parent.
    if (!for_child && chdir(in_proc(pid, "cwd").c_str()) != 0) return {};
    const auto process = static_cast<std::uint32_t>(pid);
    const int memory = dup(wanted->memory);
    const auto answer =
        shares_pid_namespace(process) ? static_cast<std::uint32_t>(getpid()) : starter::kUnseen;
    if (memory < 3 || send(connection, &answer, sizeof answer, MSG_NOSIGNAL) != sizeof answer) return {};
    take_environment(std::move(*block));
    const char* run = std::getenv("RDAM_RUN");
    // Everybody can see the arguments.
    const std::string shown(trace::without_secret(run == nullptr ? "" : run));
    show_arguments(arguments, {arguments[kAgent], std::to_string(memory), std::to_string(pid),
                               agent_process::kRunArgument + shown});
    return {.memory = memory, .pid = process};
}

/// The processes that have asked for an agent. Knows when all of them have ended.
class Server {
  public:
    /// `first` is a process, or with `asks` a connection to it, which it closes at the run's end.
    Server(int listening, int in_folder, int first, bool asks, char** arguments)
        : listening_{listening, in_folder}, arguments_(arguments), asks_(asks) {
        clients_.push_back({.process = first, .pid = 0});
    }

    /// Returns where no process is left that could ask, with nothing; or in a child that becomes an agent,
    /// with what that serves.
    std::optional<Served> serve() {
        while (living() > 0)
            if (const auto agent = wait()) return agent;
        return {};
    }

  private:
    static constexpr int kNone = -1;

    struct Client {
        int process = kNone;  ///< its pidfd; none: it has ended
        pid_t pid = 0;
    };

    std::ptrdiff_t living() const {
        return std::ranges::count_if(clients_, [](const Client& client) { return client.process != kNone; });
    }

    std::optional<Served> wait() {
        // poll() passes over negative descriptors.
        std::vector<pollfd> polled;
        for (const int socket : listening_)
            polled.push_back({socket, POLLIN, 0});
        for (const Client& client : clients_)
            polled.push_back({client.process, POLLIN, 0});
        if (poll(polled.data(), polled.size(), -1) < 0) {
            // Where the program's filter forbids it there is no starter.
            if (errno != EINTR) clients_.clear();
            return {};
        }
        // Answering adds to the clients.
        for (std::size_t i = 0; i < listening_.size(); ++i)
            if (polled[i].revents != 0)
                if (const auto agent = answer_some(listening_[i])) return agent;
        // The first process last: it asks whether there are others.
        for (std::size_t i = polled.size() - listening_.size(); i-- > 0;)
            if (polled[listening_.size() + i].revents != 0) end(clients_[i], i == 0);
        clients_.erase(std::remove_if(clients_.begin() + 1, clients_.end(),
                                      [](const Client& client) { return client.process == kNone; }),
                       clients_.end());
        return {};
    }

    void end(Client& client, bool first) {
        const int process = std::exchange(client.process, kNone);
        if (first && asks_ && living() > 0 && write(process, "", 1) < 0) asks_ = false;
        close(process);
    }

    /// So many that those who call without an end keep nobody from noticing the end of the run.
    std::optional<Served> answer_some(int listening) {
        constexpr int kAtOnce = 64;
        for (int i = 0; i < kAtOnce; ++i) {
            const int connection = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
            if (connection < 0) {
                if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR) pause_for_a_moment();
                return {};
            }
            if (const auto peer = own_user_at(connection))
                if (const auto agent = answer(connection, *peer)) return agent;
            close(connection);
        }
        return {};
    }

    /// Where descriptors have run out, poll() would return at once.
    static void pause_for_a_moment() {
        constexpr int kMilliseconds = 10;
        poll(nullptr, 0, kMilliseconds);
    }

    /// Anybody may connect: nothing is done for others.
    static std::optional<pid_t> own_user_at(int connection) {
        ucred peer{};
        socklen_t size = sizeof peer;
        if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return {};
        if (peer.pid <= 0 || peer.uid != geteuid() || peer.gid != getegid()) return {};
        return peer.pid;
    }

    std::optional<Served> answer(int connection, pid_t pid) {
        watch(pid);
        if (!stands_where_we_do(pid) || fork() != 0) return {};
        return become_agent(connection, pid, arguments_);
    }

    /// A process asks again when it has become another program.
    void watch(pid_t pid) {
        for (const Client& client : clients_) {
            pollfd ended{client.process, POLLIN, 0};
            if (client.pid == pid && poll(&ended, 1, 0) == 0) return;
        }
        if (const int process = open_process(pid); process >= 0)
            clients_.push_back({.process = process, .pid = pid});
    }

    std::array<int, 2> listening_;
    char** arguments_;
    bool asks_;
    std::vector<Client> clients_;  ///< the first stays
};

void execute_starter(const char* agent, int first, int listening, int in_folder, std::uint32_t token) {
    const std::string room(agent_process::kRoomSize, ' ');
    // What is looked up before the fork need not be looked up behind it.
    setenv("LD_BIND_NOW", "1", 1);
    execl(agent, kTitle.data(), agent, kOfProcess.data(), std::to_string(first).c_str(),
          std::to_string(listening).c_str(), std::to_string(in_folder).c_str(), std::to_string(token).c_str(),
          room.c_str(), nullptr);
}

}  // namespace

void leave_starter(const char* agent, int pid, std::uint32_t token) {
    const int first = open_process(pid);
    if (first < 0) return;
    run_token = token;
    const starter::Name file(token);
    const int listening = listen_at(starter::Name(token, geteuid()));
    const int in_folder = listen_at(file);
    const pid_t child = listening < 0 ? -1 : fork();
    if (child == 0) {
        // A session has one share of the processors, and the agent will lower its own.
        setsid();
        // Above all the shared memory of the first process.
        close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
        for (const int fd : {listening, in_folder, first})
            fcntl(fd, F_SETFD, 0);
        execute_starter(agent, first, listening, in_folder, token);
    }
    // Nobody is there who would.
    if (child <= 0 && in_folder >= 0) unlink(file.text());
    if (child == 0) _exit(1);
    for (const int fd : {listening, in_folder, first})
        close(fd);
}

bool is_starter(int count, const char* const* arguments) {
    return count == kArguments && arguments[kName] == kTitle;
}

std::optional<Served> serve_run(char** arguments) {
    // The folder in which the run began may be removed, or unmounted, under a program that goes on.
    if (chdir("/") != 0) return {};
    // Nobody waits for the agents.
    std::signal(SIGCHLD, SIG_IGN);
    const bool of_parent = arguments[kWhose] == kOfParent;
    run_token = static_cast<std::uint32_t>(std::strtoul(arguments[kToken], nullptr, 10));
    const int listening = std::atoi(arguments[kListening]);
    const int in_folder = std::atoi(arguments[kInFolder]);
    const int first = std::atoi(arguments[kFirst]);
    std::optional<SocketFile> file;
    if (in_folder >= 0) file.emplace(run_token);
    for (const int fd : {listening, in_folder, first})
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_NAME, kTitle.data());
    // Once for all agents. Where there is a list, and plans are kept, hardly one of them asks the catalogue.
    KnownPrograms::builtin();
    if (std::getenv(kFunctionsVariable) == nullptr || plan_folder().empty()) Catalogue::builtin();
    describe_machine(static_cast<std::uint32_t>(getpid()));
    try_priorities();
    share_measurements();
    Server server(listening, in_folder, first, of_parent, arguments);
    if (const auto agent = server.serve()) return agent;
    // An agent that is still ending would become a child of whoever takes in orphans.
    while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
    return {};
}

bool ask_for_agent_of(std::uint32_t pid, int memory) {
    if (run_token == 0) return false;
    const int connection = connect_to(starter::Name(run_token, geteuid()));
    if (connection < 0) return false;
    const timeval patience{kMaxSeconds, 0};
    for (const int which : {SO_RCVTIMEO, SO_SNDTIMEO})
        setsockopt(connection, SOL_SOCKET, which, &patience, sizeof patience);
    std::string block;
    for (char** variable = environ; *variable != nullptr; ++variable)
        block.append(*variable).push_back('\0');
    const starter::Request request{
        .pid = pid, .environment = static_cast<std::uint32_t>(block.size()), .for_child = 1};
    const starter::Message message(request, memory);
    std::uint32_t agent = 0;
    const bool started =
        sendmsg(connection, message.header(), MSG_NOSIGNAL) == sizeof request &&
        send(connection, block.data(), block.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(block.size()) &&
        recv(connection, &agent, sizeof agent, MSG_WAITALL) == sizeof agent && agent != 0;
    close(connection);
    return started;
}

}  // namespace rdam::agent
