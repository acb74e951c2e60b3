// What compiler options for other tools leave at the entry of a function: gprof's calls, XRay's sleds.
#pragma once

#include <cstdint>
#include <set>
#include <span>

#include "tools/base/result.h"
#include "wrappers/object/object_file.h"

namespace rdam {

/// Finds, at the beginning of functions, calls of mcount and __fentry__ (-pg) and the bytes that XRay
/// replaces while the program runs. Thread-compatible.
class EntryHooks {
  public:
    /// `file` must outlive the hooks.
    explicit EntryHooks(const ObjectFile& file);

    /// How many bytes of the function the hook takes. Behind them a function can be wrapped as at its entry:
    /// the stack is as the caller left it, and each call comes by there. The error is why it cannot be
    /// wrapped.
    Result<std::uint32_t> behind(const CodeRange& function) const;

    /// Whether XRay may replace some of the first `size` bytes of `code`: a function that is over so soon.
    bool overwritten_by_xray(std::span<const std::uint8_t> code, std::size_t size) const;

  private:
    bool calls_counter(std::span<const std::uint8_t> code, std::uint64_t address) const;

    const ObjectFile& file_;
    bool xray_ = false;
    std::set<std::uint64_t> counter_slots_;  // words that hold the address of mcount or __fentry__
    std::set<std::uint64_t> counters_;       // these themselves, where the object has them
};

}  // namespace rdam
