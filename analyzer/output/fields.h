// The figures of each kind of row: what they are called and how they are written. Text, JSON, page and screen
// iterate these tables, so a new column is one line of fields.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/hints/hints.h"
#include "analyzer/report/compare_reports.h"
#include "analyzer/report/merge_reports.h"
#include "analyzer/report/report.h"

namespace rdam::output {

enum class Unit : std::uint8_t {
    name,   ///< of the row: each output writes it its own way
    score,  ///< 0…1, with three digits
    share,  ///< 0…1, in percent
    count,
    time,  ///< nanoseconds
    flag,  ///< 0 or 1; in JSON alone
    text,  ///< words
};

/// What must be known of a row for a figure to say something; in tables it is `-` otherwise.
enum class Needs : std::uint8_t {
    nothing,
    known,  ///< the score; in JSON the figure is null where there is none (Scored::no_score)
    timed,  ///< calls, with a score
};

/// Of `Row`, which is a Scored or refers to one.
template <class Row>
struct Field {
    std::string_view key;    ///< in JSON and the page's data (docs/json.md); empty: in tables alone
    std::string_view title;  ///< of its column; empty: in JSON alone
    Unit unit = Unit::count;
    double (*value)(const Row&) = nullptr;  ///< null: `name`, or only `text` is known
    Needs needs = Needs::nothing;
    unsigned optional = 0;                      ///< Column::optional (analyzer/output/table.h)
    std::string (*mark)(const Row&) = nullptr;  ///< precedes the figure in tables
    std::string (*text)(const Row&) = nullptr;  ///< in tables, instead of mark and figure
    std::string_view legend = {};               ///< below a table that has the column
};

template <class Row>
using Fields = std::span<const Field<Row>>;

/// A thread's part of a function, or a pattern, with the thread that it is of.
template <class Row>
struct OfThread {
    const Row& row;
    const score::ThreadRow& thread;
};

/// A thread, and what it did with its life.
struct Life {
    const score::ThreadRow& thread;
    bool states_known = false;                ///< what it did is known of all of the run
    const hints::ThreadWait* wait = nullptr;  ///< null: for nobody, or it is not known
};

Life life_of(const hints::Analysis& analysis, std::size_t thread);
/// Those of the columns in which something is known of some thread.
std::vector<Field<Life>> life_fields(const hints::Analysis& analysis);
/// Something is known of some thread beside its length of life.
bool lives_known(const hints::Analysis& analysis);
/// The threads in the order in which a reader should look at them: those that wait for others most first, then those
/// that run most. Indices into Report::threads.
std::vector<std::size_t> threads_to_look_at(const hints::Analysis& analysis);

Fields<score::FunctionRow> function_fields();
Fields<OfThread<score::ThreadShare>> thread_fields();
Fields<score::SequenceRow> sequence_fields();
Fields<OfThread<score::PatternRow>> pattern_fields();
Fields<score::OverallFunction> overall_fields();
Fields<score::ProcessShare> process_fields();
/// Of both sides of a comparison, each.
Fields<score::FunctionRow> compared_fields();

inline const score::Scored& scored_of(const score::Scored& row) {
    return row;
}
template <class Row>
const score::Scored& scored_of(const OfThread<Row>& row) {
    return row.row;
}

/// Whether the row has what the field needs.
template <class Row>
bool has(const Row& row, Needs needs) {
    if (needs == Needs::nothing) return true;
    if constexpr (requires { row.outermost; })
        if (needs == Needs::timed && row.outermost == 0) return false;
    if constexpr (requires { scored_of(row); }) return !scored_of(row).unknown();
    return true;
}

/// `-` for a fiber, whose tid is made up.
std::string tid_text(const score::ThreadRow& row);

/// As it is written in tables. Not for Unit::name, Unit::flag and Unit::text.
std::string figure_text(Unit unit, double value);

template <class Row>
std::string cell(const Field<Row>& field, const Row& row) {
    if (!has(row, field.needs)) return "-";
    if (field.text != nullptr) return field.text(row);
    return (field.mark != nullptr ? field.mark(row) : "") + figure_text(field.unit, field.value(row));
}

/// `<10 ns`, for a call that took less than can be told from nothing.
std::string call_time_text(const score::Scored& row, double nanoseconds);

/// The mark in front of a score with a reservation: `?` (the recorder may have caused the loss), kAloneMark,
/// kBoundMark, kFloorMark; the first of these that is true. "" for none.
std::string score_mark(const score::Scored& row);

/// `~12,345`; `≥` where the function was switched off.
std::string occurrences_text(const score::FunctionRow& row);

/// The share of a function's loss that one caller has, where it is nearly all: what calls have in common explains nothing
/// of how they differ. Nothing: no caller has as much, or being told apart by caller explains some of the loss.
std::optional<double> share_of_lone_caller(const score::FunctionRow& row, double explains);

/// `1/2`: so many of a function's threads lost time, of so many that called it; `1–2/2` if of one it is not
/// known; `-/2` if of none it is known.
std::string affected_threads(const score::FunctionRow& row);
std::string affected_processes(const score::OverallFunction& row);

}  // namespace rdam::output
