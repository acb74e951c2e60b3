// Finds the recorded functions that a tool means: by name, in any of the tools' spellings, or by source line.
#pragma once

#include <cstdint>
#include <map>
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

/// Finds the functions that a source line is part of.
class FunctionLines {
  public:
    virtual ~FunctionLines() = default;
    /// Indices of functions with code from this line, inlined code included, rising. The paths of the tool
    /// and of the compiler agree if one is the end of the other.
    virtual std::vector<std::uint32_t> find(std::string_view file, std::uint32_t line) = 0;
};

/// Knows the lines from the debug information of the objects, if they are still the ones that ran; reads it
/// when first asked. `info` must outlive it.
class ObjectLines : public FunctionLines {
  public:
    explicit ObjectLines(const trace::TraceInfo& info) : info_(info) {}
    std::vector<std::uint32_t> find(std::string_view file, std::uint32_t line) override;

  private:
    struct Place {
        std::string file;
        std::uint32_t line;
        std::uint32_t function;
    };
    void read();

    const trace::TraceInfo& info_;
    bool read_ = false;
    std::multimap<std::string, Place, std::less<>> places_;  // by file name
};

/// `/home/me/app/src/a.c`, `src/a.c`, `./src/a.c` and `a.c` are the same file, `b/a.c` is not.
bool same_source_file(std::string_view a, std::string_view b);

}  // namespace rdam::causes
