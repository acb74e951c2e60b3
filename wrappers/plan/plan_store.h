// The directory that keeps finished plans, what was measured of the machine, and summaries of traces that cannot be kept
// beside these, from one run to the next.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rdam {

/// One file for each key. Nothing here is an error: a plan that cannot be read does not exist, and one that
/// cannot be written is not kept. A plan decides which code is patched, so the directory and the files must
/// belong to the user, and no other user may be able to write to them.
class PlanStore {
  public:
    static constexpr std::size_t kMaxFiles = 200;
    static constexpr std::uint64_t kMaxBytes = std::uint64_t{64} << 20;
    static constexpr std::uint64_t kLargestFile = std::uint64_t{16} << 20;

    static constexpr std::string_view kPlans = ".plan";
    static constexpr std::string_view kMeasurements = ".measured";
    static constexpr std::string_view kSummaries = ".summary";

    /// Empty: nothing is ever kept. The folder is made, for us alone, when there is something to keep.
    /// `suffix`, of the files' names: stores of different ones know nothing of each other.
    explicit PlanStore(std::string folder, std::string_view suffix = kPlans)
        : folder_{std::move(folder)}, suffix_{suffix} {}

    bool is_on() const { return !folder_.empty(); }
    std::optional<std::vector<std::uint8_t>> load(std::string_view key) const;
    /// Replaces the file in one step: another process sees the old or the new one. Takes away the files that
    /// were not used for longest when there are too many.
    void save(std::string_view key, std::span<const std::uint8_t> bytes) const;

  private:
    std::string file_for(std::string_view key) const;
    bool is_own_name(std::string_view name) const;
    bool is_ours() const;
    void shrink() const;

    std::string folder_;
    std::string suffix_;
};

/// Whether anything is to be kept from one run to the next: RDAM_CACHE is not empty, and not 0.
bool may_keep();

/// RDAM_CACHE (unless may_keep() says no), else $XDG_CACHE_HOME/rdam, else $HOME/.cache/rdam, unless that place is
/// another user's (sudo -E): root then has its own, others none. Empty: none.
std::string plan_folder();

}  // namespace rdam
