#include "tools/trace/decoder.h"

#include <algorithm>
#include <array>

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
        return processor_run_ == 0 && tsc_ == header.last_tsc && d_.events_[0].tsc == header.first_tsc &&
               std::ranges::all_of(columns_, [](const ColumnReader& each) { return each.done(); });
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
        make_room(d_.events_, header.events);
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
        std::span<const std::uint64_t> known_callers = d_.callers_;
        std::uint64_t tsc = tsc_;
        Event* event = d_.events_.data();
        for (const Event* end = event + count; event != end; ++event) {
            const std::uint64_t code = what.next_small();
            if (code >= prepared.size()) return false;
            const Prepared& as = prepared[code];
            *event = as.event;
            if (code == 0) [[unlikely]] {
                tsc = read_pause(*event, tsc);
                continue;
            }
            if (as.is_enter) {
                tsc += unzigzag(enter_times.next());
                const std::uint64_t caller = callers.next_small();
                if (caller >= known_callers.size()) [[unlikely]] {
                    if (!add_caller(caller)) return false;
                    known_callers = d_.callers_;
                }
                event->caller = known_callers[caller];
            } else {
                tsc += unzigzag(leave_times.next());
            }
            event->tsc = tsc;
            event->cpu = read_processor();
            if (as.words != 0 && !read_words(*event, as)) return false;
        }
        tsc_ = tsc;
        column(Column::what) = what;
        column(Column::callers) = callers;
        column(Column::enter_times) = enter_times;
        column(Column::leave_times) = leave_times;
        return true;
    }

    /// Returns its begin.
    std::uint64_t read_pause(Event& event, std::uint64_t tsc) {
        ColumnReader& in = column(Column::pauses);
        event.tsc = tsc + unzigzag(in.next());
        event.until = event.tsc + unzigzag(in.next());
        const std::uint64_t reason = in.next();
        if (reason == format::kStackSwitch) {
            event.kind = EventKind::stack_switch;
            event.until -= event.tsc;
            switches_ = true;
            return event.tsc;
        }
        event.reason = reason < static_cast<std::uint64_t>(PauseReason::other)
                           ? static_cast<PauseReason>(reason)
                           : PauseReason::other;
        return event.tsc;
    }

    std::uint16_t read_processor() {
        if (processor_run_ == 0) [[unlikely]] {
            processor_run_ = column(Column::processors).next();
            processor_ = static_cast<std::uint16_t>(column(Column::processors).next() - 1);
        }
        --processor_run_;
        return processor_;
    }

    bool add_caller(std::uint64_t number) {
        if (number > d_.callers_.size()) return false;
        last_new_caller_ += unzigzag(column(Column::caller_addresses).next());
        d_.callers_.push_back(last_new_caller_);
        return true;
    }

    bool read_words(Event& event, const Prepared& as) {
        ColumnReader& in = column(Column::words);
        if (in.left() < as.words) return false;
        std::uint64_t* const first = next_word_;
        std::uint64_t* last = d_.previous_.data() + as.previous;
        for (std::uint32_t i = 0; i < as.words; ++i)
            *next_word_++ = *last++ += unzigzag(in.next_small());
        event.words = {first, as.words};
        return true;
    }

    /// Calls `set(event, value)` for the entered calls that a column has a value for, by their distances.
    template <class Set>
    bool read_marks(Column which, std::uint32_t count, const Set& set) {
        ColumnReader& in = column(which);
        std::uint64_t at = 0;
        while (in.left() != 0) {
            const std::uint64_t distance = in.next();
            const std::uint64_t value = in.next();
            if (distance >= count - at) return false;
            at += distance;
            Event& event = d_.events_[at];
            if (event.kind != EventKind::enter && event.kind != EventKind::tail_enter) return false;
            if (!set(event, value)) return false;
        }
        return true;
    }

    bool read_stacks(std::uint32_t count) {
        return read_marks(Column::stacks, count, [&](Event& event, std::uint64_t stack) {
            event.stack = stack <= info_.stacks.size() ? static_cast<std::uint32_t>(stack) : 0;
            return true;
        });
    }

    bool read_sampling(std::uint32_t count) {
        return read_marks(Column::sampling, count, [](Event& event, std::uint64_t sampling) {
            event.sampling = static_cast<std::uint8_t>(sampling);
            return sampling != 0 && sampling <= 1U + kMaxSampling;
        });
    }

    /// One for each enter and leave, or none at all.
    bool read_instructions(std::uint32_t count) {
        ColumnReader& in = column(Column::instructions);
        if (in.left() == 0) return true;
        std::uint64_t last = 0;
        for (Event& event : std::span{d_.events_}.first(count)) {
            if (event.kind >= EventKind::pause) continue;
            const std::uint64_t code = in.next();
            if (code == 0) continue;
            last += unzigzag(code - 1);
            event.instructions = last;
        }
        return !in.broken();
    }

    ChunkDecoder& d_;
    const TraceInfo& info_;
    std::array<ColumnReader, format::kColumns> columns_;
    std::size_t words_declared_ = 0;
    std::uint64_t* next_word_ = nullptr;
    std::uint64_t tsc_ = 0;
    std::uint64_t processor_run_ = 0;
    std::uint64_t last_new_caller_ = 0;
    std::uint16_t processor_ = kNoCpu;
    bool switches_ = false;
};

