#include "analyzer/trace/pack_decoder.h"

#include <cstring>

#include "libprobe/format/varint.h"

namespace rdam::trace {

using pack::Column;
using pack::Kind;
using varint::unzigzag;

namespace {

template <class T>
T load(const std::uint8_t* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

PauseReason reason_of(std::uint32_t number) {
    return number < static_cast<std::uint32_t>(PauseReason::other) ? static_cast<PauseReason>(number)
                                                                   : PauseReason::other;
}

}  // namespace

/// The decoding of one pack.
class PackDecoder::Run {
  public:
    Run(PackDecoder& decoder, const PackLayout& layout, std::span<const std::uint8_t> bytes, Room& room)
        : d_(decoder), layout_(layout), bytes_(bytes), room_(room), first_(room.events) {
        words_ = ColumnReader(column(Column::words));
        instructions_ = ColumnReader(column(Column::instructions));
    }

    bool decode() {
        return read_events() && words_.done() && instructions_.done() && read_processors() && read_stacks() &&
               read_sampling();
    }

    /// The highest call stack is known to the caller.
    void know_stacks(std::size_t count) { stacks_ = count; }

  private:
    std::span<const std::uint8_t> column(Column which) const {
        const auto i = static_cast<std::size_t>(which);
        return bytes_.subspan(layout_.columns[i], layout_.header.bytes[i]);
    }

    bool read_events() {
        const auto ops = column(Column::ops);
        const auto times = column(Column::times);
        const std::uint8_t* op = ops.data();
        const std::uint8_t* const ops_end = op + ops.size();
        const std::uint8_t* time = times.data();
        const std::uint8_t* const times_end = time + times.size();
        const std::uint64_t step = layout_.header.step;
        std::uint64_t tsc = layout_.header.first_tsc;
        for (std::uint32_t i = 0; i < layout_.header.events; ++i) {
            if (op >= ops_end || time >= times_end) return false;
            std::uint32_t number = *op++;
            if (number == pack::kWideOp) [[unlikely]] {
                if (ops_end - op < 2) return false;
                number = load<std::uint16_t>(op);
                op += 2;
            }
            const std::uint8_t code = *time++;
            if (code <= pack::kMostSteps) [[likely]]
                tsc += code * step;
            else if (!read_long_time(code, time, times_end, tsc))
                return false;
            if (number >= d_.ops_.size() || !read_event(d_.ops_[number], tsc)) return false;
        }
        return op == ops_end && time == times_end && tsc == layout_.header.last_tsc &&
               first_->tsc == layout_.header.first_tsc;
    }

    bool read_long_time(std::uint8_t code, const std::uint8_t*& at, const std::uint8_t* end,
                        std::uint64_t& tsc) const {
        const std::ptrdiff_t size = code == pack::kSteps16 ? 2 : code == pack::kSteps32 ? 4 : 8;
        if (code > pack::kDifference || end - at < size) return false;
        const std::uint64_t step = layout_.header.step;
        if (code == pack::kSteps16)
            tsc += load<std::uint16_t>(at) * step;
        else if (code == pack::kSteps32)
            tsc += load<std::uint32_t>(at) * step;
        else
            tsc += load<std::uint64_t>(at);
        at += size;
        return true;
    }

    bool read_event(Known& op, std::uint64_t tsc) {
        Event& event = *room_.events++;
        event = op.event;
        event.tsc = tsc;
        if (event.kind == EventKind::pause) [[unlikely]] {
            event.until = tsc + words_.next_tagged();
            return true;
        }
        if (op.unwound) [[unlikely]]
            event.words = room_.zeros.first(event.words.size());
        else if (op.words != 0)
            if (!read_words(op, event)) return false;
        if (op.counted) read_count(event);
        return true;
    }

    bool read_words(Known& op, Event& event) {
        if (words_.left() < op.words) return false;
        std::uint64_t* const first = room_.words;
        std::uint64_t* last = d_.previous_.data() + op.previous;
        for (std::uint32_t i = 0; i < op.words; ++i)
            *room_.words++ = *last++ += unzigzag(words_.next_tagged());
        event.words = {first, op.words};
        return true;
    }

    void read_count(Event& event) {
        const std::uint64_t code = instructions_.next_tagged();
        if (code == 0) return;
        last_count_ += unzigzag(code - 1);
        event.instructions = last_count_;
    }

