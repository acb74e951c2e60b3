// Names an address of the profiled process independently of where its objects were loaded.
#pragma once

#include <cstdint>
#include <string>

#include "tools/trace/event.h"

namespace rdam::trace {

struct Place {
    std::string module = {};   ///< file name of the object; empty: the address is in no object
    std::uint64_t offset = 0;  ///< link-time address in it, or the address itself; 0 alone: not known
};

/// The object that holds `address`; null: none.
const ObjectInfo* object_at(const TraceInfo& info, std::uint64_t address);

/// The place of the call that returns to `return_address`, which may be the first byte after its object.
Place place_of(const TraceInfo& info, std::uint64_t return_address);

/// `app+0x1139`, `0x7f00`, `unknown`. Not made safe for a terminal.
std::string place_text(const Place& place);

}  // namespace rdam::trace
