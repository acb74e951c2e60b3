// Where packs go when they can stand in a trace.
#pragma once

#include <cstdint>

#include "tools/trace/packs.h"

namespace rdam::agent {

class PackSink {
  public:
    PackSink() = default;
    PackSink(const PackSink&) = delete;
    PackSink& operator=(const PackSink&) = delete;
    virtual ~PackSink() = default;

    /// The next events of a thread that TraceInfo::threads has.
    virtual void append(std::uint32_t thread, const trace::Packs& packs) = 0;
};

}  // namespace rdam::agent
