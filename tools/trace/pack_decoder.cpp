#include "tools/trace/pack_decoder.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "libprobe/format/varint.h"
#include "tools/trace/column_reader.h"

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

bool is_enter(const Event& event) {
    return event.kind == EventKind::enter || event.kind == EventKind::tail_enter;
}

}  // namespace

/// The decoding of one pack, column by column.
class PackDecoder::Run {
  public:
    Run(PackDecoder& decoder, const PackLayout& layout, std::span<const std::uint8_t> bytes, Room& room)
        : d_(decoder),
          layout_(layout),
          events_(layout.header.events),
          bytes_(bytes),
          room_(room),
          first_op_(room.ops.size()),
          first_until_(room.untils.size()) {}

    std::optional<EventColumns> decode(const TraceInfo& info, const PackRules& rules) {
        EventColumns columns;
        if (!read_ops(info, rules) || !read_op_column() || !read_times() || !read_words(columns) ||
            !read_instructions(columns))
            return {};
        if (!read_marks(pack::Column::processors, columns.processors,
                        [&](const Event&, pack::Mark& mark) { return mark.value <= kNoCpu; }) ||
            !read_marks(pack::Column::stacks, columns.stacks,
                        [&](const Event& event, pack::Mark& mark) {
                            if (mark.value > info.stacks.size()) mark.value = 0;
                            return is_enter(event);
                        }) ||
            !read_marks(pack::Column::sampling, columns.sampling, [&](const Event& event, pack::Mark& mark) {
                return is_enter(event) && mark.value != 0 && mark.value <= 1U + kMaxSampling;
            }))
            return {};
        columns.ops = ops();
        columns.op = {room_.op, events_};
        columns.tsc = {room_.tsc, events_};
        columns.untils = std::span<const EventColumns::Until>{room_.untils}.subspan(first_until_);
        room_.op += events_;
        room_.tsc += events_;
        if (room_.first_word != nullptr) room_.first_word += events_;
        if (room_.instructions != nullptr) room_.instructions += events_;
        return columns;
    }

  private:
    std::span<const EventColumns::Op> ops() const {
        return std::span<const EventColumns::Op>{room_.ops}.subspan(first_op_);
    }
    std::span<const std::uint8_t> column(pack::Column which) const {
        const auto i = static_cast<std::size_t>(which);
        return bytes_.subspan(layout_.columns[i], layout_.header.bytes[i]);
    }

    bool read_ops(const TraceInfo& info, const PackRules& rules) {
        d_.previous_.clear();
        d_.previous_of_.clear();
        for (std::uint32_t i = 0; i < layout_.header.ops; ++i) {
            const auto op = load<pack::Op>(bytes_.data() + layout_.ops + i * sizeof(pack::Op));
            if (op.kind >= Kind::count || op.counted > 1) return false;
            counted_[i] = op.counted != 0;
            any_counted_ = any_counted_ || op.counted != 0;
            const bool good = op.kind >= Kind::pause ? add_pause(op, rules) : add_call(op, info, rules);
            if (!good) return false;
        }
        return true;
    }

    bool add_pause(const pack::Op& op, const PackRules& rules) {
        if (op.words != 1 || op.counted != 0) return false;
        // Readers who do not look for switches go by the flag.
        if (op.kind == Kind::stack_switch && !rules.switches) return false;
        Event& event = add_op(0);
        event.kind = op.kind == Kind::pause ? EventKind::pause : EventKind::stack_switch;
        if (op.kind == Kind::pause) event.reason = reason_of(op.function);
        any_pauses_ = true;
        return true;
    }

