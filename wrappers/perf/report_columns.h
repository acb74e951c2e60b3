// The columns of one `perf report --stdio`, and how a line is cut into them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rdam {

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
