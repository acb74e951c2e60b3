// Patches a function of this process as the recorder does, with a counter in place of its trampoline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "wrappers/relocate/relocate.h"

namespace rdam::test {

/// From construction to destruction every call of the function is counted on its way to the moved prologue.
/// Not thread-safe; one at a time.
class Patch {
  public:
    Patch(const std::uint8_t* function, std::size_t size, std::uint32_t padding);
    ~Patch();
    Patch(const Patch&) = delete;
    Patch& operator=(const Patch&) = delete;
    Patch(Patch&&) = delete;
    Patch& operator=(Patch&&) = delete;

    /// Why it is not patched; empty if it is.
    const std::string& problem() const { return problem_; }
    std::uint64_t calls() const;

  private:
    void write_stub(const MovedPrologue& moved, std::uint64_t base);
    void write_entry(std::span<const std::uint8_t> bytes);

    std::uint8_t* function_;
    std::uint8_t* stub_ = nullptr;
    std::uint8_t saved_[plan::kPatchSize] = {};
    std::string problem_;
};

}  // namespace rdam::test
