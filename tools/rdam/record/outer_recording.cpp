#include "tools/rdam/record/outer_recording.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "tools/base/printable.h"
#include "tools/rdam/command/output_place.h"
#include "tools/trace/trace_name.h"

namespace rdam {
namespace {

namespace fs = std::filesystem;

std::string as_seen_from_here(const std::string& path) {
    std::error_code error;
    const fs::path here = fs::current_path(error);
    const fs::path relative = fs::path(path).lexically_relative(here);
    return error || relative.empty() || *relative.begin() == ".." ? path : relative.string();
}

}  // namespace

void tell_outer_recording(const std::vector<std::string>& traces) {
    const char* output = std::getenv("RDAM_OUTPUT");
    const char* run = std::getenv("RDAM_RUN");
    if (traces.empty() || output == nullptr || run == nullptr || *output != '/' || *run == '\0') return;
    trace::NameLock outer(output, run);
    for (const std::string& trace : traces)
        outer.tell_inner(absolute(trace));
}

std::string describe_inner(const std::string& told) {
    std::istringstream lines(told);
    std::string names;
    for (std::string path; std::getline(lines, path);)
        names += (names.empty() ? "" : ", ") + printable(as_seen_from_here(path));
    return fmt::format("the program ran `rdam record` itself, and what that recorded is in {}", names);
}

}  // namespace rdam
