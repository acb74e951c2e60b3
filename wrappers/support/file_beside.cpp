#include "wrappers/support/file_beside.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace rdam {
namespace {

tl::unexpected<Error> what_the_system_says() {
    return fail("{}", std::strerror(errno));
}

}  // namespace

Result<FileBeside> FileBeside::create(const std::string& path) {
    std::error_code error;
    const auto canonical = std::filesystem::weakly_canonical(path, error);
    std::string place = error ? path : canonical.string();
    std::string beside = place + ".XXXXXX";
    const int fd = ::mkostemp(beside.data(), O_CLOEXEC);
    if (fd < 0) return what_the_system_says();
    return FileBeside{std::move(place), std::move(beside), fd};
}

FileBeside::FileBeside(std::string place, std::string path, int fd)
    : place_(std::move(place)), path_(std::move(path)), fd_(fd) {}

FileBeside::FileBeside(FileBeside&& other) noexcept
    : place_(std::move(other.place_)),
      path_(std::exchange(other.path_, {})),
      fd_(std::exchange(other.fd_, -1)) {}

FileBeside::~FileBeside() {
    if (fd_ >= 0) ::close(fd_);
    if (!path_.empty()) ::unlink(path_.c_str());
}

Result<void> FileBeside::write(std::string_view bytes) {
    return write_all(fd_, bytes);
}

Result<void> FileBeside::put_in_place(mode_t mode) {
    if (::fchmod(fd_, mode) != 0) return what_the_system_says();
    if (::close(std::exchange(fd_, -1)) != 0) return what_the_system_says();
    if (std::rename(path_.c_str(), place_.c_str()) != 0) return what_the_system_says();
    path_.clear();
    return {};
}

Result<void> write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return what_the_system_says();
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

mode_t mode_of_new_files() {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return 0666U & ~mask;
}

}  // namespace rdam
