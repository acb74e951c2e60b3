#include "libprobe/base/loaded_object.h"

#include "libprobe/base/runtime.h"

namespace rdam::probe {
namespace {

using FindObject = int(void*, FoundObject*);
constinit FindObject* real_find = nullptr;

}  // namespace

void prepare_find_object() {
    real_find = reinterpret_cast<FindObject*>(find_next("_dl_find_object"));
}

int find_object(void* address, FoundObject* found) {
    // The constructor of another library may be earlier.
    if (real_find == nullptr) prepare_find_object();
    return real_find != nullptr ? real_find(address, found) : -1;
}

ObjectSpan object_around(std::uint64_t address) {
    FoundObject found;
    if (find_object(reinterpret_cast<void*>(address), &found) != 0) return {};
    return {reinterpret_cast<std::uint64_t>(found.map_start), reinterpret_cast<std::uint64_t>(found.map_end)};
}

}  // namespace rdam::probe
