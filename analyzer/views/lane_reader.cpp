#include "analyzer/views/lane_reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analyzer/calls/matcher.h"

namespace rdam::around {
namespace {

/// Slices of one depth, in the order in which they end. Short neighbours become one.
class Row {
  public:
    void add(const Slice& slice, std::uint64_t shortest) {
        const std::uint64_t length = slice.end - slice.begin;
        if (length < shortest && !slices_.empty() && mergeable_ && slice.begin >= slices_.back().end &&
            slice.end - slices_.back().begin <= shortest) {
            Slice& last = slices_.back();
            if (length > longest_) {
                longest_ = length;
                last.function = slice.function;
            }
            last.end = slice.end;
            ++last.calls;
            return;
        }
        mergeable_ = length < shortest;
        longest_ = length;
        slices_.push_back(slice);
    }
    const std::vector<Slice>& slices() const { return slices_; }

  private:
    std::vector<Slice> slices_;
    bool mergeable_ = false;
    std::uint64_t longest_ = 0;  // of the calls that the last slice holds
};

class Collector final : public calls::CallSink {
  public:
    Collector(const trace::TraceInfo& info, const trace::TimePart& part, std::size_t columns)
        : known_ends_(calls::with_known_ends(info)),
          part_(part),
          shortest_((part.end - part.begin) / std::max<std::size_t>(columns, 1)) {}

    void opened(const trace::Event& enter, std::uint64_t /*weight*/) override {
        const bool shown = known_ends_.empty() || known_ends_[enter.function];
        open_.push_back({enter.tsc, enter.function, shown});
        depth_ += shown ? 1 : 0;
    }
    void closed(const calls::Call& call) override {
        const bool shown = pop();
        if (call.timed && shown)
            add({.begin = call.begin, .end = call.last->tsc, .function = call.function, .depth = depth_});
    }
    void abandoned(std::size_t count) override {
        // At the end of what was read: they go on, or nobody saw them end.
        for (; count > 0; --count) {
            const Open call = open_.back();
            if (pop() && ended_)
                add({.begin = call.begin,
                     .end = std::max(part_.end, call.begin),
                     .function = call.function,
                     .depth = depth_,
                     .open = true});
        }
    }
    void tree_ended(std::uint64_t /*weight*/) override {}

    void end() { ended_ = true; }
    std::vector<Slice> take() const {
        std::vector<Slice> all;
        for (const Row& row : rows_)
            all.insert(all.end(), row.slices().begin(), row.slices().end());
        return all;
    }

  private:
    struct Open {
        std::uint64_t begin = 0;
        std::uint32_t function = 0;
        bool shown = true;
    };

    /// Takes the innermost open call away; whether it is shown.
    bool pop() {
        const bool shown = open_.back().shown;
        open_.pop_back();
        depth_ -= shown ? 1 : 0;
        return shown;
    }

    void add(const Slice& slice) {
        if (slice.end < part_.begin || slice.begin > part_.end || slice.depth >= kMaxDepth) return;
        rows_[slice.depth].add(slice, shortest_);
    }

    std::vector<bool> known_ends_;  // by function; empty: all
    trace::TimePart part_;
    std::uint64_t shortest_;
    std::array<Row, kMaxDepth> rows_;
    std::vector<Open> open_;
    std::uint32_t depth_ = 0;  // of open calls that are shown
    bool ended_ = false;
};

}  // namespace

Result<Lane> read_lane(const trace::TraceReader& reader, const calls::KnownEnds& ends, std::uint32_t thread,
                       const trace::TimePart& part, std::size_t columns) {
    Lane lane;
    if (reader.events_of_part(thread, part) > 0) {
        Collector collector{reader.info(), part, columns};
        calls::Matcher matcher{reader.info().functions.size(), {}, {}, collector};
        matcher.set_known_ends(ends);
        auto read = reader.read_part(
            thread, part, [&](std::span<const trace::Event> events) { matcher.consume(events); },
            [&] { matcher.gap(); });
        if (!read) return tl::unexpected{read.error()};
        collector.end();
        matcher.finish();
        lane.slices = collector.take();
    }
    return lane;
}

std::vector<trace::OffCpu> within(std::span<const trace::OffCpu> intervals, const trace::TimePart& part,
                                  std::size_t columns) {
    const std::uint64_t shortest = (part.end - part.begin) / std::max<std::size_t>(columns, 1);
    std::vector<trace::OffCpu> found;
    auto next = std::partition_point(intervals.begin(), intervals.end(),
                                     [&](const trace::OffCpu& each) { return each.in <= part.begin; });
    for (; next != intervals.end() && next->out < part.end; ++next)
        if (next->in - next->out >= shortest) found.push_back(*next);
    return found;
}

}  // namespace rdam::around
