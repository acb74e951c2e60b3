#include "analyzer/inputs/uftrace/records.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace rdam::inputs::uftrace {
namespace {

constexpr std::size_t kRecordBuffer = std::size_t{1} << 20U;
constexpr unsigned kRecordMagic = 5;
constexpr std::uint64_t kDay = 86'400'000'000'000;

std::size_t aligned(std::size_t bytes) {
    return (bytes + kWordBytes - 1) / kWordBytes * kWordBytes;
}

/// Whether `next` is what comes after `record` where nothing is lost.
bool is_next(const Record& record, const Record& next) {
    if (!next.sound || next.time < record.time || next.time - record.time > kDay) return false;
    const bool inside = record.kind == RecordKind::entry;
    switch (next.kind) {
        case RecordKind::entry:
            return next.depth == (record.depth + (inside ? 1 : 0)) % kDepths;
        case RecordKind::exit:
            return inside ? next.depth == record.depth && next.address == record.address
                          : (next.depth + 1U) % kDepths == record.depth;
        default:
            return false;
    }
}

}  // namespace

Record decode_record(const char* bytes) {
    std::uint64_t time = 0;
    std::uint64_t rest = 0;
    std::memcpy(&time, bytes, sizeof time);
    std::memcpy(&rest, bytes + sizeof time, sizeof rest);
    return {.time = time,
            .kind = static_cast<RecordKind>(rest & 3U),
            .has_data = (rest >> 2U & 1U) != 0,
            .sound = (rest >> 3U & 7U) == kRecordMagic,
            .depth = static_cast<std::uint16_t>(rest >> 6U & 0x3ffU),
            .address = rest >> 16U};
}

RecordBytes::RecordBytes(std::unique_ptr<ByteStream> stream, std::string path)
    : stream_(std::move(stream)), path_(std::move(path)), buffer_(kRecordBuffer) {}

void RecordBytes::fill() {
    if (ended_) return;
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(at_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
    before_ += at_;
    end_ -= at_;
    at_ = 0;
    const auto got = stream_->read(std::span{buffer_}.subspan(end_));
    if (!got) error_ = got.error();
    ended_ = !got || *got < buffer_.size() - end_;
    end_ += got ? *got : 0;
}

std::optional<std::size_t> event_data_size(std::string_view data) {
    std::uint16_t length = 0;
    if (data.size() < sizeof length) return std::nullopt;
    std::memcpy(&length, data.data(), sizeof length);
    const std::size_t size = aligned(sizeof length + length);
    if (size > data.size()) return std::nullopt;
    return size;
}

std::optional<std::size_t> find_next_record(const Record& record, std::string_view data) {
    for (std::size_t at = 0; at + kRecordSize <= data.size(); at += kWordBytes)
        if (is_next(record, decode_record(data.data() + at))) return at;
    return std::nullopt;
}

bool may_follow(const Record& record, std::string_view bytes) {
    if (bytes.empty()) return true;
    if (bytes.size() < kRecordSize) return false;
    const Record next = decode_record(bytes.data());
    if (!next.sound) return false;
    if (next.kind == RecordKind::lost) return true;
    return next.time + kDay > record.time && next.time < record.time + kDay;
}

}  // namespace rdam::inputs::uftrace
