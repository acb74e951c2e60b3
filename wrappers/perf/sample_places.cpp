#include "wrappers/perf/sample_places.h"

#include "wrappers/text/name_text.h"

namespace rdam {
void SamplePlaces::add(std::string_view module, std::string_view function, std::uint64_t offset) {
    ++by_function_[std::string(function)][file_name_of(module)][offset];
}

SamplePlaces::Offsets SamplePlaces::of(const std::string& module, const std::string& function) const {
    Offsets all;
    const auto found = by_function_.find(function);
    if (found == by_function_.end()) return all;
    for (const auto& [name, offsets] : found->second) {
        if (!module.empty() && name != module) continue;
        for (const auto& [offset, samples] : offsets)
            all[offset] += samples;
    }
    return all;
}

}  // namespace rdam
