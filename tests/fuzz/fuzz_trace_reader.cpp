// Opens any bytes as a trace and reads all of it. The first byte decides whether checksums are put right
// beforehand: with wrong ones nothing behind them would ever be reached.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "analyzer/inputs/rows/rows.h"
#include "tools/trace/format.h"
#include "tools/trace/reader.h"

namespace {

using namespace rdam::trace;
using Bytes = std::vector<std::uint8_t>;

template <class Record>
void store(Bytes& file, std::size_t at, const Record& record) {
    std::memcpy(file.data() + at, &record, sizeof record);
}

/// Follows the chunks as their sizes lead and makes every header and payload sound.
void put_checksums_right(Bytes& file) {
    if (file.size() < sizeof(format::FileHeader)) return;
    auto header = format::load<format::FileHeader>(file.data());
    format::seal(header);
    store(file, 0, header);
    std::size_t at = sizeof header;
    while (file.size() - at >= sizeof(format::ChunkHeader)) {
        auto chunk = format::load<format::ChunkHeader>(file.data() + at);
        const std::size_t room = file.size() - at - sizeof chunk;
        if (chunk.magic != format::kChunkMagic) break;
        chunk.stored_size = static_cast<std::uint32_t>(std::min<std::size_t>(chunk.stored_size, room));
        chunk.payload_checksum = format::hash(file.data() + at + sizeof chunk, chunk.stored_size);
        format::seal(chunk);
        store(file, at, chunk);
        at += std::min<std::size_t>(format::extent(chunk.stored_size), file.size() - at);
    }
    if (file.size() - at < sizeof(format::Footer)) return;
    auto footer = format::load<format::Footer>(file.data() + at);
    format::seal(footer);
    store(file, at, footer);
}

void require(bool truth) {
    if (!truth) std::abort();
}

/// What reader.h guarantees of an event.
void check(const Event& event, const TraceInfo& info) {
    if (event.kind == EventKind::pause || event.kind == EventKind::stack_switch) return;
    require(event.function < info.functions.size());
    const FunctionInfo& function = info.functions[event.function];
    const bool leaves = event.kind == EventKind::leave;
    require(event.words.size() == (leaves ? function.leave_words : function.enter_words));
    require(event.stack <= info.stacks.size());
    static volatile std::uint64_t sum = 0;
    for (const std::uint64_t word : event.words)
        sum = sum + word;
}

void check(const TraceInfo& info) {
    for (const FunctionInfo& function : info.functions) {
        require(function.object < info.objects.size());
        for (const ParameterInfo& each : function.parameters)
            require(each.word < function.enter_words);
        for (const ParameterInfo& each : function.result)
            require(each.word < function.leave_words);
        require(function.result.size() <= 1);
    }
    for (const StackInfo& stack : info.stacks)
        require(stack.function < info.functions.size());
}

void check_off_cpu(const TraceReader& reader, std::uint32_t thread) {
    const auto intervals = reader.off_cpu(thread);
    require(intervals.has_value());
    std::uint64_t last = reader.info().threads[thread].start;
    for (const OffCpu& each : *intervals) {
        require(last <= each.out && each.out < each.in);
        last = each.in;
    }
}

void read_all(const TraceReader& reader) {
    const TraceInfo& info = reader.info();
    check(info);
    for (std::uint32_t thread = 0; thread < info.threads.size(); ++thread) {
        std::uint64_t events = 0;
        const auto done = reader.read_thread(
            thread,
            [&](std::span<const Event> some) {
                events += some.size();
                for (const Event& event : some)
                    check(event, info);
            },
            [] {});
        require(done && events <= reader.events_of(thread));
        check_off_cpu(reader, thread);
    }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    Bytes file(data + 1, data + size);
    if (data[0] % 2 == 1) put_checksums_right(file);
    const int fd = memfd_create("trace", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, file.data(), file.size()) == static_cast<ssize_t>(file.size()));
    const auto reader = TraceReader::open("/proc/self/fd/" + std::to_string(fd));
    if (reader) read_all(*reader);
    if (reader && rdam::inputs::switches_stacks(*reader)) {
        const auto rows = rdam::inputs::divide_into_rows(*reader, "fuzz", [](auto, auto) {});
        require(rows.has_value());
        require(!rdam::inputs::switches_stacks(*rows));
        read_all(*rows);
    }
    close(fd);
    return 0;
}
