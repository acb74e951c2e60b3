// What rdam says to the person who runs it. Names from traces, lists and command lines end up in such lines.
#pragma once

#include <string_view>

namespace rdam {

/// Writes "rdam: <message>" as one line to stderr. Control characters and bytes that are not UTF-8 are shown
/// escaped, so that no message can move the cursor or forge a second line.
void print_error(std::string_view message);

}  // namespace rdam
