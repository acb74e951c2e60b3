// From the addresses of a data directory to the functions of a trace.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/uftrace/arguments.h"
#include "analyzer/inputs/uftrace/folder.h"
#include "analyzer/inputs/uftrace/tasks.h"
#include "tools/base/result.h"

namespace rdam::inputs::uftrace {

// What a data directory tells of the code: memory maps, symbols, lines, and how arguments were recorded.

/// An object in the memory of a process, with all of its segments.
struct Mapping {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::string path;
    std::string build_id;
};

/// The file-backed ones of a `sid-*.map`, by address. Lines of another form are passed over.
std::vector<Mapping> parse_map(std::string_view text);

/// Addresses are relative to the beginning of the mapping.
struct CodeSymbol {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    char kind = 'T';        ///< as in nm(1); 'P': an entry of the procedure linkage table
    std::string_view name;  ///< linkage name
};

/// What a *.dbg file says of a function.
struct DebugNotes {
    std::string source;          ///< "file.c:12"
    std::string_view arguments;  ///< "@arg1/s,arg2"
    std::string_view results;    ///< "@retval/f64"
};

class Module {
  public:
    /// From its *.sym and *.dbg; without them it has no symbols.
    static Result<Module> load(const Folder& folder, std::string path, std::string_view build_id);
    static Module parse(std::string path, std::string symbols, std::string notes);

    Module(Module&&) noexcept = default;
    Module& operator=(Module&&) noexcept = default;
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;
    ~Module() = default;

    const std::string& path() const { return path_; }
    const std::vector<CodeSymbol>& symbols() const { return symbols_; }  ///< by address, each address once
    const CodeSymbol* find(std::uint64_t relative) const;                ///< nullptr: none
    const DebugNotes* notes_of(std::uint64_t address) const;             ///< nullptr: none

  private:
    Module() = default;
    void take_symbols(std::string_view text);
    void take_notes(std::string_view text);

    std::string path_;
    std::vector<char> symbol_text_, note_text_;  // what the views refer to
    std::vector<CodeSymbol> symbols_;
    std::unordered_map<std::uint64_t, DebugNotes> notes_;
};

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
