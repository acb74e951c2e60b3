// The report for programs. Its keys are a contract (docs/json.md).
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "analyzer/causes/cross_check.h"
#include "analyzer/hints/hints.h"
#include "analyzer/output/processes.h"
#include "analyzer/output/symbols.h"
#include "analyzer/report/report.h"
#include "tools/base/unmovable.h"

namespace rdam::output {

struct JsonOptions {
    std::size_t top = 0;          ///< functions, 0: all
    std::size_t max_stacks = 10;  ///< and callers, of each function; stacks of each caller
};

/// One JSON object, indented, with a newline at its end. Valid UTF-8 whatever the trace holds; no number in
/// it is NaN or infinite.
/// `check`: of its report; where it is not empty, the object has `causes`.
std::string to_json(const hints::Analysis& analysis, Symbols& symbols, const JsonOptions& options,
                    const causes::CrossCheck& check = {});

// What got better or worse from one recording to another, for programs.

/// One JSON object (docs/json.md) with the `top` largest changes; 0: all.
std::string diff_json(const Diff& diff, std::size_t top);

// Several traces at once, for programs.

/// One JSON object (docs/json.md). Each process is added while what `symbols` needs of its trace is there.
class ProcessesJson : private Unmovable {
  public:
    explicit ProcessesJson(JsonOptions options);
    ~ProcessesJson();

    void add(const hints::Analysis& analysis, Symbols& symbols);
    /// `processes.reports` and `findings` are of those that were added.
    std::string finish(const Processes& processes);

  private:
    struct Objects;
    JsonOptions options_;
    std::unique_ptr<Objects> objects_;
};

}  // namespace rdam::output
