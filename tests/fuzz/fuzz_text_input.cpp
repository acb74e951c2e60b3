// Reads any bytes as what the tool INPUT writes (a room of analyzer/inputs), and all calls of what comes of them.
#include <cstddef>
#include <cstdint>

#include "analyzer/inputs/chrome/chrome.h"
#include "analyzer/inputs/chrome/profiles.h"
#include "analyzer/inputs/lttng/lttng.h"
#include "analyzer/inputs/paje/paje.h"
#include "analyzer/inputs/probes/probes.h"
#include "tests/fuzz/read_input.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    rdam::fuzz::recognizes_and_reads(data, size, rdam::inputs::INPUT::recognizes, rdam::inputs::INPUT::read);
    return 0;
}
