// The debug information of one object, opened lazily and indexed by address.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "wrappers/object/object_file.h"

namespace rdam {

/// No walk over debug information goes further: a hostile file may nest, and go on, for ever.
inline constexpr std::uint64_t kMaxEntries = 20'000'000;
inline constexpr int kDeepestNesting = 64;  ///< of scopes

/// One function's code according to DWARF. With hot and cold parts there is one range each.
struct DwarfFunction {
    std::uint64_t begin = 0;  ///< link-time
    std::uint64_t end = 0;
    Dwarf_Die die{};
};

/// Thread-compatible: libdw caches in every look-up, so one thread at a time.
class DwarfFile {
  public:
    /// Nothing: there is no usable debug information. `object` must outlive the result.
    static std::optional<DwarfFile> open(const ObjectFile& object);

    struct Unit {
        Dwarf_CU* handle = nullptr;
        Dwarf_Die die{};
    };
    /// A file with a part of the debug information (-gsplit-dwarf) that was not found; empty: there is none.
    const std::string& missing_file() const { return missing_; }

    /// All places where files with parts of the debug information are looked for.
    const std::vector<std::string>& split_places() const { return split_places_; }

    /// All compilation units, in the order of the file; no type units. Of those that are split the part that
    /// describes functions.
    const std::vector<Unit>& units() const { return units_; }

    /// The unit whose code covers the address; nullptr: none.
    const Unit* unit_at(std::uint64_t address);
    /// The function that covers the address.
    const DwarfFunction* function_at(std::uint64_t address);
    /// The function one of whose ranges begins at the address; of several that were folded into one the one
    /// with this linkage name, if any has it.
    const DwarfFunction* function_starting_at(std::uint64_t address, std::string_view linkage_name);

    /// A function that is described as compiled into others.
    struct Inlined {
        std::size_t name_hash = 0;  ///< of its plain name, without template arguments
        std::size_t unit = 0;       ///< index into units()
        Dwarf_Die die{};
    };
    struct InlinedFunctions {
        std::vector<Inlined> functions;  ///< by name_hash; of one name in the order of the file
        bool complete = true;            ///< false: too much to be read to its end
    };
    /// Read on first use.
    const InlinedFunctions& inlined_functions();

  private:
    struct End {
        void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
    };
    struct UnitRange {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        std::size_t unit = 0;  // index into units_
    };
    DwarfFile(Dwarf* dwarf, const std::string& object) : dwarf_{dwarf} { read_units(object); }
    void read_units(const std::string& object);
    const std::vector<DwarfFunction>& functions_of(std::size_t unit);

    std::unique_ptr<Dwarf, End> dwarf_;
    std::vector<Unit> units_;
    std::vector<UnitRange> ranges_;  // by begin
    std::string missing_;            // a .dwo file
    std::vector<std::string> split_places_;
    std::unordered_map<std::size_t, std::vector<DwarfFunction>> functions_;  // by unit; each by begin
    std::optional<InlinedFunctions> inlined_;
};

/// The linkage name of a function DIE (its abstract origin's or declaration's where it has none itself), else
/// its plain name; empty: it has none.
std::string_view linkage_name_of(Dwarf_Die die);

/// "std::vector<int>::push_back" as display_name() gives it, from whatever names the DIE has.
std::string display_name_of(Dwarf_Die die);

/// `vector` of `vector<int>`.
std::string_view without_template_arguments(std::string_view name);

/// "file.c:12" of the declaration, without directories; empty: unknown.
std::string declaration_of(Dwarf_Die die);

}  // namespace rdam
