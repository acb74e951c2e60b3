// Everything that a plan depends on, in a form that can be compared with the current state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "wrappers/plan/planner.h"

namespace rdam {

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

}  // namespace rdam
