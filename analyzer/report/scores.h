// From the times of all threads to reports.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/report/function_row.h"
#include "analyzer/report/report.h"
#include "analyzer/score/common_sequences.h"
#include "analyzer/score/resolved_settings.h"
#include "analyzer/score/thread_times.h"
#include "analyzer/statistics/distribution.h"
#include "tools/base/unmovable.h"

namespace rdam::score {

/// What a report is made from, in addition to the events.
struct TraceFacts {
    const trace::TraceInfo& info;
    trace::Damage damage;
    std::optional<std::uint64_t> run_begin = {};  ///< ticks, where it is not the first thread's begin
};

/// Lives of all threads, in ticks.
struct Lives {
    std::vector<trace::TickRange> spans;
    std::vector<std::uint64_t> whole;    ///< from the thread's start to its end
    std::vector<std::uint64_t> lengths;  ///< T: without what the recorder took of it
    std::vector<bool> short_lived;
    std::uint64_t begin = 0, end = 0;  ///< of the run: of the first thread that has one, of the last
    double run = 0;                    ///< end - begin
    double all = 0;                    ///< Σ T
};

/// Not movable: parts refer to each other. May be asked by several threads at once.
class Scores : private Unmovable {
  public:
    /// `threads` has one for each of facts.info.threads; all must outlive it. Lists at most `max_sequences`
    /// for each function.
    Scores(const TraceFacts& facts, const ResolvedSettings& settings,
           std::span<const std::unique_ptr<ThreadTimes>> threads, std::size_t max_sequences);
    ~Scores() = default;

    /// For all functions. Rows that score at least the threshold have a sample, if `samples` is true and
    /// samples were kept. `jobs` threads compute the rows.
    Report report(std::size_t max_patterns, bool samples = true, unsigned jobs = 1) const;
    /// With the row of this function alone, and its sample whatever its score.
    Report report_on(std::uint32_t function) const;
    /// The durations of the function's scored outermost calls, in ticks.
    Distribution durations(std::uint32_t function) const;

  private:
    Report without_rows() const;
    std::vector<FunctionRow> make_rows(bool samples, unsigned jobs) const;
    void add_largest_samples(std::vector<FunctionRow>& rows) const;
    void add_places(const std::vector<FunctionRow>& rows, unsigned jobs, Report& report) const;
    void add_recorded(const std::vector<FunctionRow>& rows, Report& report) const;

    TraceFacts facts_;
    const ResolvedSettings& settings_;
    std::span<const std::unique_ptr<ThreadTimes>> threads_;
    double ns_per_tick_;
    Lives lives_;
    MergedGroups merged_;
    InnerTimes inner_times_;
    std::vector<std::vector<WindowEstimate>> estimates_;
    std::vector<std::uint64_t> ids_;
    RowContext context_;
};

/// Computes scores for a single report.
Report make_report(const TraceFacts& facts, const ResolvedSettings& settings,
                   std::span<const std::unique_ptr<ThreadTimes>> threads, std::size_t max_sequences,
                   std::size_t max_patterns = 0, unsigned jobs = 1);

}  // namespace rdam::score
