// What OTF2's own reader finds in an archive.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rdam::test {

struct ArchiveContents {
    struct Attribute {
        std::string name;
        OTF2_Type type = OTF2_TYPE_NONE;
        OTF2_AttributeValue value{};
    };
    struct Event {
        bool enter = false;
        std::uint64_t ns = 0;
        std::string region;
        std::vector<Attribute> attributes;
    };

    std::map<OTF2_StringRef, std::string> strings;
    std::map<OTF2_RegionRef, std::string> regions;
    std::map<OTF2_AttributeRef, std::string> attributes;
    std::map<OTF2_LocationRef, std::vector<Event>> events;
    std::uint64_t length = 0;  ///< ns, of the clock's definition
};

/// `anchor`: the .otf2 file. Fails the test if the library complains about anything.
ArchiveContents read_archive(const std::string& anchor);

}  // namespace rdam::test
