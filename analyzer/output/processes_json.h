// Several traces at once, for programs.
#pragma once

#include <memory>
#include <string>

#include "analyzer/output/json.h"
#include "analyzer/output/processes.h"

namespace rdam::output {

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
