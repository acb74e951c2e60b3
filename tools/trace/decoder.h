// Decodes the payload of an event chunk into events. The payload is untrusted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tools/trace/event.h"
#include "tools/trace/event_columns.h"
#include "tools/trace/format.h"
#include "tools/trace/pack_decoder.h"

namespace rdam::trace {

class ChunkDecoder {
  public:
    /// Decodes an event chunk of either type. False if the chunk breaks any rule of docs/trace-format.md or
    /// contradicts `info`. A call stack that `info` does not have becomes 0: the recorder may have died
    /// before it described it. `payload` is followed by varint::kSlack readable bytes.
    bool decode(const format::ChunkHeader& header, std::span<const std::uint8_t> payload,
                const TraceInfo& info);

    /// Decodes packs that are in no file yet, as the recorder has made them.
    bool decode(const Packs& packs, const TraceInfo& info);

    /// The result of the last successful decode(), valid until the next: pack by pack, or all in one.
    std::span<const EventColumns> columns() const { return columns_; }
    /// The same as events, made when they are first asked for.
    std::span<Event> events();

    /// Memory for events and their words.
    std::size_t bytes() const {
        return events_.capacity() * sizeof(Event) + ops_.capacity() * sizeof(EventColumns::Op) +
               (op_.capacity() + first_word_.capacity()) * sizeof(std::uint32_t) +
               (words_.capacity() + tsc_.capacity() + instructions_.capacity()) * sizeof(std::uint64_t);
    }

  private:
    class Run;
    void start();
    bool decode_packs(std::span<const std::uint8_t> payload, std::uint32_t events, const PackRules& rules,
                      const TraceInfo& info);

    /// An event as the column of kinds codes it: what all such events of the chunk have in common.
    struct Prepared {
        Event event;
        std::uint32_t words = 0;     ///< to be read; kNever: there is no such event
        std::uint32_t previous = 0;  ///< where in previous_ the last words are
        bool is_enter = false;
    };
    static constexpr std::uint32_t kNever = UINT32_MAX;

    // All of these only grow: to make them anew for each chunk costs as much as to decode it.
    std::vector<Event> events_;
    std::size_t count_ = 0;
    std::vector<std::uint64_t> words_;  ///< events point into it
    std::vector<std::uint64_t> zeros_;  ///< what a leave by unwinding returned
    std::vector<Prepared> prepared_;    ///< by code
    std::vector<std::uint64_t> previous_;
    std::vector<std::uint64_t> callers_;
    PackDecoder packs_;
    // The columns of all packs one after the other; `columns_` refers to them.
    std::vector<EventColumns> columns_;
    std::vector<EventColumns::Op> ops_;
    std::vector<std::uint32_t> op_;
    std::vector<std::uint64_t> tsc_;
    std::vector<std::uint32_t> first_word_;
    std::vector<std::uint64_t> instructions_;
    std::vector<EventColumns::Until> untils_;
    std::vector<pack::Mark> marks_;
    bool made_ = false;  ///< `events_` has the events
};

}  // namespace rdam::trace
