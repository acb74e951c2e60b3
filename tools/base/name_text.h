// Where the punctuation in a function's name belongs to the name: brackets, `operator,`, `->`, `::`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rdam {

/// Splits at every `separator` outside (), [], {} and <>. Pieces are as they stand, blanks included; never
/// empty.
std::vector<std::string_view> split_outside_brackets(std::string_view text, char separator);

/// The colon between a scope and a name (`libc.so.6:write`), npos when there is none: the first colon outside
/// brackets that is not part of a `::`. In `app:::f` the scope is `app` and the name `::f`.
std::size_t find_scope_colon(std::string_view text);

/// What perf prints of an object's path, as the name of a module: without directories, and without the mark
/// of a file that has been deleted.
std::string file_name_of(std::string_view path);

/// Whether a module is the dynamic linker, where nothing is wrapped.
bool is_dynamic_linker(std::string_view path);

/// `name` in at most `columns` (5 at least): if necessary, the longest template arguments are replaced by
/// `<…>`, then the middle of the name is cut. Printable text, UTF-8.
std::string shortened_name(std::string_view name, std::size_t columns);

/// Without leading and trailing blanks, tabs and carriage returns.
std::string_view trim_blanks(std::string_view text);

}  // namespace rdam
