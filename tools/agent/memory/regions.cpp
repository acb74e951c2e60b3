#include "tools/agent/memory/regions.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "tools/base/result.h"
#include "wrappers/catalogue/catalogue.h"
#include "wrappers/plan/planner.h"

namespace rdam::agent {
namespace {

template <std::size_t Size>
std::string text(const char (&from)[Size]) {
    return {from, strnlen(from, Size)};
}

/// The expressions between the commas outside of brackets, without blanks around them.
std::vector<std::string> split(const std::string& names) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (const char c : names) {
        depth += c == '(' || c == '[' || c == '{' || c == '<' ? 1 : 0;
        depth -= c == ')' || c == ']' || c == '}' || c == '>' ? 1 : 0;
        if (c == ',' && depth <= 0)
            parts.emplace_back();
        else if (c != ' ')
            parts.back() += c;
    }
    return parts;
}

static_assert(trace::kRegionModule == kRegionModule);  // the list's word for it is the trace's

}  // namespace

trace::FunctionInfo describe_region(const shm::Region& region) {
    trace::FunctionInfo info;
    info.name = text(region.name);
    info.linkage_name = info.name;
    info.module = kRegionModule;
    info.source = fmt::format("{}:{}", text(region.file), region.line);
    const std::uint32_t values = std::min(region.values, plan::kMaxIntegerRegisters);
    const std::vector<std::string> names = split(text(region.value_names));
    for (std::uint32_t i = 0; i < values; ++i) {
        const bool named = i < names.size() && !names[i].empty();
        info.parameters.push_back({named ? names[i] : fmt::format("value{}", i),
                                   static_cast<std::uint8_t>(ValueKind::signed_integer), 8,
                                   static_cast<std::uint16_t>(i), false, "long"});
    }
    info.enter_words = static_cast<std::uint16_t>(values);
    return info;
}

}  // namespace rdam::agent
