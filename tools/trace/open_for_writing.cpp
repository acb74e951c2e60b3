#include "tools/trace/open_for_writing.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <optional>

namespace rdam::trace {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;  // of Linux

tl::unexpected<Error> because(int error) {
    return fail("{}{}", std::strerror(error), error == EMFILE ? " (raise ulimit -n)" : "");
}

fs::path folder_of(const fs::path& path) {
    const fs::path folder = path.parent_path();
    return folder.empty() ? "." : folder;
}

bool is_shared(const struct stat& folder) {
    constexpr mode_t kShared = S_ISVTX | S_IWOTH;
    return (folder.st_mode & kShared) == kShared;
}

/// What the link at `path` leads to. One that is changed meanwhile is judged as it was.
Result<fs::path> follow(const fs::path& path) {
    const int link = open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (link < 0) return because(errno);
    struct stat status {};
    std::array<char, PATH_MAX> target{};
    const int known = fstat(link, &status);
    const ssize_t size = readlinkat(link, "", target.data(), target.size());
    const int error = errno;
    close(link);
    if (known != 0 || size <= 0) return because(error);
    if (is_planted(status, path))
        return fail("it is another user's symbolic link in a directory that everyone may write to");
    return folder_of(path) / std::string(target.data(), static_cast<std::size_t>(size));
}

}  // namespace

/// Creating a link requires no rights to its target.
bool is_planted(const struct stat& found, const std::string& path) {
    struct stat folder {};
    if (stat(folder_of(path).c_str(), &folder) != 0) return true;
    if (!is_shared(folder)) return false;
    if (S_ISREG(found.st_mode) && found.st_nlink > 1) return true;
    return found.st_uid != geteuid() && found.st_uid != folder.st_uid;
}

bool is_in_shared_folder(const std::string& path) {
    struct stat folder {};
    return stat(folder_of(path).c_str(), &folder) == 0 && is_shared(folder);
}

Result<std::string> follow_links(const std::string& path) {
    fs::path place(path);
    for (int links = 0; links <= kMaxLinks; ++links) {
        struct stat status {};
        if (lstat(place.c_str(), &status) != 0 && errno != ENOENT) return because(errno);
        if (!S_ISLNK(status.st_mode)) return place.string();
        auto next = follow(place);
        if (!next) return tl::unexpected(next.error());
        place = std::move(*next);
    }
    return because(ELOOP);
}

Result<void> check_not_planted(const std::string& path) {
    const auto place = follow_links(path);
    if (!place) return tl::unexpected(place.error());
    struct stat status {};
    if (lstat(place->c_str(), &status) != 0 || !is_planted(status, *place)) return {};
    return fail("it belongs to another user, in a directory that everyone may write to");
}

Result<int> open_for_writing(const std::string& path) {
    constexpr mode_t kMode = 0666;
    constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
    const auto place = follow_links(path);
    if (!place) return tl::unexpected(place.error());
    // Not O_CREAT at first: where the kernel protects such folders it would say no more than EACCES.
    int fd = open(place->c_str(), kFlags);
    if (fd < 0 && errno == ENOENT) fd = open(place->c_str(), kFlags | O_CREAT | O_EXCL, kMode);
    if (fd < 0 && errno == EEXIST) fd = open(place->c_str(), kFlags);
    if (fd < 0) return because(errno);
    struct stat status {};
    std::optional<std::string> wrong;
    if (fstat(fd, &status) != 0)
        wrong = std::strerror(errno);
    else if (!S_ISREG(status.st_mode))
        wrong = "it is not a regular file";
    else if (is_planted(status, *place))
        wrong = status.st_nlink > 1
                    ? "it has another name (a hard link), in a directory that everyone may write to"
                    : "it is another user's file in a directory that everyone may write to";
    if (!wrong) return fd;
    close(fd);
    return fail("{}", *wrong);
}

}  // namespace rdam::trace
