// Made-up programs for tests of what is printed.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/output/json.h"
#include "analyzer/output/text.h"
#include "tests/unit/analysis/recording.h"

namespace rdam::test {

/// Two threads that take a lock; the second one waits for it now and then.
Recording contended_program();

/// With a budget for overhead: `parse` is called often and soon sampled, and calls `next_token`; `log` is
/// rare; `recover` may have been called where nobody looked.
Recording program_with_budget(std::uint8_t rate, std::uint64_t switched_off);

/// `step` is called from six places; at one of them it is disturbed, at another a little.
Recording program_with_callers();

/// Everything that can go wrong, and names that mean harm.
Recording troubled_program();

/// With the sources of these programs: 0x1000 lies in worker, 0x2000 in a function that was inlined into
/// main.
std::string text_of(const score::Report& report, const output::TextOptions& options = {},
                    const std::vector<hints::FunctionHints>& hints = {});
std::string json_of(const score::Report& report, const output::JsonOptions& options = {});

}  // namespace rdam::test
