#include "tools/agent/process/shown_messages.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "tools/base/files.h"

namespace rdam::agent {
namespace {

constexpr std::size_t kKeptLines = 1023;
/// A text with more lines is one piece: it would drive out everything else.
constexpr std::size_t kMaxLines = 200;

struct SaidRing {
    std::uint64_t next = 0;  ///< how many were written so far
    std::array<std::uint64_t, kKeptLines> said{};

    /// False: it is new, and noted.
    bool knows(std::uint64_t hash) {
        if (std::ranges::find(said, hash) != said.end()) return true;
        said[next++ % kKeptLines] = hash;
        return false;
    }
};

/// The file, locked and no longer than a moment.
class SaidFile {
  public:
    explicit SaidFile(const std::string& path)
        : fd_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, S_IRUSR | S_IWUSR)) {
        struct stat status {};
        usable_ = fd_.get() >= 0 && fstat(fd_.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                  status.st_nlink == 1 && status.st_uid == geteuid() &&
                  (status.st_mode & (S_IWGRP | S_IWOTH)) == 0 && lock();
    }

    bool usable() const { return usable_; }
    SaidRing read() const {
        SaidRing ring;
        if (pread(fd_.get(), &ring, sizeof ring, 0) != sizeof ring) return {};
        return ring;
    }
    void write(const SaidRing& ring) const {
        if (pwrite(fd_.get(), &ring, sizeof ring, 0) != sizeof ring) (void)!ftruncate(fd_.get(), 0);
    }

  private:
    bool lock() const {
        constexpr int kLockTries = 50;
        for (int i = 0; i < kLockTries; ++i) {
            if (flock(fd_.get(), LOCK_EX | LOCK_NB) == 0) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
        return false;
    }

    Descriptor fd_;
    bool usable_ = false;
};

/// What a line says, apart from how much a process has loaded: of an entry that is not found, its name and
/// the names that are near it.
std::uint64_t hash_of(std::string_view line, std::uint64_t of_run) {
    constexpr std::string_view kNotFound = "': not found";
    constexpr std::string_view kNear = "; the nearest name";
    const auto end = line.find(kNotFound);
    if (end == std::string_view::npos) return XXH3_64bits_withSeed(line.data(), line.size(), of_run);
    const std::string_view entry = line.substr(0, end);
    const auto near = std::min(line.find(kNear, end), line.size());
    const std::uint64_t of_entry = XXH3_64bits_withSeed(entry.data(), entry.size(), of_run);
    return XXH3_64bits_withSeed(line.data() + near, line.size() - near, of_entry);
}

std::vector<std::string_view> pieces_to_say(std::string_view text) {
    if (static_cast<std::size_t>(std::ranges::count(text, '\n')) > kMaxLines) return {text};
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return lines;
}

}  // namespace

std::string new_in_run(const std::string& text, std::string_view run, const std::string& folder) {
    if (text.empty() || folder.empty()) return text;
    const SaidFile file(folder + "/said");
    if (!file.usable()) return text;
    SaidRing ring = file.read();
    const std::uint64_t of_run = XXH3_64bits(run.data(), run.size());
    std::string fresh;
    for (const std::string_view piece : pieces_to_say(text))
        if (!ring.knows(hash_of(piece, of_run))) fresh += piece;
    file.write(ring);
    return fresh;
}

}  // namespace rdam::agent
