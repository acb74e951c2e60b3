// Where an address of the profiled process is in its source.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "analyzer/hints/hints.h"
#include "tools/base/unmovable.h"
#include "tools/trace/event.h"

namespace rdam::output {

/// One function at an address: several where calls were inlined there.
struct StackFrame {
    std::string function = {};  ///< empty: unknown
    std::string file = {};      ///< empty: unknown
    std::uint32_t line = 0;
    bool inlined = false;      ///< into the frame that follows it
    std::string module = {};   ///< file name of the object; empty: the address is in no object
    std::uint64_t offset = 0;  ///< link-time address in the module, or the address itself
};

/// `worker at app.c:42`, `step at app.c:7 (inlined)`, `main (app+0x1139)`, `app+0x1139`, `0x7f00`. Not made
/// safe for a terminal.
std::string frame_text(const StackFrame& frame);

class Symbols {
  public:
    virtual ~Symbols() = default;

    /// The frames of the call that returns to `return_address`, innermost first; at least one.
    virtual std::vector<StackFrame> frames(std::uint64_t return_address) = 0;

    /// The same frames may be requested later.
    virtual void prepare(std::uint64_t return_address) { frames(return_address); }

    /// Why requested frames could not be resolved, one sentence for each object. Not made safe for a
    /// terminal.
    virtual std::vector<std::string> remarks() const { return {}; }
};

/// Knows what the trace itself says: modules, and the functions that were wrapped.
class TraceSymbols : public Symbols {
  public:
    /// `info` must outlive it.
    explicit TraceSymbols(const trace::TraceInfo& info) : info_(info) {}
    std::vector<StackFrame> frames(std::uint64_t return_address) override;

    /// The object that holds `address`; null: none.
    const trace::ObjectInfo* object_at(std::uint64_t address) const;

  private:
    const trace::TraceInfo& info_;
};

/// The best there is: the objects' symbols and line tables where the files are still there and are the ones
/// that ran, else TraceSymbols. `info` must outlive it. Not thread-safe.
std::unique_ptr<Symbols> make_symbols(const trace::TraceInfo& info);

/// Asked about an address of the process, it tells the variable of an object that holds it: `cache_lock`,
/// `table+0x40`. Empty: none is known, or the object's file is not there any more. Reads the symbols of each
/// object once, when it is first asked about it; `info` must outlive it.
std::function<std::string(std::uint64_t)> variable_names(const trace::TraceInfo& info);

/// For hints. The C library and runtimes are not the program's own. Reads symbols when it is first asked; `info` must outlive
/// it.
hints::AddressNames address_names(const trace::TraceInfo& info);

// Symbols take a twentieth of a second to find, most of it debug information that is being unpacked: time in
// which the events can be read.

/// From construction to destruction a thread looks up the frames of the first call stacks of the trace; no
/// other thread may use `symbols` meanwhile.
class SymbolsAhead : private Unmovable {
  public:
    SymbolsAhead(Symbols& symbols, const trace::TraceInfo& info);
    /// Waits for the address that is being looked up, not for all.
    ~SymbolsAhead();

  private:
    void run();

    Symbols& symbols_;
    const trace::TraceInfo& info_;
    std::atomic<bool> stop_ = false;
    std::thread thread_;
};

}  // namespace rdam::output
