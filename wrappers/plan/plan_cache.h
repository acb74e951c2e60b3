// Plans of earlier runs. Making one reads symbol tables and debug information, which takes from a tenth of a
// second to some seconds; a program that is recorded again needs the same one.
#pragma once

#include <optional>
#include <string>

#include "wrappers/plan/planner.h"

namespace rdam {

class PlanCache {
  public:
    /// The folder that RDAM_CACHE names ("" or "0": none), else $XDG_CACHE_HOME/rdam, else $HOME/.cache/rdam.
    /// Nothing: there is to be no cache.
    static std::optional<PlanCache> from_environment();

    /// Makes the folder when something is stored. One that is not the user's own, or that others may write
    /// to, is neither read nor written: a plan says what code is changed.
    explicit PlanCache(std::string folder) : folder_{std::move(folder)} {}

    /// The stored plan for the same request, made by the same rdam, if every file that was looked at then is
    /// as it was (debug files that did not exist included) and every IFUNC resolver answers the same. Else
    /// make_plan(), whose plan is stored. A cache that cannot be read or written is as good as empty.
    /// Processes may share it.
    Plan make(const PlanRequest& request, const Catalogue& catalogue) const;

  private:
    std::optional<Plan> find(const PlanRequest& request, const std::string& path) const;
    void store(const std::string& bytes, const std::string& path) const;
    void trim() const;
    bool is_private() const;

    std::string folder_;
};

}  // namespace rdam
