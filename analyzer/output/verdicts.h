// The results of comparisons, in words.
#pragma once

#include "analyzer/causes/cross_check.h"
#include "analyzer/report/compare_reports.h"

namespace rdam::output {

/// `agree`, `effect_only`, `cause_only`, `neither`.
const char* verdict_name(causes::CauseVerdict verdict);

/// For people; empty: there is nothing to say.
const char* verdict_text(causes::CauseVerdict verdict);

/// `better`, `worse`, `same`, `only_a`, `only_b`.
const char* verdict_name(score::DiffVerdict verdict);

}  // namespace rdam::output
