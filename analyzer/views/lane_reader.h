// One thread in a window of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/calls/matcher.h"
#include "analyzer/views/around.h"

namespace rdam::around {

/// The calls that reach into `part`, as far as the chunks of events that do so tell: a call that began in an
/// earlier chunk is not known. Slices shorter than the part / `columns` are merged with their neighbours of
/// the same depth; beyond kMaxDepth they are left out. Takes memory for kMaxDepth × 2 × `columns` slices.
inline constexpr std::uint32_t kMaxDepth = 10;
Result<Lane> read_lane(const trace::TraceReader& reader, const calls::KnownEnds& ends, std::uint32_t thread,
                       const trace::TimePart& part, std::size_t columns);

/// A thread's times off the processor that reach into `part`, without those shorter than the part / `columns`.
/// `intervals` are those of TraceReader::off_cpu().
std::vector<trace::OffCpu> within(std::span<const trace::OffCpu> intervals, const trace::TimePart& part,
                                  std::size_t columns);

}  // namespace rdam::around
