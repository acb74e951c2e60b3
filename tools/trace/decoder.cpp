#include "tools/trace/decoder.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tools/base/seeded_hash.h"
#include "tools/trace/column_reader.h"

namespace rdam::trace {

using format::Column;
using format::What;
using varint::unzigzag;

namespace {

/// What is in `room` is no longer needed: it is not kept beside what replaces it.
template <class Value>
void make_room(std::vector<Value>& room, std::size_t wanted) {
    if (room.size() >= wanted) return;
    room = {};
    room.resize(wanted);
}

}  // namespace

/// The decoding of one chunk.
class ChunkDecoder::Run {
  public:
    Run(ChunkDecoder& decoder, const TraceInfo& info) : d_(decoder), info_(info) {}

    bool decode(const format::ChunkHeader& header, std::span<const std::uint8_t> payload) {
        if (!open_columns(payload, columns_, format::kFirstColumns) || !prepare(header) || !read_functions())
            return false;
        if (!read_events(header.events) || !read_stacks(header.events) || !read_sampling(header.events) ||
            !read_instructions(header.events))
            return false;
        // Readers who do not look for switches go by the flag.
        if (switches_ && (header.flags & format::kSwitches) == 0) return false;
        if (processor_run_ != 0 || tsc_ != header.last_tsc || d_.tsc_[0] != header.first_tsc ||
            !std::ranges::all_of(columns_, [](const ColumnReader& each) { return each.done(); }))
            return false;
        make_columns(header.events);
        return true;
    }

  private:
    static constexpr std::size_t kCodes = 4;  // of a function

    ColumnReader& column(Column which) { return columns_[static_cast<std::size_t>(which)]; }

    /// Every event and every word has at least a byte of its own, so the size of the input bounds the
    /// allocation.
    bool prepare(const format::ChunkHeader& header) {
        if (header.events == 0 || header.events > column(Column::what).left()) return false;
        const std::size_t words = column(Column::words).left();
        if (words > format::kMaxWords) return false;
        make_room(d_.words_, words);
        make_room(d_.op_, header.events);
        make_room(d_.tsc_, header.events);
        if (words > 0) make_room(d_.first_word_, header.events);
        d_.ops_.clear();
        d_.untils_.clear();
        d_.marks_.clear();
        next_word_ = d_.words_.data();
        tsc_ = header.first_tsc;
        return true;
    }

    bool read_functions() {
        ColumnReader& in = column(Column::functions);
        d_.prepared_.clear();
        d_.prepared_.emplace_back();
        d_.prepared_.back().event.kind = EventKind::pause;
        d_.prepared_.back().event.cpu = kNoCpu;
        d_.previous_.clear();
        d_.callers_.clear();
        // Each is there once, and has a byte of its own in the column at least: what is prepared takes no
        // more than the description of the functions, whatever the chunk says.
        const std::size_t most = kCodes * std::min(column(Column::what).left(), info_.functions.size());
        while (in.left() != 0) {
            const std::uint64_t function = in.next();
            const std::uint64_t enter = in.next();
            const std::uint64_t leave = in.next();
            if (in.broken() || function >= info_.functions.size()) return false;
            if (d_.prepared_.size() > most) return false;
            if (!add_function(static_cast<std::uint32_t>(function), enter, leave)) return false;
        }
        d_.previous_.assign(words_declared_, 0);
        // Only now the zeros stay where they are.
        for (Prepared& each : d_.prepared_)
            if (each.event.unwound) each.event.words = {d_.zeros_.data(), each.event.words.size()};
        return in.done();
    }

    /// `enter` and `leave`: 1 + number of words, 0 = the chunk has none such of this function.
    bool add_function(std::uint32_t function, std::uint64_t enter, std::uint64_t leave) {
        const FunctionInfo& known = info_.functions[function];
        if (enter != 0 && enter != 1U + known.enter_words) return false;
        if (leave != 0 && leave != 1U + known.leave_words) return false;
        Prepared entered;
        entered.event.function = function;
        entered.is_enter = true;
        declare_words(entered, enter);
        Prepared left;
        left.event.function = function;
        left.event.kind = EventKind::leave;
        declare_words(left, leave);
        // What is declared is used at least once, so there are as many bytes in the column of words.
        if (words_declared_ > column(Column::words).left()) return false;
        if (d_.zeros_.size() < known.leave_words) d_.zeros_.resize(known.leave_words);
        Prepared unwound = left;
        unwound.words = 0;
        unwound.event.unwound = true;
        unwound.event.words = {d_.zeros_.data(), known.leave_words};
        Prepared tail = entered;
        tail.event.kind = EventKind::tail_enter;
        for (const Prepared& each : {entered, tail, left, unwound})  // in the order of format::What
            d_.prepared_.push_back(each);
        return true;
    }

