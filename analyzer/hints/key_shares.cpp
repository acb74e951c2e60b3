#include "analyzer/hints/key_shares.h"

#include "analyzer/hints/explain.h"
#include "analyzer/hints/finders.h"
#include "analyzer/hints/variables.h"
#include "analyzer/mining/keys.h"

namespace rdam::hints {

std::vector<KeyShare> key_shares(const trace::TraceInfo& info, const score::Report& report,
                                 const score::FunctionRow& row) {
    const Activities none;
    const Suspicion suspicion = suspicion_of(info, report, none, row, false);
    std::vector<KeyShare> shares;
    if (row.sample.calls.size() < kFewestCalls || !(suspicion.lost_ns > 0)) return shares;
    const auto add = [&](std::uint16_t number, const Variable& variable) {
        const double explains = explained_by(suspicion, variable);
        shares.push_back({number, explains, row.rdam * (1 - explains)});
    };
    const auto& parameters = suspicion.function.parameters;
    for (std::size_t p = 0; p < parameters.size(); ++p) {
        const trace::ParameterInfo& parameter = parameters[p];
        if (parameter.word >= row.sample.words_per_call) continue;
        add(static_cast<std::uint16_t>(p), [&](std::size_t i) {
            return ordered(row.sample.word(i, parameter.word), parameter.kind, parameter.size);
        });
    }
    add(mining::kCallerKey, [&](std::size_t i) { return row.sample.calls[i].caller; });
    return shares;
}

}  // namespace rdam::hints
