#include "tools/rdam/record/perf.h"

#include <fmt/format.h>

#include <string_view>

#include "tools/base/child_process.h"
#include "tools/base/name_text.h"
#include "tools/base/printable.h"

namespace rdam {
namespace {

/// The line below "Error:", or else the first one.
std::string reason_in(std::string_view text) {
    constexpr std::string_view kHeading = "Error:\n";
    if (const std::size_t heading = text.find(kHeading); heading != std::string_view::npos)
        text.remove_prefix(heading + kHeading.size());
    const std::string_view line = trim_blanks(text.substr(0, text.find('\n')));
    return line.empty() ? "it does not say why" : printable(line);
}

}  // namespace

std::optional<PerfTrouble> try_perf(const TemporaryFolder& place) {
    constexpr std::size_t kMaxOutput = std::size_t{1} << 20U;
    const auto ran = run_child({"perf", "record", "-q", "-g", "-o", place.file("tried.data"), "--", "true"},
                               {}, kMaxOutput);
    if (!ran) return PerfTrouble{ran.error().message, "apt-get install linux-perf"};
    if (ran->exit_code == 0) return {};
    const bool refused = ran->err.find("permission") != std::string::npos ||
                         ran->err.find("perf_event_paranoid") != std::string::npos;
    return PerfTrouble{fmt::format("perf record {}: {}", refused ? "is not allowed to sample" : "fails",
                                   reason_in(ran->err)),
                       refused ? "sysctl kernel.perf_event_paranoid=1 as root, outside a container"
                               : "see what `perf record true` says"};
}

}  // namespace rdam
