// Any bytes as an ELF object: symbols, extents, frames, prototypes and lines are read without reading behind
// the end.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "wrappers/object/inlined_copies.h"
#include "wrappers/object/object_file.h"
#include "wrappers/prototype/dwarf_prototype.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kMaxSymbols = 200;
    std::vector<char> bytes(data, data + size);
    const auto object = rdam::ObjectFile::from_bytes(std::move(bytes), "fuzzed");
    if (!object) return 0;
    auto dwarf = rdam::DwarfFile::open(*object);
    std::size_t looked_at = 0;
    std::size_t sum = 0;
    for (const rdam::Symbol& symbol : object->symbols()) {
        if (++looked_at > kMaxSymbols) break;
        if (const auto extent = object->extent(symbol.address)) {
            for (const std::uint8_t byte : object->code(extent->begin, extent->size()))
                sum += byte;
        }
        sum += symbol.name.size() + symbol.version.size() + symbol.source_file.size();
        if (dwarf) sum += rdam::describe_function(*dwarf, symbol.address, symbol.name).has_value();
    }
    if (dwarf) sum += rdam::find_inlined_by_name(*dwarf, "f").size();
    return sum == SIZE_MAX ? 1 : 0;
}
