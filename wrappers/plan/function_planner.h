// Plans how to wrap one function, or says why it cannot be wrapped.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "wrappers/entry/callee_conduct.h"
#include "wrappers/entry/entry_block.h"
#include "wrappers/entry/entry_hooks.h"
#include "wrappers/entry/entry_points.h"
#include "wrappers/find/entry_resolver.h"
#include "wrappers/find/object_set.h"
#include "wrappers/object/managed_code.h"
#include "wrappers/plan/planner.h"

namespace rdam {

class FunctionPlanner {
  public:
    /// All must outlive the planner.
    FunctionPlanner(const PlanRequest& request, const Catalogue& catalogue, ObjectSet& objects)
        : request_{request}, catalogue_{catalogue}, objects_{objects} {}

    /// Looks at each object's code once for all functions that will be planned.
    void prepare(const std::vector<Candidate>& candidates);

    /// Why no function like the candidate can be wrapped: what it belongs to, or how it was found. Empty: it
    /// may be. Asks nothing of prepare().
    std::string refusal_by_kind(const Candidate& candidate);

    /// The error is the reason for refusing, without the function's name. The candidate must have been
    /// prepared.
    Result<FunctionPlan> plan(const Candidate& candidate);
    /// The ways into the waits of a function that was planned; none where it waits otherwise, or where that
    /// is not safe.
    std::vector<FunctionPlan> plan_waits(const FunctionPlan& function);
    /// Why plan() would refuse, without looking for the function's prototype; empty: it would not.
    std::string refusal(const Candidate& candidate);

    /// Counts the inlined copies of all functions, each object's debug information being searched once. The
    /// result says where the copies are ("3 inlined copies will not be seen: in f, g"), in the order of
    /// `functions`; empty: none.
    std::vector<std::string> count_inlined_copies(std::vector<FunctionPlan>& functions);

  private:
    /// What the catalogue knows of the function under any of its names; `described` only where its prototype
    /// applies.
    struct Known {
        const CatalogueFunction* described = nullptr;
        const CatalogueFunction* related =
            nullptr;  ///< of an exported function that this internal one belongs to
        std::string refusal;
    };
    /// All but the names and the call.
    Result<FunctionPlan> place(const Candidate& candidate, const Known& known);
    Known look_up(const ObjectFile& file, const Candidate& candidate) const;
    void set_names(const ObjectFile& file, const Candidate& candidate, FunctionPlan& function) const;
    std::string why_undescribed(std::size_t object);
    void set_call(const Candidate& candidate, const Known& known, const CodeRange& extent,
                  FunctionPlan& function);
    bool unwinds_by_stack_pointer();
    /// The part of the function behind what other tools have at its entry (EntryHooks).
    Result<CodeRange> wrapped_part(const ObjectFile& file, std::size_t object, const CodeRange& extent);

    const PlanRequest& request_;
    const Catalogue& catalogue_;
    ObjectSet& objects_;
    std::map<std::size_t, EntryPoints> entry_points_;                 // by object
    std::map<std::size_t, ReturnAddressReads> return_address_reads_;  // by object
    std::map<std::size_t, ManagedCode> managed_code_;                 // by object
    std::map<std::size_t, EntryHooks> entry_hooks_;                   // by object
    std::map<std::size_t, CalleeConduct> conduct_;                    // by object
    std::map<std::size_t, EntryBlocks> entry_blocks_;                 // by object
    std::optional<bool> unwinds_by_stack_pointer_;
};

}  // namespace rdam
