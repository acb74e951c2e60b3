// What came of a check (analyzer/report/check_runs.h): for people, and in the formats of services that collect such results.
#pragma once

#include <string>
#include <vector>

#include "analyzer/report/check_runs.h"

namespace rdam::output {

/// A line for each function that got worse, the time of the run first; none: nothing did. Printable.
std::vector<std::string> worse_lines(const score::CheckResult& check);

/// The line that is printed if nothing got worse.
std::string not_worse_line(const score::CheckResult& check);

/// JUnit XML: a test case for each row, with a failure if it is worse; a skipped one for each function that is not compared.
/// (The schema of Jenkins' xUnit plugin, junit-10.xsd.)
std::string check_junit(const score::CheckResult& check);

/// Bencher Metric Format (https://bencher.dev/docs/reference/bencher-metric-format): the means of the runs after the change, with the least
/// and the greatest run. Measures: `latency` of the run, which Bencher has built in, `loss-per-call` (both ns) and `calls`.
std::string check_bencher(const score::CheckResult& check);

/// What github-action-benchmark reads with `tool: customSmallerIsBetter`: the same figures.
std::string check_github(const score::CheckResult& check);

}  // namespace rdam::output
