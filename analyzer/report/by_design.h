// What functions wait for whose purpose is to wait.
#pragma once

#include <string>

#include "analyzer/report/function_row.h"

namespace rdam::score {

/// FunctionRow::by_design of `row`, whose callers are known: the catalogue's word on the function, or, of
/// what other waits are made of (glibc's way to a futex), on the recorded function in which nearly all was
/// lost.
std::string waits_by_design(const RowContext& context, const FunctionRow& row);

}  // namespace rdam::score
