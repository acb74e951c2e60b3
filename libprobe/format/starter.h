// What a process of a run sends to the run's starter, over a stream socket in the abstract namespace.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rdam::starter {

/// Where the starter of a run listens. In the abstract namespace: "rdam-", the run's token (run_mark.h) and
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
