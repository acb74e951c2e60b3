#include "wrappers/list/read_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace rdam {
namespace {

Result<std::string> read_all(int fd, const std::string& path, std::size_t limit) {
    constexpr std::size_t kStep = 1U << 16U;
    std::string bytes;
    for (;;) {
        const auto filled = bytes.size();
        if (filled > limit)
            return fail("{}: larger than {} MiB; is it the right file?", display_path(path), limit >> 20U);
        bytes.resize(filled + kStep);
        const auto got = ::read(fd, bytes.data() + filled, kStep);
        bytes.resize(filled + (got > 0 ? static_cast<std::size_t>(got) : 0));
        if (got == 0) return bytes;
        if (got < 0 && errno != EINTR)
            return fail("{}: cannot be read: {}", display_path(path), std::strerror(errno));
    }
}

}  // namespace

Result<std::string> read_whole_file(const std::string& path, std::size_t limit) {
    if (path == "-") return read_all(STDIN_FILENO, path, limit);
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail("{}: cannot be opened: {}", path, std::strerror(errno));
    auto bytes = read_all(fd, path, limit);
    ::close(fd);
    return bytes;
}

std::string_view display_path(const std::string& path) {
    return path == "-" ? std::string_view("standard input") : std::string_view(path);
}

}  // namespace rdam
