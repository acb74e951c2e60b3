#include "analyzer/report/summary.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "analyzer/calls/call_stream.h"
#include "analyzer/score/kept_times.h"
#include "tools/base/byte_archive.h"
#include "tools/base/files.h"
#include "tools/base/in_parallel.h"
#include "tools/base/interruption.h"
#include "wrappers/object/elf_image.h"
#include "wrappers/plan/plan_store.h"

namespace rdam::score {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// No summary is larger, packed and unpacked.
constexpr std::uint64_t kMostBytes = std::uint64_t{128} << 20;
constexpr std::uint64_t kMostUnpacked = std::uint64_t{256} << 20;
/// Of one trace, with so many different settings: those of `rdam analyze`, of its screen and of `rdam report`.
constexpr std::size_t kMostKept = 3;

/// Of the program that runs; empty: it has none, or cannot be read.
const std::string& build_id() {
    static const std::string kId = [] {
        const auto program = ElfImage::open("/proc/self/exe");
        return program ? read_build_id(*program) : std::string{};
    }();
    return kId;
}

/// What stands before each summary in a file.
struct Head {
    std::array<std::uint8_t, 8> magic = {0xf5, 'r', 'd', 'a', 'm', 'S', 'm', '1'};
    std::uint64_t subject = 0;   ///< the trace and the build of rdam
    std::uint64_t settings = 0;  ///< times_key()
    std::uint64_t size = 0;      ///< of the summary
    std::uint64_t checksum = 0;  ///< of both

    bool is_of_same(const Head& other) const { return magic == other.magic && subject == other.subject; }
};
static_assert(std::has_unique_object_representations_v<Head>);

std::uint64_t hash_of(std::span<const std::uint8_t> bytes) {
    return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t checksum_of(Head head, std::span<const std::uint8_t> summary) {
    head.checksum = 0;
    return XXH3_64bits_withSeed(summary.data(), summary.size(), XXH3_64bits(&head, sizeof head));
}

/// The beginning of the head of a summary with these settings. Nothing: none can be kept.
std::optional<Head> head_of(const trace::TraceIdentity& trace, const ResolvedSettings& settings) {
    std::string build = build_id();
    if (build.empty()) return std::nullopt;
    ByteWriter subject;
    std::uint64_t hash = trace.hash;
    subject(build, hash);
    return Head{.subject = hash_of(subject.bytes()), .settings = hash_of(times_key(settings))};
}

/// Of a thread: its bytes, packed.
struct Part {
    std::uint64_t unpacked = 0;
    Bytes packed;

    template <class Archive>
    void fields(Archive& archive) {
        archive(unpacked, packed);
    }
};

std::optional<Part> pack(const Bytes& bytes) {
    Part part{.unpacked = bytes.size(), .packed = Bytes(ZSTD_compressBound(bytes.size()))};
    constexpr int kFast = 1;
    const std::size_t size =
        ZSTD_compress(part.packed.data(), part.packed.size(), bytes.data(), bytes.size(), kFast);
    if (ZSTD_isError(size) != 0) return std::nullopt;
    part.packed.resize(size);
    part.packed.shrink_to_fit();
    return part;
}

std::optional<Bytes> unpack(const Part& part) {
    Bytes bytes(part.unpacked);
    const std::size_t size =
        ZSTD_decompress(bytes.data(), bytes.size(), part.packed.data(), part.packed.size());
    if (ZSTD_isError(size) != 0 || size != bytes.size()) return std::nullopt;
    return bytes;
}

std::string path_of(const trace::TraceIdentity& trace) {
    return trace.path + ".summary";
}

constexpr mode_t kOfOthers = S_IRWXG | S_IRWXO;

/// Nobody else could have written it but who could have written the trace, and nobody can read it who cannot read the trace.
bool may_be_believed(const struct stat& status, const trace::TraceIdentity& trace) {
    const bool ours = status.st_uid == geteuid() || status.st_uid == 0 || status.st_uid == trace.owner;
    mode_t allowed = trace.mode & (status.st_gid == trace.group ? kOfOthers : S_IRWXO);
    if ((allowed & S_IROTH) != 0) allowed |= S_IRGRP;
    return S_ISREG(status.st_mode) && ours && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
           (status.st_mode & kOfOthers & ~allowed) == 0;
}

/// Whether a summary may be put there: there is nothing, an empty file or a summary. What else has the name is somebody's.
bool is_our_place(const std::string& path) {
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0) return errno == ENOENT;
    if (!S_ISREG(status.st_mode) || status.st_size == 0) return S_ISREG(status.st_mode);
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)};
    std::array<std::uint8_t, sizeof Head::magic> magic{};
    return file.get() >= 0 && read_all(file.get(), magic.data(), magic.size()) && magic == Head{}.magic;
}

/// The summaries of a trace in the cache folder, where there are others'.
class Store {
  public:
    Store(const trace::TraceIdentity& trace, const Head& head)
        : store_{plan_folder(), PlanStore::kSummaries},
          key_{fmt::format("{} {:016x}", path_of(trace), head.subject)} {}

    Bytes load() const { return store_.load(key_).value_or(Bytes{}); }
    void save(const Bytes& bytes) const { store_.save(key_, bytes); }

  private:
    PlanStore store_;
    std::string key_;
};

/// Empty: there is none that is to be believed.
Bytes read_beside(const trace::TraceIdentity& trace) {
    const Descriptor file{
        ::open(path_of(trace).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)};
    struct stat status {};
    if (file.get() < 0 || fstat(file.get(), &status) != 0 || !may_be_believed(status, trace)) return {};
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size > kMostKept * kMostBytes) return {};
    Bytes bytes(size);
    return read_all(file.get(), bytes.data(), size) ? bytes : Bytes{};
}

