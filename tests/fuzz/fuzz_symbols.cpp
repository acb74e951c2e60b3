// Any bytes as an object's file: what is found lies inside of it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "tools/study-native/memory/symbols.h"

namespace {

void check(void* data, const ObjectSymbol* symbol) {
    const auto& file = *static_cast<std::span<const std::uint8_t>*>(data);
    const auto* const name = reinterpret_cast<const std::uint8_t*>(symbol->name);
    const bool is_sound = name >= file.data() && name < file.data() + file.size() &&
                          std::memchr(name, '\0', file.data() + file.size() - name) != nullptr &&
                          symbol->bytes > 0 && symbol->address + symbol->bytes > symbol->address;
    if (!is_sound) std::abort();
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::span<const std::uint8_t> file{data, size};
    each_symbol(data, size, check, &file);
    return 0;
}
