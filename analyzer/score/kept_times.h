// The times of a trace's threads as bytes, so that they can be kept in a file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analyzer/score/resolved_settings.h"
#include "analyzer/score/thread_times.h"
#include "tools/trace/clock.h"
#include "tools/trace/event.h"

namespace rdam::score {

/// The bytes of all that makes the times of a thread what they are, besides its events: two analyses of a trace with
/// equal ones get equal times. The rest of the settings is about what is made of these times.
std::vector<std::uint8_t> times_key(const ResolvedSettings& settings);

/// `times` of any thread, read to its end, without patterns.
std::vector<std::uint8_t> kept_times(const ThreadTimes& times);

/// What kept_times() has made of a thread with this life, of the trace with this `info`, with the same times_key().
/// Nothing: the bytes are of something else, or damaged. Every byte is untrusted: whatever they are, no number in the
/// result is out of range.
std::unique_ptr<ThreadTimes> times_from(std::span<const std::uint8_t> bytes, const trace::TraceInfo& info,
                                        const ResolvedSettings& settings, trace::TickRange life);

}  // namespace rdam::score
