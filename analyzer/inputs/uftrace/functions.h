// From the addresses of a data directory to the functions of a trace.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/uftrace/arguments.h"
#include "analyzer/inputs/uftrace/folder.h"
#include "analyzer/inputs/uftrace/symbols.h"
#include "analyzer/inputs/uftrace/tasks.h"
#include "tools/base/result.h"

namespace rdam::inputs::uftrace {

struct Callee {
    std::uint32_t function = 0;            ///< of the trace
    const Signature* signature = nullptr;  ///< what is recorded of its calls
};

/// Adds the functions to the trace when they are first asked for. Not thread-safe.
class Functions {
  public:
    /// All are used for as long as this is.
    Functions(const Folder& folder, const Tasks& tasks, const Info& info, TraceBuilder& trace);

    /// What is at `address` in the session of this number at `time`; `known`: there is such a session.
    /// Errors: a file that cannot be read.
    Result<Callee> find(const SessionSpan& span, std::uint64_t time, std::uint64_t address);

    std::uint64_t nameless() const { return nameless_; }  ///< functions for which no file has a name

  private:
    struct Space {
        std::vector<Mapping> mappings;
        bool loaded = false;
    };
    Result<const Space*> space_of(const SessionSpan& span);
    Result<const Module*> module_at(const std::string& path, const std::string& build_id);
    Callee callee_of(const Module& module, const CodeSymbol& symbol);
    Callee callee_without_name(std::uint64_t address);
    trace::FunctionInfo describe(const Module& module, const CodeSymbol& symbol) const;

    const Folder& folder_;
    const Tasks& tasks_;
    TraceBuilder& trace_;
    Signatures signatures_;
    std::vector<Space> spaces_;  ///< by session
    std::map<std::pair<std::string, std::string>, std::unique_ptr<Module>> modules_;
    std::unordered_map<const CodeSymbol*, Callee> known_;
    std::unordered_map<std::uint64_t, Callee> by_address_;
    std::vector<std::unique_ptr<Signature>> kept_;
    std::uint64_t nameless_ = 0;
};

}  // namespace rdam::inputs::uftrace
