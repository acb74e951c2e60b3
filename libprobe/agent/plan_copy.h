// The agent's plan, out of the shared memory: the program can write there while it is being applied.
#pragma once

#include <cstdint>

#include "libprobe/format/shared.h"

namespace rdam::probe {

/// A private copy of what stands in the plan area, if that is the answer to the request `serial` and as the
/// agent wrote it. Large plans take as much memory for as long as this lives.
class PlanCopy {
  public:
    explicit PlanCopy(std::uint32_t serial);
    ~PlanCopy();
    PlanCopy(const PlanCopy&) = delete;
    PlanCopy& operator=(const PlanCopy&) = delete;

    /// False: there is none, and nothing else may be asked.
    bool whole() const { return area_ != nullptr; }
    /// Offsets are from here.
    const char* area() const { return area_; }
    const shm::PlanReply& reply() const { return *reinterpret_cast<const shm::PlanReply*>(area_); }
    /// Writes its message to stderr.
    void print() const;
    /// Writes to stderr how many functions are wrapped.
    void print_wrapped() const;
    /// Keeps what it has for the agents of fork children.
    void keep_knowledge() const;

  private:
    char* area_ = nullptr;
    std::uint32_t bytes_ = 0;
};

}  // namespace rdam::probe
