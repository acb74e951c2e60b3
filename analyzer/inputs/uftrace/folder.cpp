#include "analyzer/inputs/uftrace/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "tools/base/text_lines.h"

namespace rdam::inputs::uftrace {

namespace {

tl::unexpected<Error> irregular(const std::string& path) {
    return fail("{} is not a regular file: copy the directory again, with the files themselves", path);
}

class DiskStream final : public ByteStream {
  public:
    DiskStream(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
    ~DiskStream() override { close(fd_); }

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

namespace {

constexpr std::string_view kMagic{"Ftrace!\0", 8};
constexpr std::uint64_t kMaxInfo = std::uint64_t{64} << 20U;
constexpr std::uint32_t kOldest = 3;
constexpr std::uint32_t kNewest = 4;
constexpr std::uint8_t kLittleEndian = 1;
constexpr std::uint8_t kBigEndian = 2;
constexpr std::uint8_t kWide = 2;

/// As it stands in the file.
struct Header {
    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint16_t header_size;
    std::uint8_t endian;
    std::uint8_t elf_class;
    std::uint64_t features;
    std::uint64_t infos;
    std::uint16_t max_stack;
    std::uint16_t unused1;
    std::uint32_t unused2;
};
static_assert(sizeof(Header) == 40);

/// What begins the lines of each bit of Header::infos, in this order in the file.
constexpr std::array<std::string_view, 14> kKeys{
    "exename:", "build_id:",    "exit_status:",  "cmdline:",        "cpuinfo:",
    "meminfo:", "osinfo:",      "taskinfo:",     "usageinfo:",      "loadinfo:",
    "argspec:", "record_date:", "pattern_type:", "uftrace_version:"};

constexpr std::uint64_t kKernel = 1U << 2U;
constexpr std::uint64_t kPerfEvents = 1U << 8U;
constexpr std::uint64_t kDebugInfo = 1U << 10U;
constexpr std::uint64_t kEstimateReturn = 1U << 11U;

/// `v0.13 ( x86_64 dwarf … )` → "0.13".
std::string version_in(std::string_view text) {
    const auto words = words_of(text, 2);
    if (words.empty()) return {};
    return std::string{words[0].starts_with('v') ? words[0].substr(1) : words[0]};
}

Pattern pattern_in(std::string_view text) {
    if (text == "glob") return Pattern::glob;
    return text == "simple" ? Pattern::simple : Pattern::regex;
}

/// The values of `key:name=value` lines.
void take_named(Info& info, std::string_view text) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) return;
    const std::string_view name = text.substr(0, equals);
    const std::string_view value = text.substr(equals + 1);
    if (name == "hostname") info.host = value;
    if (name == "kernel") info.kernel_version = value;
    if (name == "desc") info.processor = value;
    if (name == "nr_cpus") {
        const auto words = words_of(value);
        if (!words.empty()) info.processors = number_in<std::uint32_t>(words[0]).value_or(0);
    }
}

/// Whether the last lines that the header tells are there.
bool is_whole(std::uint64_t infos, std::string_view lines) {
    if (!lines.empty() && lines.back() != '\n') return false;
    for (std::size_t bit = kKeys.size(); bit-- > 0;)
        if ((infos >> bit & 1U) != 0)
            return lines.starts_with(kKeys[bit]) ||
                   lines.find(fmt::format("\n{}", kKeys[bit])) != std::string_view::npos;
    return true;
}

void take_line(Info& info, std::string_view line) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return;
    const std::string_view key = line.substr(0, colon);
    const std::string_view value = line.substr(colon + 1);
    if (key == "exename") info.executable = value;
    if (key == "cmdline") info.command = value;
    if (key == "cpuinfo" || key == "osinfo") take_named(info, value);
    if (key == "argspec" && !value.starts_with("lines=")) info.arguments = value;
    if (key == "retspec") info.results = value;
    if (key == "argauto") info.auto_arguments = value;
    if (key == "retauto") info.auto_results = value;
    if (key == "auto-args") info.auto_args = value == "1";
    if (key == "pattern_type") info.pattern = pattern_in(value);
    if (key == "uftrace_version") info.version = version_in(value);
}

}  // namespace

bool begins_as_info(std::string_view bytes) {
    return bytes.starts_with(kMagic);
}

Result<Info> read_info(const Folder& folder) {
    const std::string path = folder.path_of("info");
    const auto text = folder.text("info", kMaxInfo);
    if (!text) return tl::unexpected{text.error()};
    if (!begins_as_info(*text) && !kMagic.starts_with(*text))
        return fail("{} does not begin with \"Ftrace!\": give a directory that `uftrace record` has written",
                    path);
    if (text->size() < sizeof(Header))
        return fail("{} ends within its header of {} bytes: copy the directory again, or record again", path,
                    sizeof(Header));
    Header header{};
    std::memcpy(&header, text->data(), sizeof header);
    if (header.endian == kBigEndian)
        return fail("{} was written by a big-endian machine: analyze it with rdam there", path);
    if (header.endian != kLittleEndian)
        return fail("{} has the byte order {}, where 1 or 2 is expected: it is damaged, record again", path,
                    header.endian);
    if (header.version < kOldest || header.version > kNewest)
        return fail("{} is of version {}, but only {} and {} can be read: record again with uftrace 0.13",
                    path, header.version, kOldest, kNewest);
    if (header.header_size < sizeof header || header.header_size > text->size())
        return fail("{} says that its header has {} bytes: it is damaged, record again", path,
                    header.header_size);

    Info info;
    info.wide = header.elf_class == kWide;
    info.kernel = (header.features & kKernel) != 0;
    info.switches = (header.features & kPerfEvents) != 0;
    info.has_debug_info = (header.features & kDebugInfo) != 0;
    info.estimated_returns = (header.features & kEstimateReturn) != 0;
    const std::string_view rest = std::string_view{*text}.substr(header.header_size);
    if (!is_whole(header.infos, rest))
        return fail("{} is cut at byte {}: copy the directory again, or record again", path, text->size());
    TextLines lines{rest};
    std::string_view line;
    while (lines.next(line))
        take_line(info, line);
    return info;
}

}  // namespace rdam::inputs::uftrace
