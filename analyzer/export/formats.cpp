#include "analyzer/export/format.h"

namespace rdam::exports {
namespace {

/// The Firefox Profiler makes an object of each marker and sorts them, several times over: with some hundred
/// thousand it takes seconds. It reads a profile as one string, which ends at 512 MiB in Chromium and at 1
/// GiB in Firefox: these are 2 to 4 million markers.
constexpr std::uint64_t kUsualFirefox = 200'000, kMaxFirefox = 2'000'000;

constexpr Format kFormats[] = {
    {.name = "csv", .help = "one line for each call, for spreadsheets and scripts", .write = write_csv},
    {.name = "json",
     .help = "Chrome's trace events, for chrome://tracing, Perfetto and others",
     .write = write_json,
     .usual_budget = kUsualSlices,
     .draws_arrows = true},
    {.name = "perfetto",
     .help = "Perfetto's own format, for ui.perfetto.dev and trace_processor",
     .write = write_perfetto,
     .usual_budget = kUsualSlices,
     .binary = true,
     .draws_arrows = true},
    {.name = "folded",
     .help = "one line for each call path, for flamegraph.pl, inferno and others",
     .write_paths = write_folded},
    {.name = "speedscope", .help = "call paths for speedscope.app", .write_paths = write_speedscope},
    {.name = "firefox",
     .help = "a profile for profiler.firefox.com",
     .write = write_firefox,
     .usual_budget = kUsualFirefox,
     .max_budget = kMaxFirefox,
     .weighs_calls = true},
    {.name = "paje", .help = "a Pajé trace, for pj_dump and ViTE", .write = write_paje},
#if RDAM_OTF2
    {.name = "otf2",
     .help = "an OTF2 archive, which is a directory, for Vampir, otf2-print and others",
     .write_archive = write_otf2,
     .check_only_archive = check_only_otf2},
#endif
};

}  // namespace

std::span<const Format> all_formats() {
    return kFormats;
}

std::string_view why_left_out([[maybe_unused]] std::string_view name) {
#if !RDAM_OTF2
    if (name == "otf2") return "libotf2-trace-dev (Debian) or OTF2 (score-p.org),";
#endif
    return {};
}

}  // namespace rdam::exports
