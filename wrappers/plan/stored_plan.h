// A plan as bytes, with all that it depends on beside its request: what a plan cache keeps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wrappers/plan/planner.h"

namespace rdam {

/// What tells one state of a file from another, without reading it. All zero: there is no such file.
struct FileIdentity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    std::uint64_t changed_ns = 0;

    static FileIdentity of(const std::string& path);
    friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

struct FileState {
    std::string path;
    FileIdentity identity;
};

/// A place in one of the request's objects.
struct ObjectPlace {
    std::uint64_t object = 0;  ///< index; kNowhere: address 0
    std::uint64_t offset = 0;

    static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
    friend bool operator==(const ObjectPlace&, const ObjectPlace&) = default;
};

/// What an IFUNC resolver answered.
struct IfuncChoice {
    ObjectPlace resolver;
    ObjectPlace chosen;
};

struct StoredPlan {
    Plan plan;
    std::vector<FileState> files;      ///< those that were looked at, and those that were not there
    std::vector<IfuncChoice> choices;  ///< in the order in which they were asked
};

std::string serialize(const StoredPlan& stored);

/// Nothing: these are not the bytes of a plan, or they are damaged. For `objects` objects.
std::optional<StoredPlan> parse_stored_plan(std::string_view bytes, std::size_t objects);

}  // namespace rdam
