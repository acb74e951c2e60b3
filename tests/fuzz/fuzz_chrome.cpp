// Reads any bytes as trace events in JSON.
#include <cstddef>
#include <cstdint>

#include "analyzer/inputs/chrome/chrome.h"
#include "tests/fuzz/read_input.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    rdam::fuzz::recognizes_and_reads(data, size, rdam::inputs::chrome::recognizes,
                                     rdam::inputs::chrome::read);
    return 0;
}
