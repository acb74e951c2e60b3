#include "tools/rdam/record/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "tools/rdam/command/output_place.h"
#include "tools/rdam/command/terminal.h"
#include "tools/rdam/record/run_traces.h"

namespace rdam {

Result<Output> claim_output(const std::string& wanted, const std::string& run) {
    if (wanted.empty()) return fail("-o needs the name of a file");
    Output output{
        .shown = wanted, .path = absolute(wanted), .is_pattern = wanted.find('%') != std::string::npos};
    if (!output.path.starts_with('/'))
        return fail(
            "cannot write the trace to {}: the current directory no longer exists; change to another, or "
            "give a full path with -o",
            wanted);
    output.name = trace::NameLock(output.path, run);
    if (!output.is_pattern && output.name.state() == trace::NameLock::State::taken) {
        output.shown = trace::name_beside(wanted, static_cast<unsigned>(getpid()));
        output.path = absolute(output.shown);
        output.name = trace::NameLock(output.path, run);
        say(fmt::format("another recording is writing {}: this one goes to {}", wanted, output.shown));
    }
    if (!output.is_pattern)
        if (const auto there = trace::check_place(output.path, output.name); !there)
            return tl::unexpected(there.error());
    output.earlier = find_earlier(output.shown);
    return output;
}

}  // namespace rdam
