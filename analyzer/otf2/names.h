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

// Values of the last, in the order of views::End.
inline constexpr std::string_view kUnwound = "unwound";
inline constexpr std::string_view kNotSeen = "not seen";
inline constexpr std::array<std::string_view, 4> kEnds{"returned", kUnwound, "tail", kNotSeen};

// Names of regions that are no functions.
inline constexpr std::string_view kWaits = "off the processor: waits";
inline constexpr std::string_view kPreempted = "off the processor: preempted";

}  // namespace rdam::otf2
