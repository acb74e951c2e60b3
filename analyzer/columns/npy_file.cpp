#include "analyzer/columns/npy_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "tools/trace/open_for_writing.h"

namespace rdam::columns {
namespace {

constexpr std::size_t kHeader = 128;
constexpr unsigned kMaxDescriptors = 256;

}  // namespace

Result<Folder> Folder::create(const std::string& path) {
    namespace fs = std::filesystem;
    Folder folder;
    folder.path_ = path;
    if (const auto ours = trace::check_not_planted(path); !ours)
        return fail("{}: cannot be written: {}; give another path", path, ours.error().message);
    std::error_code error;
    if (fs::exists(path, error)) {
        if (!fs::is_directory(path, error))
            return fail("{}: is a file: give a directory, or a file name that ends in .parquet", path);
        if (!fs::is_empty(path, error) || error)
            return fail("{}: exists and is not empty: remove it, or give another directory", path);
        return folder;
    }
    folder.made_ = fs::create_directory(path, error);
    if (error)
        return fail("{}: cannot be created: {}; give a directory where you may write", path, error.message());
    return folder;
}

Result<void> Folder::make_room(std::string_view name) const {
    std::error_code error;
    std::filesystem::create_directory(path_ / name, error);
    if (error) return fail("{}: cannot be created: {}", (path_ / name).string(), error.message());
    return {};
}

void Folder::failed(const std::string& file, int error_number) {
    if (error_) return;
    error_ = Error{fmt::format("{}: {}; free some space there, or give another path", (path_ / file).string(),
                               std::strerror(error_number))};
}

bool Folder::keep_descriptor() {
    return kept_++ < kMaxDescriptors;
}

void Folder::discard() const {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(path_, error))
        std::filesystem::remove_all(entry.path(), error);
    if (made_) std::filesystem::remove(path_, error);
}

NpyFile::NpyFile(Folder& folder, std::string name, ElementType type, std::size_t window)
    : folder_(folder),
      name_(std::move(name)),
      type_(type),
      most_(std::max<std::size_t>(window, 2) * type.size) {}

NpyFile::~NpyFile() {
    if (fd_ >= 0) ::close(fd_);
}

int NpyFile::open_file() {
    if (fd_ >= 0) return fd_;
    const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (made_ ? 0 : O_EXCL);
    const int fd = ::open((folder_.path() / name_).c_str(), flags, 0666);
    if (fd < 0) {
        folder_.failed(name_, errno);
        return -1;
    }
    if (!made_ && folder_.keep_descriptor()) fd_ = fd;
    made_ = true;
    return fd;
}

void NpyFile::write_at(const void* data, std::size_t bytes, std::uint64_t offset) {
    if (folder_.error()) return;
    const int fd = open_file();
    if (fd < 0) return;
    const auto* from = static_cast<const char*>(data);
    while (bytes > 0) {
        const ssize_t done = ::pwrite(fd, from, bytes, static_cast<off_t>(offset));
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) {
            folder_.failed(name_, done < 0 ? errno : ENOSPC);
            break;
        }
        from += done;
        offset += static_cast<std::uint64_t>(done);
        bytes -= static_cast<std::size_t>(done);
    }
    if (fd != fd_) ::close(fd);
}

void NpyFile::write(const void* data, std::size_t bytes, std::uint64_t index) {
    write_at(data, bytes, kHeader + index * type_.size);
}

// The younger half stays: most elements that are set later are among the last ones.
void NpyFile::write_half() {
    const std::size_t elements = buffer_.size() / type_.size / 2;
    const std::size_t bytes = elements * type_.size;
    write(buffer_.data(), bytes, written_);
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(bytes));
    written_ += elements;
}

void NpyFile::write_header() {
    std::array<char, kHeader> header;
    header.fill(' ');
    constexpr std::string_view kMagic{"\x93NUMPY\x01\x00", 8};
    constexpr std::size_t kLengthSize = 2;
    std::ranges::copy(kMagic, header.begin());
    header[kMagic.size()] = static_cast<char>(kHeader - kMagic.size() - kLengthSize);
    header[kMagic.size() + 1] = 0;
    const std::string text =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}", type_.name, size());
    std::ranges::copy(text, header.begin() + kMagic.size() + kLengthSize);
    header.back() = '\n';
    write_at(header.data(), header.size(), 0);
}

void NpyFile::finish() {
    write(buffer_.data(), buffer_.size(), written_);
    written_ += buffer_.size() / type_.size;
    buffer_.clear();
    write_header();
    if (fd_ < 0) return;
    // Some file systems find out only here that there was no room.
    if (::close(fd_) != 0) folder_.failed(name_, errno);
    fd_ = -1;
}

}  // namespace rdam::columns
