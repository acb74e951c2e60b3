#include "tools/trace/side_tables.h"

#include <algorithm>

#include "tools/trace/column_reader.h"

namespace rdam::trace {

using format::OffCpuColumn;

namespace {

/// Which intervals are the recorder's, or the program's.
class Marks {
  public:
    explicit Marks(ColumnReader& column) : column_(column) { advance(0); }

    /// To be asked of one interval after the other.
    bool take(std::uint64_t interval) {
        if (interval != next_) return false;
        advance(interval);
        return true;
    }
    /// There are none behind the last interval, nor two of the same one.
    bool good() const { return next_ == kNone && !repeated_; }

  private:
    static constexpr std::uint64_t kNone = UINT64_MAX;

    void advance(std::uint64_t from) {
        const bool first = next_ == kNone;
        next_ = kNone;
        if (column_.left() == 0) return;
        const std::uint64_t distance = column_.next();
        repeated_ = repeated_ || (distance == 0 && !first);
        if (distance < kNone - from)
            next_ = from + distance;
        else
            repeated_ = true;
    }

    ColumnReader& column_;
    std::uint64_t next_ = kNone;
    bool repeated_ = false;
};

}  // namespace

void OffCpuEncoder::put(OffCpuColumn column, std::uint64_t number) {
    put_number(columns_[static_cast<std::size_t>(column)], number);
}

void OffCpuEncoder::add(OffCpu interval) {
    if (intervals_ == 0) first_ = last_ = interval.out;
    const std::uint64_t out = std::max(interval.out, last_);
    const bool open = interval.in == kStillOut;
    const std::uint64_t in = open ? out : std::max(interval.in, out);
    put(OffCpuColumn::gaps, out - last_);
    put(OffCpuColumn::lengths, open ? 0 : in - out + 1);
    const auto cpu = static_cast<std::uint16_t>((open ? kNoCpu : interval.cpu) + 1);
    put(OffCpuColumn::processors, std::uint64_t{cpu} << 1U | (interval.preempted ? 1U : 0U));
    if (interval.by_recorder) {
        put(OffCpuColumn::recorder, intervals_ - last_by_recorder_);
        last_by_recorder_ = intervals_;
    }
    if (interval.by_program) {
        put(OffCpuColumn::program, intervals_ - last_by_program_);
        last_by_program_ = intervals_;
    }
    last_ = in;
    ++intervals_;
}

std::size_t OffCpuEncoder::bytes() const {
    std::size_t all = 0;
    for (const auto& column : columns_)
        all += column.size();
    return all;
}

std::vector<std::uint8_t> OffCpuEncoder::payload() const {
    return join_columns(columns_);
}

bool decode_off_cpu(const format::ChunkHeader& header, std::span<const std::uint8_t> payload,
                    std::vector<OffCpu>& to) {
    std::array<ColumnReader, format::kOffCpuColumns> columns;
    if (!open_columns(payload, columns, format::kFirstOffCpuColumns)) return false;
    auto& [gaps, lengths, processors, recorder, program] = columns;
    // Times jitter, so an interval never takes less than a bit: the stored size bounds the allocation.
    if (header.events == 0 || header.events > gaps.left() || header.events / 8 > header.stored_size)
        return false;
    const std::size_t before = to.size();
    const auto broken = [&] {
        to.resize(before);
        return false;
    };
    Marks by_recorder(recorder), by_program(program);
    std::uint64_t at = header.first_tsc;
    for (std::uint32_t i = 0; i < header.events; ++i) {
        const std::uint64_t gap = gaps.next();
        const std::uint64_t length = lengths.next();
        const std::uint64_t processor = processors.next();
        const bool open = length == 0;
        if ((i == 0 && gap != 0) || (open && i + 1 != header.events) || processor >> 17U != 0 ||
            !advance(at, gap))
            return broken();
        OffCpu interval{.out = at,
                        .in = OffCpuEncoder::kStillOut,
                        .cpu = static_cast<std::uint16_t>((processor >> 1U) - 1),
                        .preempted = (processor & 1U) != 0,
                        .by_recorder = by_recorder.take(i),
                        .by_program = by_program.take(i)};
        if ((interval.by_recorder || interval.by_program) && !interval.preempted) return broken();
        if (!open && !advance(at, length - 1)) return broken();
        if (!open) interval.in = at;
        to.push_back(interval);
    }
    const bool whole = std::ranges::all_of(columns, [](const ColumnReader& each) { return each.done(); });
    return whole && by_recorder.good() && by_program.good() && at == header.last_tsc ? true : broken();
}

std::vector<OffCpu> within_life(std::vector<OffCpu> intervals, std::uint64_t begin, std::uint64_t end) {
    std::uint64_t from = begin;
    std::size_t kept = 0;
    for (OffCpu interval : intervals) {
        if (interval.in == OffCpuEncoder::kStillOut) interval.in = end;
        interval.out = std::max(interval.out, from);
        interval.in = std::min(interval.in, end);
        if (interval.out >= interval.in) continue;
        from = interval.in;
        intervals[kept++] = interval;
    }
    intervals.resize(kept);
    return intervals;
}

using format::WindowsColumn;

void WindowsEncoder::add(Window window) {
    window.begin = std::max(window.begin, last_);
    if (window.end <= window.begin) return;
    if (windows_ == 0) first_ = last_ = window.begin;
    put_number(columns_[static_cast<std::size_t>(WindowsColumn::gaps)], window.begin - last_);
    put_number(columns_[static_cast<std::size_t>(WindowsColumn::lengths)], window.end - window.begin);
    put_number(columns_[static_cast<std::size_t>(WindowsColumn::groups)], window.group);
    last_ = window.end;
    ++windows_;
}

bool decode_windows(const format::ChunkHeader& header, std::span<const std::uint8_t> payload,
                    std::vector<Window>& to) {
    std::array<ColumnReader, format::kWindowsColumns> columns;
    if (!open_columns(payload, columns, format::kFirstWindowsColumns)) return false;
    auto& [gaps, lengths, groups] = columns;
    const bool grouped = groups.left() > 0;
    // The stored size bounds the allocation, as in off-CPU chunks.
    if (header.events == 0 || header.events > gaps.left() || header.events / 8 > header.stored_size ||
        (!to.empty() && header.first_tsc < to.back().end))
        return false;
    const std::size_t before = to.size();
    const auto broken = [&] {
        to.resize(before);
        return false;
    };
    std::uint64_t at = header.first_tsc;
    for (std::uint32_t i = 0; i < header.events; ++i) {
        const std::uint64_t gap = gaps.next();
        const std::uint64_t length = lengths.next();
        const std::uint64_t group = grouped ? groups.next() : 0;
        if ((i == 0 && gap != 0) || length == 0 || group > kMaxWindowGroup || !advance(at, gap))
            return broken();
        const std::uint64_t begin = at;
        if (!advance(at, length)) return broken();
        to.push_back({begin, at, static_cast<std::uint32_t>(group)});
    }
    const bool whole = std::ranges::all_of(columns, [](const ColumnReader& each) { return each.done(); });
    return whole && at == header.last_tsc ? true : broken();
}

}  // namespace rdam::trace
