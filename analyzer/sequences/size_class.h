// Values that say how much a call has to do: calls that have about the same to do are compared.
//
// A function whose time is proportional to a size would hardly ever be called twice with the same one, and
// what is compared with nothing has no score. So sizes are put into classes. The smallest are each its own
// class; above, an octave has eight, so that the calls of a class differ by an eighth at most, and by 4 % on
// average. Floating-point numbers (an angle that sin() reduces) have a class for each power of two and sign.
#pragma once

#include <cstdint>
#include <string>

#include "tools/trace/event.h"

namespace rdam::mining {

/// The class of a parameter's or result's value, `word`: the value in it with the lowest magnitude.
std::uint64_t size_class(std::uint64_t word, std::uint8_t kind, std::uint8_t size);

/// The values in the class, `4096…4607`; of a class with one value that.
std::string size_class_text(const trace::ParameterInfo& parameter, std::uint64_t size_class);

/// What a pointer that a function returns into what it was given, like strchr(), says of its length.
inline constexpr std::uint64_t kReturnedNull = UINT64_MAX;
/// The call returned nothing, or it was not recorded.
inline constexpr std::uint64_t kNoResult = UINT64_MAX - 1;

}  // namespace rdam::mining
