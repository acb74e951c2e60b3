#include "tools/trace/file_output.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace rdam::trace {
namespace {

/// Asked for at a time, so that most chunks need no call.
constexpr std::uint64_t kReserveStep = std::uint64_t{1} << 20;

const char* remedy(int error) {
    switch (error) {
        case ENOSPC:
        case EDQUOT:
            return "free some space, or record to another disk (RDAM_OUTPUT, rdam record -o)";
        case EFBIG:
            return "raise the limit on file sizes (ulimit -f)";
        default:
            return "record to another place (RDAM_OUTPUT, rdam record -o)";
    }
}

}  // namespace

FileOutput::FileOutput(int fd, std::string name, Purpose purpose)
    : fd_(fd), name_(std::move(name)), purpose_(purpose) {}

tl::unexpected<Error> FileOutput::cannot_write(int error) const {
    if (purpose_ == Purpose::temporary_copy)
        return fail("{} cannot be written: {}; give a directory with room with TMPDIR", name_,
                    std::generic_category().message(error));
    return fail("cannot write {}: {}; {}", name_, std::generic_category().message(error), remedy(error));
}

FileOutput::~FileOutput() {
    if (fd_ >= 0) ::close(fd_);
}

Result<void> FileOutput::check_and_lock() {
    struct stat status {};
    if (fstat(fd_, &status) != 0) return cannot_write(errno);
    if (!S_ISREG(status.st_mode))
        return fail("cannot write {}: a trace can only be written to a regular file; give another name",
                    name_);
    // File systems without locks give other errors; there a reader that comes too early sees an unfinished
    // trace.
    if (flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return fail("cannot write {}: another rdam is using it; give another name", name_);
    if (status.st_size != 0)
        return fail("cannot write {}: it is not empty; remove it or give another name", name_);
    return {};
}

Result<void> FileOutput::append(std::span<const std::uint8_t> bytes) {
    if (fd_ < 0) return fail("cannot write {}: the trace is finished; start another", name_);
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t written =
            pwrite(fd_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(size_ + done));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            const int error = written < 0 ? errno : ENOSPC;
            // When even this fails the remainder is a torn chunk, which a reader passes over.
            [[maybe_unused]] const int cut = ftruncate(fd_, static_cast<off_t>(size_));
            return cannot_write(error);
        }
        done += static_cast<std::size_t>(written);
    }
    size_ += bytes.size();
    return {};
}

Result<void> FileOutput::reserve(std::uint64_t bytes) {
    if (fd_ < 0 || size_ + bytes <= reserved_end_) return {};
    for (const std::uint64_t wanted : {bytes + kReserveStep, bytes}) {
        if (fallocate(fd_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(size_), static_cast<off_t>(wanted)) == 0) {
            reserved_end_ = size_ + wanted;
            return {};
        }
        if (errno != ENOSPC && errno != EDQUOT && errno != EFBIG) return {};
    }
    return cannot_write(errno);
}

Result<void> FileOutput::close() {
    if (fd_ < 0) return fail("cannot close {}: it is closed", name_);
    // Releases the space reserved after the end.
    [[maybe_unused]] const int cut = reserved_end_ > size_ ? ftruncate(fd_, static_cast<off_t>(size_)) : 0;
    // Some file systems report at this point that the data did not fit.
    if (::close(std::exchange(fd_, -1)) != 0 && errno != EINTR) return cannot_write(errno);
    return {};
}

}  // namespace rdam::trace
