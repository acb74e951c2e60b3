// Names and patterns of names, as uftrace has them.
#pragma once

#include <regex.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/inputs/uftrace/info.h"

namespace rdam::inputs::uftrace {

/// A name, or what matches several. Patterns come from files that cannot be trusted: a regular expression
/// that may take exponential time or memory matches nothing.
class NamePattern {
  public:
    NamePattern(Pattern kind, std::string text);

    bool matches(const std::string& name) const;

  private:
    struct Free {
        void operator()(regex_t* regex) const;
    };
    Pattern kind_;
    std::string text_;
    std::unique_ptr<regex_t, Free> regex_;  ///< of Pattern::regex; none: it matches nothing
};

/// Without template arguments, and without parameters in between: "A<B<int>>::f(int)::C::g" → "A::f::C::g".
std::string without_arguments(std::string_view name);

/// The parts between separators; "" has none.
std::vector<std::string_view> split_all(std::string_view text, char separator);

}  // namespace rdam::inputs::uftrace
