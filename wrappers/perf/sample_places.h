// Where in the functions the samples of a perf.data file are.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace rdam {

class SamplePlaces {
  public:
    using Offsets = std::map<std::uint64_t, std::uint64_t>;  ///< bytes behind the function's entry → samples

    void add(std::string_view module, std::string_view function, std::uint64_t offset);

    /// `module`: a file name; empty: of all modules.
    Offsets of(const std::string& module, const std::string& function) const;

  private:
    std::map<std::string, std::map<std::string, Offsets>, std::less<>> by_function_;  // function, module
};

}  // namespace rdam
