// Lists of functions with percentages, as `rdam hot` writes them.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "wrappers/find/function_list.h"
#include "wrappers/hot/hot_report.h"

struct ExpectedList {
    std::map<std::string, double> percent;  // by the entry's text
};

ExpectedList parse_expected(const std::string& text);
std::string read_text(const std::filesystem::path& path);

/// What `rdam hot --no-waits` makes of a file.
ExpectedList hot_list_of(const std::filesystem::path& input, double min_percent);

/// Empty when both name the same functions with the same percentages but for rounding; else what differs. A
/// function without module equals the one of the same name, and one close to the limit may be absent.
std::string difference(const ExpectedList& expected, const ExpectedList& actual, double tolerance);
