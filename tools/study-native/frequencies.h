// The frequencies of a run's processors, read while it goes on from a processor that it leaves alone, as Cui,
// Papadopoulou and Pericàs do it (SC-W 2023, section 3).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace rdam::study {

class FrequencyLog {
  public:
    /// Of `processors`, every `every_ms` milliseconds from `processor`; `folder` has a folder for each, as
    /// /sys/devices/system/cpu.
    FrequencyLog(const std::filesystem::path& folder, const std::vector<int>& processors, int processor,
                 int every_ms);
    ~FrequencyLog();
    FrequencyLog(const FrequencyLog&) = delete;
    FrequencyLog& operator=(const FrequencyLog&) = delete;

    /// Starts the process that reads. What is wrong, if it cannot.
    std::optional<std::string> start();
    void stop();

    /// `frequency_khz` of the answer, the mean over time and processors, `least_frequency_khz` and
    /// `greatest_frequency_khz`: null if the run was too short to be looked at.
    void read_into(nlohmann::json& answer) const;

  private:
    struct Seen;
    std::string read_for_ever(int ready);

    std::vector<std::filesystem::path> files_;
    int processor_, every_ms_;
    Seen* seen_;  // in memory that the process shares
    pid_t pid_ = -1;
};

// The hardware prefetchers of a run's processors, on or off by a model-specific register.

/// What it has written is as it was when it goes.
class Prefetcher {
  public:
    /// `devices` has a folder for each processor with its registers in `msr`, as /dev/cpu. The bits of `mask`
    /// are set in it where prefetchers are off.
    Prefetcher(const std::filesystem::path& devices, const std::vector<int>& processors,
               std::int64_t register_number, std::uint64_t mask);
    ~Prefetcher();
    Prefetcher(const Prefetcher&) = delete;
    Prefetcher& operator=(const Prefetcher&) = delete;

    /// What is wrong, if it cannot be; also where what was written is not there afterwards, as on a virtual
    /// machine whose host ignores it.
    std::optional<std::string> set(bool is_on);

    /// What is wrong, if that is not possible.
    std::optional<std::string> restore();

  private:
    struct Register {
        std::filesystem::path path;
        int file = -1;
        std::uint64_t former = 0;
    };

    std::optional<std::uint64_t> read_from(const Register& from) const;
    bool write_to(const Register& to, std::uint64_t value) const;

    std::vector<Register> registers_;
    std::int64_t number_;
    std::uint64_t mask_;
    bool is_changed_ = false;
};

}  // namespace rdam::study
