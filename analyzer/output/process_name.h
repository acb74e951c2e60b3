// What a process is called among others.
#pragma once

#include <string>

#include "analyzer/report/report.h"

namespace rdam::output {

/// What distinguishes it from the others: its title, the name that its first thread has set, or its command
/// without the program's folder. Not made safe for a terminal.
std::string what_it_is(const score::Report& report);

}  // namespace rdam::output
