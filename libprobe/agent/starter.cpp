#include "libprobe/agent/starter.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "libprobe/agent/ancestors.h"
#include "libprobe/base/runtime.h"
#include "libprobe/base/sys.h"
#include "libprobe/format/starter.h"

namespace rdam::probe {
namespace {

constexpr long kMaxSeconds = 10;

using starter::Name;

uid_t effective_user() {
    return static_cast<uid_t>(sys::call(SYS_geteuid));
}

/// The name without a process.
Name name_in_namespace() {
    char link[64];
    const long size = sys::call(SYS_readlink, sys::word("/proc/self/ns/pid"), sys::word(link), sizeof link);
    return Name({link, size > 0 ? static_cast<std::size_t>(size) : 0}, effective_user());
}

constinit Name known;  // under which this process, or its parent before the fork, has found the starter

/// A socket that is closed with it.
class Socket {
  public:
    Socket() : fd_(sys::call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        // connect() waits as well, where many others ask.
        const timeval patience{kMaxSeconds, 0};
        for (const int which : {SO_RCVTIMEO, SO_SNDTIMEO})
            sys::call(SYS_setsockopt, fd_, SOL_SOCKET, which, sys::word(&patience), sizeof patience);
    }
    ~Socket() {
        if (!sys::failed(fd_)) sys::call(SYS_close, fd_);
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    /// Connects to the starter of that name and of the same user: no other user may get the shared memory.
    bool connect(const Name& name) const {
        if (sys::failed(fd_) || name.size() == 0) return false;
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        copy_bytes(address.sun_path + 1, name.text(), name.size());
        const auto length = static_cast<long>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
        if (sys::failed(sys::call(SYS_connect, fd_, sys::word(&address), length))) return false;
        ucred peer{};
        socklen_t peer_size = sizeof peer;
        return sys::call(SYS_getsockopt, fd_, SOL_SOCKET, SO_PEERCRED, sys::word(&peer),
                         sys::word(&peer_size)) == 0 &&
               peer.uid == effective_user();
    }

    bool send_request(const starter::Request& request, int memory) const {
        iovec part{const_cast<starter::Request*>(&request), sizeof request};
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof memory)] = {};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof memory);
        copy_bytes(CMSG_DATA(header), &memory, sizeof memory);
        long sent = 0;
        do
            sent = sys::call(SYS_sendmsg, fd_, sys::word(&message), MSG_NOSIGNAL);
        while (sent == -EINTR);
        return sent == sizeof request;
    }

    bool send(const char* data, std::size_t size) const {
        while (size > 0) {
            const long sent =
                sys::call(SYS_sendto, fd_, sys::word(data), static_cast<long>(size), MSG_NOSIGNAL);
            if (sent == -EINTR) continue;
            if (sent <= 0) return false;
            data += sent;
            size -= static_cast<std::size_t>(sent);
        }
        return true;
    }

    /// 0: nothing more comes; negative: nothing has come in time.
    long receive(std::uint32_t& answer) const {
        long got = 0;
        do
            got = sys::call(SYS_recvfrom, fd_, sys::word(&answer), sizeof answer, MSG_WAITALL);
        while (got == -EINTR);
        return got;
    }

  private:
    long fd_;
};

/// The variables as one block, each with its \0.
class Block {
  public:
    explicit Block(const char* const* variables) {
        for (const char* const* at = variables; *at != nullptr; ++at)
            size_ += text_size(*at) + 1;
        if (size_ == 0 || size_ > starter::kMaxEnvironment) return;
        data_ = static_cast<char*>(map_private(size_));
        if (data_ == nullptr) return;
        char* to = data_;
        for (const char* const* at = variables; *at != nullptr; ++at) {
            const std::size_t size = text_size(*at) + 1;
            copy_bytes(to, *at, size);
            to += size;
        }
    }
    ~Block() {
        if (data_ != nullptr) sys::call(SYS_munmap, sys::word(data_), static_cast<long>(size_));
    }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    const char* data() const { return data_; }
    std::size_t size() const { return size_; }

  private:
    char* data_ = nullptr;
    std::size_t size_ = 0;
};

/// The starter listens under the pids of the processes that it has served: one of them is this process before
/// it became another program, or one of its ancestors. If none is, the run begins here.
bool reach(const Socket& socket) {
    if (socket.connect(known)) return true;
    const Name any = name_in_namespace();
    std::uint32_t pid = sys::getpid();
    for (int i = 0; i < kMaxAncestors && pid > 0; ++i) {
        const Name name = any.with(pid);
        if (socket.connect(name)) {
            known = name;
            return true;
        }
        pid = parent_of(pid);
    }
    return false;
}

}  // namespace

Asked ask_starter(int fd, const char* const* environment, std::uint32_t& agent_pid) {
    const Socket socket;
    if (!reach(socket)) return Asked::absent;
    const Block block(environment);
    if (block.data() == nullptr) return Asked::refused;
    starter::Request request;
    request.pid = sys::getpid();
    request.environment = static_cast<std::uint32_t>(block.size());
    // A starter that refuses may close the connection before it has read everything.
    const bool sent = socket.send_request(request, fd) && socket.send(block.data(), block.size());
    const long got = socket.receive(agent_pid);
    if (got == sizeof agent_pid && agent_pid != 0) return Asked::started;
    const bool closed = got == 0 || got == sizeof agent_pid || got == -ECONNRESET;
    return closed || !sent ? Asked::refused : Asked::silent;
}

}  // namespace rdam::probe
