// Messages to the user. They may contain names from traces, lists and command lines.
#pragma once

#include <string_view>

namespace rdam {

/// Writes "rdam: <message>" as one line to stderr, which may be closed. Control characters and bytes that are
/// not UTF-8 are shown escaped, so that no message can move the cursor or forge a second line.
void say(std::string_view message);

}  // namespace rdam