    void declare_words(Prepared& event, std::uint64_t declared) {
        event.words = declared == 0 ? kNever : static_cast<std::uint32_t>(declared - 1);
        event.previous = static_cast<std::uint32_t>(words_declared_);
        words_declared_ += declared == 0 ? 0 : declared - 1;
    }

    bool read_events(std::uint32_t count) {
        // Copies of what each event needs: a compiler cannot know that events are not stored over the
        // members.
        ColumnReader what = column(Column::what), callers = column(Column::callers);
        ColumnReader enter_times = column(Column::enter_times), leave_times = column(Column::leave_times);
        const std::span<const Prepared> prepared = d_.prepared_;
        const bool has_words = column(Column::words).left() > 0;
        std::uint64_t tsc = tsc_;
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint64_t code = what.next_small();
            if (code >= prepared.size()) return false;
            const Prepared& as = prepared[code];
            if (has_words) d_.first_word_[i] = static_cast<std::uint32_t>(next_word_ - d_.words_.data());
            if (code == 0) [[unlikely]] {
                tsc = read_pause(i, tsc);
                continue;
            }
            std::uint64_t caller = 0;
            if (as.is_enter) {
                tsc += unzigzag(enter_times.next());
                caller = callers.next_small();
                if (caller >= d_.callers_.size() && !add_caller(caller)) [[unlikely]]
                    return false;
            } else {
                tsc += unzigzag(leave_times.next());
            }
            d_.tsc_[i] = tsc;
            d_.op_[i] = op_of(static_cast<std::uint32_t>(code), static_cast<std::uint32_t>(caller));
            read_processor(i);
            if (as.words != 0 && !read_words(as)) return false;
        }
        tsc_ = tsc;
        column(Column::what) = what;
        column(Column::callers) = callers;
        column(Column::enter_times) = enter_times;
        column(Column::leave_times) = leave_times;
        return true;
    }

    /// The op of the events with this code, and, if they enter a function, this caller.
    std::uint32_t op_of(std::uint32_t code, std::uint32_t caller) {
        const std::uint64_t key = std::uint64_t{code} << 32 | caller;
        Seen& seen = seen_[(code * 31 + caller) % kSeen];
        if (seen.key == key) return seen.op;
        const auto [known, is_new] = ops_.try_emplace(key, static_cast<std::uint32_t>(d_.ops_.size()));
        if (is_new) {
            const Prepared& as = d_.prepared_[code];
            EventColumns::Op& op = d_.ops_.emplace_back();
            op.event = as.event;
            op.event.cpu = kNoCpu;  // unless there is a mark
            op.words = static_cast<std::uint16_t>(as.event.unwound ? 0 : as.words);
            if (as.is_enter) op.event.caller = d_.callers_[caller];
        }
        seen = {key, known->second};
        return seen.op;
    }

    /// Returns its begin.
    std::uint64_t read_pause(std::uint32_t event, std::uint64_t tsc) {
        ColumnReader& in = column(Column::pauses);
        const std::uint64_t begin = tsc + unzigzag(in.next());
        std::uint64_t until = begin + unzigzag(in.next());
        const std::uint64_t reason = in.next();
        Event pause;
        pause.kind = EventKind::pause;
        pause.cpu = kNoCpu;
        if (reason == format::kStackSwitch) {
            pause.kind = EventKind::stack_switch;
            until -= begin;
            switches_ = true;
        } else if (reason < static_cast<std::uint64_t>(PauseReason::other)) {
            pause.reason = static_cast<PauseReason>(reason);
        }
        // No op has code 0 otherwise.
        const auto key =
            static_cast<std::uint64_t>(pause.kind) << 8U | static_cast<std::uint64_t>(pause.reason);
        const auto [known, is_new] = ops_.try_emplace(key, static_cast<std::uint32_t>(d_.ops_.size()));
        if (is_new) d_.ops_.push_back({.event = pause});
        d_.op_[event] = known->second;
        d_.tsc_[event] = begin;
        d_.untils_.push_back({event, until});
        return begin;
    }

