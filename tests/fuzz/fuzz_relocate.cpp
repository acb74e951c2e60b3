// Any bytes as a function: never read behind their end, and what is moved means the same as before.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/unit/relocate/correspondence.h"
#include "wrappers/entry/relocate.h"

namespace {

/// The input begins with this; what follows is the function.
struct Header {
    std::uint8_t padding;
    std::uint8_t other_entry;  ///< offset of one, 0 for none
    std::uint16_t address_low;
    std::uint32_t address_high;
};

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Header header;
    if (size < sizeof header) return 0;
    std::memcpy(&header, data, sizeof header);
    const std::vector<std::uint8_t> body(data + sizeof header, data + size);
    const std::uint64_t address = std::uint64_t{header.address_high} << 16 | header.address_low;
    std::vector<std::uint64_t> entries;
    if (header.other_entry != 0) entries.push_back(address + header.other_entry);
    const auto moved = rdam::move_prologue(body, address, header.padding, entries);
    const bool unexplained = !moved && moved.error().message.empty();
    const std::string problem = moved ? rdam::test::difference(body, address, *moved) : "";
    if (!unexplained && problem.empty()) return 0;
    std::fprintf(stderr, "%s\n", unexplained ? "refused without a reason" : problem.c_str());
    std::abort();
}
