#include "tools/rdam/command/terminal.h"

#include <fmt/format.h>

#include <cstdio>

#include "wrappers/support/printable.h"

namespace rdam {

void print_error(std::string_view message) {
    fmt::print(stderr, "rdam: {}\n", printable(message));
}

}  // namespace rdam
