// Columns of text, aligned.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rdam::output {

/// What a terminal can do beside text.
class Style {
  public:
    explicit Style(bool color) : color_(color) {}
    std::string bold(std::string_view text) const { return wrap("1", text); }
    std::string faint(std::string_view text) const { return wrap("2", text); }
    std::string alarming(std::string_view text) const { return wrap("1;31", text); }
    std::string notable(std::string_view text) const { return wrap("33", text); }

  private:
    std::string wrap(std::string_view code, std::string_view text) const;
    bool color_;
};

struct Column {
    std::string title;
    bool left = false;               ///< aligned to the left; numbers are not
    std::size_t widest = kAnyWidth;  ///< longer cells are shortened, as far as they stay different
    /// Not 0: left out if the lines would be too wide even with shortened cells, the highest first.
    unsigned optional = 0;
    bool bars = false;  ///< beside the numbers of the column before it, which it has no title of its own for

    static constexpr std::size_t kAnyWidth = 1000;
};

/// Printable names in at most `widest` columns, or twice as many (and a number) where different ones would
/// become the same.
std::vector<std::string> shortened_apart(std::vector<std::string> names, std::size_t widest);

/// `first` and the text as lines of at most `width` columns (0: one line), broken between words. Lines behind the first
/// one are indented like its text. Printable text.
std::vector<std::string> paragraph(std::string_view text, std::size_t width, std::string_view first = {});

/// The line below a table that has so many more rows.
std::string hidden_rows(std::size_t count);

/// Cells must be printable() text without escape sequences; a row is styled as a whole, after alignment.
class Table {
  public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

    /// One line for the titles and one for each row, without newline, indented by `indent` blanks. Cells are longer than
    /// their column's `widest` only if `room` leaves space for that. If the
    /// lines are wider than `room` columns (0: there is room for all), columns with a `widest` become as
    /// narrow as kMinShortened; if that is not enough, optional columns are left out, one after the other.
    /// `left_out` becomes a line that names these; empty: there are none.
    std::vector<std::string> lines(std::size_t indent = 0, std::size_t room = 0,
                                   std::string* left_out = nullptr) const;

    /// Without the columns that are left out first.
    Table without_first_optional() const;
    Table without_bars() const;

    static constexpr std::size_t kMinShortened = 22;

  private:
    struct Layout {
        std::vector<std::string> lines;
        std::size_t width = 0;
    };
    Layout laid_out(std::size_t indent, std::size_t room) const;
    std::size_t width_of(std::size_t column) const;
    /// Blanks in front of a column.
    std::size_t gap(std::size_t column) const;
    template <typename Unwanted>
    Table without(const Unwanted& unwanted) const;
    std::string left_out_of(const Table& shown, std::size_t indent) const;

    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace rdam::output
