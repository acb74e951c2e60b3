// Any bytes as the beginning of a file that is no trace: one line says what it is.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tools/trace/foreign.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string said =
        rdam::trace::not_a_trace("x", {reinterpret_cast<const char*>(data), size}).message;
    if (!said.starts_with("x is ") || said.find('\n') != std::string::npos) std::abort();
    return 0;
}
