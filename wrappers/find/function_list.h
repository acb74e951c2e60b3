// The list of functions a user wants wrapped: its text form and what an entry matches.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/base/result.h"

namespace rdam {

/// One entry of a list: `name`, `module:name` or `file.c:name`, each with a `~` in front if its calls are to
/// be sampled. A lone colon separates; `::` is part of a name. No name of a function begins with `~`:
/// destructors are written `A::~A`.
struct ListEntry {
    std::string text;   ///< as the user wrote it, mark included, without comment and surrounding blanks
    std::string scope;  ///< module (file name of an object) or source file; empty: anywhere
    std::string
        name;  ///< literal name or glob; a literal match is tried before a glob (`operator*` is a name)
    std::string origin;        ///< "hot.txt:12", "-f" or "RDAM_FUNCTIONS", for messages
    bool added_wait = false;   ///< came from the catalogue (`# wait` mark of rdam hot), not from the user:
                               ///< not finding it is no news
    std::string unless_found;  ///< what to say if nothing answers to it; empty: nothing but that
    bool sampled = false;      ///< marked `~`: its calls are recorded in windows of time only
};

/// All of it, for an archive (tools/base/byte_archive.h).
template <class Archive>
void fields(Archive& archive, ListEntry& entry) {
    archive(entry.text, entry.scope, entry.name, entry.origin, entry.added_wait, entry.unless_found,
            entry.sampled);
}

/// A scope of stars alone: libraries that are loaded later belong to it as well as those that are there.
inline bool names_any_module(std::string_view scope) {
    return !scope.empty() && scope.find_first_not_of('*') == std::string_view::npos;
}

/// In front of an entry: its calls are to be sampled.
inline constexpr char kSampledMark = '~';

/// The comment on lines that `rdam hot` added from the catalogue.
inline constexpr std::string_view kWaitMark = "wait";

/// In front of what `rdam hot` says of the whole list, on a line of its own.
inline constexpr std::string_view kCoverageMark = "rdam hot: ";

struct FunctionList {
    std::vector<ListEntry> entries;
    std::string coverage = {};  ///< the text behind kCoverageMark; empty: there is none
};

/// Parses the text of a list file: one entry a line, `#` starts a comment (at the start of a line or after a
/// blank: names may contain '#'? they may not), blank lines ignored, CRLF accepted.
Result<FunctionList> parse_function_list(std::string_view text, std::string_view origin);

/// Parses a comma-separated list. Commas inside (), <>, [] and {} belong to the name.
Result<FunctionList> parse_function_names(std::string_view text, std::string_view origin);

/// Whether a value of RDAM_FUNCTIONS or of `-f` is the path of a list file: it contains a '/' or ends in
/// .txt, so that no function could have that name, or a text file of that name exists. Any other file of that
/// name (a program that is called as its function) is none.
bool is_list_file(const std::string& value);

/// The value of RDAM_FUNCTIONS or of `-f`: `-` for standard input, the path of a list file, else the names
/// themselves, which then come from `origin`: what the user wrote the value behind. Not a regular file: an
/// error, for every process of a run reads it again. An empty list, or one of nothing but comments, is an
/// error that says so.
Result<FunctionList> load_function_list(const std::string& value, std::string_view origin);

}  // namespace rdam