    bool add_call(const pack::Op& op, const TraceInfo& info, const PackRules& rules) {
        const bool unwound = op.kind == Kind::unwound_leave;
        const bool unnamed = unwound && op.function == pack::kInnermost && rules.innermost;
        if (!unnamed && op.function >= info.functions.size()) return false;
        const bool enters = op.kind <= Kind::tail_enter;
        const std::uint16_t leave_words =
            unnamed ? std::uint16_t{0} : info.functions[op.function].leave_words;
        if (op.words != (unwound ? 0 : enters ? info.functions[op.function].enter_words : leave_words))
            return false;
        Event& event = add_op(op.words);
        event.function = op.function;
        event.kind = op.kind == Kind::enter        ? EventKind::enter
                     : op.kind == Kind::tail_enter ? EventKind::tail_enter
                                                   : EventKind::leave;
        event.unwound = unwound;
        if (enters) event.caller = op.caller;
        if (unwound) event.words = room_.zeros.first(leave_words);
        any_words_ = any_words_ || op.words != 0;
        return true;
    }

    Event& add_op(std::uint8_t words) {
        EventColumns::Op& known = room_.ops.emplace_back();
        known.event.cpu = kNoCpu;
        known.words = words;
        d_.previous_of_.push_back(d_.previous_.size());
        d_.previous_.resize(d_.previous_.size() + words);
        return known.event;
    }

    bool read_op_column() {
        const auto column = this->column(pack::Column::ops);
        const std::uint8_t* at = column.data();
        const std::uint8_t* const end = at + column.size();
        const auto known = static_cast<std::uint32_t>(ops().size());
        std::uint32_t* out = room_.op;
        std::uint32_t* const out_end = out + events_;
        while (out != out_end) {
            if (at == end) return false;
            std::uint32_t number = *at++;
            if (number == pack::kWideOp) [[unlikely]] {
                if (end - at < 2) return false;
                number = load<std::uint16_t>(at);
                at += 2;
                if (number >= pack::kAgain) {
                    const std::size_t again = number - pack::kAgain;
                    if (out - room_.op < 2 || again == 0 ||
                        again > static_cast<std::size_t>(out_end - out) / 2)
                        return false;
                    const std::uint32_t first = out[-2], second = out[-1];
                    for (std::size_t i = 0; i < again; ++i) {
                        note_pause(first, out);
                        *out++ = first;
                        note_pause(second, out);
                        *out++ = second;
                    }
                    continue;
                }
            }
            if (number >= known) return false;
            note_pause(number, out);
            *out++ = number;
        }
        return at == end;
    }

    bool read_times() {
        const auto column = this->column(pack::Column::times);
        const std::uint8_t* at = column.data();
        const std::uint8_t* const end = at + column.size();
        const std::uint64_t step = layout_.header.step;
        std::uint64_t tsc = layout_.header.first_tsc;
        if (column.size() < events_) return false;
        for (std::uint32_t i = 0; i < events_; ++i) {
            if (at == end) return false;
            const std::uint8_t code = *at++;
            if (code <= pack::kMaxSteps) [[likely]] {
                tsc += code * step;
            } else {
                const std::ptrdiff_t size = code == pack::kSteps16 ? 2 : code == pack::kSteps32 ? 4 : 8;
                if (code > pack::kDifference || end - at < size) return false;
                tsc += code == pack::kSteps16   ? load<std::uint16_t>(at) * step
                       : code == pack::kSteps32 ? load<std::uint32_t>(at) * step
                                                : load<std::uint64_t>(at);
                at += size;
            }
            room_.tsc[i] = tsc;
        }
        return at == end && tsc == layout_.header.last_tsc && room_.tsc[0] == layout_.header.first_tsc;
    }

    /// Of a pack without a pause there is none.
    void note_pause(std::uint32_t number, const std::uint32_t* event) {
        if (any_pauses_ && ops()[number].event.kind >= EventKind::pause)
            room_.untils.push_back({static_cast<std::uint32_t>(event - room_.op), 0});
    }

