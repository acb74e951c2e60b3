#include "tools/trace/chunk_list.h"

#include <zstd.h>

#include <algorithm>
#include <optional>

#include "libprobe/format/varint.h"
#include "tools/base/unmovable.h"
#include "tools/trace/event.h"

namespace rdam::trace {

namespace {

using format::ChunkHeader;
using format::ChunkType;
using format::Footer;
using format::IndexEntry;

ChunkPlace place_of(std::uint64_t offset, const ChunkHeader& header) {
    return {offset,       header.thread, header.sequence, header.events, header.stored_size,
            header.flags, header.type};
}

bool fits(const FileInput& file, std::uint64_t offset, std::uint32_t stored_size) {
    const std::uint64_t needed = sizeof(ChunkHeader) + std::uint64_t{stored_size};
    return offset >= sizeof(format::FileHeader) && offset <= file.size() && needed <= file.size() - offset;
}

/// False when an entry cannot be. Chunks that overlap would let a small file cost the time of a large one.
bool add_entries(const FileInput& file, std::span<const std::uint8_t> payload,
                 std::vector<ChunkPlace>& places) {
    if (payload.size() % sizeof(IndexEntry) != 0) return false;
    for (; !payload.empty(); payload = payload.subspan(sizeof(IndexEntry))) {
        const auto entry = format::load<IndexEntry>(payload.data());
        if (!fits(file, entry.offset, entry.stored_size)) return false;
        if (!places.empty() &&
            entry.offset < places.back().offset + sizeof(ChunkHeader) + places.back().stored_size)
            return false;
        places.push_back({entry.offset, entry.thread, entry.sequence, entry.events, entry.stored_size,
                          entry.flags, entry.type});
    }
    return true;
}

std::optional<std::vector<ChunkPlace>> list_by_index(const FileInput& file) {
    if (file.size() < sizeof(format::FileHeader) + sizeof(Footer)) return {};
    const std::uint64_t end = file.size() - sizeof(Footer);
    const auto footer = file.record_at<Footer>(end);
    if (!format::is_sound(footer) || footer.file_size != file.size() || footer.index_offset >= end) return {};

    std::vector<ChunkPlace> places;
    ChunkLoader loader;
    std::uint64_t offset = footer.index_offset;
    for (std::uint32_t part = 0; offset < end; ++part) {
        const auto header = file.record_at<ChunkHeader>(offset);
        if (!format::is_sound(header) || !header.is(ChunkType::index) || header.sequence != part) return {};
        if (!loader.load(file, place_of(offset, header)) || !add_entries(file, loader.payload(), places))
            return {};
        offset += format::extent(header.stored_size);
    }
    if (offset != end) return {};
    return places;
}

/// Looks for chunks by their headers.
class Scan {
  public:
    Scan(const FileInput& file, Damage& damage)
        : file_(file), damage_(damage), patience_(4 * file.size() + format::kMaxStoredSize) {}

    std::vector<ChunkPlace> run() {
        std::uint64_t at = sizeof(format::FileHeader);
        while (at < file_.size()) {
            if (const auto next = step(at)) {
                at = *next;
                continue;
            }
            at = drop_if_bad_before(at);
            const std::uint64_t found = next_magic(at + 1);
            damage_.skipped_bytes += found - at;
            at = found;
        }
        return std::move(places_);
    }

  private:
    static constexpr std::size_t kWindow = 256U << 10U;

    /// Behind the record at `at`, when a good one is there.
    std::optional<std::uint64_t> step(std::uint64_t at) {
        const auto header = file_.record_at<ChunkHeader>(at);
        if (format::is_sound(header) && fits(file_, at, header.stored_size)) {
            if (!header.is(ChunkType::index)) places_.push_back(place_of(at, header));
            previous_ = header.is(ChunkType::index) ? std::nullopt : std::optional(at);
            return at + format::extent(header.stored_size);
        }
        const auto footer = file_.record_at<Footer>(at);
        if (format::is_sound(footer)) return at + sizeof footer;
        return {};
    }

    /// No chunk begins where the previous one ends. If bytes are missing from that one, the next chunk begins
    /// before its supposed end: it is given up, and the search continues inside it.
    std::uint64_t drop_if_bad_before(std::uint64_t at) {
        if (!previous_ || places_.empty() || places_.back().offset != *previous_) return at;
        previous_.reset();
        if (places_.back().stored_size > patience_) return at;
        patience_ -= places_.back().stored_size;
        if (loader_.load(file_, places_.back())) return at;
        const std::uint64_t begin = places_.back().offset;
        places_.pop_back();
        ++damage_.bad_chunks;
        return begin + sizeof(ChunkHeader);
    }

