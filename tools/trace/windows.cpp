#include "tools/trace/windows.h"

#include <algorithm>

#include "tools/trace/column_reader.h"

namespace rdam::trace {

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
