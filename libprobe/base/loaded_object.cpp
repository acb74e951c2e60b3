#include "libprobe/base/loaded_object.h"

#include "libprobe/base/runtime.h"

namespace rdam::probe {
namespace {

using FindObject = int(void*, FoundObject*);
/// In a cache line of its own: each thread that throws reads it for each frame, and what would share the line
/// is written all the time.
struct alignas(64) RealFunction {
    FindObject* find = nullptr;
};
constinit RealFunction real;

}  // namespace

void prepare_find_object() {
    real.find = reinterpret_cast<FindObject*>(find_next("_dl_find_object"));
}

int find_object(void* address, FoundObject* found) {
    // The constructor of another library may be earlier.
    if (real.find == nullptr) prepare_find_object();
    return real.find != nullptr ? real.find(address, found) : -1;
}

ObjectSpan object_around(std::uint64_t address) {
    FoundObject found;
    if (find_object(reinterpret_cast<void*>(address), &found) != 0) return {};
    return {reinterpret_cast<std::uint64_t>(found.map_start), reinterpret_cast<std::uint64_t>(found.map_end)};
}

}  // namespace rdam::probe
