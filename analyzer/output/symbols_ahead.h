// Symbols take a twentieth of a second to find, most of it debug information that is being unpacked: time in
// which the events can be read.
#pragma once

#include <atomic>
#include <thread>

#include "analyzer/output/symbols.h"

namespace rdam::output {

/// From construction to destruction a thread looks up the frames of the first call stacks of the trace; no
/// other thread may use `symbols` meanwhile.
class SymbolsAhead {
  public:
    SymbolsAhead(Symbols& symbols, const trace::TraceInfo& info);
    /// Waits for the address that is being looked up, not for all.
    ~SymbolsAhead();
    SymbolsAhead(const SymbolsAhead&) = delete;
    SymbolsAhead& operator=(const SymbolsAhead&) = delete;
    SymbolsAhead(SymbolsAhead&&) = delete;
    SymbolsAhead& operator=(SymbolsAhead&&) = delete;

  private:
    void run();

    Symbols& symbols_;
    const trace::TraceInfo& info_;
    std::atomic<bool> stop_ = false;
    std::thread thread_;
};

}  // namespace rdam::output