bool write_beside(const trace::TraceIdentity& trace, const Bytes& bytes) {
    if (!is_our_place(path_of(trace))) return false;
    const Interruption interruption;  // leaves no half of a file
    auto file = FileBeside::create_here(path_of(trace));
    // A new file has the group of its folder or of the user, which may not be the trace's.
    const mode_t others = trace.mode & S_IROTH, group = others != 0 ? trace.mode & S_IRGRP : 0;
    return file && file->write({reinterpret_cast<const char*>(bytes.data()), bytes.size()}) &&
           file->put_in_place(S_IRUSR | S_IWUSR | group | others);
}

/// use(head, summary) for each sound summary of a file, whatever that is.
template <class Use>
void for_each_summary(std::span<const std::uint8_t> file, const Use& use) {
    Head head;
    while (file.size() >= sizeof head) {
        std::memcpy(&head, file.data(), sizeof head);
        file = file.subspan(sizeof head);
        if (head.magic != Head{}.magic || head.size > file.size()) return;
        if (head.checksum == checksum_of(head, file.first(head.size))) use(head, file.first(head.size));
        file = file.subspan(head.size);
    }
}

void append(const Head& head, std::span<const std::uint8_t> summary, Bytes& to) {
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(&head);
    to.insert(to.end(), begin, begin + sizeof head);
    to.insert(to.end(), summary.begin(), summary.end());
}

/// `added` first, then what else `old` has of the same trace, the newest first.
Bytes with_others(const Head& head, const Bytes& added, const Bytes& old) {
    Bytes all;
    append(head, added, all);
    std::size_t kept = 1;
    for_each_summary(old, [&](const Head& other, std::span<const std::uint8_t> summary) {
        if (!head.is_of_same(other) || other.settings == head.settings || kept == kMostKept) return;
        append(other, summary, all);
        ++kept;
    });
    return all;
}

bool all_there(const ThreadList& threads) {
    return std::ranges::all_of(threads, [](const auto& thread) { return thread != nullptr; });
}

std::optional<ThreadList> threads_of(std::span<const std::uint8_t> summary, const trace::TraceInfo& info,
                                     const ResolvedSettings& settings, unsigned jobs) {
    std::vector<Part> parts;
    ByteReader archive{summary, info.threads.size() * sizeof(Part)};
    archive(parts);
    if (!archive.good() || !archive.at_end() || parts.size() != info.threads.size()) return std::nullopt;
    std::uint64_t unpacked = 0;
    for (const Part& part : parts)
        unpacked += std::min(part.unpacked, kMostUnpacked + 1);
    if (unpacked > kMostUnpacked) return std::nullopt;
    ThreadList threads(parts.size());
    in_parallel(threads.size(), jobs, [&](std::size_t t) {
        if (const auto bytes = unpack(parts[t]))
            threads[t] = times_from(*bytes, info, settings, calls::life_in(info.threads[t], {}));
    });
    if (!all_there(threads)) return std::nullopt;
    return threads;
}

/// Nothing: it would be too large.
std::optional<Bytes> summary_of(const ThreadList& threads, unsigned jobs) {
    std::vector<Part> parts(threads.size());
    std::atomic<std::uint64_t> unpacked = 0, packed = 0;
    in_parallel(threads.size(), jobs, [&](std::size_t t) {
        if (unpacked > kMostUnpacked || packed > kMostBytes) return;
        const Bytes bytes = kept_times(*threads[t]);
        unpacked += bytes.size();
        auto part = pack(bytes);
        packed += part ? part->packed.size() : kMostBytes;
        if (part) parts[t] = std::move(*part);
    });
    if (unpacked > kMostUnpacked || packed >= kMostBytes) return std::nullopt;
    ByteWriter archive;
    archive(parts);
    return archive.take();
}

}  // namespace

std::optional<ThreadList> kept_summary(const trace::TraceReader& reader, const ResolvedSettings& settings,
                                       unsigned jobs) {
    if (reader.events() < kWorthKeeping || !may_keep()) return std::nullopt;
    const auto trace = reader.identity();
    const auto head = trace ? head_of(*trace, settings) : std::nullopt;
    if (!head) return std::nullopt;
    std::optional<ThreadList> found;
    try {
        const auto look_in = [&](const Bytes& file) {
            for_each_summary(file, [&](const Head& each, std::span<const std::uint8_t> summary) {
                if (!found && head->is_of_same(each) && each.settings == head->settings)
                    found = threads_of(summary, reader.info(), settings, jobs);
            });
        };
        look_in(read_beside(*trace));
        if (!found) look_in(Store{*trace, *head}.load());
    } catch (const std::bad_alloc&) {
        return std::nullopt;
    }
    return found;
}

void keep_summary(const trace::TraceReader& reader, const ResolvedSettings& settings,
                  const ThreadList& threads, unsigned jobs) {
    const trace::Damage damage = reader.damage();
    if (reader.events() < kWorthKeeping || !may_keep()) return;
    if (damage.bad_chunks > 0 || damage.missing_chunks > 0) return;
    const auto trace = reader.identity();
    auto head = trace ? head_of(*trace, settings) : std::nullopt;
    if (!head || !all_there(threads)) return;
    try {
        const auto summary = summary_of(threads, jobs);
        if (!summary) return;
        head->size = summary->size();
        head->checksum = checksum_of(*head, *summary);
        if (write_beside(*trace, with_others(*head, *summary, read_beside(*trace)))) return;
        const Store store{*trace, *head};
        store.save(with_others(*head, *summary, store.load()));
    } catch (const std::bad_alloc&) {
        // Then it is not kept.
    }
}

}  // namespace rdam::score
