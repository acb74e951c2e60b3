// From the rows of a report to the functions worth wrapping.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wrappers/catalogue/catalogue.h"
#include "wrappers/perf/report_text.h"

namespace rdam {

struct HotFunction {
    std::string module;  ///< file name; empty: the report does not say, or there are several
    std::string name;
    double percent = 0;  ///< its own time, and the kernel's below it where samples tell
    std::string leaf;    ///< why its calls are to be sampled: "small leaf (96 bytes)" or "small and called
                         ///< often (96 bytes)"; empty: they are not
};

enum class LeftOut : std::uint8_t {
    kernel,      ///< kernel symbol
    unresolved,  ///< address without a name; one entry for each file, or each name of one in no file
    inlined,     ///< exists only inside other functions
    no_file,     ///< in generated code, the vdso, …
    linker,      ///< the dynamic linker's own
    guest,       ///< in a virtual machine
    module,      ///< in a module that was not asked for
    unwritable,  ///< its name cannot be written in a list
    refused,     ///< what the recorder refuses in every run of the program
};

struct LeftOutLine {
    LeftOut why = LeftOut::kernel;
    std::string module;
    std::string name;         ///< for unresolved: empty
    double percent = 0;       ///< own
    double with_callees = 0;  ///< the largest Children of its rows; = percent where that is not printed
    std::size_t rows = 0;
    std::string reason = {};  ///< of what is refused
    std::string path = {};    ///< for unresolved: the module as the report has it
};

struct HotOptions {
    double min_percent = 1.0;  ///< kept: what has more
    std::string module;        ///< glob; only functions of matching modules are kept; empty: of all
};

struct HotFunctions {
    std::vector<HotFunction> functions;  ///< sorted by percent, falling
    std::vector<LeftOutLine> left_out;   ///< each above the limit, in the same order
    std::size_t below_limit = 0;         ///< functions
    double below_limit_percent = 0;      ///< together
    double kernel_percent = 0;           ///< all of the kernel's time
    double kernel_credited_percent = 0;  ///< of it: credited to functions
};

/// Whether perf names this in place of an object file: a mapping of no file, or code made at run time.
bool is_no_file(std::string_view module);

HotFunctions hot_functions(const PerfReport& report, const HotOptions& options);

/// The entry of a list: `module:name`, or the name alone. Empty when it cannot be written so that reading it
/// back gives the same name, or holds what printable() escapes.
std::string list_entry_text(const std::string& module, const std::string& name);

// The functions of the catalogue in which a program may sleep.

struct WaitingFunctions {
    std::vector<std::string> names;       ///< sorted
    std::vector<std::string> unreadable;  ///< one line for each object that could not be looked at
    std::size_t objects = 0;              ///< how many could
};

/// Launchers (a shell, `env`, …) among `objects` are not looked at: what they wait for is the program.
WaitingFunctions waiting_functions(const std::vector<std::string>& objects, const Catalogue& catalogue);

/// The public name of a function that perf calls by one of glibc's own (`__GI___libc_write` is `write`), or
/// the name without version where the catalogue knows no other; empty: the catalogue does not know the
/// function.
std::string well_known_name(std::string_view symbol, const Catalogue& catalogue);

}  // namespace rdam
