#include <algorithm>
#include <utility>

#include "tools/trace/column_reader.h"
#include "tools/trace/columns.h"

namespace rdam::trace {

using format::Column;
using format::What;
using varint::zigzag;

void ByteColumn::grow(std::size_t bytes) {
    // There may be as many encoders as a trace has threads.
    constexpr std::size_t kFirstSize = 64;
    const std::size_t used = bytes_ ? size() : 0;
    const std::size_t capacity = std::max({kFirstSize, 2 * used, used + bytes + varint::kSlack});
    std::unique_ptr<std::uint8_t[]> larger(new std::uint8_t[capacity]);
    std::copy_n(bytes_.get(), used, larger.get());
    bytes_ = std::move(larger);
    end_ = bytes_.get() + used;
    limit_ = bytes_.get() + capacity;
}

void ChunkEncoder::Columns::begin(std::uint64_t tsc) {
    first_tsc = tsc;
    last_tsc = tsc;
}

inline std::uint64_t ChunkEncoder::Columns::step(std::uint64_t tsc) {
    if (events == 0) [[unlikely]]
        begin(tsc);
    const std::uint64_t difference = zigzag(tsc - last_tsc);
    last_tsc = tsc;
    return difference;
}

inline std::uint32_t ChunkEncoder::Columns::local(std::uint32_t function) {
    if (function < local_of.size() && local_of[function] != 0) [[likely]]
        return local_of[function] - 1;
    return add_local(function);
}

std::uint32_t ChunkEncoder::Columns::add_local(std::uint32_t function) {
    const auto far = far_local_of.find(function);
    const bool is_new = far == far_local_of.end();
    const std::uint32_t number = is_new ? add_local_number(function) : far->second;
    if (worth_a_table(function)) {
        if (function >= local_of.size()) local_of.resize(function + std::size_t{1});
        local_of[function] = number + 1;
    } else if (is_new) {
        far_local_of.emplace(function, number);
    }
    return number;
}

bool ChunkEncoder::Columns::worth_a_table(std::uint32_t function) const {
    constexpr std::uint32_t kTableLimit = 1U << 20U;
    constexpr std::uint32_t kAlways = 1U << 8U;
    constexpr std::uint32_t kPerEvent = 16;
    return function < std::min(kTableLimit, kAlways + kPerEvent * events);
}

std::uint32_t ChunkEncoder::Columns::add_local_number(std::uint32_t function) {
    locals.push_back({.function = function});
    return static_cast<std::uint32_t>(locals.size() - 1);
}

inline std::uint32_t ChunkEncoder::Columns::number_of_caller(std::uint64_t address) {
    if (callers.last.address != address || callers.last.number == kUnused) [[unlikely]]
        callers.last = {address, recent_caller(address)};
    return callers.last.number;
}

std::uint32_t ChunkEncoder::Columns::recent_caller(std::uint64_t address) {
    if (callers.all.empty()) return look_up_caller(address);
    if (!callers.recent) callers.recent = std::make_unique<Callers::Recent>();
    const std::uint64_t mixed = address * 0x9e3779b97f4a7c15U;
    Callers::Seen& seen = (*callers.recent)[mixed >> 56U];
    if (seen.address != address || seen.number == kUnused) [[unlikely]]
        seen = {address, look_up_caller(address)};
    return seen.number;
}

std::uint32_t ChunkEncoder::Columns::look_up_caller(std::uint64_t address) {
    const auto [at, added] = callers.all.try_emplace(address, static_cast<std::uint32_t>(callers.all.size()));
    if (added) {
        column(Column::caller_addresses).put(zigzag(address - callers.last_new));
        callers.last_new = address;
    }
    return at->second;
}

inline void ChunkEncoder::Columns::put_words(std::uint32_t previous_at,
                                             std::span<const std::uint64_t> words) {
    ByteColumn& out = column(Column::words);
    out.reserve(words.size() * varint::kMaxBytes);
    std::uint64_t* last = previous.data() + previous_at;
    for (const std::uint64_t word : words) {
        out.put_small_reserved(zigzag(word - *last));
        *last++ = word;
    }
}

void ChunkEncoder::Columns::put_instructions(std::uint64_t count) {
    ByteColumn& out = column(Column::instructions);
    for (; uncounted > 0; --uncounted)
        out.put_small(0);
    // The one difference for which there is no room counts as not known.
    const std::uint64_t code = count == 0 ? 0 : 1 + zigzag(count - last_instructions);
    out.put(code);
    if (code != 0) last_instructions = count;
}

void ChunkEncoder::Columns::change_processor(std::uint16_t cpu) {
    end_processor_run();
    processor = cpu;
}

void ChunkEncoder::Columns::end_processor_run() {
    if (processor_run == 0) return;
    ByteColumn& out = column(Column::processors);
    out.put(processor_run);
    out.put(static_cast<std::uint16_t>(processor + 1));
    processor_run = 0;
}

namespace {

/// Finds room for the last words of a function at its first enter or leave; a second number of words is a
/// second local function, so that the file says what was given and the reader can refuse it.
std::uint32_t give_words(ChunkEncoder::Columns& c, std::uint32_t local, std::size_t words,
                         std::uint32_t ChunkEncoder::Columns::Local::*count,
                         std::uint32_t ChunkEncoder::Columns::Local::*previous_at) {
    if (c.locals[local].*count != ChunkEncoder::Columns::kUnused)
        local = c.add_local_number(c.locals[local].function);
    c.locals[local].*count = static_cast<std::uint32_t>(words);
    c.locals[local].*previous_at = static_cast<std::uint32_t>(c.previous.size());
    c.previous.resize(c.previous.size() + words);
    return local;
}

std::uint64_t code(std::uint32_t local, What what) {
    return 1 + (std::uint64_t{local} << 2U) + static_cast<std::uint64_t>(what);
}

}  // namespace

ChunkEncoder::ChunkEncoder() : columns_(std::make_unique<Columns>()) {
    columns_->reset();
}
ChunkEncoder::~ChunkEncoder() = default;
ChunkEncoder::ChunkEncoder(ChunkEncoder&&) noexcept = default;
ChunkEncoder& ChunkEncoder::operator=(ChunkEncoder&&) noexcept = default;

void ChunkEncoder::enter(std::uint64_t tsc, std::uint32_t function, std::uint16_t cpu, std::uint64_t caller,
                         bool tail, std::uint32_t stack, std::span<const std::uint64_t> words,
                         std::uint8_t sampling, std::uint64_t instructions) {
    Columns& c = *columns_;
    std::uint32_t local = c.local(function);
    if (c.locals[local].enter_words != words.size()) [[unlikely]]
        local =
            give_words(c, local, words.size(), &Columns::Local::enter_words, &Columns::Local::enter_previous);
    c.column(Column::what).put_small(code(local, tail ? What::tail_enter : What::enter));
    c.column(Column::enter_times).put(c.step(tsc));
    c.on_processor(cpu);
    c.column(Column::callers).put_small(c.number_of_caller(caller));
    if (!words.empty()) c.put_words(c.locals[local].enter_previous, words);
    if (stack != 0) [[unlikely]] {
        c.column(Column::stacks).put(c.events - c.last_stack_at);
        c.column(Column::stacks).put(stack);
        c.last_stack_at = c.events;
    }
    if (sampling != 0) [[unlikely]] {
        c.column(Column::sampling).put(c.events - c.last_sampling_at);
        c.column(Column::sampling).put(sampling);
        c.last_sampling_at = c.events;
    }
    c.counted(instructions);
    c.added();
}

void ChunkEncoder::leave(std::uint64_t tsc, std::uint32_t function, std::uint16_t cpu, bool unwound,
                         std::span<const std::uint64_t> words, std::uint64_t instructions) {
    Columns& c = *columns_;
    std::uint32_t local = c.local(function);
    if (!unwound && c.locals[local].leave_words != words.size()) [[unlikely]]
        local =
            give_words(c, local, words.size(), &Columns::Local::leave_words, &Columns::Local::leave_previous);
    c.column(Column::what).put_small(code(local, unwound ? What::unwound_leave : What::leave));
    c.column(Column::leave_times).put(c.step(tsc));
    c.on_processor(cpu);
    if (!unwound && !words.empty()) c.put_words(c.locals[local].leave_previous, words);
    c.counted(instructions);
    c.added();
}

void ChunkEncoder::pause(std::uint64_t begin, std::uint64_t end, PauseReason reason) {
    Columns& c = *columns_;
    c.column(Column::what).put(0);
    ByteColumn& pauses = c.column(Column::pauses);
    pauses.put(c.step(begin));
    pauses.put(zigzag(end - begin));
    pauses.put(static_cast<std::uint64_t>(reason));
    c.added();
}

void ChunkEncoder::stack_switch(std::uint64_t tsc, std::uint64_t number) {
    Columns& c = *columns_;
    c.column(Column::what).put(0);
    ByteColumn& pauses = c.column(Column::pauses);
    pauses.put(c.step(tsc));
    pauses.put(zigzag(number));
    pauses.put(format::kStackSwitch);
    c.switches = true;
    c.added();
}

void ChunkEncoder::gap() {
    columns_->seal();
    columns_->gap = true;
}

std::size_t ChunkEncoder::events() const {
    return columns_->sealed_events + columns_->events;
}

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