    /// Calls `sink(event, value)` for each mark; false: they are not in order, or of events that there are
    /// not.
    template <class Sink>
    bool read_marks(Column which, Sink sink) const {
        const auto marks = column(which);
        if (marks.size() % sizeof(pack::Mark) != 0) return false;
        std::uint32_t least = 0;
        for (std::size_t at = 0; at < marks.size(); at += sizeof(pack::Mark)) {
            const auto mark = load<pack::Mark>(marks.data() + at);
            if (mark.event < least || mark.event >= layout_.header.events) return false;
            least = mark.event + 1;
            if (!sink(mark.event, mark.value)) return false;
        }
        return true;
    }

    bool read_processors() {
        std::uint32_t from = 0;
        std::uint16_t processor = kNoCpu;
        const auto set_up_to = [&](std::uint32_t end) {
            if (processor != kNoCpu)
                for (std::uint32_t i = from; i < end; ++i)
                    if (first_[i].kind != EventKind::pause) first_[i].cpu = processor;
            from = end;
        };
        const bool good = read_marks(Column::processors, [&](std::uint32_t event, std::uint32_t value) {
            set_up_to(event);
            processor = static_cast<std::uint16_t>(value - 1);
            return value <= kNoCpu;
        });
        set_up_to(layout_.header.events);
        return good;
    }

    static bool is_enter(const Event& event) {
        return event.kind == EventKind::enter || event.kind == EventKind::tail_enter;
    }

    bool read_stacks() {
        return read_marks(Column::stacks, [&](std::uint32_t event, std::uint32_t value) {
            first_[event].stack = value <= stacks_ ? value : 0;
            return is_enter(first_[event]);
        });
    }

    bool read_sampling() {
        return read_marks(Column::sampling, [&](std::uint32_t event, std::uint32_t value) {
            first_[event].sampling = static_cast<std::uint8_t>(value);
            return is_enter(first_[event]) && value != 0 && value <= 1U + kMostSampling;
        });
    }

    PackDecoder& d_;
    const PackLayout& layout_;
    std::span<const std::uint8_t> bytes_;
    Room& room_;
    Event* first_;
    ColumnReader words_;
    ColumnReader instructions_;
    std::uint64_t last_count_ = 0;
    std::size_t stacks_ = 0;
};

bool PackDecoder::read_ops(const PackLayout& layout, std::span<const std::uint8_t> bytes,
                           const TraceInfo& info, bool innermost) {
    ops_.clear();
    previous_.clear();
    for (std::uint32_t i = 0; i < layout.header.ops; ++i) {
        const auto op = load<pack::Op>(bytes.data() + layout.ops + i * sizeof(pack::Op));
        if (op.kind >= Kind::count || op.counted > 1) return false;
        Known known{.event = {}, .previous = previous_.size(), .words = op.words, .counted = op.counted != 0};
        Event& event = known.event;
        event.function = op.function;
        event.cpu = kNoCpu;
        if (op.kind == Kind::pause) {
            if (op.words != 1 || known.counted) return false;
            event.kind = EventKind::pause;
            event.function = 0;
            event.reason = reason_of(op.function);
            ops_.push_back(known);
            continue;
        }
        const bool unnamed = op.kind == Kind::unwound_leave && op.function == pack::kInnermost && innermost;
        if (!unnamed && op.function >= info.functions.size()) return false;
        const std::uint16_t leave_words =
            unnamed ? std::uint16_t{0} : info.functions[op.function].leave_words;
        const bool enters = op.kind <= Kind::tail_enter;
        known.unwound = op.kind == Kind::unwound_leave;
        if (op.words != (known.unwound ? 0 : enters ? info.functions[op.function].enter_words : leave_words))
            return false;
        event.kind = op.kind == Kind::enter        ? EventKind::enter
                     : op.kind == Kind::tail_enter ? EventKind::tail_enter
                                                   : EventKind::leave;
        event.unwound = known.unwound;
        if (enters) event.caller = op.caller;
        if (known.unwound) event.words = {previous_.data(), leave_words};  // the number is what counts
        previous_.resize(previous_.size() + op.words);
        ops_.push_back(known);
    }
    return true;
}

bool PackDecoder::decode(const PackLayout& layout, std::span<const std::uint8_t> bytes, const TraceInfo& info,
                         bool innermost, Room& room) {
    if (!read_ops(layout, bytes, info, innermost)) return false;
    Run run(*this, layout, bytes, room);
    run.know_stacks(info.stacks.size());
    return run.decode();
}

}  // namespace rdam::trace
