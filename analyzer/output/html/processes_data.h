// A run of several processes: its header, the functions over all of them, when which process lost time, and
// the processes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "analyzer/output/html/limits.h"
#include "analyzer/output/html/report_html.h"
#include "analyzer/output/html/run_data.h"

namespace rdam::output {

/// `12 processes of ./app -n 3`.
std::string title(const PageProcesses& processes);

std::vector<Fact> facts(const PageProcesses& processes);

/// What a reader must know of the recordings, one sentence each.
std::vector<std::string> notes(const PageProcesses& processes);

/// In the order of its name: pid and what it is.
std::string process_name(const PageProcesses& processes, std::size_t process);

/// One object.
nlohmann::ordered_json processes_json(const PageProcesses& processes, const PageLimits& limits);

}  // namespace rdam::output
