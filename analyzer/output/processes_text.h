// Several traces at once, for people.
#pragma once

#include <string>

#include "analyzer/output/processes.h"
#include "analyzer/output/text.h"

namespace rdam::output {

/// A table of the processes, one of the functions over all, and the score of each function in each process.
/// Nothing from the traces gets into it except through printable().
std::string processes_text(const Processes& processes, const TextOptions& options);

}  // namespace rdam::output
