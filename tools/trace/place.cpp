#include "tools/trace/place.h"

#include <fmt/format.h>

#include "tools/base/files.h"

namespace rdam::trace {

const ObjectInfo* object_at(const TraceInfo& info, std::uint64_t address) {
    const ObjectInfo* best = nullptr;
    for (const ObjectInfo& object : info.objects) {
        const bool inside = object.base <= address && address < object.end;
        if (inside && (best == nullptr || object.base > best->base)) best = &object;
    }
    return best;
}

Place place_of(const TraceInfo& info, std::uint64_t return_address) {
    const ObjectInfo* object = return_address > 0 ? object_at(info, return_address - 1) : nullptr;
    if (object == nullptr) return {.offset = return_address};
    return {.module = std::string{file_name(object->path)}, .offset = return_address - object->base};
}

std::string place_text(const Place& place) {
    if (!place.module.empty()) return fmt::format("{}+{:#x}", place.module, place.offset);
    return place.offset == 0 ? "unknown" : fmt::format("{:#x}", place.offset);
}

}  // namespace rdam::trace
