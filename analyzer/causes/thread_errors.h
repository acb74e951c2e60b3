// What DRD and Helgrind report in either format: conflicting accesses, and locks held for long.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/causes/cause_report.h"
#include "analyzer/causes/row_sums.h"

namespace rdam::causes {

struct ErrorFrame {
    std::string function;  ///< empty: not known
    std::string object;    ///< path; empty: not known
    std::string file;
    std::uint32_t line = 0;
};
using ErrorStack = std::vector<ErrorFrame>;  // innermost first

/// Each error counts for the functions in which it was seen: the innermost ones of its stacks outside of
/// valgrind have it as their own, those around them as their callees'.
class ThreadErrors {
  public:
    explicit ThreadErrors(std::string tool) : tool_(std::move(tool)) {}

    /// Two threads access the same memory without order between them.
    void add_conflict(const std::vector<ErrorStack>& stacks, double times) { conflicts_.add(stacks, times); }
    /// A lock was held for longer than --exclusive-threshold or --shared-threshold.
    void add_hold(const std::vector<ErrorStack>& stacks, double milliseconds) {
        holds_.add(stacks, milliseconds);
    }

    /// Conflicts, without rows if there are none; locks only if one was held for long: DRD checks this only
    /// on request.
    std::vector<CauseReport> reports() const;

  private:
    struct Kind {
        RowSums sums;
        double total = 0;
        void add(const std::vector<ErrorStack>& stacks, double amount);
    };
    CauseReport report_of(const Kind& kind, std::string label, std::string unit) const;

    std::string tool_;
    Kind conflicts_;
    Kind holds_;
};

/// `pthread_mutex_lock@*`, `pthread_create@@GLIBC_2.34` without the version after the name.
std::string_view without_version(std::string_view function);

/// "Lock on mutex 0x1fff000460 was held during 11 ms (threshold: 10 ms)." → 11; negative: it says no such
/// thing.
double held_milliseconds(std::string_view what);

}  // namespace rdam::causes
