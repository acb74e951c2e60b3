// Several traces at once: each process, and all of them together.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analyzer/output/json.h"
#include "analyzer/output/text.h"
#include "analyzer/score/compare/merge_reports.h"

namespace rdam::output {

/// A trace that could not be analyzed.
struct UnreadableTrace {
    std::string file;
    std::string error;
};

/// All that is shown. `files` and `reports` are in the same order.
struct Processes {
    const score::OverallReport& overall;
    std::span<const std::string> files;
    std::span<const score::Report> reports;
    std::span<const UnreadableTrace> unreadable;
};

/// A table of the processes, one of the functions over all, and the score of each function in each process.
/// Nothing from the traces gets into it except through printable().
std::string processes_text(const Processes& processes, const TextOptions& options);

/// One JSON object (docs/json.md). Each process is added while what `symbols` needs of its trace is there.
class ProcessesJson {
  public:
    explicit ProcessesJson(JsonOptions options);
    ~ProcessesJson();
    ProcessesJson(const ProcessesJson&) = delete;
    ProcessesJson& operator=(const ProcessesJson&) = delete;
    ProcessesJson(ProcessesJson&&) = delete;
    ProcessesJson& operator=(ProcessesJson&&) = delete;

    void add(const score::Report& report, Symbols& symbols);
    /// `processes.reports` are those that were added.
    std::string finish(const Processes& processes);

  private:
    struct Objects;
    JsonOptions options_;
    std::unique_ptr<Objects> objects_;
};

}  // namespace rdam::output
