// How often the kernel has interrupted a set of processors, by source.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace rdam::study {

using Counts = std::map<std::string, std::int64_t>;

/// Since the machine was started, summed over `processors` (in ascending order).
struct Interruptions {
    /// By the kernel's own short names (LOC, RES, TLB, ...), and by those of the devices, as in
    /// virtio1-req.0.
    Counts interrupts;
    Counts softirqs;
};

/// Empty where the kernel has no such file.
Interruptions interruptions_now(const std::vector<int>& processors);

/// What has come since, as `interrupts` and `softirqs` of the answer: null where nothing can be read.
void read_interruptions(const Interruptions& before, const Interruptions& after, nlohmann::json& answer);

}  // namespace rdam::study
