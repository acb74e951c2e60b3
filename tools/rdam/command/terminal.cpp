#include "tools/rdam/command/terminal.h"

#include <fmt/format.h>

#include <cstdio>

#include "tools/base/printable.h"

namespace rdam {

void say(std::string_view message) {
    // fmt::print() would throw if standard error is closed.
    std::fputs(fmt::format("rdam: {}\n", printable(message)).c_str(), stderr);
}

}  // namespace rdam
