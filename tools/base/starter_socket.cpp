#include "tools/base/starter_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace rdam {
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