    bool read_words(EventColumns& columns) {
        ColumnReader words{column(pack::Column::words)};
        const auto untils = std::span{room_.untils}.subspan(first_until_);
        const auto read_until = [&](EventColumns::Until& each) {
            const bool is_pause = op_at(each.event).event.kind == EventKind::pause;
            each.until = (is_pause ? room_.tsc[each.event] : 0) + words.next_tagged();
        };
        if (!any_words_ || room_.first_word == nullptr) {
            const auto has_words = [&](std::uint32_t op) { return ops()[op].words != 0; };
            if (any_words_ && std::ranges::any_of(numbers(), has_words)) return false;
            std::ranges::for_each(untils, read_until);
            return words.done();
        }
        const std::uint64_t* const first = room_.words;
        auto until = untils.begin();
        for (std::uint32_t i = 0; i < events_; ++i) {
            room_.first_word[i] = static_cast<std::uint32_t>(room_.words - first);
            const std::uint16_t count = op_at(i).words;
            if (until != untils.end() && until->event == i) [[unlikely]]
                read_until(*until++);
            if (count == 0) continue;
            if (words.left() < count) return false;
            std::uint64_t* last = d_.previous_.data() + d_.previous_of_[room_.op[i]];
            for (std::uint32_t word = 0; word < count; ++word)
                *room_.words++ = *last++ += unzigzag(words.next_tagged());
        }
        columns.first_word = {room_.first_word, events_};
        columns.words = {first, static_cast<std::size_t>(room_.words - first)};
        return words.done();
    }

    /// One for each event of an op that is counted.
    bool read_instructions(EventColumns& columns) {
        ColumnReader counts{column(pack::Column::instructions)};
        if (!any_counted_) return counts.done();
        if (room_.instructions == nullptr)
            return counts.done() &&
                   std::ranges::none_of(numbers(), [&](std::uint32_t op) { return counted_[op]; });
        std::uint64_t last = 0;
        for (std::uint32_t i = 0; i < events_; ++i) {
            std::uint64_t& count = room_.instructions[i];
            count = 0;
            if (!counted_[room_.op[i]]) continue;
            if (const std::uint64_t code = counts.next_tagged(); code != 0)
                count = last += unzigzag(code - 1);
        }
        columns.instructions = {room_.instructions, events_};
        return counts.done();
    }

    /// `is_good(event, mark)` for each mark, which may change it. False: they are not in order, or of events
    /// that there are not.
    template <class IsGood>
    bool read_marks(pack::Column which, std::span<const pack::Mark>& out, const IsGood& is_good) {
        const auto marks = column(which);
        if (marks.size() % sizeof(pack::Mark) != 0) return false;
        const std::size_t first = room_.marks.size();
        std::uint32_t least = 0;
        for (std::size_t at = 0; at < marks.size(); at += sizeof(pack::Mark)) {
            auto mark = load<pack::Mark>(marks.data() + at);
            if (mark.event < least || mark.event >= events_) return false;
            least = mark.event + 1;
            if (!is_good(op_at(mark.event).event, mark)) return false;
            room_.marks.push_back(mark);
        }
        out = std::span<const pack::Mark>{room_.marks}.subspan(first);
        return true;
    }

    std::span<const std::uint32_t> numbers() const { return {room_.op, events_}; }
    const EventColumns::Op& op_at(std::size_t event) const { return room_.ops[first_op_ + room_.op[event]]; }

    PackDecoder& d_;
    const PackLayout& layout_;
    std::uint32_t events_;
    std::span<const std::uint8_t> bytes_;
    Room& room_;
    std::size_t first_op_;
    std::size_t first_until_;
    std::array<bool, pack::kMaxOps> counted_{};
    bool any_words_ = false;
    bool any_pauses_ = false;
    bool any_counted_ = false;
};

std::optional<EventColumns> PackDecoder::decode(const PackLayout& layout, std::span<const std::uint8_t> bytes,
                                                const TraceInfo& info, const PackRules& rules, Room& room) {
    return Run{*this, layout, bytes, room}.decode(info, rules);
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
