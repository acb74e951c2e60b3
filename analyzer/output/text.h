// The report for people.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyzer/causes/cross_check.h"
#include "analyzer/hints/hints.h"
#include "analyzer/output/processes.h"
#include "analyzer/output/symbols.h"
#include "analyzer/report/report.h"

namespace rdam::output {

struct TextOptions {
    std::size_t top = 20;    ///< functions, 0: all
    bool threads = false;    ///< the scores of each thread
    bool sequences = false;  ///< the sequences of each function
    bool verbose = false;    ///< how each function was sampled
    bool histogram = false;  ///< the distribution of each function's durations: FunctionRow::bars
    bool color = false;
    std::size_t width = 0;                  ///< columns of the terminal; 0: it is none, or a simple one
    double threshold = score::kWorthALook;  ///< scores from here on are highlighted
    std::size_t max_sequences = 10;         ///< of each function
    std::size_t max_callers = 3;            ///< of each function
    std::size_t max_frames = 12;            ///< of each call stack
};

/// Several lines. Nothing from the trace gets into it except through printable(). `check`: of its report; empty:
/// no other tool has told anything.
std::string to_text(const hints::Analysis& analysis, Symbols& symbols, const TextOptions& options,
                    const causes::CrossCheck& check = {});

// The cross-check of causes and effects, for people.

/// A table and what it is made from, which follow the text of the report. Nothing from a trace or a tool gets
/// into it except through printable().
std::string causes_text(const causes::CrossCheck& check, const TextOptions& options);

// What got better or worse from one recording to another, for people.

/// A table, the largest change first. Nothing from the traces gets into it except through printable().
std::string diff_text(const Diff& diff, const TextOptions& options);

// Several traces at once, for people.

/// A table of the processes, one of the functions over all, and the score of each function in each process.
/// Nothing from the traces gets into it except through printable().
std::string processes_text(const Processes& processes, const TextOptions& options);

// How the durations of functions are distributed, a line for each.

/// Titles, and a line for each of `rows` that has FunctionRow::bars, as wide as the terminal.
std::vector<std::string> histogram_lines(
    const std::vector<std::reference_wrapper<const score::FunctionRow>>& rows, const TextOptions& options);

/// How many columns a histogram has in lines of `width` (0: any, and it has the usual), beside `others` and
/// names of `widest_name`, which may be shortened for it.
std::size_t histogram_columns(std::size_t width, std::size_t others, std::size_t widest_name);

}  // namespace rdam::output
