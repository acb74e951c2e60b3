// The call chains that `perf report -g` prints below a row: graph, fractal, flat and folded.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "wrappers/perf/report_columns.h"
#include "wrappers/perf/report_text.h"

namespace rdam {

/// A stretch of a chain tree without branches.
struct ChainNode {
    static constexpr std::size_t kNoParent = static_cast<std::size_t>(-1);
    std::size_t parent = kNoParent;
    PerfNumber number;       ///< as printed; meaningless when `whole_row`
    bool whole_row = false;  ///< printed without a number: all of the row
    bool remainder = false;  ///< perf's `[...]`: all that it does not show
    std::vector<std::string_view> frames;
};

using ChainTree = std::vector<ChainNode>;  // parents before their children

/// `lines` are those between a row and the next. `separator` is the report's (0: none).
ChainTree parse_chain_tree(const std::vector<std::string_view>& lines, char separator);

/// What the numbers of a report's trees mean; only all trees together show it.
struct ChainScale {
    bool fractal = false;  ///< percentages are relative to the node above (-g fractal)
    double percent_per_unit =
        0;  ///< of counts and periods: the least that a row and its numbers allow, since perf may
            ///< leave numbers out but shows none that is not part of the row

    void learn(const ChainTree& tree, double row_percent);
};

/// The tree of a row with `row_percent` as chains with their absolute percentages.
std::vector<PerfChain> chains_of_tree(const ChainTree& tree, double row_percent, ChainScale scale);

}  // namespace rdam
