// The frequencies of a run's processors, read while it goes on from a processor that it leaves alone, as Cui,
// Papadopoulou and Pericàs do it (SC-W 2023, section 3).
#pragma once

#include <sys/types.h>

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

}  // namespace rdam::study
