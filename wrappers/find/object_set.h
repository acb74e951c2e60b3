// The objects of one process, opened on first use, and the reasons for not wrapping some of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wrappers/find/plan_request.h"
#include "wrappers/object/dwarf_file.h"
#include "wrappers/object/inlined_copies.h"
#include "wrappers/object/object_file.h"

namespace rdam {

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

}  // namespace rdam
