// What an archive says for rdam alone, so that it gives the same scores when it reads the archive
// (analyzer/inputs/otf2/describe.cpp): properties of the archive and of its locations. For this folder only.
#pragma once

#include <cstdint>

#include "analyzer/formats/otf2/archive.h"
#include "analyzer/formats/otf2/definitions.h"
#include "analyzer/views/visit.h"

namespace rdam::formats::otf2 {

/// Of the archive's clock: ticks since the run began.
inline std::uint64_t ticks(const views::Visit& visit, std::uint64_t tsc) {
    const std::uint64_t origin = visit.clock().origin;
    return tsc > origin ? tsc - origin : 0;
}

/// The recorder, the costs of its probes, the clock's errors, and when what was recorded.
void write_properties(const views::Visit& visit, Archive& archive);

/// Of one location after the other: they take their names from the same definitions.
class ThreadProperties {
  public:
    /// All must outlive it. Before Definitions::write().
    ThreadProperties(const views::Visit& visit, Definitions& definitions, Archive& archive);

    /// The life of the thread, as far as it is selected, and how much of it is missing.
    void write(std::uint32_t thread, OTF2_GlobalDefWriter* writer);

  private:
    void write(std::uint32_t thread, OTF2_StringRef name, std::uint64_t value, OTF2_GlobalDefWriter* writer);

    const views::Visit& visit_;
    Archive& archive_;
    OTF2_StringRef began_, ended_, counted_until_, dropped_, unwritten_;
    std::vector<OTF2_StringRef> calls_of_;  ///< by function; OTF2_UNDEFINED_STRING: not counted
};

}  // namespace rdam::formats::otf2
