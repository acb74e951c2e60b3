// Reads any bytes as the text of probes.
#include <cstddef>
#include <cstdint>

#include "analyzer/inputs/probes/probes.h"
#include "tests/fuzz/read_input.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    rdam::fuzz::recognizes_and_reads(data, size, rdam::inputs::probes::recognizes,
                                     rdam::inputs::probes::read);
    return 0;
}
