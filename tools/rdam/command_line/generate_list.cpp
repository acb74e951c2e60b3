// The manual page of the list of functions, rdam-list (5).
#include <array>
#include <string>

#include "tools/rdam/command_line/generate.h"
#include "tools/rdam/command_line/roff.h"

namespace rdam {
namespace {

struct Entry {
    std::string_view form;
    std::string_view meaning;
};

constexpr std::array<Entry, 9> kForms{{
    {"name", "The functions of that name in all objects of the process: the program and its libraries."},
    {"module:name",
     "Those in the objects that module names: the file name of an executable or a library, its soname, its "
     "path, or "
     "the file that a link leads to. Wildcards are allowed (libz.so*:crc32). A module with .so in its name, "
     "or "
     "of wildcards without a point (libz*, *), may be loaded later."},
    {"file.c:name",
     "Local functions that come from that source file, if no object is called so. With a directory it must "
     "be "
     "written as the compiler was given it. Wildcards are allowed."},
    {"region:name", "A region that the program marks in its source (rdam/rdam.h)."},
    {"~entry",
     "The same, but its calls are sampled in time windows spread over the run. If another entry spells the "
     "function "
     "out without the mark, every call is recorded."},
    {"entry  # text", "A comment, at the start of a line or behind a blank."},
    {"entry  # wait", "What rdam hot adds of functions that wait: it is not reported if it is missing."},
    {"a, b, c",
     "On a command line or in RDAM_FUNCTIONS: entries separated by commas. Commas in brackets belong to "
     "the name."},
    {"blank lines", "Are skipped. Lines may end with a carriage return."},
}};

constexpr std::array<Entry, 7> kNames{{
    {"linkage name",
     "As it stands in the symbol table (nm), with or without its version: write, fopen@GLIBC_2.2.5, _Z3funi. "
     "It "
     "means that function alone, unless it is also the whole name of functions in C++ or of the compiler's "
     "copies "
     "(below). rdam hot writes linkage names where it knows them, and readable ones in the comment."},
    {"readable name",
     "A C++ name with or without parameters and return type (ns::f, ns::f(int)), std::string for what it is "
     "short "
     "for; a Rust name with or without its hash; a D name; an OCaml name as perf prints it "
     "(Stdlib.List.map_12). "
     "Without parameters it means all overloads, and a function in C of that name as well."},
    {"Fortran name", "Any spelling of a procedure (solve for solve_), or module::procedure."},
    {"wildcards",
     "* and ? stand for any characters or one, [a-z] for one of several. They match linkage names and "
     "readable "
     "ones. A name that exists literally (operator*) is no pattern. Without a module a pattern means "
     "functions of "
     "the program only."},
    {"copies",
     "A name also means the copies that a compiler makes of a function and calls in its place (.constprop, "
     ".isra, "
     ".specialized, .lto_priv, .llvm), the bodies of a coroutine (.resume, .actor, .destroy, .cleanup), and "
     "what "
     "clang's control-flow integrity puts behind a jump (.cfi). Other copies (.part, ._omp_fn) stand for the "
     "function only if there is nothing else of that name. Each has a row of its own."},
    {"folded functions",
     "If a linker has folded several functions into one, calls of all of them are in one row, which has all "
     "of "
     "the names. rdam record says so."},
    {"internal names", "Names of the C library that only debug symbols have lead to the exported function."},
}};

template <class Entries>
std::string section(std::string_view title, const Entries& entries) {
    std::string out = fmt::format(".SH {}\n", title);
    for (const Entry& entry : entries)
        out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(entry.form), roff(entry.meaning));
    return out;
}

}  // namespace

std::string generate_list_man() {
    return ".TH RDAM\\-LIST 5 \"\" \"rdam " RDAM_VERSION
           "\" \"File Formats\"\n.SH NAME\nrdam\\-list \\- the functions that rdam records\n.SH SYNOPSIS\n"
           "\\fBrdam record \\-f\\fR \\fILIST\\fR ...\n.br\n\\fBRDAM_FUNCTIONS=\\fR\\fILIST\\fR ...\n"
           ".SH DESCRIPTION\n" +
           roff(
               "A list is a text file with one entry per line. rdam hot writes one from a profile; any text "
               "editor "
               "changes it. -f work refers to a list only if a text file of that name exists, ./work always "
               "does, and work, (with the comma) is the function. Each entry is answered for before the "
               "program "
               "starts: wrapped, not found, or skipped and why.") +
           "\n" + section("ENTRIES", kForms) + section("NAMES", kNames) + ".SH EXAMPLES\n.nf\n.RS\n" +
           roff(
               "app:_ZN4shop4sortEi  # 36.2 %, shop::sort(int)\n~app:mix  # 12.3 %, small leaf (96 bytes)\n"
               "libz.so*:crc32\npthread_mutex_lock  # wait\nparser.c:next_token\nregion:frame") +
           "\n.RE\n.fi\n.SH SEE ALSO\n.BR rdam\\-hot (1),\n.BR rdam\\-record (1)\n";
}

}  // namespace rdam
