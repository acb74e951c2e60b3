// The plan area of the shared memory, from which the process reads its plan.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/agent/memory/shared_memory.h"
#include "wrappers/plan/planner.h"

namespace rdam::agent {

struct NumberedFunction {
    std::uint32_t number = 0;
    const FunctionPlan* function = nullptr;  ///< its object is an index into ProcessDescription::objects
    bool anew = false;                       ///< shm::PlannedFunction::anew
};

/// What goes with a plan.
struct PlanTexts {
    std::string message = {};              ///< lines for stderr, in any case
    std::string wrapped = {};              ///< lines for stderr if functions are wrapped as planned
    std::string list = {};                 ///< shm::PlanReply::list
    std::vector<std::uint8_t> known = {};  ///< shm::PlanReply::inherited
    bool anew = false;                     ///< shm::PlanReply::inherits_anew
};

/// The answer to the request `serial`. Announces nothing. False when it does not fit.
bool write_plan(const SharedMemory& shared, const ProcessDescription& process,
                const std::vector<NumberedFunction>& plan, const PlanTexts& texts, std::uint32_t serial);

/// Announces that nothing is recorded, and why. `list`: shm::PlanReply::list.
void refuse(const SharedMemory& shared, const std::string& text, const std::string& list = {});

}  // namespace rdam::agent
