// What the debug information says about a function's parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wrappers/object/dwarf_file.h"
#include "wrappers/prototype/parameter_claims.h"
#include "wrappers/prototype/prototype.h"

namespace rdam {

struct FunctionDescription {
    Prototype prototype;
    /// In languages other than C and C++, of whose conventions debug information says nothing: what it claims
    /// of each parameter, as far as it can be read. The prototype is doubtful and empty then.
    std::optional<FunctionClaims> claims;
    std::string declared_at;  ///< "file.c:12"; empty: unknown
};

/// Describes the function whose code begins at a link-time address. `linkage_name` is its symbol. It
/// distinguishes functions that were folded into one, and clones (`.constprop`, `.isra`, …), whose parameters
/// differ from the source and are marked as uncertain. Nothing: no such function in the debug information.
std::optional<FunctionDescription> describe_function(DwarfFile& dwarf, std::uint64_t address,
                                                     std::string_view linkage_name);

}  // namespace rdam
