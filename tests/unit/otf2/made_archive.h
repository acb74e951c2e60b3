// An OTF2 archive as another tool would write it.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rdam::test {

/// Strings, regions, attributes, parameters and contexts are numbered from 0 in the order in which they are
/// given.
struct MadeArchive {
    struct Region {
        std::string name;
        OTF2_RegionRef ref = 0;
        std::string file = {};
        std::uint32_t line = 0;
        bool artificial = false;  ///< of the measurement system
    };
    struct Attribute {
        std::string name;
        OTF2_Type type = OTF2_TYPE_UINT64;
    };
    struct Parameter {
        std::string name;
        OTF2_ParameterType type = OTF2_PARAMETER_TYPE_INT64;
    };
    struct Location {
        OTF2_LocationRef ref = 0;
        std::string group, name;
        std::function<void(OTF2_EvtWriter* writer)> events = {};
        std::function<void(OTF2_DefWriter* writer)> definitions = {};
        OTF2_LocationType type = OTF2_LOCATION_TYPE_CPU_THREAD;
    };

    std::string creator;
    std::vector<std::string> strings = {};  ///< that events refer to
    std::vector<Region> regions = {};
    std::vector<Attribute> attributes = {};
    std::vector<Parameter> parameters = {};
    std::vector<OTF2_RegionRef> contexts = {};  ///< of calls, each inside the one before
    std::vector<Location> locations = {};
    std::uint64_t per_second = 1'000'000'000;

    void write(const std::string& folder, const std::string& name = "traces") const;
};

}  // namespace rdam::test
