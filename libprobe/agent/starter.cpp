#include "libprobe/agent/starter.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "libprobe/agent/adoption.h"
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

/// The token of this process or, before a fork, of its parent. 0: it has not been looked for.
constinit std::uint32_t known_token = 0;

enum class Reached : std::uint8_t { starter, nobody, stranger, crowd };

/// A socket that is closed with it.
class Socket {
  public:
    Socket() : fd_(sys::call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
        const timeval patience{kMaxSeconds, 0};
        for (const int which : {SO_RCVTIMEO, SO_SNDTIMEO})
            sys::call(SYS_setsockopt, fd_, SOL_SOCKET, which, sys::word(&patience), sizeof patience);
    }
    ~Socket() {
        if (!sys::failed(fd_)) sys::call(SYS_close, fd_);
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    bool is_there() const { return !sys::failed(fd_); }

    /// Connects to the starter of that name and of the same user: no other user may get the shared memory,
    /// nor keep this process waiting.
    Reached connect(const Name& name) const {
        if (sys::failed(fd_)) return Reached::nobody;
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        copy_bytes(address.sun_path + name.begin(), name.text(), name.size());
        const auto length = static_cast<long>(offsetof(sockaddr_un, sun_path) + name.begin() + name.size());
        const long connected = connect_soon(address, length);
        if (connected == -EAGAIN) return Reached::crowd;
        if (sys::failed(connected)) return Reached::nobody;
        ucred peer{};
        socklen_t peer_size = sizeof peer;
        if (sys::call(SYS_getsockopt, fd_, SOL_SOCKET, SO_PEERCRED, sys::word(&peer),
                      sys::word(&peer_size)) != 0)
            return Reached::nobody;
        return peer.uid == effective_user() ? Reached::starter : Reached::stranger;
    }

    bool send_request(const starter::Request& request, int memory) const {
        const starter::Message message(request, memory);
        long sent = 0;
        do
            sent = sys::call(SYS_sendmsg, fd_, sys::word(message.header()), MSG_NOSIGNAL);
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
    /// The listener may have more callers than it can accept, or may accept none.
    long connect_soon(const sockaddr_un& address, long length) const {
        constexpr int kTries = 10;
        constexpr long kMillisecond = 1;
        const std::uint32_t nothing = 0;
        long connected = sys::call(SYS_connect, fd_, sys::word(&address), length);
        for (int i = 0; i < kTries && connected == -EAGAIN; ++i) {
            sys::futex_wait(&nothing, nothing, kMillisecond);
            connected = sys::call(SYS_connect, fd_, sys::word(&address), length);
        }
        sys::call(SYS_fcntl, fd_, F_SETFL, 0);  // from here on it waits
        return connected;
    }

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

/// Hands the memory over, and waits for the agent.
Asked request(const Socket& socket, int fd, const char* const* environment, std::uint32_t& agent_pid) {
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

bool has_ended(const Name& name) {
    const Socket socket;
    return socket.is_there() && socket.connect(name) == Reached::nobody;
}

void say_taken() {
    Line line;
    (line << "another user holds the name of this run's rdam-starter, or no process accepts connections "
             "under it: another one is started")
        .print();
}

}  // namespace

std::uint32_t choose_token() {
    std::uint32_t random = 0;
    if (sys::call(SYS_getrandom, sys::word(&random), sizeof random, 1 /* GRND_NONBLOCK */) != sizeof random)
        random = static_cast<std::uint32_t>(__builtin_ia32_rdtsc()) * 0x9e3779b1u ^ sys::getpid();
    known_token = run_mark::token_of(random);
    set_mark({own_mark().adopter, known_token});
    return known_token;
}

Asked ask_starter(int fd, const char* const* environment, std::uint32_t& agent_pid) {
    // A fork child's token is its parent's, an executed program's is in its limits. None: the run begins
    // here.
    if (known_token == 0) known_token = own_mark().token;
    if (known_token == 0) return Asked::absent;
    bool taken = false;
    for (const Name& name : {Name(known_token, effective_user()), Name(known_token)}) {
        const Socket socket;
        const Reached reached = socket.connect(name);
        if (reached == Reached::starter) {
            const Asked asked = request(socket, fd, environment, agent_pid);
            // One that ended meanwhile has closed the connection as one does that refuses.
            if (asked == Asked::refused && has_ended(name)) continue;
            return asked;
        }
        taken = taken || reached == Reached::stranger || reached == Reached::crowd;
    }
    if (taken) say_taken();
    return Asked::absent;
}

}  // namespace rdam::probe
