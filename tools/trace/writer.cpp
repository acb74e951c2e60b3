#include "tools/trace/writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <tsl/robin_map.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>
#include <vector>

#include "tools/trace/columns.h"
#include "tools/trace/description_writer.h"
#include "tools/trace/format.h"

namespace rdam::trace {

namespace {

/// Level 1 costs about as much as the columns themselves; what the next levels gain is not worth it while the
/// program runs. For packs, which make up most of a file, level 1 takes half as long again and gains 7 %.
constexpr int kCompressionLevel = -1;

/// What the end of a file needs beyond what its descriptions and index have grown to.
constexpr std::uint64_t kRoomForEnd = std::uint64_t{16} << 10;

/// For less, a frame's overhead exceeds what it saves.
constexpr std::size_t kSmallestCompressed = 256;

struct CompressorDeleter {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

std::uint64_t now_unix_ns() {
    using namespace std::chrono;
    return static_cast<std::uint64_t>(
        duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count());
}

template <class Record>
std::span<const std::uint8_t> bytes_of(const Record& record) {
    return {reinterpret_cast<const std::uint8_t*>(&record), sizeof record};
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

struct TraceWriter::State {
    struct Thread {
        std::uint32_t sequence = 0;
        bool gap = false;
        std::uint64_t dropped = 0;
    };

    State(int fd, std::string name, Purpose purpose)
        : file(fd, std::move(name), purpose),
          compressor(purpose == Purpose::recording ? ZSTD_createCCtx() : nullptr) {}

    Result<void> write_chunk(format::ChunkHeader header, std::span<const std::uint8_t> payload);
    void pack(format::ChunkHeader& header, std::span<const std::uint8_t> payload);
    std::uint32_t& next_sequence(const format::ChunkHeader& header);
    Result<void> append_events(format::ChunkHeader header, std::span<const std::uint8_t> payload);
    Result<void> describe(const TraceInfo& info);
    Result<void> write_index();

    FileOutput file;
    /// Null: a file that is thrown away soon is not worth the time.
    std::unique_ptr<ZSTD_CCtx, CompressorDeleter> compressor;
    std::vector<std::uint8_t> buffer;  ///< one chunk as it goes to the file; only grows
    std::size_t buffered = 0;
    tsl::robin_map<std::uint32_t, Thread> threads;
    tsl::robin_map<std::uint32_t, std::uint32_t> off_cpu_chunks;  ///< by tid
    std::uint32_t windows_chunks = 0;
    std::uint32_t descriptions = 0;
    std::uint32_t index_parts = 0;
    std::vector<format::IndexEntry> index;
    DescriptionWriter describer;
    std::uint64_t described = 0;  ///< bytes of descriptions in the file
    std::uint64_t events = 0;
    std::uint64_t dropped = 0;
    std::uint64_t switches_lost = 0;

    std::uint64_t room_for_end() const {
        return kRoomForEnd + 2 * described + (index.size() + 16) * sizeof(format::IndexEntry);
    }
};

/// Puts header and payload into `buffer`, ready to be written, and completes `header`.
void TraceWriter::State::pack(format::ChunkHeader& header, std::span<const std::uint8_t> payload) {
    constexpr std::size_t kHeader = sizeof(format::ChunkHeader);
    const std::size_t bound = kHeader + ZSTD_compressBound(payload.size()) + format::kAlignment;
    if (buffer.size() < bound) buffer.resize(bound);

    std::size_t stored = 0;
    if (compressor && payload.size() >= kSmallestCompressed)
        stored = ZSTD_compressCCtx(compressor.get(), buffer.data() + kHeader, bound - kHeader, payload.data(),
                                   payload.size(), kCompressionLevel);
    const bool smaller = stored != 0 && ZSTD_isError(stored) == 0 && stored < payload.size();
    if (!smaller) {
        std::copy(payload.begin(), payload.end(), buffer.begin() + kHeader);
        stored = payload.size();
    }
    header.codec = static_cast<std::uint8_t>(smaller ? format::Codec::zstd : format::Codec::raw);
    header.raw_size = static_cast<std::uint32_t>(payload.size());
    header.stored_size = static_cast<std::uint32_t>(stored);
    header.payload_checksum = format::hash(buffer.data() + kHeader, stored);
    format::seal(header);
    std::memcpy(buffer.data(), &header, kHeader);
    buffered = format::extent(header.stored_size);
    std::fill(buffer.begin() + static_cast<std::ptrdiff_t>(kHeader + stored),
              buffer.begin() + static_cast<std::ptrdiff_t>(buffered), std::uint8_t{0});
}

std::uint32_t& TraceWriter::State::next_sequence(const format::ChunkHeader& header) {
    if (header.is(format::ChunkType::description)) return descriptions;
    if (header.is(format::ChunkType::index)) return index_parts;
    if (header.is(format::ChunkType::windows)) return windows_chunks;
    if (header.is(format::ChunkType::off_cpu)) return off_cpu_chunks[header.thread];
    return threads[header.thread].sequence;
}

/// `header` says type, flags, thread and events; the rest is filled in here.
Result<void> TraceWriter::State::write_chunk(format::ChunkHeader header,
                                             std::span<const std::uint8_t> payload) {
    if (payload.size() > format::kMaxRawSize)
        return fail("a chunk of the trace has {} bytes, the format holds {}: record fewer parameters",
                    payload.size(), format::kMaxRawSize);
    std::uint32_t& next = next_sequence(header);
    header.sequence = next;
    pack(header, payload);
    const std::uint64_t offset = file.size();
    // Recorded data leaves room for the end; otherwise a full disk would make the data already written
    // meaningless.
    if (header.thread != format::kNoThread || header.is(format::ChunkType::windows))
        if (auto done = file.reserve(buffered + room_for_end()); !done) return done;
    if (auto done = file.append({buffer.data(), buffered}); !done) return done;
    ++next;
    if (header.is(format::ChunkType::description)) described += buffered;
    if (!header.is(format::ChunkType::index))
        index.push_back({.offset = offset,
                         .thread = header.thread,
                         .sequence = header.sequence,
                         .events = header.events,
                         .stored_size = header.stored_size,
                         .flags = header.flags,
                         .type = header.type,
                         .reserved = {}});
    return {};
}

/// `header` says type, flags, thread, events and times.
Result<void> TraceWriter::State::append_events(format::ChunkHeader header,
                                               std::span<const std::uint8_t> payload) {
    Thread& state = threads[header.thread];
    if (state.gap) header.flags |= format::kGapBefore;
    auto done = write_chunk(header, payload);
    state.gap = !done;
    if (done) {
        events += header.events;
    } else {
        state.dropped += header.events;
        dropped += header.events;
    }
    return done;
}

Result<void> TraceWriter::State::describe(const TraceInfo& info) {
    std::vector<ThreadInfo> counted = info.threads;
    for (std::size_t i = 0; i < counted.size(); ++i)
        if (const auto at = threads.find(static_cast<std::uint32_t>(i)); at != threads.end())
            counted[i].dropped += at->second.dropped;
    for (const DescriptionPart& part :
         describer.changes(info, counted, info.dropped + dropped, info.switches.lost + switches_lost)) {
        format::ChunkHeader header;
        header.type = static_cast<std::uint8_t>(format::ChunkType::description);
        if (auto done = write_chunk(header, bytes_of(part.message)); !done) return done;
        DescriptionWriter::confirm(part);
    }
    return {};
}

Result<void> TraceWriter::State::write_index() {
    constexpr std::size_t kEntriesInPart = format::kMaxRawSize / 2 / sizeof(format::IndexEntry);
    format::Footer footer;
    footer.index_offset = file.size();
    std::span<const format::IndexEntry> rest(index);
    do {
        const auto part = rest.first(std::min(rest.size(), kEntriesInPart));
        rest = rest.subspan(part.size());
        format::ChunkHeader header;
        header.type = static_cast<std::uint8_t>(format::ChunkType::index);
        if (auto done =
                write_chunk(header, {reinterpret_cast<const std::uint8_t*>(part.data()), part.size_bytes()});
            !done)
            return done;
    } while (!rest.empty());
    footer.file_size = file.size() + sizeof footer;
    format::seal(footer);
    return file.append(bytes_of(footer));
}

TraceWriter::TraceWriter() = default;
TraceWriter::~TraceWriter() = default;
TraceWriter::TraceWriter(TraceWriter&&) noexcept = default;
TraceWriter& TraceWriter::operator=(TraceWriter&&) noexcept = default;

Result<TraceWriter> TraceWriter::create(int fd, std::string name, std::uint64_t created_unix_ns,
                                        Purpose purpose) {
    TraceWriter writer;
    writer.state_ = std::make_unique<State>(fd, std::move(name), purpose);
    FileOutput& file = writer.state_->file;
    if (auto done = file.check_and_lock(); !done) return tl::unexpected(done.error());
    format::FileHeader header;
    header.created_unix_ns = created_unix_ns != 0 ? created_unix_ns : now_unix_ns();
    format::seal(header);
    if (auto done = file.append(bytes_of(header)); !done) return tl::unexpected(done.error());
    return writer;
}

Result<void> TraceWriter::append(std::uint32_t thread, ChunkEncoder& encoder) {
    ChunkEncoder::Columns& columns = *encoder.columns_;
    columns.seal();
    Result<void> result;
    for (const SealedChunk& chunk : columns.sealed) {
        format::ChunkHeader header;
        header.type = static_cast<std::uint8_t>(format::ChunkType::events);
        header.flags = chunk.gap ? format::kGapBefore : std::uint16_t{0};
        if (chunk.switches) header.flags |= format::kSwitches;
        header.thread = thread;
        header.events = chunk.events;
        header.first_tsc = chunk.first_tsc;
        header.last_tsc = chunk.last_tsc;
        if (auto done = state_->append_events(header, chunk.payload); !done && result) result = done;
    }
    columns.drop_sealed();
    return result;
}

Result<void> TraceWriter::append(std::uint32_t thread, const Packs& packs) {
    format::ChunkHeader header;
    header.type = static_cast<std::uint8_t>(format::ChunkType::packs);
    if (packs.innermost) header.flags |= format::kInnermost;
    if (packs.gap) header.flags |= format::kGapBefore;
    if (packs.switches) header.flags |= format::kSwitches;
    header.thread = thread;
    header.events = packs.events;
    header.first_tsc = packs.first_tsc;
    header.last_tsc = packs.last_tsc;
    return state_->append_events(header, packs.payload);
}

Result<void> TraceWriter::append_off_cpu(std::uint32_t tid, OffCpuEncoder& encoder) {
    if (encoder.intervals() == 0) return {};
    format::ChunkHeader header;
    header.type = static_cast<std::uint8_t>(format::ChunkType::off_cpu);
    header.thread = tid;
    header.events = encoder.intervals();
    header.first_tsc = encoder.first_;
    header.last_tsc = encoder.last_;
    auto done = state_->write_chunk(header, encoder.payload());
    if (!done) state_->switches_lost += encoder.intervals();
    encoder = {};
    return done;
}

Result<void> TraceWriter::append_windows(WindowsEncoder& encoder) {
    if (encoder.windows() == 0) return {};
    format::ChunkHeader header;
    header.type = static_cast<std::uint8_t>(format::ChunkType::windows);
    header.events = encoder.windows();
    header.first_tsc = encoder.first_;
    header.last_tsc = encoder.last_;
    auto done = state_->write_chunk(header, encoder.payload());
    encoder = {};
    return done;
}

Result<void> TraceWriter::describe(const TraceInfo& info) {
    return state_->describe(info);
}

Result<void> TraceWriter::finish(const TraceInfo& info) {
    // On a full disk, the few bytes of the changes may still fit even if the whole does not.
    auto result = state_->describe(info);
    state_->describer.forget();
    if (auto done = state_->describe(info); !done && result) result = done;
    if (auto done = state_->write_index(); !done && result) result = done;
    if (auto done = state_->file.close(); !done && result) result = done;
    return result;
}

std::uint64_t TraceWriter::events() const {
    return state_->events;
}
std::uint64_t TraceWriter::dropped() const {
    return state_->dropped;
}
std::uint64_t TraceWriter::bytes() const {
    return state_->file.size();
}

namespace {

/// Asked for at a time, so that most chunks need no call.
constexpr std::uint64_t kReserveStep = std::uint64_t{1} << 20;

const char* remedy(int error) {
    switch (error) {
        case ENOSPC:
        case EDQUOT:
            return "free some space, or record to another disk (RDAM_OUTPUT, rdam record -o)";
        case EFBIG:
            return "raise the limit on file sizes (ulimit -f)";
        default:
            return "record to another place (RDAM_OUTPUT, rdam record -o)";
    }
}

}  // namespace

FileOutput::FileOutput(int fd, std::string name, Purpose purpose)
    : fd_(fd), name_(std::move(name)), purpose_(purpose) {}

tl::unexpected<Error> FileOutput::cannot_write(int error) const {
    if (purpose_ == Purpose::temporary_copy)
        return fail("{} cannot be written: {}; set TMPDIR to a directory with room", name_,
                    std::generic_category().message(error));
    return fail("cannot write {}: {}; {}", name_, std::generic_category().message(error), remedy(error));
}

Result<void> FileOutput::check_and_lock() {
    struct stat status {};
    if (fstat(fd_.get(), &status) != 0) return cannot_write(errno);
    if (!S_ISREG(status.st_mode))
        return fail("cannot write {}: a trace can only be written to a regular file; give another name",
                    name_);
    // File systems without locks give other errors; there a reader that comes too early sees an unfinished
    // trace.
    if (flock(fd_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return fail("cannot write {}: another rdam is using it; give another name", name_);
    if (status.st_size != 0)
        return fail("cannot write {}: it is not empty; remove it or give another name", name_);
    return {};
}

Result<void> FileOutput::append(std::span<const std::uint8_t> bytes) {
    if (fd_.get() < 0) return fail("cannot write {}: the trace is finished; start another", name_);
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t written =
            pwrite(fd_.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(size_ + done));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            const int error = written < 0 ? errno : ENOSPC;
            // When even this fails the remainder is a torn chunk, which a reader passes over.
            [[maybe_unused]] const int cut = ftruncate(fd_.get(), static_cast<off_t>(size_));
            return cannot_write(error);
        }
        done += static_cast<std::size_t>(written);
    }
    size_ += bytes.size();
    return {};
}

Result<void> FileOutput::reserve(std::uint64_t bytes) {
    if (fd_.get() < 0 || size_ + bytes <= reserved_end_) return {};
    for (const std::uint64_t wanted : {bytes + kReserveStep, bytes}) {
        if (fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(size_),
                      static_cast<off_t>(wanted)) == 0) {
            reserved_end_ = size_ + wanted;
            return {};
        }
        if (errno != ENOSPC && errno != EDQUOT && errno != EFBIG) return {};
    }
    return cannot_write(errno);
}

Result<void> FileOutput::close() {
    if (fd_.get() < 0) return fail("cannot close {}: it is closed", name_);
    // Releases the space reserved after the end.
    [[maybe_unused]] const int cut =
        reserved_end_ > size_ ? ftruncate(fd_.get(), static_cast<off_t>(size_)) : 0;
    // Some file systems report at this point that the data did not fit.
    if (!fd_.close() && errno != EINTR) return cannot_write(errno);
    return {};
}

}  // namespace rdam::trace
