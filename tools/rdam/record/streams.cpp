#include "tools/rdam/record/streams.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

namespace rdam {
namespace {

/// A copy that programs do not inherit, and that is no standard stream.
Descriptor copy_of(int fd) {
    return Descriptor{fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
}

/// The exit status of a feeder: all has been kept; it was told to end before; otherwise an errno.
constexpr int kAtEnd = 0;
constexpr int kToldToEnd = 255;

/// Gives a program what a pipe contains, as the pipe would: no sooner than it is there, and not much more
/// than the program reads.
class Feeder {
  public:
    struct Ends {
        int source;
        int kept;
        int sink;
        int told;  ///< readable: the run has ended
    };
    Feeder(const Ends& ends, off_t limit) : ends_(ends), limit_(limit) {}

    int feed(off_t size, bool at_end) {
        int failure = 0;
        for (off_t at = 0;;) {
            ssize_t got = 0;
            if (at < size) {
                got = pread(ends_.kept, buffer_.data(),
                            std::min(buffer_.size(), static_cast<std::size_t>(size - at)), at);
            } else if (!at_end) {
                if (!is_ready(ends_.source, POLLIN)) return failure == 0 ? kToldToEnd : failure;
                got = read(ends_.source, buffer_.data(), buffer_.size());
                if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
                if (got > 0 && failure == 0) failure = keep(at, static_cast<std::size_t>(got));
            }
            if (got <= 0) return failure;
            at += got;
            if (!pass_on({buffer_.data(), static_cast<std::size_t>(got)}))
                return failure == 0 && !at_end ? kToldToEnd : failure;
        }
    }

  private:
    bool is_ready(int fd, short events) const {
        std::array<pollfd, 2> either = {pollfd{fd, events, 0}, pollfd{ends_.told, POLLIN, 0}};
        while (poll(either.data(), either.size(), -1) < 0)
            if (errno != EINTR) return false;
        return either[1].revents == 0;
    }

    /// errno; 0: it is kept, or nothing is to be.
    int keep(off_t at, std::size_t bytes) {
        if (limit_ < 0) return 0;
        if (at + static_cast<off_t>(bytes) > limit_) return EFBIG;
        return write_all(ends_.kept, {buffer_.data(), bytes}) ? 0 : errno;
    }

    bool pass_on(std::string_view bytes) const {
        while (!bytes.empty()) {
            if (!is_ready(ends_.sink, POLLOUT)) return false;
            const ssize_t written = write(ends_.sink, bytes.data(), bytes.size());
            if (written < 0 && errno != EAGAIN && errno != EINTR) return false;
            if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
        }
        return true;
    }

    Ends ends_;
    off_t limit_;
    std::array<char, 1U << 16U> buffer_ = {};
};

}  // namespace

Result<RepeatedInput> RepeatedInput::create() {
    RepeatedInput input;
    struct stat status {};
    if (fstat(STDIN_FILENO, &status) != 0) return input;
    if (S_ISREG(status.st_mode)) input.begin_ = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (!S_ISFIFO(status.st_mode) && !S_ISSOCK(status.st_mode)) return input;
    const auto file = open_temporary_file("input");
    if (!file) return tl::unexpected(file.error());
    input.kept_ = Descriptor{*file};
    struct statvfs system {};
    // Others need room there, too: perf's samples above all.
    if (fstatvfs(*file, &system) == 0)
        input.limit_ = static_cast<off_t>(system.f_bavail * system.f_frsize / 2);
    return input;
}

Result<void> RepeatedInput::begin_run(bool is_last) {
    if (begin_ >= 0) lseek(STDIN_FILENO, begin_, SEEK_SET);
    if (!is_kept()) return {};
    std::array<int, 2> data{};
    std::array<int, 2> told{};
    if (pipe2(data.data(), O_CLOEXEC) != 0) return fail("cannot make a pipe: {}", std::strerror(errno));
    const Descriptor reads{data[0]};
    const Descriptor writes{data[1]};
    if (pipe2(told.data(), O_CLOEXEC) != 0) return fail("cannot make a pipe: {}", std::strerror(errno));
    const Descriptor is_told{told[0]};
    feeds_ = Descriptor{told[1]};
    // A program that does not read may not keep the feeder from its end.
    fcntl(writes.get(), F_SETFL, O_NONBLOCK);
    source_ = copy_of(STDIN_FILENO);
    const off_t size = lseek(kept_.get(), 0, SEEK_END);
    feeder_ = fork();
    if (feeder_ < 0) return fail("cannot keep standard input: {}", std::strerror(errno));
    if (feeder_ == 0) {
        for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE})
            std::signal(signal, SIG_IGN);
        feeds_.close();
        close(reads.get());
        Feeder feeder{{source_.get(), kept_.get(), writes.get(), is_told.get()}, is_last ? -1 : limit_};
        _exit(feeder.feed(size, at_end_));
    }
    dup2(reads.get(), STDIN_FILENO);
    return {};
}

void RepeatedInput::end_run() {
    if (feeder_ <= 0) return;
    dup2(source_.get(), STDIN_FILENO);
    source_.close();
    feeds_.close();
    int status = 0;
    while (waitpid(feeder_, &status, 0) < 0 && errno == EINTR) {
    }
    feeder_ = 0;
    const int end = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
    if (end == kAtEnd) at_end_ = true;
    if (end != kAtEnd && end != kToldToEnd) failure_ = end;
}

Result<void> RepeatedInput::is_whole() const {
    if (failure_ == 0) return {};
    return fail(
        "standard input, a pipe, could not be kept for the second run: {}; set TMPDIR to a directory with "
        "more "
        "room, or give the program a file (< FILE)",
        failure_ == EFBIG ? "it takes more than half of the room for temporary files"
                          : std::strerror(failure_));
}

bool DroppedOutput::drops() {
    return isatty(STDOUT_FILENO) == 0;
}

DroppedOutput::DroppedOutput() {
    if (!drops()) return;
    const Descriptor nowhere{open("/dev/null", O_WRONLY | O_CLOEXEC)};
    if (nowhere.get() < 0) return;
    before_ = copy_of(STDOUT_FILENO);
    if (before_.get() >= 0) dup2(nowhere.get(), STDOUT_FILENO);
}

DroppedOutput::~DroppedOutput() {
    if (before_.get() >= 0) dup2(before_.get(), STDOUT_FILENO);
}

}  // namespace rdam
