// Any bytes as an ELF object: the unwind tables of its functions are read without reading behind the end, and
// what is made of them for moved code is within what the recorder counts on.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "wrappers/entry/moved_frames.h"
#include "wrappers/entry/relocate.h"
#include "wrappers/object/object_file.h"

namespace {

bool is_sound(const rdam::MovedPrologue& moved, std::size_t code, std::size_t fixups) {
    const auto fits = [&](const rdam::plan::Fixup& fixup) {
        const std::size_t width = fixup.kind == rdam::plan::FixupKind::abs64 ? 8 : 4;
        return fixup.code_offset + width <= moved.code.size();
    };
    if (moved.description == 0) return moved.code.size() == code && moved.fixups.size() == fixups;
    std::uint32_t size = 0;
    std::uint32_t back = 0;
    if (moved.description + 2 * sizeof size > moved.code.size()) return false;
    std::memcpy(&size, moved.code.data() + moved.description, sizeof size);
    std::memcpy(&back, moved.code.data() + moved.description + sizeof size, sizeof back);
    return moved.description >= code && moved.description + sizeof size + size == moved.code.size() &&
           back <= moved.description + sizeof size - code &&
           moved.code.size() - code <= rdam::kMaxDescription &&
           std::all_of(moved.fixups.begin(), moved.fixups.end(), fits);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kMaxSymbols = 200;
    std::vector<char> bytes(data, data + size);
    const auto object = rdam::ObjectFile::from_bytes(std::move(bytes), "fuzzed");
    if (!object) return 0;
    std::size_t looked_at = 0;
    for (const rdam::Symbol& symbol : object->symbols()) {
        if (++looked_at > kMaxSymbols) break;
        const auto extent = object->extent(symbol.address);
        if (!extent) continue;
        const auto entries = rdam::entered_by_exceptions(*object, symbol.address);
        auto moved =
            rdam::move_prologue(object->code(extent->begin, extent->size()), extent->begin, 0, entries);
        if (!moved) continue;
        const std::size_t code = moved->code.size();
        const std::size_t fixups = moved->fixups.size();
        rdam::describe_frames(*object, extent->begin, *moved);
        if (is_sound(*moved, code, fixups)) continue;
        std::fprintf(stderr, "a description that is none\n");
        std::abort();
    }
    return 0;
}
