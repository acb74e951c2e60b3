#include "libprobe/format/packer.h"

#include "libprobe/format/packer_parts.h"
#include "libprobe/format/varint.h"

namespace rdam::pack {
namespace {

constexpr std::uint64_t kProcessorBits = std::uint64_t{0xfff} << RDAM_HEAD_CPU_SHIFT;
constexpr std::uint64_t kOpBits = ~kProcessorBits;
constexpr std::uint32_t kNoProcessor = 0xfff;
constexpr std::uint32_t kNothing = 0xffffffff;

/// -ffreestanding has no memcpy that could be called here.
void copy(std::uint8_t* to, const void* from, std::size_t size) {
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

void zero(void* to, std::size_t size) {
    asm volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(0) : "memory");
}

bool has_caller(shm::RecordKind kind) {
    return kind == shm::RecordKind::enter || kind == shm::RecordKind::tail_enter;
}

/// What may stand in a chunk and becomes an op.
bool is_op(shm::RecordKind kind) {
    return (kind >= shm::RecordKind::enter && kind <= shm::RecordKind::pause) ||
           kind == shm::RecordKind::stack_switch;
}

constexpr Kind kind_of(shm::RecordKind kind) {
    switch (kind) {
        case shm::RecordKind::enter:
            return Kind::enter;
        case shm::RecordKind::tail_enter:
            return Kind::tail_enter;
        case shm::RecordKind::leave:
            return Kind::leave;
        case shm::RecordKind::unwound:
            return Kind::unwound_leave;
        case shm::RecordKind::stack_switch:
            return Kind::stack_switch;
        default:
            return Kind::pause;
    }
}

}  // namespace

void PendingStacks::add(const PendingStack& stack) {
    if (count_ == kMax) {
        for (std::uint32_t i = 1; i < kMax; ++i)
            stacks_[i - 1] = stacks_[i];
        --count_;
    }
    stacks_[count_++] = stack;
}

std::uint32_t PendingStacks::take(std::uint32_t function, std::uint64_t caller) {
    for (std::uint32_t i = count_; i > 0; --i) {
        const PendingStack& stack = stacks_[i - 1];
        if (stack.function != function || stack.caller != caller) continue;
        count_ = i - 1;
        return stack.number;
    }
    return 0;
}

void Packer::prepare(std::uint32_t step) {
    constexpr std::uint64_t kOne = std::uint64_t{1} << 32;
    step_ = step == 0 ? 1 : step;
    reciprocal_ = (kOne + step_ - 1) / step_;
    clear();
}

void Packer::clear() {
    zero(index_, sizeof index_);
    for (std::size_t i = 0; i < kColumns; ++i)
        ends_[i] = columns_[i];
    events_ = 0;
    op_count_ = 0;
    previous_count_ = 0;
    last_op_ = ops_;
    last_count_ = 0;
    processor_ = kNothing;
}

std::uint32_t Packer::size() const {
    std::uint64_t size = sizeof(Header) + op_count_ * sizeof(Op);
    for (std::size_t i = 0; i < kColumns; ++i)
        size += static_cast<std::uint64_t>(ends_[i] - columns_[i]);
    return static_cast<std::uint32_t>((size + 7) & ~std::uint64_t{7});
}

void Packer::write(void* to) const {
    auto* out = static_cast<std::uint8_t*>(to);
    Header header;
    header.size = size();
    header.events = events_;
    header.first_tsc = first_tsc_;
    header.last_tsc = last_tsc_;
    header.step = step_;
    header.ops = op_count_;
    for (std::size_t i = 0; i < kColumns; ++i)
        header.bytes[i] = static_cast<std::uint32_t>(ends_[i] - columns_[i]);
    const std::uint8_t* const end = out + header.size;
    out = put_number(out, header);
    for (std::uint32_t i = 0; i < op_count_; ++i) {
        const Known& known = ops_[i];
        out = put_number(out, Op{.caller = known.caller,
                                 .function = known.function,
                                 .kind = known.kind,
                                 .words = known.words,
                                 .counted = known.counted ? std::uint8_t{1} : std::uint8_t{0}});
    }
    for (std::size_t i = 0; i < kColumns; ++i) {
        copy(out, columns_[i], header.bytes[i]);
        out += header.bytes[i];
    }
    while (out < end)
        *out++ = 0;
}

void Packer::mark(Column column, std::uint32_t value) {
    std::uint8_t*& end = end_of(column);
    end = put_number(end, Mark{.event = events_, .value = value});
}

void Packer::put_time(std::uint64_t ticks) {
    constexpr std::uint64_t kLong = std::uint64_t{1} << 40;
    const std::uint64_t difference = ticks - last_tsc_;
    const std::uint64_t steps = difference < kLong ? difference / step_ : 0;
    last_tsc_ = ticks;
    std::uint8_t*& out = end_of(Column::times);
    if (steps * step_ != difference || steps >> 32 != 0) {
        *out++ = kDifference;
        out = put_number(out, difference);
    } else if (steps <= kMaxSteps) {
        *out++ = static_cast<std::uint8_t>(steps);
    } else if (steps >> 16 == 0) {
        *out++ = kSteps16;
        out = put_number(out, static_cast<std::uint16_t>(steps));
    } else {
        *out++ = kSteps32;
        out = put_number(out, static_cast<std::uint32_t>(steps));
    }
}

void Packer::put_op(std::uint32_t number) {
    std::uint8_t*& out = end_of(Column::ops);
    if (number < kWideOp) {
        *out++ = static_cast<std::uint8_t>(number);
        return;
    }
    *out++ = kWideOp;
    out = put_number(out, static_cast<std::uint16_t>(number));
}

void Packer::put_count(std::uint64_t count) {
    std::uint8_t*& out = end_of(Column::instructions);
    const std::uint64_t code = count == 0 ? 0 : 1 + varint::zigzag(count - last_count_);
    out = tagged::put(out, code);
    // The one difference for which there is no room counts as not known.
    if (code != 0) last_count_ = count;
}

/// The op of the record, a new one if need be. `stop` says why there is none.
Packer::Known* Packer::find_or_add(const std::uint64_t* record, const std::uint64_t* end, Stop& stop) {
    stop = Stop::unwritten;
    if (end - record < 2) return nullptr;
    const shm::Head head{record[1]};
    if (!is_op(head.kind()) || !head.is_sound() || head.function() == kNothing) return nullptr;
    if (has_caller(head.kind()) && end - record < 3) return nullptr;
    const std::uint64_t key = head.bits & kOpBits;
    const std::uint64_t caller = has_caller(head.kind()) ? record[2] : 0;
    std::uint32_t place = 0;
    if (Known* known = find(key, caller, place); known != nullptr) return known;
    Known* added = add(key, caller, stop);
    if (added != nullptr) index_[place] = static_cast<std::uint16_t>(added->number + 1);
    return added;
}

Packer::Known* Packer::add(std::uint64_t key, std::uint64_t caller, Stop& stop) {
    const shm::Head head{key};
    const bool one_word =
        head.kind() == shm::RecordKind::pause || head.kind() == shm::RecordKind::stack_switch;
    const std::uint32_t words = head.kind() == shm::RecordKind::unwound ? 0 : one_word ? 1 : head.words();
    if (op_count_ == kMaxOps || previous_count_ + words > kMaxPrevious) {
        stop = Stop::full;
        return nullptr;
    }
    const std::uint32_t before = has_caller(head.kind()) ? 3 : 2;
    const bool counted = head.counted() && head.kind() <= shm::RecordKind::leave;
    std::uint32_t function = head.function();
    if (head.kind() == shm::RecordKind::unwound && function == shm::kInnermostFunction) function = kInnermost;
    Known& added = ops_[op_count_];
    added = {.head = key,
             .caller = caller,
             .caller_mask = has_caller(head.kind()) ? ~std::uint64_t{0} : 0,
             .follower = &added,
             .previous = previous_ + previous_count_,
             .function = function,
             .events = 0,
             .number = static_cast<std::uint16_t>(op_count_),
             .words = static_cast<std::uint8_t>(words),
             .first_word = static_cast<std::uint8_t>(before),
             .record_words = static_cast<std::uint16_t>(before + words + (counted ? 1 : 0)),
             .counted = counted,
             .straight = !counted && !one_word && words <= kMaxStraightWords && op_count_ < kWideOp,
             .kind = kind_of(head.kind())};
    for (std::uint32_t i = 0; i < words; ++i)
        previous_[previous_count_ + i] = 0;
    previous_count_ += words;
    ++op_count_;
    return &added;
}

/// A call stack has been taken: a pause, and the number of the stack for the enter event to come.
Stop Packer::take_stack(const std::uint64_t*& at, const std::uint64_t* end, PendingStacks& stacks) {
    if (end - at < static_cast<std::ptrdiff_t>(shm::kStackRecordWords)) return Stop::unwritten;
    const std::uint64_t pause[3] = {
        at[0], shm::make_head(shm::RecordKind::pause, 1, static_cast<std::uint32_t>(shm::Pause::stack_copy)),
        at[2]};
    const std::uint64_t* from = pause;
    if (const Stop stop = run(from, pause + 3, stacks); from == pause) return stop;
    stacks.add({.caller = at[3],
                .function = shm::Head{at[1]}.function(),
                .number = static_cast<std::uint32_t>(at[4])});
    at += shm::kStackRecordWords;
    return Stop::end;
}

std::uint32_t Packer::events_for(Column column, std::uint32_t bytes) const {
    const auto i = static_cast<std::size_t>(column);
    return (kCapacity[i] - static_cast<std::uint32_t>(ends_[i] - columns_[i])) / bytes;
}

/// Room for one event, whatever it is, its words apart.
bool Packer::has_room() const {
    constexpr std::uint32_t kMaxOfOp = 3;
    constexpr std::uint32_t kMaxOfTime = 9;
    return events_ < kMaxEvents && events_for(Column::ops, kMaxOfOp) > 0 &&
           events_for(Column::times, kMaxOfTime) > 0 && events_for(Column::processors, sizeof(Mark)) > 0 &&
           events_for(Column::stacks, sizeof(Mark)) > 0 && events_for(Column::sampling, sizeof(Mark)) > 0 &&
           events_for(Column::instructions, tagged::kMaxBytes) > 0;
}

/// What few events have. `head` is the record's.
void Packer::put_rare(const Known& op, const std::uint64_t* record, PendingStacks& stacks) {
    const std::uint64_t head = record[1];
    const auto processor = static_cast<std::uint32_t>(head >> RDAM_HEAD_CPU_SHIFT);
    if (processor != processor_) {
        processor_ = processor;
        mark(Column::processors, processor == kNoProcessor ? 0 : processor + 1);
    }
    if (op.caller_mask != 0)
        if (const std::uint32_t stack = stacks.take(op.function, op.caller); stack != 0)
            mark(Column::stacks, stack);
}

/// One event, whatever it is.
Stop Packer::take_any(const std::uint64_t*& at, const std::uint64_t* end, PendingStacks& stacks) {
    const std::uint64_t* const record = at;
    if (end - record >= 2 && shm::Head{record[1]}.kind() == shm::RecordKind::stack)
        return take_stack(at, end, stacks);
    Stop stop = Stop::unwritten;
    Known* const known = find_or_add(record, end, stop);
    if (known == nullptr) return stop;
    Known& op = *known;
    if (end - record < op.record_words) return Stop::unwritten;
    if (!has_room() ||
        (op.words != 0 && events_for(Column::words, op.words * std::uint32_t{tagged::kMaxBytes}) == 0))
        return Stop::full;
    if (events_ == 0) first_tsc_ = last_tsc_ = record[0];
    put_time(record[0]);
    put_op(op.number);
    if (op.kind >= Kind::pause) {
        std::uint8_t*& out = end_of(Column::words);
        out = tagged::put(out, record[2] - (op.kind == Kind::pause ? record[0] : 0));
    } else {
        put_rare(op, record, stacks);
        end_of(Column::words) = put_words(end_of(Column::words), op, record);
        if (op.counted) put_count(record[op.record_words - 1]);
    }
    last_op_->follower = known;
    last_op_ = known;
    ++op.events;
    ++events_;
    at += op.record_words;
    return Stop::end;
}

Stop Packer::run(const std::uint64_t*& at, const std::uint64_t* end, PendingStacks& stacks) {
    while (at < end) {
        if (op_count_ > 0 && stacks.empty()) at = run_straight(at, end, straight_room());
        if (at == end) break;
        if (const Stop stop = take_any(at, end, stacks); stop != Stop::end) return stop;
    }
    return Stop::end;
}

}  // namespace rdam::pack
