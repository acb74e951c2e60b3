// Text of a trace as it enters the page: printable, and of a length that somebody may read. A trace may have
// names of megabytes.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/report/report.h"
#include "tools/base/name_text.h"
#include "tools/base/printable.h"

namespace rdam::output {

/// Columns of a name.
inline constexpr std::size_t kLongestPageName = 400;
/// … of a sentence, which may hold several names, or a command.
inline constexpr std::size_t kLongestPageText = 4000;

/// Without its middle if it is longer.
inline std::string page_text(std::string_view text, std::size_t longest = kLongestPageText) {
    // What is cut off anyway must not cost the time of looking at it: no character takes more bytes than
    // four.
    const std::size_t most = 4 * longest;
    if (text.size() <= 2 * most) return shortened_name(printable(text), longest);
    const std::string ends = std::string{text.substr(0, most)}.append(text.substr(text.size() - most));
    return shortened_name(printable(ends), longest);
}

inline std::string page_name(std::string_view name) {
    return page_text(name, kLongestPageName);
}

/// `module:name`.
inline std::string page_name(const std::string& module, const std::string& name) {
    return score::qualified_name(page_name(module), page_name(name));
}

}  // namespace rdam::output
