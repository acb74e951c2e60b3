// One function of catalogue.toml: "key mutex: ptr, size n: u64, ... -> i32".
#pragma once

#include <string>
#include <string_view>

#include "tools/base/result.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam {

/// Fills parameters, variadic, result, keys and sizes of a function called `name`. The error does not name
/// the file.
Result<CatalogueFunction> parse_signature(std::string_view name, std::string_view text);
/// The text that parse_signature() reads back.
std::string signature_text(const CatalogueFunction& function);

}  // namespace rdam
