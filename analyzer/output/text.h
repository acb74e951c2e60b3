// The report for people.
#pragma once

#include <string>

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
    std::size_t most_sequences = 10;        ///< of each function
    std::size_t most_callers = 3;           ///< of each function
    std::size_t most_frames = 12;           ///< of each call stack
};

/// Several lines. Nothing from the trace gets into it except through printable().
std::string to_text(const score::Report& report, Symbols& symbols, const TextOptions& options);

}  // namespace rdam::output
