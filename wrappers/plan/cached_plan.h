// A plan from an earlier run, if nothing has changed since.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wrappers/plan/plan_store.h"
#include "wrappers/plan/planner.h"

namespace rdam {

// Everything that a plan depends on, in a form that can be compared with the current state.

/// Distinguishes one state of a file from another without reading it.
struct FileIdentity {
    bool exists = false;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0;

    friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

FileIdentity identity_of(const std::string& path);

/// A file that the planner reads or would read if it were there. Build-ids are not enough: strip keeps them,
/// and a debug file may be installed at any time.
struct PlanSource {
    std::string path;
    FileIdentity identity;
};

/// The objects, all places that are searched for their debug information, and the planner itself.
std::vector<PlanSource> sources_of(const PlanRequest& request);

bool are_unchanged(const std::vector<PlanSource>& sources);

/// An address that does not depend on where objects are loaded. Addresses that belong to none (the vdso's)
/// are given relative to the object before them, and differ from run to run.
struct CodePlace {
    std::uint64_t object = ~std::uint64_t{0};  ///< index into PlanRequest::objects; all ones: none
    std::uint64_t offset = 0;

    friend bool operator==(const CodePlace&, const CodePlace&) = default;
};

/// What an IFUNC's resolver chose: it depends on the processor and on glibc's tunables.
struct IfuncChoice {
    CodePlace resolver;
    CodePlace chosen;  ///< none: it could not be learnt
};

CodePlace place_of(const std::vector<LoadedObject>& objects, std::uint64_t run_time_address);

/// Asks the process anew. False: one of the answers differs.
bool are_confirmed(const std::vector<IfuncChoice>& choices, const PlanRequest& request);

/// All that a plan depends on besides sources and choices: the list (but not which file it came from), the
/// objects and their build-ids, the request's options, the catalogue (its fingerprint), rdam's version, the
/// processor's features.
std::string plan_key(const PlanRequest& request, std::uint64_t catalogue);

using PlanMaker = std::function<Plan(const PlanRequest&)>;

/// What `make` makes of a request, or its earlier result for the same one: the same list, objects and
/// options, the same files (including separate debug files, even missing ones), and the same choices of IFUNC
/// resolvers, for which the process is asked anew. `catalogue`: the fingerprint of the one that `make` asks.
Plan make_cached_plan(const PlanRequest& request, std::uint64_t catalogue, const PlanStore& store,
                      const PlanMaker& make);

// Encodes a finished plan with its sources as bytes, for a file in the plan cache.

struct PlanRecord {
    std::string key;                   ///< plan_key() of the request
    std::vector<PlanSource> sources;   ///< the files, as they were before the plan was made
    std::vector<IfuncChoice> choices;  ///< in the order in which the planner asked
    Plan plan;
};

/// Integers are stored as they lie in memory: a file is read where it was written, by the same rdam.
std::vector<std::uint8_t> encode(const PlanRecord& record);

/// Any bytes at all: nothing where they are not what encode() returned, or say what no planner would (an
/// enumerator that does not exist, code that is longer than it can be, a fix-up outside of its code).
std::optional<PlanRecord> decode(std::span<const std::uint8_t> bytes);

/// Whether every number in the plan is within what the recorder counts on; `objects`: how many there are.
bool is_sound(const Plan& plan, std::size_t objects);

}  // namespace rdam