    std::uint64_t next_magic(std::uint64_t from) {
        const auto& magic = format::kChunkMagic;
        while (from + sizeof(ChunkHeader) <= file_.size()) {
            if (from < window_at_ || from + magic.size() > window_at_ + window_.size()) {
                window_.resize(kWindow);
                window_.resize(file_.read(from, window_));
                window_at_ = from;
                if (window_.size() < magic.size()) break;
            }
            const auto begin = window_.begin() + static_cast<std::ptrdiff_t>(from - window_at_);
            const auto found = std::search(begin, window_.end(), magic.begin(), magic.end());
            from = window_at_ + static_cast<std::uint64_t>(found - window_.begin());
            if (found != window_.end()) return from;
            from -= magic.size() - 1;
        }
        return file_.size();
    }

    const FileInput& file_;
    Damage& damage_;
    ChunkLoader loader_;
    std::vector<std::uint8_t> window_;
    std::uint64_t window_at_ = 0;
    std::uint64_t
        patience_;  ///< bytes that may still be checked while scanning, against files made to take long
    std::vector<ChunkPlace> places_;
    std::optional<std::uint64_t> previous_;
};

}  // namespace

std::vector<ChunkPlace> list_chunks(const FileInput& file, Damage& damage) {
    if (auto places = list_by_index(file)) return std::move(*places);
    damage.no_index = true;
    return Scan(file, damage).run();
}

struct ChunkLoader::Decompressor : Unmovable {
    ZSTD_DCtx* context = ZSTD_createDCtx();
    Decompressor() = default;
    ~Decompressor() { ZSTD_freeDCtx(context); }
};

bool expands_far(const FileInput& file, const ChunkPlace& place) {
    // A recorder's chunks take 3.4 MB, 849 times what they take in the file where little happens.
    constexpr std::uint64_t kMuch = std::uint64_t{4} << 20;
    constexpr std::uint64_t kTimes = 192;
    const auto header = file.record_at<format::ChunkHeader>(place.offset);
    if (!format::is_sound(header)) return false;
    const std::uint64_t raw = std::min(header.raw_size, format::kMaxRawSize);
    const std::uint64_t events = std::min(header.events, format::kMaxEvents);
    const std::uint64_t needed = raw + events * sizeof(Event) + raw * sizeof(std::uint64_t);
    return needed > kMuch && needed > kTimes * place.stored_size;
}

ChunkLoader::ChunkLoader() : decompressor_(std::make_unique<Decompressor>()) {}
ChunkLoader::~ChunkLoader() = default;

bool ChunkLoader::load(const FileInput& file, const ChunkPlace& place) {
    constexpr std::size_t kHeader = sizeof(format::ChunkHeader);
    if (place.stored_size > format::kMaxStoredSize) return false;
    const std::size_t wanted = kHeader + place.stored_size;
    if (stored_.size() < wanted + varint::kSlack) stored_.resize(wanted + varint::kSlack);
    if (file.read(place.offset, {stored_.data(), wanted}) != wanted) return false;

    header_ = format::load<format::ChunkHeader>(stored_.data());
    if (!format::is_sound(header_) || header_.type != place.type || header_.thread != place.thread ||
        header_.sequence != place.sequence || header_.events != place.events ||
        header_.flags != place.flags || header_.stored_size != place.stored_size)
        return false;
    if (header_.raw_size > format::kMaxRawSize || header_.events > format::kMaxEvents) return false;
    const std::uint8_t* stored = stored_.data() + kHeader;
    if (format::hash(stored, header_.stored_size) != header_.payload_checksum) return false;
    return unpack({stored, header_.stored_size});
}

bool ChunkLoader::unpack(std::span<const std::uint8_t> stored) {
    if (header_.codec == static_cast<std::uint8_t>(format::Codec::raw)) {
        payload_ = stored;
        return header_.raw_size == stored.size();
    }
    if (header_.codec != static_cast<std::uint8_t>(format::Codec::zstd) || decompressor_->context == nullptr)
        return false;
    // The frame's own idea of its size is checked before memory is taken for it.
    if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != header_.raw_size) return false;
    const std::size_t wanted = std::size_t{header_.raw_size} + varint::kSlack;
    if (raw_.size() < wanted) raw_.resize(wanted);
    const std::size_t size = ZSTD_decompressDCtx(decompressor_->context, raw_.data(), header_.raw_size,
                                                 stored.data(), stored.size());
    payload_ = {raw_.data(), header_.raw_size};
    return size == header_.raw_size;
}

}  // namespace rdam::trace
