// Recording a program, as `rdam record` and `rdam run` do.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "libprobe/format/settings.h"
#include "tools/base/result.h"

namespace CLI {
class App;
}

namespace rdam {

struct RecordOptions {
    std::optional<std::string> functions;              ///< -f; nothing: $RDAM_FUNCTIONS says
    std::optional<std::string> output;                 ///< -o; nothing: $RDAM_OUTPUT, or trace.bin
    std::array<std::string, settings::kCount> values;  ///< by settings::Id; empty: not given

    std::string& value(settings::Id id) { return values[static_cast<std::size_t>(id)]; }
    const std::string& value(settings::Id id) const { return values[static_cast<std::size_t>(id)]; }
};

/// An option for each setting of the recorder. `options` has to live as long as `app`.
void add_recorder_settings(CLI::App& app, RecordOptions& options);

/// Where the trace is to go: the option wins over the variable.
std::string wanted_output(const RecordOptions& options);

struct Recorded {
    int status = 0;                   ///< for exit()
    int of_program = 0;               ///< the program's own, even if not all has been recorded
    std::vector<std::string> traces;  ///< that there are
    std::string coverage = {};        ///< FunctionList::coverage of -f
};

/// Runs `command`, a program and its arguments, under librdam.so, and says on stderr what has been recorded.
Result<Recorded> record_program(const std::vector<std::string>& command, const RecordOptions& options);

/// Prints what rdam analyze says of the traces, and on stderr how to go on. The exit status: the recording's, or the report's.
Result<int> analyze_recorded(const Recorded& recorded);

}  // namespace rdam
