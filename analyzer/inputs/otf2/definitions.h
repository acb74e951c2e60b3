// What the events of an archive refer to by number.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/otf2/names.h"

namespace rdam::inputs::otf2 {

/// No time of a sensible archive is later (ticks).
inline constexpr std::uint64_t kLatest = std::uint64_t{1} << 63U;

struct Region {
    OTF2_RegionRef ref = 0;
    OTF2_StringRef name = OTF2_UNDEFINED_STRING, canonical = OTF2_UNDEFINED_STRING;
    OTF2_StringRef file = OTF2_UNDEFINED_STRING;
    std::uint32_t line = 0;
    bool artificial = false;  ///< of the measurement system: it is no function
    bool of_program = false;  ///< its source or its compiler named it, so that it is none of a library
};

struct Location {
    OTF2_LocationRef ref = 0;
    OTF2_StringRef name = OTF2_UNDEFINED_STRING;
    OTF2_LocationType type = OTF2_LOCATION_TYPE_UNKNOWN;
    std::uint64_t events = 0;  ///< as the archive says; EZTrace does not know
    OTF2_LocationGroupRef group = OTF2_UNDEFINED_LOCATION_GROUP;
};

/// Of an attribute, or of a parameter event.
struct Described {
    OTF2_StringRef name = OTF2_UNDEFINED_STRING;
    OTF2_Type type = OTF2_TYPE_NONE;
};

struct SystemTreeNode {
    OTF2_StringRef name = OTF2_UNDEFINED_STRING, class_name = OTF2_UNDEFINED_STRING;
};

/// As far as they are needed. Of two with one number the first counts, as for the library.
struct Definitions {
    std::string creator, machine;
    bool is_ours = false;  ///< `rdam export` wrote it
    std::string version;   ///< of the library that wrote it
    std::uint64_t ticks_per_second = 1'000'000'000;
    std::unordered_map<OTF2_StringRef, std::string> strings;
    std::vector<Region> regions;
    std::vector<Location> locations;
    std::vector<SystemTreeNode> nodes;
    std::unordered_map<OTF2_LocationGroupRef, OTF2_StringRef> groups;
    std::unordered_map<OTF2_AttributeRef, Described> attributes;
    std::unordered_map<OTF2_ParameterRef, Described> parameters;

    /// "": there is none.
    std::string_view text(OTF2_StringRef ref) const;
    /// Whether the attribute says what rdam has found about a call, and is no parameter.
    bool is_own(OTF2_AttributeRef ref) const { return is_ours && ref <= rdam::otf2::kLastOwn; }
};

/// What to register for a reader of global definitions with a Definitions& as user data.
OTF2_GlobalDefReaderCallbacks* definition_callbacks();

/// Tells the trace whose run it was, and its clock. `anchor`: the path of the .otf2 file.
void describe(const Definitions& definitions, const std::string& anchor, TraceBuilder& builder);

/// A thread for each location, in their order.
void add_threads(const Definitions& definitions, std::span<const Location> locations, TraceBuilder& builder);

}  // namespace rdam::inputs::otf2
