// One line for each stack: its frames, outermost first, and its weight. `main;work;lock 1234`
#include <fmt/format.h>

#include <string>
#include <vector>

#include "analyzer/export/stacks.h"
#include "tools/base/printable.h"

namespace rdam::exports {
namespace {

/// What separates frames is in none.
std::string folded_name(const std::string& name) {
    std::string safe;
    for (const char each : printable(name)) {
        if (each == ';')
            safe += "\\x3b";
        else
            safe += each;
    }
    return safe;
}

}  // namespace

Result<Written> write_folded(const score::Report& report, const trace::TraceInfo& info,
                             const Options& options, Sink& sink) {
    Buffer out{sink};
    Written written;
    std::vector<std::uint32_t> frames;
    for (const Stack& stack : weighted_stacks(report.paths, options.weight)) {
        frames_of(report.paths, stack.node, frames);
        std::string line;
        for (const std::uint32_t frame : frames)
            line += folded_name(frame_name(info, report.paths.nodes[frame])) + ";";
        if (stack.merged) line += std::string{kMergedName} + ";";
        if (line.empty()) continue;
        line.back() = ' ';
        out.append(line + fmt::format("{}\n", stack.weight));
        ++(stack.merged ? written.merged : written.calls);
    }
    return out.finish(written);
}

}  // namespace rdam::exports
