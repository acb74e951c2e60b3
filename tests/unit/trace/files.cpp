#include "tests/unit/trace/files.h"

#include <array>
#include <cstring>

#include "libprobe/format/varint.h"
#include "tests/unit/catch.h"
#include "tools/trace/description_writer.h"

namespace rdam::trace::testing {
namespace {

template <class Record>
Bytes bytes_of(const Record& record) {
    Bytes bytes(sizeof record);
    std::memcpy(bytes.data(), &record, sizeof record);
    return bytes;
}

}  // namespace

Bytes operator+(Bytes a, const Bytes& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

Bytes numbers(const std::vector<std::uint64_t>& values) {
    Bytes bytes;
    for (const std::uint64_t value : values) {
        std::array<std::uint8_t, varint::kSlack> room{};
        bytes.insert(bytes.end(), room.data(), varint::put_long(room.data(), value));
    }
    return bytes;
}

Bytes file_header(std::uint16_t major, std::uint16_t minor) {
    format::FileHeader header;
    header.major = major;
    header.minor = minor;
    format::seal(header);
    return bytes_of(header);
}

Bytes chunk(format::ChunkHeader header, const Bytes& payload) {
    header.raw_size = header.stored_size = static_cast<std::uint32_t>(payload.size());
    header.payload_checksum = format::hash(payload.data(), payload.size());
    format::seal(header);
    Bytes bytes = bytes_of(header) + payload;
    bytes.resize(format::extent(header.stored_size));
    return bytes;
}

Bytes description(const TraceInfo& info) {
    DescriptionWriter describer;
    Bytes bytes;
    for (const DescriptionPart& part :
         describer.changes(info, info.threads, info.dropped, info.switches.lost)) {
        format::ChunkHeader header;
        header.type = static_cast<std::uint8_t>(format::ChunkType::description);
        bytes = bytes + chunk(header, {part.message.begin(), part.message.end()});
    }
    return bytes;
}

EventChunk::EventChunk() {
    header.type = static_cast<std::uint8_t>(format::ChunkType::events);
    header.thread = 0;
    header.events = 3;
    header.first_tsc = 1000;
    header.last_tsc = 1100;
    columns = {
        numbers({0, 2, 2}),     // function 0, one word on enter, one on leave
        numbers({1, 3, 0}),     // enter, leave, pause
        numbers({0}),           // enter at first_tsc
        numbers({100}),         // leave 50 later
        numbers({2, 4}),        // two events on processor 3
        numbers({0x802000}),    // a caller at 0x401000
        numbers({0}),           // the first caller
        numbers({84, 1}),       // parameter 42, result -1
        numbers({100, 20, 2}),  // 50 later, for 10 ticks, buffer_full
        numbers({0, 1}),        // the first event has stack 1
        {},                     // nothing was sampled
        {},                     // no instructions were counted
    };
}

Bytes EventChunk::payload() const {
    Bytes bytes = bytes_of(static_cast<std::uint32_t>(columns.size()));
    for (const Bytes& column : columns)
        bytes = bytes + bytes_of(static_cast<std::uint32_t>(column.size()));
    for (const Bytes& column : columns)
        bytes = bytes + column;
    return bytes;
}

TraceInfo info_of_one_function() {
    TraceInfo info;
    info.objects.emplace_back();
    FunctionInfo function;
    function.name = "f";
    function.enter_words = 1;
    function.leave_words = 1;
    info.functions.push_back(function);
    info.threads.resize(1);
    info.stacks.resize(1);
    return info;
}

}  // namespace rdam::trace::testing
