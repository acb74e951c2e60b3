// Which parameters tell calls of one function apart, and which functions a user names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/trace/event.h"
#include "wrappers/support/result.h"

namespace rdam::mining {

/// The value of a key is `words[word] & mask` of the enter event.
struct KeyWord {
    std::uint16_t word = 0;
    std::uint16_t parameter = 0;  ///< index into FunctionInfo::parameters
    std::uint64_t mask = UINT64_MAX;
};

/// The keys of each function, by function number, in the order of its parameters.
using KeyTable = std::vector<std::vector<KeyWord>>;

/// The functions called `name`, `module:name`, or so by the linker. None: an error that names similar ones.
Result<std::vector<std::uint32_t>> find_functions(const trace::TraceInfo& info, std::string_view name);

/// The trace's own keys (ParameterInfo::key), with those of `add` and without those of `remove`. Both hold
/// `function:parameter`; the parameter `*` means all. Errors: unknown function or parameter, naming those
/// there are.
Result<KeyTable> make_keys(const trace::TraceInfo& info, std::span<const std::string> add,
                           std::span<const std::string> remove);

}  // namespace rdam::mining
