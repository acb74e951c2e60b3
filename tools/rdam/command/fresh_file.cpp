#include "tools/rdam/command/fresh_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "tools/rdam/command/output_place.h"

namespace rdam {

namespace fs = std::filesystem;

namespace {

/// Where a link leads, so that it stays one; devices and pipes have no place beside them.
std::string real_place(const std::string& path) {
    std::error_code error;
    const fs::path canonical = fs::weakly_canonical(path, error);
    return error ? path : canonical.string();
}

bool is_special(const std::string& path) {
    std::error_code error;
    const fs::file_type type = fs::status(path, error).type();
    return type == fs::file_type::character || type == fs::file_type::fifo || type == fs::file_type::block ||
           type == fs::file_type::socket;
}

}  // namespace

Result<FreshFile> FreshFile::create(const std::string& path) {
    if (path == "-") return FreshFile{path, {}, STDOUT_FILENO};
    if (is_special(path)) {
        const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
        if (fd < 0) return fail("{}: cannot be written: {}; give another path", path, std::strerror(errno));
        return FreshFile{path, {}, fd};
    }
    std::string beside = real_place(path) + ".XXXXXX";
    const int fd = mkostemp(beside.data(), O_CLOEXEC);
    if (fd < 0)
        return fail("{}: cannot be written: {}; give a file in a directory that you may write to", path,
                    std::strerror(errno));
    return FreshFile{path, std::move(beside), fd};
}

FreshFile::FreshFile(std::string path, std::string beside, int fd)
    : path_(std::move(path)), beside_(std::move(beside)), fd_(fd) {}

FreshFile::FreshFile(FreshFile&& other) noexcept
    : path_(std::move(other.path_)),
      beside_(std::exchange(other.beside_, {})),
      fd_(std::exchange(other.fd_, -1)) {}

FreshFile::~FreshFile() {
    if (fd_ >= 0 && fd_ != STDOUT_FILENO) close(fd_);
    if (!beside_.empty()) unlink(beside_.c_str());
}

Error FreshFile::error(const char* what) const {
    const std::string name = path_ == "-" ? "standard output" : path_;
    return {fmt::format("{}: {}; write to a file or a place that has room", name, what)};
}

Result<void> FreshFile::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return tl::unexpected{error(std::strerror(errno))};
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

Result<void> FreshFile::finish() {
    if (beside_.empty()) return {};
    // What others may read is as for any new file.
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(fd_, 0666 & ~mask);
    if (close(std::exchange(fd_, -1)) != 0) return tl::unexpected{error(std::strerror(errno))};
    if (rename(beside_.c_str(), real_place(path_).c_str()) != 0)
        return fail("{}: cannot be written: {}; give another path", path_, std::strerror(errno));
    beside_.clear();
    return {};
}

Result<void> check_output(const std::string& path, const std::vector<std::string>& inputs, bool overwrite) {
    if (path.empty()) return fail("-o '': is no file name: give one, or - for standard output");
    if (path == "-") return {};
    std::error_code error;
    if (fs::is_directory(path, error)) return fail("{}: is a directory: give a file", path);
    for (const std::string& input : inputs)
        if (fs::equivalent(path, input, error))
            return fail("{}: is the trace that is read, and is not replaced: give another path", path);
    return overwrite ? Result<void>{} : check_unused(path);
}

}  // namespace rdam