    void read_processor(std::uint32_t event) {
        if (processor_run_ == 0) [[unlikely]] {
            processor_run_ = column(Column::processors).next();
            const auto processor = static_cast<std::uint16_t>(column(Column::processors).next() - 1);
            d_.marks_.push_back({event, processor + std::uint32_t{1}});
        }
        --processor_run_;
    }

    bool add_caller(std::uint64_t number) {
        if (number > d_.callers_.size()) return false;
        last_new_caller_ += unzigzag(column(Column::caller_addresses).next());
        d_.callers_.push_back(last_new_caller_);
        return true;
    }

    bool read_words(const Prepared& as) {
        ColumnReader& in = column(Column::words);
        if (in.left() < as.words) return false;
        std::uint64_t* last = d_.previous_.data() + as.previous;
        for (std::uint32_t i = 0; i < as.words; ++i)
            *next_word_++ = *last++ += unzigzag(in.next_small());
        return true;
    }

    /// A mark for each entered call that a column has a value for, by their distances. `is_good(value)` may
    /// change it.
    template <class IsGood>
    bool read_marks(Column which, std::uint32_t count, const IsGood& is_good) {
        ColumnReader& in = column(which);
        const std::size_t first = d_.marks_.size();
        std::uint64_t at = 0;
        while (in.left() != 0) {
            const std::uint64_t distance = in.next();
            std::uint64_t value = in.next();
            if (distance >= count - at) return false;
            at += distance;
            const EventKind kind = kind_of(at);
            if (kind != EventKind::enter && kind != EventKind::tail_enter) return false;
            if (!is_good(value)) return false;
            // Of two for one event the last one counts.
            if (d_.marks_.size() > first && d_.marks_.back().event == at) d_.marks_.pop_back();
            d_.marks_.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(value)});
        }
        return true;
    }

    bool read_stacks(std::uint32_t count) {
        stacks_at_ = d_.marks_.size();
        return read_marks(Column::stacks, count, [&](std::uint64_t& stack) {
            if (stack > info_.stacks.size()) stack = 0;
            return true;
        });
    }

    bool read_sampling(std::uint32_t count) {
        sampling_at_ = d_.marks_.size();
        return read_marks(Column::sampling, count, [](const std::uint64_t& sampling) {
            return sampling != 0 && sampling <= 1U + kMaxSampling;
        });
    }

    /// One for each enter and leave, or none at all.
    bool read_instructions(std::uint32_t count) {
        ColumnReader& in = column(Column::instructions);
        if (in.left() == 0) return true;
        counted_ = true;
        make_room(d_.instructions_, count);
        std::uint64_t last = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            d_.instructions_[i] = 0;
            if (kind_of(i) >= EventKind::pause) continue;
            if (const std::uint64_t code = in.next(); code != 0)
                d_.instructions_[i] = last += unzigzag(code - 1);
        }
        return !in.broken();
    }

    EventKind kind_of(std::size_t event) const { return d_.ops_[d_.op_[event]].event.kind; }

    void make_columns(std::uint32_t count) {
        EventColumns& out = d_.columns_.emplace_back();
        out.ops = d_.ops_;
        out.op = {d_.op_.data(), count};
        out.tsc = {d_.tsc_.data(), count};
        const auto words = static_cast<std::size_t>(next_word_ - d_.words_.data());
        if (words > 0) out.first_word = {d_.first_word_.data(), count};
        out.words = {d_.words_.data(), words};
        if (counted_) out.instructions = {d_.instructions_.data(), count};
        out.untils = d_.untils_;
        const std::span<const pack::Mark> marks{d_.marks_};
        out.processors = marks.first(stacks_at_);
        out.stacks = marks.subspan(stacks_at_, sampling_at_ - stacks_at_);
        out.sampling = marks.subspan(sampling_at_);
    }

    static constexpr std::size_t kSeen = 256;
    struct Seen {
        std::uint64_t key = UINT64_MAX;
        std::uint32_t op = 0;
    };

    ChunkDecoder& d_;
    const TraceInfo& info_;
    std::array<ColumnReader, format::kColumns> columns_;
    std::size_t words_declared_ = 0;
    std::uint64_t* next_word_ = nullptr;
    std::uint64_t tsc_ = 0;
    std::uint64_t processor_run_ = 0;
    std::uint64_t last_new_caller_ = 0;
    std::array<Seen, kSeen> seen_;
    tsl::robin_map<std::uint64_t, std::uint32_t, SeededHash> ops_;  // by code and caller
    std::size_t stacks_at_ = 0;                                     // in marks_
    std::size_t sampling_at_ = 0;                                   // likewise
    bool counted_ = false;
    bool switches_ = false;
};

