// The pointers in unwind tables, in whatever form the compiler chose.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace rdam {

/// Encodings: LSB "Linux Standard Base Core", 10.5.1. Thread-safe.
class EncodedPointers {
  public:
    /// `section` is at the link-time address `address`, in an object for 64 bits or for 32.
    EncodedPointers(std::span<const std::uint8_t> section, std::uint64_t address, bool is_64_bit)
        : section_{section}, address_{address}, is_64_bit_{is_64_bit} {}

    /// Reads one pointer at `position` and advances it; of an indirect one where the pointer is. Nothing: out
    /// of bounds, or an encoding that cannot be resolved without the running program.
    std::optional<std::uint64_t> read(const std::uint8_t*& position, std::uint8_t encoding) const;

  private:
    template <class T>
    std::optional<std::uint64_t> fixed(const std::uint8_t*& position) const;
    std::optional<std::uint64_t> read_value(const std::uint8_t*& position, unsigned format) const;

    std::span<const std::uint8_t> section_;
    std::uint64_t address_;
    bool is_64_bit_;
};

}  // namespace rdam
