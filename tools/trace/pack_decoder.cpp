#include "tools/trace/pack_decoder.h"

#include <cstring>

#include "libprobe/format/varint.h"

namespace rdam::trace {

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
        words_ = ColumnReader(column(pack::Column::words));
        instructions_ = ColumnReader(column(pack::Column::instructions));
    }

    bool decode() {
        return read_events() && words_.done() && instructions_.done() && read_processors() && read_stacks() &&
               read_sampling();
    }

    /// The highest call stack is known to the caller.
    void know_stacks(std::size_t count) { stacks_ = count; }

  private:
    std::span<const std::uint8_t> column(pack::Column which) const {
        const auto i = static_cast<std::size_t>(which);
        return bytes_.subspan(layout_.columns[i], layout_.header.bytes[i]);
    }

    bool read_events() {
        const auto ops = column(pack::Column::ops);
        const std::uint8_t* op = ops.data();
        const std::uint8_t* const end = op + ops.size();
        const auto times = column(pack::Column::times);
        time_ = times.data();
        times_end_ = time_ + times.size();
        tsc_ = layout_.header.first_tsc;
        Known* before = nullptr;
        Known* last = nullptr;
        for (std::uint32_t left = layout_.header.events; left > 0;) {
            if (op == end) return false;
            std::uint32_t number = *op++;
            if (number == pack::kWideOp) [[unlikely]] {
                if (end - op < 2) return false;
                number = load<std::uint16_t>(op);
                op += 2;
                if (number >= pack::kAgain) {
                    const std::uint32_t times_again = number - pack::kAgain;
                    if (before == nullptr || times_again == 0 || times_again > left / 2) return false;
                    if (!read_again(*before, *last, times_again)) return false;
                    left -= 2 * times_again;
                    continue;
                }
            }
            if (number >= d_.ops_.size()) return false;
            before = last;
            last = &d_.ops_[number];
            if (!read_time() || !read_event(*last)) return false;
            --left;
        }
        return op == end && time_ == times_end_ && tsc_ == layout_.header.last_tsc &&
               first_->tsc == layout_.header.first_tsc;
    }

    bool read_again(Known& first, Known& second, std::uint32_t times) {
        for (; times > 0; --times)
            if (!read_time() || !read_event(first) || !read_time() || !read_event(second)) return false;
        return true;
    }

    /// Reads the time of the next event.
    bool read_time() {
        if (time_ == times_end_) return false;
        const std::uint8_t code = *time_++;
        if (code > pack::kMaxSteps) [[unlikely]]
            return read_long_time(code);
        tsc_ += code * std::uint64_t{layout_.header.step};
        return true;
    }

    bool read_long_time(std::uint8_t code) {
        const std::ptrdiff_t size = code == pack::kSteps16 ? 2 : code == pack::kSteps32 ? 4 : 8;
        if (code > pack::kDifference || times_end_ - time_ < size) return false;
        const std::uint64_t step = layout_.header.step;
        if (code == pack::kSteps16)
            tsc_ += load<std::uint16_t>(time_) * step;
        else if (code == pack::kSteps32)
            tsc_ += load<std::uint32_t>(time_) * step;
        else
            tsc_ += load<std::uint64_t>(time_);
        time_ += size;
        return true;
    }

    bool read_event(Known& op) {
        Event& event = *room_.events++;
        event = op.event;
        event.tsc = tsc_;
        if (event.kind >= EventKind::pause) [[unlikely]] {
            event.until = (event.kind == EventKind::pause ? tsc_ : 0) + words_.next_tagged();
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
    bool read_marks(pack::Column which, Sink sink) const {
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
                    if (first_[i].kind < EventKind::pause) first_[i].cpu = processor;
            from = end;
        };
        const bool good = read_marks(pack::Column::processors, [&](std::uint32_t event, std::uint32_t value) {
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
        return read_marks(pack::Column::stacks, [&](std::uint32_t event, std::uint32_t value) {
            first_[event].stack = value <= stacks_ ? value : 0;
            return is_enter(first_[event]);
        });
    }

    bool read_sampling() {
        return read_marks(pack::Column::sampling, [&](std::uint32_t event, std::uint32_t value) {
            first_[event].sampling = static_cast<std::uint8_t>(value);
            return is_enter(first_[event]) && value != 0 && value <= 1U + kMaxSampling;
        });
    }

    PackDecoder& d_;
    const PackLayout& layout_;
    std::span<const std::uint8_t> bytes_;
    Room& room_;
    Event* first_;
    const std::uint8_t* time_ = nullptr;
    const std::uint8_t* times_end_ = nullptr;
    std::uint64_t tsc_ = 0;
    ColumnReader words_;
    ColumnReader instructions_;
    std::uint64_t last_count_ = 0;
    std::size_t stacks_ = 0;
};

bool PackDecoder::read_ops(const PackLayout& layout, std::span<const std::uint8_t> bytes,
                           const TraceInfo& info, const PackRules& rules) {
    ops_.clear();
    previous_.clear();
    for (std::uint32_t i = 0; i < layout.header.ops; ++i) {
        const auto op = load<pack::Op>(bytes.data() + layout.ops + i * sizeof(pack::Op));
        if (op.kind >= Kind::count || op.counted > 1) return false;
        Known known{.event = {}, .previous = previous_.size(), .words = op.words, .counted = op.counted != 0};
        Event& event = known.event;
        event.function = op.function;
        event.cpu = kNoCpu;
        if (op.kind >= Kind::pause) {
            if (op.words != 1 || known.counted) return false;
            // Readers who do not look for switches go by the flag.
            if (op.kind == Kind::stack_switch && !rules.switches) return false;
            event.kind = op.kind == Kind::pause ? EventKind::pause : EventKind::stack_switch;
            event.function = 0;
            if (op.kind == Kind::pause) event.reason = reason_of(op.function);
            ops_.push_back(known);
            continue;
        }
        const bool unnamed =
            op.kind == Kind::unwound_leave && op.function == pack::kInnermost && rules.innermost;
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
                         const PackRules& rules, Room& room) {
    if (!read_ops(layout, bytes, info, rules)) return false;
    Run run(*this, layout, bytes, room);
    run.know_stacks(info.stacks.size());
    return run.decode();
}

std::optional<PackLayout> pack_layout(std::span<const std::uint8_t> bytes) {
    PackLayout layout;
    if (bytes.size() < sizeof layout.header) return {};
    std::memcpy(&layout.header, bytes.data(), sizeof layout.header);
    const pack::Header& header = layout.header;
    if (header.size > bytes.size() || header.size % 8 != 0 || header.events == 0 ||
        header.events > pack::kMaxEvents || header.ops == 0 || header.ops > pack::kMaxOps || header.step == 0)
        return {};
    layout.ops = sizeof header;
    std::uint64_t at = layout.ops + header.ops * sizeof(pack::Op);
    for (std::size_t i = 0; i < pack::kColumns; ++i) {
        layout.columns[i] = at;
        at += header.bytes[i];
    }
    if (at > header.size || header.size - at >= 8) return {};
    return layout;
}

}  // namespace rdam::trace
