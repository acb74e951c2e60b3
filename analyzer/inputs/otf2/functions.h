// The functions that regions become, with the parameters that their calls have been given.
#pragma once

#include <otf2/otf2.h>

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/otf2/census.h"
#include "analyzer/inputs/otf2/definitions.h"
#include "analyzer/inputs/otf2/events.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::inputs::otf2 {

/// Where a value goes.
struct Word {
    std::uint32_t ref = 0;  ///< of an attribute, or of a parameter event
    std::uint16_t word = 0;
    ValueKind kind = ValueKind::unsigned_integer;
};

/// Of a region. Regions that are the same but for their number share a function: EZTrace defines those of
/// each rank anew.
struct Layout {
    bool is_function = true;
    std::uint32_t function = 0;                          ///< of the builder
    std::vector<std::uint64_t> absent = {};              ///< the words of a call that was given nothing
    std::vector<Word> attributes = {}, parameters = {};  ///< by number, rising
    std::vector<Word> results = {};                      ///< each is the one word of a leave
    std::array<std::uint16_t, kFields> fields{};
    static constexpr std::uint16_t kNoWord = 0xffff;
};

/// Const functions are thread-safe.
class Functions {
  public:
    /// Adds those that are called to the builder.
    Functions(const Definitions& definitions, const Census& census, TraceBuilder& builder);

    /// Null: no such region is defined.
    const Layout* find(OTF2_RegionRef region) const {
        const auto found = layouts_.find(region);
        return found == layouts_.end() ? nullptr : &found->second;
    }
    /// Attributes of leaves that have no place, because a call has one result: their number, of all regions.
    std::uint64_t left_out() const { return left_out_; }

  private:
    struct Group;
    void add_function(const Group& group, TraceBuilder& builder);

    const Definitions& definitions_;
    std::unordered_map<OTF2_RegionRef, Layout> layouts_;
    std::uint64_t left_out_ = 0;
};

}  // namespace rdam::inputs::otf2
