// The hardware prefetchers of a run's processors, on or off by a model-specific register.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rdam::study {

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
