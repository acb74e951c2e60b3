// Output of `perf report --stdio`, as rows. Every form except --hierarchy is read: columns in any
// order, fixed widths or a separator (-t). Call chains between the rows are passed over.
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/base/result.h"

namespace rdam {

/// What PerfRow::self and children are, of another event.
struct PerfShare {
    double self = 0;
    double children = 0;
};

struct PerfRow {
    double self = 0;      ///< percent of all samples
    double children = 0;  ///< percent, callees included; equal to self without a Children column
    /// As printed: file name, path (-v), "[kernel.kallsyms]", "[unknown]"; may be empty.
    std::string_view module;
    std::string_view symbol;  ///< without the level mark
    char level = ' ';         ///< k kernel, . user, g u H guest and hypervisor; blank: not printed
    /// `file.c:12` with --sort …,srcline; empty if perf does not know, or cut it off.
    std::string_view source;
    std::vector<PerfShare> others;  ///< of the further events of a group that shares the table
};

/// The innermost function outside the kernel of some samples in it.
struct PerfKernelCaller {
    std::string_view module;
    std::string_view function;
    double percent = 0;  ///< of all samples
};

/// The string_views point into the text that was parsed, or into `restored`.
struct PerfReport {
    PerfReport() = default;
    PerfReport(PerfReport&&) = default;
    PerfReport& operator=(PerfReport&&) = default;
    PerfReport(const PerfReport&) = delete;  // its rows would point into the other's strings
    PerfReport& operator=(const PerfReport&) = delete;
    ~PerfReport() = default;

    std::string event;  ///< the event that the rows count; empty when the text does not say
    std::vector<std::string> other_events;  ///< further sections of the text, not read
    std::vector<PerfRow> rows;
    /// Only of samples (perf_samples.h): the rows of a text do not tell them.
    std::vector<PerfKernelCaller> kernel_callers;
    std::list<std::string> restored;  ///< names that are not literally in the text
};

/// `text` without colours and with nothing else changed.
std::string without_colours(std::string_view text);

/// Whether samples of this event stand for time.
bool counts_time(std::string_view event);

/// Reads the event that counts time (cpu-clock, task-clock, cycles), otherwise the first.
/// Text that is no such report, or lacks the required columns, is an error that names `origin`.
Result<PerfReport> parse_perf_text(std::string_view text, std::string_view origin);

/// A report for each event, in the order of the text; at least one of them has rows. Errors as above.
Result<std::vector<PerfReport>> parse_perf_events(std::string_view text, std::string_view origin);

// The columns of one `perf report --stdio`, and how a line is cut into them.

/// A number of a cell: "13.22%", "13.22", "309". The unit tells what to divide by.
struct PerfNumber {
    double value = 0;
    bool percent = false;
};

/// nullopt unless the whole of `cell` (blanks aside) is a number.
std::optional<PerfNumber> parse_perf_number(std::string_view cell);

class PerfColumns {
  public:
    /// `titles` is the line with the column titles, `dots` the line below it (`# .... .....`), which is there
    /// unless a separator is used. nullopt: `titles` is no such line, or names may hold the separator, which
    /// perf then has replaced in them by a dot; with a comma it can be told where.
    static std::optional<PerfColumns> from_header(std::string_view titles, std::string_view dots);

    /// Whether `titles` could be the title line of a report.
    static bool looks_like_titles(std::string_view line);

    /// Whether these are the titles of --hierarchy, several in one column.
    static bool is_hierarchy(std::string_view titles);

    std::optional<std::size_t> index_of(std::string_view title) const;
    char separator() const { return separator_; }

    /// The cells of a row, blanks trimmed; empty when the line is not cut like one.
    std::vector<std::string_view> cells(std::string_view line) const;

  private:
    struct Column {
        std::string title;
        std::size_t begin = 0;
    };
    std::vector<Column> columns_;
    char separator_ = '\0';
};

}  // namespace rdam
