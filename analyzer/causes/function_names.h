// Finds the recorded function that a tool names, in any of the tools' spellings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/trace/event.h"

namespace rdam::causes {

class FunctionNames {
  public:
    /// `functions` must outlive it.
    explicit FunctionNames(const std::vector<trace::FunctionInfo>& functions);

    /// Indices of the functions that answer to a linkage name, or a demangled one with or without parameters
    /// and return type; a compiler's copy (`f.constprop.0`) answers for its function. Without parameters all
    /// overloads do. `module` (file name or path) decides where both sides know it.
    std::vector<std::uint32_t> find(std::string_view name, std::string_view module) const;

  private:
    using Index = std::unordered_multimap<std::string, std::uint32_t>;
    std::vector<std::uint32_t> in(const Index& index, const std::string& name, std::string_view module) const;

    const std::vector<trace::FunctionInfo>& functions_;
    Index full_;   // what names one function: linkage names, and names with parameters
    Index brief_;  // without parameters
};

/// "ns::f<int>" for "ns::f<int>(int) const"; a name without parameters stays as it is.
std::string_view without_parameters(std::string_view name);

}  // namespace rdam::causes
