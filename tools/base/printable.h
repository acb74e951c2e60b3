// Makes text of unknown origin (names, paths and command lines from traces, ELF files, perf) fit for a
// terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rdam {

/// `text` as one line that can neither move the cursor nor change colours nor reorder the text around it.
/// Control characters become `\n`, `\t`, `\x1b`; bytes that are no valid UTF-8 `\xff`; invisible and
/// direction-changing characters (Unicode bidirectional controls, zero-width and tag characters, line and
/// paragraph separators, C1 controls) `\u{202e}`. All else, accents and all scripts included, stays as it is.
/// The result is valid UTF-8.
std::string printable(std::string_view text);

/// JSON text, whose strings hold what printable() escapes as `\u202e`: the same values, and nothing that a
/// terminal obeys.
std::string printable_json(std::string_view json);

/// Columns that printable text takes when every character is one wide.
std::size_t display_width(std::string_view utf8);

/// The first characters of `utf8` so that it takes at most `columns`, with `…` as the last one where
/// something was cut off.
std::string shortened(std::string_view utf8, std::size_t columns);

}  // namespace rdam
