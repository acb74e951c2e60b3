#include "tools/rdam/command/fresh_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace rdam {

namespace fs = std::filesystem;

namespace {

bool is_special(const std::string& path) {
    std::error_code error;
    const fs::file_type type = fs::status(path, error).type();
    return type == fs::file_type::character || type == fs::file_type::fifo || type == fs::file_type::block ||
           type == fs::file_type::socket;
}

}  // namespace

Result<FreshFile> FreshFile::create(const std::string& path) {
    if (path == "-") return FreshFile{path, {}, STDOUT_FILENO};
    // Devices and pipes have no place beside them.
    if (is_special(path)) {
        const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
        if (fd < 0) return fail("{}: cannot be written: {}; give another path", path, std::strerror(errno));
        return FreshFile{path, {}, fd};
    }
    auto beside = FileBeside::create(path);
    if (!beside)
        return fail("{}: cannot be written: {}; give a file in a directory that you may write to", path,
                    beside.error().message);
    return FreshFile{path, std::move(*beside), -1};
}

FreshFile::FreshFile(std::string path, std::optional<FileBeside> beside, int fd)
    : path_(std::move(path)), beside_(std::move(beside)), fd_(fd) {}

FreshFile::FreshFile(FreshFile&& other) noexcept
    : path_(std::move(other.path_)), beside_(std::move(other.beside_)), fd_(std::exchange(other.fd_, -1)) {}

FreshFile::~FreshFile() {
    if (fd_ >= 0 && fd_ != STDOUT_FILENO) close(fd_);
}

Result<void> FreshFile::or_error(Result<void> done) const {
    if (done) return done;
    return fail("{}: {}; write to a file or a place that has room", path_ == "-" ? "standard output" : path_,
                done.error().message);
}

Result<void> FreshFile::write(std::string_view bytes) {
    return or_error(beside_ ? beside_->write(bytes) : write_all(fd_, bytes));
}

Result<void> FreshFile::finish() {
    if (!beside_) return {};
    return or_error(beside_->put_in_place(mode_of_new_files()));
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

Result<void> check_unused(const std::string& path) {
    std::error_code error;
    const fs::file_type type = fs::status(path, error).type();
    const bool holds_something = type == fs::file_type::regular || type == fs::file_type::directory;
    if (!holds_something || fs::is_empty(path, error)) return {};
    return fail("{}: exists and is not empty; give another path, or replace it with {}", path,
                kOverwriteOption);
}

std::string absolute(const std::string& path) {
    std::error_code error;
    const fs::path full = fs::absolute(path, error);
    if (error) return path;
    // What `..` leads to is for the kernel to say: the folder before it may be a link, or not exist.
    fs::path plain;
    for (const fs::path& part : full)
        if (part != ".") plain /= part;
    return plain.string();
}

}  // namespace rdam
