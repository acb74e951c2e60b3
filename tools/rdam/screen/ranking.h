// The functions, as the screen ranks them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/report/report.h"
#include "analyzer/settings/settings.h"
#include "tools/rdam/screen/content.h"

namespace rdam::screen {

enum class Order : std::uint8_t { score, lost, occurrences, name };
/// The one after it; after the last the first.
Order next(Order order);
/// `by lost time`.
std::string in_words(Order order);

/// The rows whose names contain `filter`, ignoring case.
std::vector<const score::FunctionRow*> ranked(const score::Report& report, Order order,
                                              const std::string& filter);

struct Facts {
    const score::Report& report;
    const score::Settings& settings;
    std::size_t ignored = 0;  ///< functions
    std::size_t notes = 0;
    std::string rules = {};                  ///< the file that is in force; empty: none
    std::vector<std::string> findings = {};  ///< in few words each, or the verdict
};

/// The line that says with which settings the scores were made.
Line settings_line(const Facts& facts);

Content ranking_content(const Facts& facts, Order order, const std::string& filter, std::size_t width);

}  // namespace rdam::screen
