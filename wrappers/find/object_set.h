// The objects of one process, opened on first use, and the reasons for not wrapping some of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/base/piece_filter.h"
#include "wrappers/find/function_list.h"
#include "wrappers/object/dwarf_file.h"
#include "wrappers/object/inlined_copies.h"
#include "wrappers/object/object_file.h"

namespace rdam {

// What is asked of a plan: the list, and the objects of a process.

struct LoadedObject {
    std::string path;  ///< absolute; the main executable's real path
    std::string
        build_id;  ///< hex as found in the process's memory; empty: none. A file with another one is refused.
    std::uint64_t base = 0;  ///< load bias: run-time address = base + link-time address
    /// What to open in its place, where nothing can be opened at `path`: a file that was deleted, or is
    /// another process's. Empty: `path`. A plan with such an object is made anew each time.
    std::string open_at = {};
};

struct PlanRequest {
    FunctionList list;
    std::vector<LoadedObject> objects;  ///< the main executable first
    bool has_executable = true;         ///< false: all of `objects` are libraries
    bool record_arguments = true;
    std::vector<std::string> own_objects;  ///< paths never to be touched (librdam.so)
    /// Runs the IFUNC resolver at run-time address `resolver` inside the process and returns the run-time
    /// address of the chosen implementation, 0 when that is impossible. Empty: the objects have not been
    /// relocated yet, so that no resolver can run.
    std::function<std::uint64_t(std::uint64_t resolver)> resolve_ifunc;
    /// Asked between entries: true ends planning, with an incomplete plan for no function. May be empty.
    std::function<bool()> unwanted;
};

/// About files that no process has loaded. The libraries are asked like the program: which of the files is
/// which is not known.
inline PlanRequest request_about(const std::vector<std::string>& paths) {
    PlanRequest request;
    request.has_executable = false;
    for (const std::string& path : paths)
        request.objects.push_back({path, {}, 0});
    return request;
}

class ObjectSet {
  public:
    /// `request` must outlive the set.
    explicit ObjectSet(const PlanRequest& request);

    std::size_t size() const { return entries_.size(); }
    const LoadedObject& loaded(std::size_t index) const;
    /// nullptr: could not be read; why_excluded() says why.
    const ObjectFile* file(std::size_t index);
    /// nullptr: no debug information.
    DwarfFile* dwarf(std::size_t index);
    /// DwarfFile::split_places() of all objects whose debug information has been opened.
    std::vector<std::string> split_places() const;
    /// Whether the debug information may describe a function of this name; it is not opened to find out.
    bool may_describe(std::size_t index, std::string_view name);
    /// Why nothing in this object may be wrapped; empty: it may.
    const std::string& why_excluded(std::size_t index);
    std::string module_name(std::size_t index) const;

    /// Whether `scope` names or matches (a glob) this object: its file name, that of the file a link leads to
    /// (as perf prints it), its path, or its soname.
    bool is_named(std::size_t index, std::string_view scope);

    struct Place {
        std::size_t object = 0;
        std::uint64_t address = 0;  ///< link-time
    };
    /// The object whose code is at a run-time address.
    std::optional<Place> locate(std::uint64_t run_time_address);

  private:
    struct Entry {
        bool opened = false;
        bool dwarf_opened = false;
        std::optional<ObjectFile> file;
        std::optional<DwarfFile> dwarf;
        std::optional<DebugStrings> strings;
        std::string excluded;
        std::string real_name;
    };
    const std::string& real_name(std::size_t index);
    void open(std::size_t index);
    std::string exclusion_by_path(std::size_t index) const;
    std::string exclusion_by_content(std::size_t index) const;

    const PlanRequest& request_;
    std::vector<Entry> entries_;
};

// Which names on a list are regions that an object marks itself (rdam/rdam.h).

/// The constants of an object that has regions. Thread-compatible.
class RegionNames {
  public:
    /// Reads all constants. `file` must outlive the names.
    explicit RegionNames(const ObjectFile& file);
    /// Whether the name is among the constants of an object with regions. A region is known to the recorder
    /// only when the program gets there, so this may be true of a name that is none.
    bool may_hold(std::string_view name) const;
    /// Whether may_hold() is true of a name that `pattern` matches (glob_match()).
    bool may_match(std::string_view pattern) const;

  private:
    std::vector<std::string_view> constants_;  // empty: the object has no regions
    PieceFilter pieces_;
    bool terminated_ = true;
};

}  // namespace rdam
