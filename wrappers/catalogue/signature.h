// One function of catalogue.toml: "key mutex: ptr, size n: u64, ... -> i32".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "tools/base/result.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam {

/// Fills parameters, variadic, result, keys and sizes of a function called `name`. The error does not name
/// the file.
Result<CatalogueFunction> parse_signature(std::string_view name, std::string_view text);
/// The text that parse_signature() reads back.
std::string signature_text(const CatalogueFunction& function);

// The value that a recorded word holds.

/// Integers and enumerators are signed or unsigned as their kind says; pointers are unsigned.
using WordValue = std::variant<std::int64_t, std::uint64_t, bool, float, double>;

/// `size`: in bytes; the rest of the word means nothing. 0: all of it is used. A kind that does not exist is
/// an unsigned integer.
WordValue value_of(ValueKind kind, unsigned size, std::uint64_t word);

}  // namespace rdam
