// What tells the remarks of a trace (TraceInfo::remarks) that somebody else than its process has to print, or
// must not print again.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace rdam::trace {

/// How a remark begins that the process could not print, as it has become another program.
inline constexpr std::string_view kWentOn = "the process went on as ";

/// What those have in them that are printed when the process begins.
inline constexpr std::string_view kReplaced = " was replaced while the program ran: ";
inline constexpr std::string_view kTooMany = " functions were skipped: rdam can wrap ";

/// `killed`: the process has printed nothing at its end.
inline bool is_left_to_say(std::string_view remark, bool killed) {
    constexpr std::array kSaid{kReplaced, kTooMany};
    const auto is_in = [remark](std::string_view words) { return remark.find(words) != remark.npos; };
    return remark.starts_with(kWentOn) || (killed && std::none_of(kSaid.begin(), kSaid.end(), is_in));
}

}  // namespace rdam::trace
