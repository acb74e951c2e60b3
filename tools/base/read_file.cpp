#include "tools/base/read_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "tools/base/descriptor.h"

namespace rdam {
namespace {

using std::chrono::milliseconds;

/// How long to wait until a pipe is opened for writing.
constexpr milliseconds kUntilOpened{2000};
/// How long to wait for data after that.
constexpr milliseconds kUntilWritten{60000};

bool has_something_within(int fd, milliseconds patience) {
    pollfd wish{fd, POLLIN, 0};
    int ready = 0;
    do {
        ready = ::poll(&wish, 1, static_cast<int>(patience.count()));
    } while (ready < 0 && errno == EINTR);
    return ready != 0;
}

/// One read(). Of a pipe that does not block: once there is something, or its end.
ssize_t read_some(int fd, char* bytes, std::size_t size, bool is_pipe) {
    if (!is_pipe || has_something_within(fd, kUntilOpened)) return ::read(fd, bytes, size);
    const auto got = ::read(fd, bytes, size);
    if (got == 0) errno = ENXIO;
    if (got > 0 || (got < 0 && errno != EAGAIN)) return got;
    if (got < 0 && has_something_within(fd, kUntilWritten)) return ::read(fd, bytes, size);
    if (got < 0) errno = ETIMEDOUT;
    return -1;
}

std::string why_unread(int error) {
    switch (error) {
        case ENXIO:
            return "is a pipe that nobody writes to; save the input to a file first";
        case ETIMEDOUT:
            return "is a pipe to which nothing is written; save the input to a file first";
        default:
            return fmt::format("cannot be read: {}", std::strerror(error));
    }
}

/// Opening a pipe would wait for its writer.
Result<Descriptor> open_without_waiting(const std::string& path) {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0) return fail("{}: cannot be opened: {}", path, std::strerror(errno));
    return file;
}

Result<std::string> read_up_to(int fd, const std::string& path, std::size_t limit, bool is_pipe) {
    constexpr std::size_t kStep = 1U << 16U;
    std::string bytes;
    for (;;) {
        const auto filled = bytes.size();
        if (filled > limit)
            return fail("{}: larger than {} MiB; is it the right file?", display_path(path), limit >> 20U);
        bytes.resize(filled + kStep);
        const auto got = read_some(fd, bytes.data() + filled, kStep, is_pipe);
        bytes.resize(filled + (got > 0 ? static_cast<std::size_t>(got) : 0));
        if (got == 0) return bytes;
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            return fail("{}: {}", display_path(path), why_unread(errno));
    }
}

}  // namespace

Result<std::string> read_whole_file(const std::string& path, std::size_t limit) {
    if (path == "-") return read_up_to(STDIN_FILENO, path, limit, false);
    const auto file = open_without_waiting(path);
    if (!file) return tl::unexpected(file.error());
    struct stat status {};
    const bool is_pipe = ::fstat(file->get(), &status) == 0 && S_ISFIFO(status.st_mode);
    if (!is_pipe) ::fcntl(file->get(), F_SETFL, O_RDONLY);
    return read_up_to(file->get(), path, limit, is_pipe);
}

Result<std::string> read_beginning(const std::string& path, std::size_t size) {
    const auto file = open_without_waiting(path);
    if (!file) return tl::unexpected(file.error());
    std::string bytes(size, '\0');
    const ssize_t got = ::read(file->get(), bytes.data(), size);
    if (got < 0) return fail("{}: cannot be read: {}", path, std::strerror(errno));
    bytes.resize(static_cast<std::size_t>(got));
    return bytes;
}

std::string_view display_path(const std::string& path) {
    return path == "-" ? std::string_view("standard input") : std::string_view(path);
}

}  // namespace rdam
