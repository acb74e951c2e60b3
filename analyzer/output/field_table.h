// Tables of text whose columns are those of analyzer/output/fields.h.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/output/drawing.h"
#include "analyzer/output/fields.h"
#include "analyzer/output/table.h"

namespace rdam::output {

/// The rows of one kind, and what a table of them has beside its figures.
template <class Row>
class FieldTable {
  public:
    /// `widest`: of the column of names. `bars`: Column::optional of a column of bars behind the scores; 0:
    /// none.
    explicit FieldTable(Fields<Row> fields, std::size_t widest = Column::kAnyWidth, unsigned bars = 0)
        : fields_(fields), bars_(bars), table_(columns(fields, widest, bars)) {}

    void add(const Row& row, std::string name, std::string bar = {}) {
        std::vector<std::string> cells;
        for (const Field<Row>& field : fields_) {
            if (field.title.empty()) continue;
            cells.push_back(field.unit == Unit::name ? std::move(name) : cell(field, row));
            if (bars_ > 0 && cells.size() == 1) cells.push_back(std::move(bar));
        }
        table_.add(std::move(cells));
    }

    const Table& table() const { return table_; }

    /// What the columns mean that stand in `titles`, the first of the table's lines: `title: legend`.
    std::vector<std::string> legends(std::string_view titles) const {
        std::vector<std::string> out;
        for (const Field<Row>& field : fields_)
            if (!field.legend.empty() && titles.find(field.title) != std::string_view::npos)
                out.push_back(std::string{field.title} + ": " + std::string{field.legend});
        return out;
    }

  private:
    static std::vector<Column> columns(Fields<Row> fields, std::size_t widest, unsigned bars) {
        std::vector<Column> out;
        for (const Field<Row>& field : fields) {
            if (field.title.empty()) continue;
            const bool name = field.unit == Unit::name;
            out.push_back(
                {.title = std::string{field.title},
                 .left = name || field.unit == Unit::text,
                 // Words become narrower where there is no room; a terminal has columns for all else.
                 .widest = name                       ? widest
                           : field.unit == Unit::text ? Column::kAnyWidth - 1
                                                      : Column::kAnyWidth,
                 .optional = field.optional});
            if (bars > 0 && out.size() == 1) out.push_back(bar_column(bars));
        }
        return out;
    }

    Fields<Row> fields_;
    unsigned bars_;
    Table table_;
};

}  // namespace rdam::output
