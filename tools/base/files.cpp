#include "tools/base/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

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

namespace {

std::string folder_for_temporary_files() {
    const char* chosen = std::getenv("TMPDIR");
    return chosen != nullptr && *chosen != 0 ? chosen : "/tmp";
}

tl::unexpected<Error> cannot_be_written() {
    return fail(
        "cannot write to {}, the directory for temporary files: {}; set TMPDIR to one that can be written",
        folder_for_temporary_files(), std::strerror(errno));
}

}  // namespace

Result<int> open_temporary_file(std::string_view purpose) {
    std::string path = fmt::format("{}/rdam-{}.XXXXXX", folder_for_temporary_files(), purpose);
    const int fd = mkostemp(path.data(), O_CLOEXEC);
    if (fd < 0) return cannot_be_written();
    unlink(path.c_str());
    return fd;
}

Result<TemporaryFolder> TemporaryFolder::create(std::string_view purpose) {
    std::string path = fmt::format("{}/rdam-{}.XXXXXX", folder_for_temporary_files(), purpose);
    if (mkdtemp(path.data()) == nullptr) return cannot_be_written();
    return TemporaryFolder{std::move(path)};
}

Result<TemporaryFolder> TemporaryFolder::beside(const std::string& place) {
    std::string path = place + ".XXXXXX";
    if (mkdtemp(path.data()) == nullptr)
        return fail("{}: cannot be written: {}; give a path in a directory that you may write to", place,
                    std::strerror(errno));
    return TemporaryFolder{std::move(path)};
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

namespace {

tl::unexpected<Error> what_the_system_says() {
    return fail("{}", std::strerror(errno));
}

}  // namespace

Result<FileBeside> FileBeside::create(const std::string& path) {
    std::error_code error;
    const auto canonical = std::filesystem::weakly_canonical(path, error);
    return create_here(error ? path : canonical.string());
}

Result<FileBeside> FileBeside::create_here(std::string place) {
    std::string beside = place + ".XXXXXX";
    Descriptor file(::mkostemp(beside.data(), O_CLOEXEC));
    if (file.get() < 0) return what_the_system_says();
    return FileBeside{std::move(place), std::move(beside), std::move(file)};
}

FileBeside::FileBeside(std::string place, std::string path, Descriptor file)
    : place_(std::move(place)), path_(std::move(path)), file_(std::move(file)) {}

FileBeside::FileBeside(FileBeside&& other) noexcept
    : place_(std::move(other.place_)), path_(std::exchange(other.path_, {})), file_(std::move(other.file_)) {}

FileBeside::~FileBeside() {
    if (!path_.empty()) ::unlink(path_.c_str());
}

Result<void> FileBeside::write(std::string_view bytes) {
    return write_all(file_.get(), bytes);
}

Result<void> FileBeside::put_in_place(mode_t mode) {
    if (::fchmod(file_.get(), mode) != 0) return what_the_system_says();
    if (!file_.close()) return what_the_system_says();
    if (std::rename(path_.c_str(), place_.c_str()) != 0) return what_the_system_says();
    path_.clear();
    return {};
}

mode_t mode_of_new_files() {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return 0666U & ~mask;
}

}  // namespace rdam
