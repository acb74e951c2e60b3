#include "analyzer/output/verdicts.h"

namespace rdam::output {

const char* verdict_name(causes::CauseVerdict verdict) {
    switch (verdict) {
        case causes::CauseVerdict::agree:
            return "agree";
        case causes::CauseVerdict::effect_only:
            return "effect_only";
        case causes::CauseVerdict::cause_only:
            return "cause_only";
        case causes::CauseVerdict::neither:
            break;
    }
    return "neither";
}

const char* verdict_text(causes::CauseVerdict verdict) {
    switch (verdict) {
        case causes::CauseVerdict::agree:
            return "effect and cause agree";
        case causes::CauseVerdict::effect_only:
            return "effect without known cause: look further";
        case causes::CauseVerdict::cause_only:
            return "cause without effect: leave it";
        case causes::CauseVerdict::neither:
            break;
    }
    return "";
}

const char* verdict_name(score::DiffVerdict verdict) {
    switch (verdict) {
        case score::DiffVerdict::better:
            return "better";
        case score::DiffVerdict::worse:
            return "worse";
        case score::DiffVerdict::only_a:
            return "only_a";
        case score::DiffVerdict::only_b:
            return "only_b";
        case score::DiffVerdict::same:
            break;
    }
    return "same";
}

}  // namespace rdam::output
