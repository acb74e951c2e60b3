#include "tools/rdam/record/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "tools/rdam/command/output_place.h"
#include "tools/rdam/command/terminal.h"
#include "tools/rdam/record/run_traces.h"

namespace rdam {

namespace {

/// The folder of a pattern can be looked at before its processes know their names, if it is not one itself.
bool has_known_folder(const Output& output) {
    std::error_code error;
    const std::filesystem::path path(output.path);
    return path.parent_path().string().find('%') == std::string::npos &&
           !std::filesystem::exists(path, error);
}

}  // namespace

Result<Output> claim_output(const std::string& wanted, const std::string& run) {
    if (wanted.empty()) return fail("-o needs the name of a file");
    if (wanted == "-")
        return fail(
            "-o -: a trace cannot go to standard output, where it would be mixed with what the program "
            "prints: name a file (./- for one that is called -)");
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
    if (!output.is_pattern || has_known_folder(output))
        if (const auto there = trace::check_place(output.path, output.name); !there)
            return tl::unexpected(there.error());
    output.earlier = find_earlier(output.shown);
    return output;
}

}  // namespace rdam
