// Finds the recorded functions that a source line is part of.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/trace/event.h"

namespace rdam::causes {

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
