// Adds up what a tool reports about one function in several places.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzer/causes/cause_report.h"

namespace rdam::causes {

class RowSums {
  public:
    struct Place {
        std::string function;
        std::string module;
        std::string file;
        std::uint32_t line = 0;
        auto operator<=>(const Place&) const = default;  // NOLINT(modernize-use-nullptr): there is none
    };

    void add_own(const Place& place, double amount) {
        Sum& sum = sums_[place];
        sum.own += amount;
        sum.with_callees += amount;
    }
    void add_callees(const Place& place, double amount) { sums_[place].with_callees += amount; }

    /// Rows with shares of `total`, highest own share first. Shares are at most 1.
    std::vector<CauseRow> rows(double total) const;

  private:
    struct Sum {
        double own = 0;
        double with_callees = 0;
    };
    std::map<Place, Sum> sums_;
};

}  // namespace rdam::causes
