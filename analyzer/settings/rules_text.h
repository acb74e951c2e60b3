// What reading and changing a rules file have in common.
#pragma once

#include <toml++/toml.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "analyzer/settings/rules.h"
#include "analyzer/settings/settings.h"

namespace rdam::rules {

/// The keys that are not lists of names (those: score::kRuleLists).
inline constexpr const char* kDeepKeys = "deep-keys";
inline constexpr const char* kFoldLoops = "fold-loops";
inline constexpr const char* kBaseline = "baseline";
inline constexpr const char* kThreshold = "threshold";
inline constexpr std::array kOtherKeys = {kDeepKeys, kFoldLoops, kBaseline, kThreshold};

inline constexpr std::size_t kMaxBytes = std::size_t{1} << 20;  ///< of a file

/// The table, and the errors of the library as ours.
Result<toml::table> parse_table(std::string_view text, std::string_view origin);

/// `text` as a string of TOML, quotes included. Error: it is no UTF-8.
Result<std::string> quoted(const std::string& text);

/// Where lines begin, to find the places that the library reports.
class Lines {
  public:
    explicit Lines(std::string_view text);
    /// The byte offset of a place that the library gives in lines and UTF-8 characters.
    std::size_t offset(const toml::source_position& place) const;

  private:
    std::string_view text_;
    std::vector<std::size_t> begins_;
};

}  // namespace rdam::rules
