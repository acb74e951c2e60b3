// What the events of an archive refer to by number.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/otf2/names.h"

namespace rdam::inputs::otf2 {

/// No time of a sensible archive is later (ticks).
inline constexpr std::uint64_t kLatest = std::uint64_t{1} << 63U;

struct Region {
    OTF2_RegionRef ref = 0;
    OTF2_StringRef name = OTF2_UNDEFINED_STRING, canonical = OTF2_UNDEFINED_STRING;
    OTF2_StringRef file = OTF2_UNDEFINED_STRING;
    std::uint32_t line = 0;
    bool artificial = false;  ///< of the measurement system: it is no function
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

struct Clock {
    std::uint64_t per_second = 1'000'000'000;
    std::uint64_t offset = 0;  ///< the archive's begin
    std::uint64_t length = 0;
    std::uint64_t unix_ns = OTF2_UNDEFINED_TIMESTAMP;  ///< of `offset`
};

/// As far as they are needed. Of two with one number the first counts, as for the library.
struct Definitions {
    std::string creator, machine;
    bool is_ours = false;  ///< `rdam export` wrote it
    std::string version;   ///< of the library that wrote it
    Clock clock;
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

}  // namespace rdam::inputs::otf2
