#include <algorithm>
#include <utility>

#include "tools/trace/columns.h"
#include "tools/trace/plain_columns.h"

namespace rdam::trace {

using format::Column;

namespace {

void put_functions(ByteColumn& out, const std::vector<ChunkEncoder::Columns::Local>& locals) {
    const auto used = [](std::uint32_t words) -> std::uint64_t {
        return words == ChunkEncoder::Columns::kUnused ? 0 : std::uint64_t{words} + 1;
    };
    for (const auto& local : locals) {
        out.put(local.function);
        out.put(used(local.enter_words));
        out.put(used(local.leave_words));
    }
}

}  // namespace

void ChunkEncoder::Columns::seal() {
    if (events == 0) return;
    end_processor_run();
    put_functions(column(Column::functions), locals);

    SealedChunk chunk{std::exchange(spare, {}), events, first_tsc, last_tsc, gap, switches};
    chunk.payload.clear();
    put_u32(chunk.payload, format::kColumns);
    for (const ByteColumn& each : bytes)
        put_u32(chunk.payload, each.size());
    for (const ByteColumn& each : bytes)
        chunk.payload.insert(chunk.payload.end(), each.data(), each.data() + each.size());

    sealed_events += events;
    sealed.push_back(std::move(chunk));
    reset();
}

void ChunkEncoder::Columns::reset() {
    for (ByteColumn& each : bytes)
        each.clear();
    for (const Local& local : locals)
        if (local.function < local_of.size()) local_of[local.function] = 0;
    locals.clear();
    far_local_of.clear();
    previous.clear();
    callers.last = {};
    if (callers.recent) callers.recent->fill({});
    callers.all.clear();
    callers.last_new = 0;
    events = 0;
    last_stack_at = 0;
    last_sampling_at = 0;
    uncounted = 0;
    last_instructions = 0;
    processor = kNoCpu;
    processor_run = 0;
    gap = false;
    switches = false;
}

void ChunkEncoder::Columns::drop_sealed() {
    if (!sealed.empty()) spare = std::move(sealed.front().payload);
    sealed.clear();
    sealed_events = 0;
}

}  // namespace rdam::trace
