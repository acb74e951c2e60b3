// The functions of a trace, with a word for each parameter.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/chrome/collected.h"
#include "tools/trace/event.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::inputs::chrome {

/// A parameter is each name that a value of any call has, up to Function::kMostParameters; where a call has
/// no such value, its word is 0.
class Functions {
  public:
    /// Looks at the values of all calls, and adds all functions that are called. Values beyond the bound are
    /// counted in Collected::values_left_out.
    Functions(Collected& collected, TraceBuilder& builder);

    std::uint32_t number(const Call& call) const { return functions_[call.function].number; }
    /// Valid until the next call of this.
    std::span<const std::uint64_t> words_of(const Call& call);

  private:
    struct Parameter {
        std::uint32_t name = 0;
        ValueKind kind = ValueKind::signed_integer;
        bool is_text = false;
    };
    struct Known {
        std::uint32_t number = 0;  ///< in the trace
        bool called = false;
        std::vector<Parameter> parameters;
    };
    void learn(const Call& call);
    void add(std::uint32_t function);
    std::uint64_t word(const Value& value, const Parameter& parameter);

    Collected& collected_;
    TraceBuilder& builder_;
    std::vector<Known> functions_;
    std::vector<std::uint64_t> words_;
};

}  // namespace rdam::inputs::chrome
