// Functions of different names that are one and the same code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wrappers/object/object_file.h"

namespace rdam {

/// Whether it is a part of the C library, which has several names for many functions.
bool is_c_library(const ObjectFile& file);

/// The readable names of other functions at the address of the one with this linkage name: a linker folds
/// functions whose code is equal (--icf). Spellings of one name (`f`, `_f`, `F_`), variants of a constructor,
/// copies by the compiler, and weak names of a strong one are not among them.
std::vector<std::string> folded_names(const ObjectFile& file, std::uint64_t address,
                                      std::string_view linkage_name);

}  // namespace rdam
