// Which names on a list are regions that an object marks itself (rdam/rdam.h).
#pragma once

#include <string_view>
#include <vector>

#include "tools/base/piece_filter.h"
#include "wrappers/object/object_file.h"

namespace rdam {

/// The constants of an object that has regions. Thread-compatible.
class RegionNames {
  public:
    /// Reads all constants. `file` must outlive the names.
    explicit RegionNames(const ObjectFile& file);
    /// Whether the name is among the constants of an object with regions. A region is known to the recorder
    /// only when the program gets there, so this may be true of a name that is none.
    bool may_hold(std::string_view name) const;
    /// Whether may_hold() is true of a name that `pattern` matches (glob_match()).
    bool may_match(std::string_view pattern) const;

  private:
    std::vector<std::string_view> constants_;  // empty: the object has no regions
    PieceFilter pieces_;
    bool terminated_ = true;
};

}  // namespace rdam