bool ChunkDecoder::decode_packs(std::span<const std::uint8_t> payload, std::uint32_t events,
                                const PackRules& rules, const TraceInfo& info) {
    // Every event has a byte of its own in the column of times, so what was read bounds what is allocated.
    if (events == 0 || events > payload.size()) return false;
    std::vector<PackLayout> layouts;
    std::uint64_t found = 0;
    std::size_t ops = 0;
    std::array<std::uint64_t, pack::kColumns> bytes{};
    for (auto rest = payload; !rest.empty(); rest = rest.subspan(layouts.back().header.size)) {
        const auto layout = pack_layout(rest);
        if (!layout) return false;
        found += layout->header.events;
        ops += layout->header.ops;
        for (std::size_t i = 0; i < pack::kColumns; ++i)
            bytes[i] += layout->header.bytes[i];
        layouts.push_back(*layout);
    }
    const auto bytes_of = [&](pack::Column which) { return bytes[static_cast<std::size_t>(which)]; };
    if (found != events || bytes_of(pack::Column::words) > format::kMaxWords) return false;
    std::size_t max_words = 0;
    for (const FunctionInfo& function : info.functions)
        max_words = std::max<std::size_t>(max_words, function.leave_words);
    if (zeros_.size() < max_words) zeros_.resize(max_words);
    make_room(op_, events);
    make_room(tsc_, events);
    make_room(words_, bytes_of(pack::Column::words));
    const bool has_words = bytes_of(pack::Column::words) > 0;
    const bool has_counts = bytes_of(pack::Column::instructions) > 0;
    if (has_words) make_room(first_word_, events);
    if (has_counts) make_room(instructions_, events);
    ops_.clear();
    ops_.reserve(ops);
    untils_.clear();
    untils_.reserve(std::min<std::size_t>(bytes_of(pack::Column::words), events));
    marks_.clear();
    marks_.reserve((bytes_of(pack::Column::processors) + bytes_of(pack::Column::stacks) +
                    bytes_of(pack::Column::sampling)) /
                   sizeof(pack::Mark));
    PackDecoder::Room room{.op = op_.data(),
                           .tsc = tsc_.data(),
                           .first_word = has_words ? first_word_.data() : nullptr,
                           .instructions = has_counts ? instructions_.data() : nullptr,
                           .words = words_.data(),
                           .ops = ops_,
                           .untils = untils_,
                           .marks = marks_,
                           .zeros = zeros_};
    std::size_t at = 0;
    for (const PackLayout& layout : layouts) {
        const auto columns =
            packs_.decode(layout, payload.subspan(at, layout.header.size), info, rules, room);
        if (!columns) return false;
        columns_.push_back(*columns);
        at += layout.header.size;
    }
    return true;
}

bool ChunkDecoder::decode(const Packs& packs, const TraceInfo& info) {
    std::vector<std::uint8_t> payload = packs.payload;
    payload.resize(payload.size() + varint::kSlack);
    start();
    if (!decode_packs(std::span{payload}.first(packs.payload.size()), packs.events,
                      {.innermost = packs.innermost, .switches = packs.switches}, info))
        return false;
    count_ = packs.events;
    return true;
}

bool ChunkDecoder::decode(const format::ChunkHeader& header, std::span<const std::uint8_t> payload,
                          const TraceInfo& info) {
    start();
    if (!header.is(format::ChunkType::packs)) {
        if (!Run(*this, info).decode(header, payload)) return false;
    } else if (!decode_packs(payload, header.events,
                             {.innermost = (header.flags & format::kInnermost) != 0,
                              .switches = (header.flags & format::kSwitches) != 0},
                             info) ||
               tsc_[0] != header.first_tsc || tsc_[header.events - 1] != header.last_tsc) {
        return false;
    }
    count_ = header.events;
    return true;
}

void ChunkDecoder::start() {
    count_ = 0;
    made_ = false;
    columns_.clear();
}

std::span<Event> ChunkDecoder::events() {
    if (!std::exchange(made_, true)) {
        make_room(events_, count_);
        Event* out = events_.data();
        for (const EventColumns& each : columns_) {
            each.events(0, each.size(), out);
            out += each.size();
        }
    }
    return {events_.data(), count_};
}

}  // namespace rdam::trace
