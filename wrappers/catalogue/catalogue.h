// Facts about well-known functions: wrappers/catalogue/catalogue.toml, one readable data file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/base/result.h"

namespace rdam {

enum class ValueKind : std::uint8_t {
    signed_integer,
    unsigned_integer,
    pointer,
    boolean,
    floating,
    enumeration
};

struct CatalogueParameter {
    std::string name;
    ValueKind kind = ValueKind::unsigned_integer;
    std::uint8_t size = 8;  ///< bytes

    bool operator==(const CatalogueParameter&) const = default;
};

struct CatalogueFunction {
    std::string name;                            ///< linkage name
    std::vector<CatalogueParameter> parameters;  ///< all named ones, in order
    bool variadic = false;                       ///< takes more than those
    std::optional<CatalogueParameter> result;    ///< none: returns nothing
    std::vector<std::string> keys;   ///< parameters that tell sequences apart by default (a lock's address)
    std::vector<std::string> sizes;  ///< those of `keys` that say how much is to be done: about the same is
                                     ///< the same
    bool result_is_size = false;     ///< so does the result (a length), which is a key, too
    bool waits = false;              ///< may put the calling thread to sleep: perf's samples do not see it
    bool busy_waits = false;         ///< waits on the processor, before it sleeps or instead
    std::string by_design;  ///< what it waits for, as it should: `for a thread's end`; empty: it does not
    bool barrier = false;   ///< it waits until all threads have come
    /// The functions that give back what it takes, and those that end its wait, for the same object.
    std::vector<std::string> given_back_by, woken_by;
    bool shared = false;  ///< several threads may have taken it
    /// If it returns 0, or something else, it has not taken anything, or nobody has ended its wait.
    bool zero_fails = false, other_fails = false;
    bool wakes_all = false;  ///< of `woken_by` of others: it ends the waits of all threads, not of one
    bool counts = false;     ///< likewise: who comes later need not wait
    bool futex = false;      ///< it may be about a futex: what it is given first is what syscall() is given
    bool receives = false;   ///< it waits until somebody sends to the file descriptor that it is given first
    bool sends = false;      ///< it sends through the file descriptor that it is given first
    bool for_threads = false;  ///< it waits for other threads of the program to come, to end or to notify it
    std::string runs;       ///< the program's code that it runs besides: `the parallel region`; empty: none
    bool unlisted = false;  ///< `rdam hot` adds no line for it, but for what it waits in
    bool in_default_list = false;  ///< wrapped when the user gives no list at all
    std::string refuse;            ///< why it is never wrapped ("returns twice"); empty: it may be

    /// `given_back_by` and `woken_by`.
    std::vector<std::string> partners() const {
        std::vector<std::string> all = given_back_by;
        all.insert(all.end(), woken_by.begin(), woken_by.end());
        return all;
    }
    /// It does not wait for what it takes.
    bool tries() const { return !given_back_by.empty() && !waits && !busy_waits; }
    /// It works on something that threads may share: a lock, a file descriptor.
    bool works_on_object() const { return keys.size() > sizes.size(); }

    bool operator==(const CatalogueFunction&) const = default;
};

/// A runtime whose functions look at their return addresses only to tell them to tools.
struct CallerTeller {
    std::string marker;              ///< a function that only an object with this runtime defines
    std::vector<std::string> names;  ///< globs of its functions

    bool operator==(const CallerTeller&) const = default;
};

class Catalogue {
  public:
    /// Parses catalogue text (TOML). `origin` names it in messages. For programs with catalogue_toml_dep.
    static Result<Catalogue> parse(std::string_view text, std::string_view origin);
    /// The catalogue that was compiled in from catalogue.toml (so that no file need be found at run time).
    /// Read when it is first asked for.
    static const Catalogue& builtin();
    /// Differs where the built-in catalogue does. Reads nothing.
    static std::uint64_t builtin_fingerprint();

    /// All of it, a line for each function and runtime. To parse the TOML takes ten times as long as to read
    /// these.
    std::string lines() const;
    /// `text`: of lines().
    static Catalogue from_lines(std::string_view text);

    /// By linkage name without version. A name that only a glob of the refused ones matches gets the entry of
    /// that glob (its `name` is the glob). nullptr when the function is not known.
    const CatalogueFunction* find(std::string_view name) const;
    /// The functions with a name of their own, sorted by name; without the globs of refused names.
    const std::vector<CatalogueFunction>& functions() const { return functions_; }

    /// Whether the function of this linkage name looks at its return address only to tell it to tools, so
    /// that it may be wrapped. `defines`: whether the object with the function defines one of that name.
    bool only_tells_caller(std::string_view name, const std::function<bool(std::string_view)>& defines) const;

    bool operator==(const Catalogue&) const = default;

  private:
    std::vector<CatalogueFunction> functions_;      // sorted by name
    std::vector<CatalogueFunction> refused_globs_;  // in the order of the file
    std::vector<CallerTeller> caller_tellers_;
};

}  // namespace rdam
