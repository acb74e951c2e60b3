// Files that are no traces of rdam, by what they begin with: the table of what is known but cannot be read.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "tools/base/result.h"

namespace rdam::trace {

/// A format is known by as many bytes, if there are as many.
constexpr std::size_t kForeignBytes = std::size_t{64} << 10U;

/// "FILE is `what`: `help`". Every one stands in docs/inputs.md.
struct Foreign {
    std::string_view what;
    std::string_view help;
    std::string_view beginning = {};                   ///< that its files have; or else
    bool (*is)(std::string_view beginning) = nullptr;  ///< of up to kForeignBytes
};

/// All that are known: the first that fits is right.
std::span<const Foreign> foreign_formats();

/// The one that begins so; null: it is none of them.
const Foreign* find_foreign(std::string_view beginning);

/// Says what a file is that is not a trace, from its first bytes, with the remedy.
Error not_a_trace(const std::string& path, std::string_view beginning);

}  // namespace rdam::trace
