// Reports of causes as text that a test can compare.
#pragma once

#include <string>
#include <vector>

#include "analyzer/causes/cause_report.h"

namespace rdam::test {

/// The bytes of tests/unit/causes/samples/`name`.
std::string sample(const std::string& name);

/// The reports of such a file; fails the test if there are none.
std::vector<causes::CauseReport> sample_reports(const std::string& name);

/// `tool, label: total unit`, and a line for each row: `own% with-callees% absolute  module:function
/// file:line`.
std::string text_of(const causes::CauseReport& report);
std::string text_of(const std::vector<causes::CauseReport>& reports);

/// What parse_causes says of this text, called `tool.txt`.
std::string error_of(const std::string& text);

}  // namespace rdam::test
