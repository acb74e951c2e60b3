// Which function each entry of the process stands for.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "libprobe/format/events.h"

namespace rdam::agent {

/// The process has kAll entries for functions, and numbers them; the trace has a function for each that was
/// ever wrapped. A function whose library is gone leaves its number to another, once nothing that it has
/// recorded is unread. Not thread-safe.
class FunctionNumbers {
  public:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};
    static constexpr std::uint32_t kAll = shm::kFirstRegion;

    /// The function's index in the trace; kNone: nothing has the number.
    std::uint32_t function(std::uint32_t number) const {
        return number < functions_.size() ? functions_[number] : kNone;
    }
    /// The number that the function has now; kNone: none.
    std::uint32_t number(std::uint32_t function) const {
        return function < numbers_.size() ? numbers_[function] : kNone;
    }
    /// All numbers are below this.
    std::uint32_t end() const { return static_cast<std::uint32_t>(functions_.size()); }

    /// One that nothing has, for the function; nothing: there is none. Those that have never been used come
    /// first, then those that were released first.
    struct Given {
        std::uint32_t number = kNone;
        bool anew = false;  ///< it stood for another function before
    };
    std::optional<Given> give(std::uint32_t function);

    /// The number stands for the function, whatever it stood for before. It must be below kAll.
    void set(std::uint32_t number, std::uint32_t function);

    /// Nothing has the number any more, if anything had it: it may be given.
    void release(std::uint32_t number);

    /// No number is given that was not released: the process may have used any.
    void use_up() { functions_.resize(kAll, kNone); }

  private:
    std::vector<std::uint32_t> functions_;  ///< by number
    std::vector<std::uint32_t> numbers_;    ///< by function
    std::vector<std::uint32_t> released_;
    std::size_t taken_ = 0;  ///< of those, from the first on
};

}  // namespace rdam::agent
