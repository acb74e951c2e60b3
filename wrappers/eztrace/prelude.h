// The part of a plug-in's description that is the same for all functions.
#pragma once

#include <string_view>

namespace rdam {

/// C: macros that take the place of EZTrace's FUNCTION_ENTRY and FUNCTION_EXIT. For each wrapped function f
/// they need RDAM_PARAMETERS_libf, `{"name", OTF2_TYPE_…},` for each parameter, and RDAM_VALUES_libf,
/// `{.member = argument},` of an OTF2_AttributeValue.
std::string_view eztrace_prelude();

}  // namespace rdam
