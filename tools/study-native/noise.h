// What the kernel's osnoise tracer says of a run: how long NMIs, interrupts, softirqs and other threads had
// its processors (Documentation/trace/osnoise-tracer.rst in Linux).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace rdam::study {

/// Without the tracer's own threads, which would take a processor each to look for noise
/// (NO_OSNOISE_WORKLOAD): what disturbs the program is measured, not what would disturb those. It has an
/// instance of the tracing system to itself. What it has changed is as it was when it goes.
class Noise {
  public:
    /// `tracefs`: the tracing system, as in /sys/kernel/tracing; `instance`: a name that no one else uses.
    Noise(std::filesystem::path tracefs, const std::string& instance);
    ~Noise();
    Noise(const Noise&) = delete;
    Noise& operator=(const Noise&) = delete;

    /// What is wrong, if it cannot.
    std::optional<std::string> prepare();
    std::optional<std::string> start() const;
    void stop() const;

    /// `osnoise` of the answer: ns by source, on these processors (in ascending order), while it was started.
    /// The kernel's clocks, which tick while a processor is busy, are reported as `timer`. `program` and
    /// all that it has started since are no noise. Null if the kernel had to drop events, so that nobody
    /// knows.
    void read_into(nlohmann::json& answer, pid_t program, const std::vector<int>& processors) const;

  private:
    bool has_dropped() const;

    std::filesystem::path tracefs_, instance_;
    bool is_prepared_ = false;
    bool had_workload_ = false;
};

// How often the kernel has interrupted a set of processors, by source.

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
