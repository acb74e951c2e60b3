// When the processes of a run lost time: Report::course of each, on one time scale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/report/report.h"

namespace rdam::score {

/// What calls of a function lost in a process, as far as they lie in a bin.
struct RunCourseCell {
    std::uint32_t function = 0;  ///< index into RunCourse::functions()
    std::uint32_t bin = 0;       ///< below Course::kBins
    double lost_ns = 0;
};

struct RunCourseRow {
    std::size_t process = 0;  ///< index into the reports
    double lost_ns = 0;       ///< Σ of its cells, but for functions that wait by design
    std::vector<RunCourseCell> cells;
};

/// Memory: `most` rows twice, however many processes there are.
class RunCourse {
  public:
    /// Of a function: module and name.
    using Name = std::pair<std::string, std::string>;

    /// From `begin_unix_ns` to `end_unix_ns`. Of the processes, the `most` (at least 1) that lost most keep a
    /// row.
    RunCourse(double begin_unix_ns, double end_unix_ns, std::size_t most);

    /// Reports are added in their order. `start_unix_ns`: of the process.
    void add(const Report& report, double start_unix_ns);

    double bin_ns() const { return bin_ns_; }
    std::size_t most() const { return most_; }
    const std::vector<Name>& functions() const { return functions_; }
    /// Once all are added: in the order of the processes.
    const std::vector<RunCourseRow>& rows() const { return rows_; }
    /// Of the processes without a row: their number, and what they lost.
    std::size_t others() const { return processes_ - rows_.size(); }
    const std::vector<RunCourseCell>& rest() const { return rest_; }
    /// All are added.
    void finish();

  private:
    void keep_most();

    double begin_unix_ns_, bin_ns_;
    std::size_t most_;
    std::size_t processes_ = 0;
    std::vector<RunCourseRow> rows_;
    std::vector<RunCourseCell> rest_;
    std::vector<Name> functions_;
    std::map<Name, std::uint32_t> numbers_;
};

}  // namespace rdam::score
