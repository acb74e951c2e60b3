#include "tools/rdam/terminal.h"

#include <fmt/format.h>

#include <cstdio>

#if __has_include("wrappers/support/printable.h")
#include "wrappers/support/printable.h"
#else
namespace rdam {
static std::string printable(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        out += byte < 0x20 || byte >= 0x7f ? fmt::format("\\x{:02x}", byte) : std::string{c};
    }
    return out;
}
}  // namespace rdam
#endif

namespace rdam {

void print_error(std::string_view message) {
    fmt::print(stderr, "rdam: {}\n", printable(message));
}

}  // namespace rdam
