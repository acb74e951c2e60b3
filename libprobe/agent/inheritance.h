// What a fork child has by its parent's memory: the environment of its agent, and what the agents before it
// have learned. The program may have put anything in the place of its own environment by then, and the files
// that the parent's plan was made of may be gone.
#pragma once

#include <cstdint>

#include "libprobe/format/shared.h"

namespace rdam::probe {

/// Keeps a copy of those variables that the agent reads, with `output` ("RDAM_OUTPUT=…") in place of the one
/// in `environment` if it is not null. False: there is no memory.
bool keep_environment(const char* const* environment, const char* output);

/// What the agent has said that the agents of fork children are to know; `anew`: instead of what it has said
/// before. If there is no room, fork children know what was said before.
void keep_knowledge(const char* bytes, std::uint32_t size, bool anew);

// The agent's plan, out of the shared memory: the program can write there while it is being applied.

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
