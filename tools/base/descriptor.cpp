#include "tools/base/descriptor.h"

#include <cerrno>
#include <cstring>

namespace rdam {

Result<void> write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return fail("{}", std::strerror(errno));
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

bool read_all(int fd, void* data, std::size_t size) {
    char* at = static_cast<char*>(data);
    while (size > 0) {
        const ssize_t some = ::read(fd, at, size);
        if (some < 0 && errno == EINTR) continue;
        if (some <= 0) return false;
        at += some;
        size -= static_cast<std::size_t>(some);
    }
    return true;
}

}  // namespace rdam
