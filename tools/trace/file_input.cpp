#include "tools/trace/file_input.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include "tools/trace/foreign.h"

namespace rdam::trace {
namespace {

std::string text_of(int error) {
    return std::generic_category().message(error);
}

/// The lock is released at once: getting it shows that the recorder is done, and the next reader must not
/// take this one for a recorder.
void wait_for_lock(int fd, const std::function<void()>& waiting) {
    using namespace std::chrono;
    const auto patience = steady_clock::now() + seconds(1);
    while (flock(fd, LOCK_SH | LOCK_NB) != 0) {
        if (errno == EINTR) continue;
        if (errno != EWOULDBLOCK) return;
        if (steady_clock::now() < patience) {
            std::this_thread::sleep_for(milliseconds(10));
            continue;
        }
        if (waiting) waiting();
        while (flock(fd, LOCK_SH) != 0 && errno == EINTR) {
        }
        break;
    }
    flock(fd, LOCK_UN);
}

const char* kind_of(mode_t mode) {
    if (S_ISDIR(mode)) return "a directory: name the trace file in it";
    if (S_ISFIFO(mode)) return "a pipe: save the trace to a file first";
    if (S_ISSOCK(mode)) return "a socket: name a trace file";
    return "a device: name a trace file";
}

}  // namespace

Result<FileInput> FileInput::open(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        const int error = errno;
        return fail("cannot read {}: {}; {}", path, text_of(error),
                    error == ENOENT ? "record a program first, with `rdam record`"
                                    : "check the file and its permissions");
    }
    return take_over(fd, path);
}

Result<FileInput> FileInput::take_over(int fd, const std::string& path) {
    FileInput file;
    file.fd_ = Descriptor(fd);
    struct stat status {};
    if (fstat(fd, &status) != 0) return fail("cannot read {}: {}; check the file", path, text_of(errno));
    if (!S_ISREG(status.st_mode)) return fail("{} is {}", path, kind_of(status.st_mode));
    file.size_ = static_cast<std::uint64_t>(status.st_size);
    return file;
}

Result<void> FileInput::wait_for_recorder(const std::string& path, const std::function<void()>& waiting) {
    wait_for_lock(fd_.get(), waiting);
    struct stat status {};
    if (fstat(fd_.get(), &status) != 0)
        return fail("cannot read {}: {}; check the file", path, text_of(errno));
    size_ = static_cast<std::uint64_t>(status.st_size);
    return {};
}

std::size_t FileInput::read(std::uint64_t offset, std::span<std::uint8_t> into) const {
    std::size_t done = 0;
    while (done < into.size()) {
        const ssize_t got =
            pread(fd_.get(), into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

Result<bool> check_header(const FileInput& file, const std::string& path) {
    // A file begins with at least this much.
    std::uint8_t bytes[sizeof(format::FileHeader)] = {};
    const std::size_t got = file.read(0, bytes);
    const auto header = format::load<format::FileHeader>(bytes);
    if (got == sizeof bytes && format::is_sound(header)) {
        if (header.major > format::kMajor)
            return fail("{} has format {}, but this rdam reads formats up to {}: use a newer rdam", path,
                        header.major, format::kMajor);
        return true;
    }
    // The version is in the chunks' magic too.
    if (format::is_sound(file.record_at<format::ChunkHeader>(sizeof bytes))) return false;
    const bool begins_well = got >= sizeof header.magic && header.magic == format::kFileMagic;
    if (begins_well && got < sizeof bytes)
        return fail("{} ends after {} bytes, before any event: record again", path, got);
    if (begins_well)
        return fail("{} is damaged at its beginning: copy it again from where it was recorded", path);
    std::string beginning(kForeignBytes, '\0');
    beginning.resize(file.read(0, {reinterpret_cast<std::uint8_t*>(beginning.data()), beginning.size()}));
    return tl::unexpected(not_a_trace(path, beginning));
}

}  // namespace rdam::trace
