// Threads that read from the same disk, each a file of its own, past the page cache (listing 5.3 of the
// thesis).
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "microbench/interference/numbers.h"
#include "microbench/interference/pause.h"
#include "microbench/interference/registry.h"
#include "microbench/interference/team.h"

MEASURED ssize_t read_block(int file, void* block, std::size_t bytes, off_t offset) {
    return pread(file, block, bytes, offset);
}

namespace rdam::microbench {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::uint64_t kFileBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kFileBlocks = kFileBytes / kBlock;
constexpr std::size_t kAlignment = 4096;  // what any disk is content with

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};
using Block = std::unique_ptr<char, Free>;

Block aligned_block(std::size_t bytes) {
    return Block{static_cast<char*>(std::aligned_alloc(kAlignment, bytes))};
}

/// What one thread reads: kFileBlocks blocks from `begin` on.
class Source {
  public:
    Source(int file, off_t begin) : file_(file), begin_(begin), block_(aligned_block(kAlignment)) {}
    ~Source() {
        if (file_ >= 0) close(file_);
    }
    Source(Source&& other) noexcept
        : file_(std::exchange(other.file_, -1)),
          begin_(other.begin_),
          next_(other.next_),
          block_(std::move(other.block_)) {}
    Source& operator=(Source&&) = delete;
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;

    /// Whether the disk accepts such reads at all; not a call of the measured operation.
    bool delivers() const {
        return pread(file_, block_.get(), kBlock, begin_) == static_cast<ssize_t>(kBlock);
    }

    bool read_next() {
        const off_t offset = begin_ + static_cast<off_t>(next_++ % kFileBlocks * kBlock);
        return read_block(file_, block_.get(), kBlock, offset) == static_cast<ssize_t>(kBlock);
    }

  private:
    int file_;
    off_t begin_;
    std::uint64_t next_ = 0;
    Block block_;
};

tl::unexpected<Error> refused(const std::string& path, int error) {
    if (error == EINVAL) {
        return fail(
            "'{}' does not support reading past the page cache in blocks of {} bytes (O_DIRECT); name a "
            "folder "
            "on a local disk, or a block device, with --path",
            path, kBlock);
    }
    return fail(
        "cannot read from '{}': {}; name a folder that can be written, or a block device, with --path", path,
        std::strerror(error));
}

/// A file that has no name any more: it is gone when the program is, however it ends.
Result<int> unnamed_file(const std::string& folder) {
    std::string name = folder + "/rdam-microbench-io-XXXXXX";
    const int writer = mkostemp(name.data(), O_CLOEXEC);
    if (writer < 0) {
        return fail("cannot make a file in '{}': {}; name a folder that can be written with --path", folder,
                    std::strerror(errno));
    }
    const Block content = aligned_block(kFileBytes);
    std::memset(content.get(), 1, kFileBytes);
    const ssize_t written = pwrite(writer, content.get(), kFileBytes, 0);
    const int error = written < 0 ? errno : 0;
    const bool synced = fsync(writer) == 0;
    close(writer);
    const int reader = open(name.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
    const int open_error = errno;
    unlink(name.c_str());
    if (reader < 0) return refused(folder, open_error);
    if (written == static_cast<ssize_t>(kFileBytes) && synced) return reader;
    close(reader);
    return fail("cannot write {} KiB to '{}': {}; free space there, or name another folder with --path",
                kFileBytes / 1024, folder, error == 0 ? "the disk is full" : std::strerror(error));
}

Result<std::vector<Source>> files_in(const std::string& folder, unsigned threads) {
    std::vector<Source> sources;
    for (unsigned i = 0; i < threads; ++i) {
        const Result<int> file = unnamed_file(folder);
        if (!file) return tl::unexpected{file.error()};
        sources.emplace_back(*file, 0);
    }
    return sources;
}

/// Each thread reads at a place of its own, as far from the others as there is room.
Result<std::vector<Source>> parts_of(const std::string& device, unsigned threads) {
    std::vector<Source> sources;
    for (unsigned i = 0; i < threads; ++i) {
        const int file = open(device.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
        if (file < 0) return refused(device, errno);
        const off_t bytes = lseek(file, 0, SEEK_END);
        const off_t part = bytes / off_t{threads} / off_t{kAlignment} * off_t{kAlignment};
        sources.emplace_back(file, part * off_t{i});
        if (part >= static_cast<off_t>(kFileBytes)) continue;
        return fail("'{}' has less than 1 MiB for each thread; ask for fewer with --threads", device);
    }
    return sources;
}

Result<std::vector<Source>> open_sources(const std::string& path, unsigned threads) {
    struct stat status {};
    if (stat(path.c_str(), &status) == 0 && S_ISBLK(status.st_mode)) return parts_of(path, threads);
    return files_in(path, threads);
}

Result<Outcome> run(const Point& point, const std::string& path) {
    Result<std::vector<Source>> sources = open_sources(path, point.threads);
    if (!sources) return tl::unexpected{sources.error()};
    for (const Source& source : *sources) {
        if (!source.delivers()) return refused(path, errno);
    }
    std::atomic<bool> failed = false;
    Result<Outcome> outcome = run_team(point, [&](const Seat& seat) {
        Source& source = (*sources)[seat.number];
        // Threads that start together and all sleep equally long would meet at the disk forever, however long
        // they sleep.
        std::mt19937 numbers = numbers_of(seat.number);
        std::uniform_real_distribution<> nanoseconds(0, 2 * point.delay_ns);
        const auto pause = [&] { Sleep(nanoseconds(numbers))(); };
        return repeat(point, seat, pause, [&] {
            if (!source.read_next()) failed.store(true);
        });
    });
    if (failed) return fail("the disk of '{}' failed to deliver a block; name another one with --path", path);
    return outcome;
}

Runner add(CLI::App& app) {
    const auto path = std::make_shared<std::string>(".");
    app.add_option("--path", *path, "Folder on the disk to read from, or a block device")
        ->type_name("PATH")
        ->capture_default_str();
    return measures("read_block", [path](const Point& point) { return run(point, *path); });
}

}  // namespace

const Benchmark kIo{
    .name = "io",
    .summary = "Sleep, then read 512 bytes from a disk, past the page cache",
    .threads = 64,
    .iterations = 500,
    .delay = "100us",
    .add = add,
};

}  // namespace rdam::microbench
