#include "wrappers/plan/plan_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "tools/base/files.h"

namespace rdam {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUnfinished = ".new-";
constexpr std::size_t kDigits = 32;
constexpr auto kLongestWrite = std::chrono::hours{1};

bool is_for_us_alone(const struct stat& status) {
    return status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool make_folders(const fs::path& path) {
    if (mkdir(path.c_str(), S_IRWXU) == 0 || errno == EEXIST) return true;
    return errno == ENOENT && path.has_parent_path() && path.parent_path() != path &&
           make_folders(path.parent_path()) && mkdir(path.c_str(), S_IRWXU) == 0;
}

struct KeptFile {
    fs::path path;
    fs::file_time_type used;
    std::uint64_t size = 0;
};

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string{} : std::string{value};
}

}  // namespace

std::string PlanStore::file_for(std::string_view key) const {
    const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
    return fmt::format("{}/{:016x}{:016x}{}", folder_, hash.high64, hash.low64, suffix_);
}

/// The user may have named a folder with other things in it.
bool PlanStore::is_own_name(std::string_view name) const {
    return name.size() == kDigits + suffix_.size() && name.ends_with(suffix_) &&
           name.substr(0, kDigits).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool PlanStore::is_ours() const {
    struct stat status {};
    return stat(folder_.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && is_for_us_alone(status);
}

std::optional<std::vector<std::uint8_t>> PlanStore::load(std::string_view key) const {
    if (!is_on() || !is_ours()) return std::nullopt;
    const Descriptor file{
        ::open(file_for(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)};
    struct stat status {};
    if (file.get() < 0 || fstat(file.get(), &status) != 0) return std::nullopt;
    if (!S_ISREG(status.st_mode) || !is_for_us_alone(status)) return std::nullopt;
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size > kLargestFile) return std::nullopt;
    // Its time says when it was last of use.
    futimens(file.get(), nullptr);
    std::vector<std::uint8_t> bytes(size);
    if (!read_all(file.get(), bytes.data(), size)) return std::nullopt;
    return bytes;
}

void PlanStore::save(std::string_view key, std::span<const std::uint8_t> bytes) const {
    if (!is_on() || bytes.size() > kLargestFile) return;
    if (!make_folders(folder_) || !is_ours()) return;
    std::string unfinished = fmt::format("{}/{}XXXXXX", folder_, kUnfinished);
    const Descriptor file{mkostemp(unfinished.data(), O_CLOEXEC)};
    if (file.get() < 0) return;
    const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    const bool done =
        write_all(file.get(), text) && std::rename(unfinished.c_str(), file_for(key).c_str()) == 0;
    if (!done) ::unlink(unfinished.c_str());
    shrink();
}

void PlanStore::shrink() const {
    std::vector<KeptFile> files;
    std::uint64_t bytes = 0;
    std::error_code error;
    const auto now = fs::file_time_type::clock::now();
    for (fs::directory_iterator entry{folder_, error}, end; !error && entry != end; entry.increment(error)) {
        std::error_code gone;
        const std::string name = entry->path().filename().string();
        KeptFile file{entry->path(), entry->last_write_time(gone), entry->file_size(gone)};
        if (gone) continue;
        if (name.starts_with(kUnfinished) && now - file.used > kLongestWrite) fs::remove(file.path, gone);
        if (!is_own_name(name)) continue;
        bytes += file.size;
        files.push_back(std::move(file));
    }
    std::ranges::sort(files, {}, &KeptFile::used);
    std::size_t left = files.size();
    for (const KeptFile& file : files) {
        if (left <= kMaxFiles && bytes <= kMaxBytes) break;
        fs::remove(file.path, error);
        bytes -= file.size;
        --left;
    }
}

namespace {

/// Root in a user's environment (sudo -E) would leave folders there that the user cannot remove.
bool is_in_own_place(const fs::path& path) {
    struct stat status {};
    for (fs::path at = path; at.has_relative_path(); at = at.parent_path())
        if (stat(at.c_str(), &status) == 0) return status.st_uid == geteuid();
    return false;
}

std::string own_folder(const std::string& base, const char* below) {
    if (base.starts_with('/') && is_in_own_place(base)) return base + below;
    constexpr const char* kHomeOfRoot = "/root";
    return geteuid() == 0 && is_in_own_place(kHomeOfRoot) ? std::string{kHomeOfRoot} + "/.cache/rdam"
                                                          : std::string{};
}

}  // namespace

bool may_keep() {
    const char* const given = std::getenv("RDAM_CACHE");
    return given == nullptr || (*given != '\0' && std::string_view{given} != "0");
}

std::string plan_folder() {
    if (!may_keep()) return {};
    if (const char* given = std::getenv("RDAM_CACHE"); given != nullptr) return given;
    if (const std::string cache = variable("XDG_CACHE_HOME"); cache.starts_with('/'))
        return own_folder(cache, "/rdam");
    if (const std::string home = variable("HOME"); home.starts_with('/'))
        return own_folder(home, "/.cache/rdam");
    return {};
}

}  // namespace rdam
