// What an archive of ours has beside the program's own calls: the writer and the reader agree on it.
#pragma once

#include <otf2/otf2.h>

#include <string_view>

namespace rdam::otf2 {

/// The archive's creator begins with it; behind it stands who has recorded the trace.
inline constexpr std::string_view kExportOf = "rdam export of ";

// Attributes that calls have whatever their function is: what rdam has found, and never a parameter.
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
inline constexpr OTF2_AttributeRef kLastOwn = kProcessor;

/// A value of kEnd: nobody saw the call end.
inline constexpr std::string_view kNotSeen = "not seen";

}  // namespace rdam::otf2
