// What a process of a run sends to the run's starter, over a stream socket in the abstract namespace.
#pragma once

#include <sys/resource.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rdam::starter {

/// Where the starter of a run listens. In the abstract namespace: "rdam-", the run's token (run_mark) and
/// the user, for whom alone a starter works, each behind a '-'. And in a folder, for processes in another
/// network namespace, or that know their user by another number.
class Name {
  public:
    /// Abstract: an address begins with a \0 that is not a part of it.
    constexpr Name(std::uint32_t token, std::uint32_t user) {
        add("rdam-");
        add(token);
        add("-");
        add(user);
    }
    /// Not abstract: the path of a file.
    constexpr explicit Name(std::uint32_t token) {
        add("/tmp/rdam-");
        add(token);
    }

    constexpr bool is_abstract() const { return text_[0] != '/'; }
    constexpr const char* text() const { return text_; }
    constexpr std::size_t size() const { return size_; }
    /// Where in sun_path it begins.
    constexpr std::size_t begin() const { return is_abstract() ? 1 : 0; }

  private:
    static constexpr std::size_t kMaxSize = 40;

    constexpr void add(std::string_view more) {
        for (const char c : more)
            if (size_ < kMaxSize) text_[size_++] = c;
    }
    constexpr void add(std::uint32_t number) {
        char digits[10] = {};
        std::size_t at = sizeof digits;
        do
            digits[--at] = static_cast<char>('0' + number % 10);
        while ((number /= 10) > 0);
        add({digits + at, sizeof digits - at});
    }

    char text_[kMaxSize + 1] = {};
    std::size_t size_ = 0;
};

inline constexpr std::uint32_t kMagic = 0x72617473;
inline constexpr std::uint32_t kMaxEnvironment = std::uint32_t{8} << 20;  ///< bytes

/// Comes with the descriptor of the shared memory; `environment` bytes follow: the agent's variables, each
/// with its \0. The answer is the agent's pid in 32 bits; kUnseen: the agent is in a PID namespace that the
/// process does not see; 0: the process must start its agent by itself.
struct Request {
    std::uint32_t magic = kMagic;
    std::uint32_t pid = 0;  ///< the process's, in the PID namespace of the sender
    std::uint32_t environment = 0;
    std::uint32_t for_child = 0;  ///< 1: the sender is the agent of the process's parent
};
inline constexpr std::uint32_t kUnseen = 0xffffffff;

/// The request with the descriptor, for sendmsg(2).
class Message {
  public:
    Message(const Request& request, int memory) : request_(request) {
        header_.msg_iov = &part_;
        header_.msg_iovlen = 1;
        header_.msg_control = control_;
        header_.msg_controllen = sizeof control_;
        cmsghdr* const descriptor = CMSG_FIRSTHDR(&header_);
        descriptor->cmsg_level = SOL_SOCKET;
        descriptor->cmsg_type = SCM_RIGHTS;
        descriptor->cmsg_len = CMSG_LEN(sizeof memory);
        __builtin_memcpy(CMSG_DATA(descriptor), &memory, sizeof memory);
    }
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;

    const msghdr* header() const { return &header_; }

  private:
    Request request_;
    iovec part_{&request_, sizeof request_};
    alignas(cmsghdr) char control_[CMSG_SPACE(sizeof(int))] = {};
    msghdr header_{};
};

}  // namespace rdam::starter

// What the recorder and `rdam record`, which both start rdam-agent, know of it.

namespace rdam::agent_process {

/// Where it is, relative to the directory of librdam.so.
inline constexpr char kInstalled[] = "rdam/rdam-agent";
inline constexpr char kInBuildTree[] = "../tools/agent/rdam-agent";

/// Limits of the program, for its own good, that are not meant for the agent.
inline constexpr decltype(RLIMIT_AS) kRaisedLimits[] = {RLIMIT_AS, RLIMIT_DATA, RLIMIT_CPU, RLIMIT_FSIZE,
                                                        RLIMIT_NOFILE};

/// The variables of the program's environment that are for the agent, by how they begin: the settings, where
/// its files go and debug symbols are, and the rank in a job.
inline constexpr std::string_view kVariables[] = {
    "RDAM_",           "HOME=",
    "XDG_CACHE_HOME=", "DEBUGINFOD_CACHE_PATH=",
    "TMPDIR=",         "OMPI_COMM_WORLD_RANK=",
    "PMIX_RANK=",      "PMI_RANK=",
    "SLURM_PROCID=",
};

/// The argument that says of which run an agent is begins like this, where it has one: then its environment
/// is its starter's.
inline constexpr char kRunArgument[] = "run=";

/// The process that opens and closes an agent's windows has the agent's command line, and this name.
inline constexpr char kWindowsTitle[] = "rdam-windows";

/// Bytes of the starter's last argument, in which its agents show theirs.
inline constexpr std::size_t kRoomSize = 256;

}  // namespace rdam::agent_process

// What every process of a run carries through fork, exec and changes of user: the soft limit RLIMIT_LOCKS,
// which Linux has ignored since 2.4.25.

namespace rdam {

/// Zero is none, of either.
struct RunMark {
    std::uint32_t adopter = 0;  ///< the pid of the program of the run that adopts orphans
    std::uint32_t token = 0;    ///< a random number, part of the name under which the run's starter listens
};

namespace run_mark {

// Any limit that begins like this is a mark. It is neither "unlimited" nor a number that somebody would
// choose.
inline constexpr std::uint64_t kMagic = 0x72d;
inline constexpr int kMagicShift = 52;
inline constexpr int kAdopterShift = 30;
inline constexpr std::uint32_t kMaxPid =
    (1u << (kMagicShift - kAdopterShift)) - 1;  ///< Linux has no larger one
inline constexpr std::uint32_t kMaxToken = (1u << kAdopterShift) - 1;

constexpr std::uint64_t limit_of(RunMark mark) {
    return kMagic << kMagicShift | std::uint64_t{mark.adopter & kMaxPid} << kAdopterShift |
           (mark.token & kMaxToken);
}

constexpr RunMark mark_in(std::uint64_t limit) {
    if (limit >> kMagicShift != kMagic) return {};
    return {static_cast<std::uint32_t>(limit >> kAdopterShift) & kMaxPid,
            static_cast<std::uint32_t>(limit) & kMaxToken};
}

/// The token made of any random number; never 0.
constexpr std::uint32_t token_of(std::uint32_t random) {
    const std::uint32_t token = random & kMaxToken;
    return token == 0 ? 1 : token;
}

}  // namespace run_mark
}  // namespace rdam
