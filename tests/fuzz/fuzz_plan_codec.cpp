// Any bytes as a kept plan: what is accepted is within what the recorder counts on, and is written as it was.
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "wrappers/plan/cached_plan.h"

namespace {

constexpr std::size_t kHead = 16;

bool is_written_as_it_was(std::span<const std::uint8_t> bytes) {
    const auto record = rdam::decode(bytes);
    if (!record) return true;
    const auto again = rdam::encode(*record);
    return rdam::is_sound(record->plan, std::numeric_limits<std::size_t>::max()) &&
           std::equal(again.begin(), again.end(), bytes.begin(), bytes.end());
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::uint8_t> bytes(data, data + size);
    bool good = is_written_as_it_was(bytes);
    if (size >= kHead) {
        // Nobody guesses a checksum.
        const std::uint64_t checksum = XXH3_64bits(bytes.data() + kHead, size - kHead);
        std::memcpy(bytes.data() + sizeof checksum, &checksum, sizeof checksum);
        good = good && is_written_as_it_was(bytes);
    }
    if (good) return 0;
    std::fprintf(stderr, "a plan does not read back\n");
    std::abort();
}
