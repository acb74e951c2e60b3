// From a list of names and a process's loaded objects to a plan of how to patch its code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libprobe/format/plan.h"
#include "wrappers/catalogue/catalogue.h"
#include "wrappers/entry/relocate.h"
#include "wrappers/find/function_list.h"
#include "wrappers/find/object_set.h"

namespace rdam {

/// How a recorded word becomes a parameter's value.
struct Parameter {
    std::string name;  ///< "arg0" where no name is known
    ValueKind kind = ValueKind::unsigned_integer;
    std::uint8_t size = 8;   ///< bytes of the value in the low end of the word
    std::uint16_t word = 0;  ///< index among the words of the enter event
    bool key = false;        ///< a default key (catalogue)
    std::string type;        ///< as in the source, for display; may be empty
    bool by_size = false;    ///< as a key, it says how much is to be done: about the same is the same
};

struct FunctionPlan {
    std::string name;  ///< demangled without parameter list where that is unambiguous; what reports show.
                       ///< With the names of functions that a linker has folded into it: "f (also g)"
    std::string linkage_name;   ///< as in the symbol table, without version
    std::string source;         ///< "file.c:12" of the declaration; empty if unknown
    std::size_t object = 0;     ///< index into PlanRequest::objects
    std::uint64_t address = 0;  ///< link-time address of the entry
    std::uint64_t size = 0;
    MovedPrologue prologue;
    plan::Frame frame = plan::Frame::shadow;
    bool takes_flags = false;  ///< something may be in the flags when it is called: no gate stands before it
    std::uint32_t stack_bytes = 0;  ///< of stack-passed arguments, exact, when frame is `stack`
    plan::Recording recording;
    std::vector<Parameter> parameters;  ///< the recorded ones
    std::optional<Parameter> result;    ///< the leave event's word
    std::string unproven;  ///< which are not, and why: "no parameters: …", "without …"; empty: all are proven
    std::uint32_t inlined_copies = 0;  ///< copies of it compiled into others, which are not seen
    bool waits = false;                ///< CatalogueFunction::waits
    bool busy_waits = false;           ///< CatalogueFunction::busy_waits
    std::uint64_t wait_of = 0;  ///< link-time address of a function of the object: this is the way into its
                                ///< wait (WaitSite), which nobody has listed; 0: it is a function
    bool wakes = false;         ///< `wait_of` a lock: not that, but where one that waits for it is woken up
    bool partner =
        false;  ///< nobody has listed it: it ends waits of what is listed (CatalogueFunction). With
                ///< `wait_of`: it stands for calls that need not wait as well
    plan::Waiters waiters;  ///< `partner`: under a budget, only calls that find somebody waiting are recorded
    bool sampled = false;   ///< an entry that means it is marked, and none without a mark spells its name out
    std::vector<std::string> aliases;  ///< other names of the same entry
};

enum class ListVerdict : std::uint8_t { wrapped, not_found, refused };

/// What regions have in place of a module.
inline constexpr const char* kRegionModule = "region";

/// The answer to one entry of the list (one entry may match several functions: one answer for each).
struct Answer {
    ListEntry entry;
    ListVerdict verdict = ListVerdict::not_found;
    std::string function;  ///< "module:name" when one was found; of a region, which has no FunctionPlan,
                           ///< kRegionModule:name
    std::string
        reason;  ///< refused: why. not_found: what was looked at. wrapped: remarks ("as pthread_mutex_unlock,
                 ///< the exported alias", "3 inlined copies will not be seen: in f, g, h"); may be empty
    std::string unproven;              ///< wrapped: FunctionPlan::unproven
    bool awaits_module = false;        ///< not_found: its library is not loaded, and may come later
    std::vector<std::string> nearest;  ///< not_found: up to three names that exist
};

struct Plan {
    std::vector<FunctionPlan> functions;  ///< ordered by object, then address; no entry address twice
    std::vector<Answer> answers;
    std::vector<std::string> split_places;  ///< files that were looked for besides those of debug_places()
    bool complete = true;  ///< false: planning broke off (memory), and another time there may be more to it
};

/// Never throws; an object that cannot be read is reported in the answers that needed it.
Plan make_plan(const PlanRequest& request, const Catalogue& catalogue);

}  // namespace rdam
