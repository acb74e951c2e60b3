#include <zstd.h>

#include <algorithm>

#include "libprobe/format/varint.h"
#include "tools/trace/chunk_list.h"
#include "tools/trace/event.h"

namespace rdam::trace {

struct ChunkLoader::Decompressor {
    ZSTD_DCtx* context = ZSTD_createDCtx();
    Decompressor() = default;
    Decompressor(const Decompressor&) = delete;
    Decompressor& operator=(const Decompressor&) = delete;
    Decompressor(Decompressor&&) = delete;
    Decompressor& operator=(Decompressor&&) = delete;
    ~Decompressor() { ZSTD_freeDCtx(context); }
};

bool swells(const FileInput& file, const ChunkPlace& place) {
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
