// The supported formats of tools that report causes, and how a file's format is recognized. A new format is a
// file in this folder and a line in formats.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/causes/cause_report.h"
#include "tools/base/result.h"

namespace rdam::causes {

/// At least one report, or an error that names `origin`, where possible the line, and the remedy.
using CauseReports = Result<std::vector<CauseReport>>;

struct Format {
    std::string_view name;  ///< for people: "perf c2c report"
    bool (*is_it)(std::string_view text);
    CauseReports (*parse)(std::string_view text, std::string_view origin);
};

/// In the order in which they are tried.
std::span<const Format> formats();

/// `text` is untrusted and of any size. What no format knows is an error that lists those there are.
CauseReports parse_causes(std::string_view text, std::string_view origin);

/// parse_causes() of a file, or of standard input for `-`.
CauseReports read_causes(const std::string& path);

}  // namespace rdam::causes
