// What an archive of ours calls its things: the writer and the reader agree on it.
#pragma once

#include <otf2/otf2.h>

#include <array>
#include <string_view>

namespace rdam::otf2 {

inline constexpr std::string_view kCreator = "rdam";

// Attributes that calls have whatever their function is: never those of a parameter.
/// On enter, uint64: the call stands for so many (left out: 1).
inline constexpr OTF2_AttributeRef kCalls = 0;
/// On leave, double: nanoseconds (left out: not known).
inline constexpr OTF2_AttributeRef kLost = 1;
/// On leave, string: how it ended (left out: it returned).
inline constexpr OTF2_AttributeRef kEnd = 2;
/// On a buffer flush, which is any time for which the recorder held the thread: string.
inline constexpr OTF2_AttributeRef kReason = 3;
/// On the leave of a time off the processor, uint32: where the thread went on (left out: not known).
inline constexpr OTF2_AttributeRef kProcessor = 4;

/// On a buffer flush, uint64: when it really began, in ticks. Its own time is moved to where it was recorded.
inline constexpr OTF2_AttributeRef kBegan = 5;
inline constexpr OTF2_AttributeRef kLastOwn = kBegan;

// Values of `end`, which are calls::kEndWords.
inline constexpr std::string_view kUnwound = "unwound";
inline constexpr std::string_view kNotSeen = "not seen";

/// Behind the type in the description of a parameter's attribute: it tells sequences apart.
inline constexpr std::string_view kKeyMark = ", key";
/// Likewise, as a size: values of about the same size are one.
inline constexpr std::string_view kSizeMark = ", size";

// Properties of a location, uint64: ticks of the archive's clock (left out: not known).
inline constexpr std::string_view kThreadBegan = "began";
inline constexpr std::string_view kThreadEnded = "ended";  ///< left out: the last event counts
inline constexpr std::string_view kCountedUntil = "calls counted until";
// … and not ticks, but events and calls.
inline constexpr std::string_view kDropped = "events lost";
inline constexpr std::string_view kUnwritten = "events not written";
/// Of each function that the thread has called, where all calls are counted, the region's number behind it.
inline constexpr std::string_view kCallsOf = "calls of region ";

// Properties of the archive: decimal numbers, the costs in ticks of its clock (trace::ClockInfo).
inline constexpr const char* kVersion = "RDAM::VERSION";
inline constexpr const char* kRecorder = "RDAM::RECORDER";  ///< another tool; left out: rdam
inline constexpr const char* kCommand = "RDAM::COMMAND";
inline constexpr const char* kClockSource = "RDAM::CLOCK";
/// The definition of the archive's clock has it rounded.
inline constexpr const char* kTicksPerSecond = "RDAM::TICKS_PER_SECOND";
inline constexpr const char* kProbe = "RDAM::PROBE_TICKS";
inline constexpr const char* kProbeInner = "RDAM::PROBE_INNER_TICKS";
inline constexpr const char* kFlow = "RDAM::FLOW_TICKS";
inline constexpr const char* kFloor = "RDAM::FLOOR_TICKS";
inline constexpr const char* kClockStep = "RDAM::CLOCK_STEP_TICKS";
inline constexpr const char* kClockError = "RDAM::CLOCK_ERROR_TICKS";
inline constexpr const char* kPid = "RDAM::PID";
inline constexpr const char* kProcessors = "RDAM::PROCESSORS";
inline constexpr const char* kMaxOverhead = "RDAM::MAX_OVERHEAD";
inline constexpr const char* kSwitches = "RDAM::CONTEXT_SWITCHES";
inline constexpr std::string_view kSwitchesRecorded = "recorded";
inline constexpr std::string_view kSwitchesStopped = "stopped";
inline constexpr const char* kSwitchesUntil = "RDAM::CONTEXT_SWITCHES_UNTIL";  ///< ticks; of kSwitchesStopped
inline constexpr const char* kSwitchesReason = "RDAM::CONTEXT_SWITCHES_REASON";  ///< of kSwitchesStopped
inline constexpr const char* kEventsLost = "RDAM::EVENTS_LOST";  ///< of all threads, unknown ones included
inline constexpr const char* kMachineShare = "RDAM::MACHINE_SHARE";
inline constexpr const char* kCleanEnd = "RDAM::CLEAN_END";  ///< 0 or 1; left out: 1
/// The number of a region behind it: FunctionSampling (analyzer/otf2/sampling.h).
inline constexpr std::string_view kSamplingOf = "RDAM::SAMPLING_OF_REGION_";
/// A number from 0 behind it, in the order of time: texts_of().
inline constexpr std::string_view kWindows = "RDAM::WINDOWS_";

/// Values of `reason`, in the order of trace::PauseReason.
inline constexpr std::array<std::string_view, 4> kReasons{"stack copy", "new chunk", "buffer full", "other"};

// Names of regions that are no functions.
inline constexpr std::string_view kWaits = "off the processor: waits";
inline constexpr std::string_view kPreempted = "off the processor: preempted";
inline constexpr std::string_view kDisplaced = "off the processor: displaced by the recorder";

}  // namespace rdam::otf2
