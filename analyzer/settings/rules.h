// A rules file, rdam.toml: what a user has found out about a program's functions, for the next analysis.
//
//     # The time of compress() is that of its input.
//     keys = ["compress:length"]
//     threshold = 0.1
//
// Its content: docs/feedback.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analyzer/settings/settings.h"
#include "tools/base/result.h"

namespace rdam::rules {

/// Its name where it is looked for.
inline constexpr const char* kFileName = "rdam.toml";

struct Rules {
    score::NamedRules named = {};
    std::optional<bool> deep_keys = {};
    std::optional<bool> fold_loops = {};
    std::optional<std::string> baseline = {};  ///< as score::parse_baseline takes it
    std::optional<double> threshold = {};      ///< 0 to 1

    bool operator==(const Rules&) const = default;
};

/// `origin` names the text in errors, which say the line.
Result<Rules> parse_rules(std::string_view text, std::string_view origin);
Result<Rules> read_rules(const std::string& path);

/// `text`, changed only where it differs from `wanted`: comments, order and layout stay. A removed rule takes
/// its line and the comment after it with it; a new rule comes last in its list. The order of `wanted` does
/// not matter. Error: `text` has one, or a name that is not UTF-8.
Result<std::string> rewrite_rules(std::string_view text, const Rules& wanted, std::string_view origin);

/// Rewrites the file, or makes it. Nobody sees a half-written one.
Result<void> write_rules(const std::string& path, const Rules& wanted);

}  // namespace rdam::rules