bool ChunkDecoder::decode_packs(std::span<const std::uint8_t> payload, std::uint32_t events,
                                const PackRules& rules, const TraceInfo& info) {
    // Every event has a byte of its own in the column of times, so what was read bounds what is allocated.
    if (events == 0 || events > payload.size()) return false;
    make_room(events_, events);
    std::vector<PackLayout> layouts;
    std::uint64_t found = 0;
    std::uint64_t words = 0;
    for (auto rest = payload; !rest.empty(); rest = rest.subspan(layouts.back().header.size)) {
        const auto layout = pack_layout(rest);
        if (!layout) return false;
        found += layout->header.events;
        words += layout->header.bytes[static_cast<std::size_t>(pack::Column::words)];
        layouts.push_back(*layout);
    }
    if (found != events || words > format::kMaxWords) return false;
    make_room(words_, words);
    std::size_t max_words = 0;
    for (const FunctionInfo& function : info.functions)
        max_words = std::max<std::size_t>(max_words, function.leave_words);
    if (zeros_.size() < max_words) zeros_.resize(max_words);
    PackDecoder::Room room{.events = events_.data(), .words = words_.data(), .zeros = zeros_};
    std::size_t at = 0;
    for (const PackLayout& layout : layouts) {
        if (!packs_.decode(layout, payload.subspan(at, layout.header.size), info, rules, room)) return false;
        at += layout.header.size;
    }
    return true;
}

bool ChunkDecoder::decode(const Packs& packs, const TraceInfo& info) {
    std::vector<std::uint8_t> payload = packs.payload;
    payload.resize(payload.size() + varint::kSlack);
    count_ = 0;
    if (!decode_packs(std::span{payload}.first(packs.payload.size()), packs.events,
                      {.innermost = packs.innermost, .switches = packs.switches}, info))
        return false;
    count_ = packs.events;
    return true;
}

bool ChunkDecoder::decode(const format::ChunkHeader& header, std::span<const std::uint8_t> payload,
                          const TraceInfo& info) {
    count_ = 0;
    const bool good = header.is(format::ChunkType::packs)
                          ? decode_packs(payload, header.events,
                                         {.innermost = (header.flags & format::kInnermost) != 0,
                                          .switches = (header.flags & format::kSwitches) != 0},
                                         info) &&
                                events_[0].tsc == header.first_tsc &&
                                events_[header.events - 1].tsc == header.last_tsc
                          : Run(*this, info).decode(header, payload);
    if (good) count_ = header.events;
    return good;
}

}  // namespace rdam::trace
