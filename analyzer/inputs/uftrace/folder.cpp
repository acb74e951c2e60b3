#include "analyzer/inputs/uftrace/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace rdam::inputs::uftrace {
namespace {

tl::unexpected<Error> irregular(const std::string& path) {
    return fail("{} is not a regular file: copy the directory again, with the files themselves", path);
}

class DiskStream final : public ByteStream {
  public:
    DiskStream(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
    ~DiskStream() override { close(fd_); }
    DiskStream(const DiskStream&) = delete;
    DiskStream& operator=(const DiskStream&) = delete;
    DiskStream(DiskStream&&) = delete;
    DiskStream& operator=(DiskStream&&) = delete;

    Result<std::size_t> read(std::span<char> into) override {
        std::size_t got = 0;
        while (got < into.size()) {
            const ssize_t count = ::read(fd_, into.data() + got, into.size() - got);
            if (count == 0) break;
            if (count > 0) got += static_cast<std::size_t>(count);
            if (count < 0 && errno != EINTR)
                return fail("cannot read {}: {}; check the disk", path_, std::strerror(errno));
        }
        return got;
    }

  private:
    int fd_;
    std::string path_;
};

class DiskFolder final : public Folder {
  public:
    DiskFolder(std::string path, int fd) : Folder(std::move(path)), fd_(fd) {}
    ~DiskFolder() override { close(fd_); }
    DiskFolder(const DiskFolder&) = delete;
    DiskFolder& operator=(const DiskFolder&) = delete;
    DiskFolder(DiskFolder&&) = delete;
    DiskFolder& operator=(DiskFolder&&) = delete;

    /// False: it is no file of a disk (a pipe, a device, …).
    bool list(const char* name) {
        struct stat status {};
        if (fstatat(fd_, name, &status, 0) != 0 || S_ISDIR(status.st_mode)) return true;
        if (!S_ISREG(status.st_mode)) return false;
        add(name, static_cast<std::uint64_t>(status.st_size));
        return true;
    }

    Result<std::unique_ptr<ByteStream>> open(std::string_view name) const override {
        // Not to wait for a pipe that has taken the place of the file.
        const int fd = openat(fd_, std::string{name}.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0)
            return fail("cannot read {}: {}; check the file and its permissions", path_of(name),
                        std::strerror(errno));
        auto stream = std::make_unique<DiskStream>(fd, path_of(name));
        struct stat status {};
        if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return irregular(path_of(name));
        return stream;
    }

  private:
    int fd_;
};

class MemoryStream final : public ByteStream {
  public:
    explicit MemoryStream(std::string_view bytes) : rest_(bytes) {}

    Result<std::size_t> read(std::span<char> into) override {
        const std::size_t count = rest_.copy(into.data(), into.size());
        rest_.remove_prefix(count);
        return count;
    }

  private:
    std::string_view rest_;
};

class MemoryFolder final : public Folder {
  public:
    explicit MemoryFolder(std::map<std::string, std::string> files)
        : Folder("memory"), contents_(std::move(files)) {
        for (const auto& each : contents_)
            add(each.first, each.second.size());
    }

    Result<std::unique_ptr<ByteStream>> open(std::string_view name) const override {
        const auto at = contents_.find(std::string{name});
        if (at == contents_.end()) return fail("{} does not exist; record again", path_of(name));
        return std::make_unique<MemoryStream>(at->second);
    }

  private:
    std::map<std::string, std::string> contents_;
};

}  // namespace

std::string Folder::path_of(std::string_view name) const {
    return fmt::format("{}{}{}", path_, path_.ends_with('/') ? "" : "/", name);
}

Result<std::string> Folder::text(std::string_view name, std::uint64_t limit) const {
    const auto listed = files_.find(name);
    const std::uint64_t size = listed == files_.end() ? 0 : listed->second;
    if (size > limit)
        return fail("{} has {} bytes, more than the {} that uftrace would write; record again", path_of(name),
                    size, limit);
    auto stream = open(name);
    if (!stream) return tl::unexpected{stream.error()};
    std::string text(size, '\0');
    const auto got = (*stream)->read(text);
    if (!got) return tl::unexpected{got.error()};
    text.resize(*got);
    return text;
}

Result<std::unique_ptr<Folder>> open_folder(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    DIR* listing = fd < 0 ? nullptr : opendir(path.c_str());
    if (listing == nullptr) {
        const int error = errno;
        if (fd >= 0) close(fd);
        return fail("cannot read {}: {}; check the directory and its permissions", path,
                    std::strerror(error));
    }
    auto folder = std::make_unique<DiskFolder>(path, fd);
    std::optional<std::string> strange;
    while (const dirent* entry = readdir(listing))  // NOLINT(concurrency-mt-unsafe): a stream of its own
        if (!folder->list(entry->d_name)) strange = folder->path_of(entry->d_name);
    closedir(listing);
    if (strange) return irregular(*strange);
    return folder;
}

std::unique_ptr<Folder> folder_in_memory(std::map<std::string, std::string> files) {
    return std::make_unique<MemoryFolder>(std::move(files));
}

}  // namespace rdam::inputs::uftrace
