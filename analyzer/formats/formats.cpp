#include "analyzer/formats/format.h"

namespace rdam::formats {
namespace {

constexpr Format kFormats[] = {
    {"csv", "one line for each call, for spreadsheets and scripts", false, write_csv},
    {"json", "Chrome's trace events, for chrome://tracing, Perfetto and others", true, write_json},
    {"perfetto", "Perfetto's own format, for ui.perfetto.dev and trace_processor", true, write_perfetto},
    {"folded", "one line for each call path, for flamegraph.pl, inferno and others", false, nullptr,
     write_folded},
    {"speedscope", "call paths for speedscope.app", false, nullptr, write_speedscope},
    {"paje", "a Pajé trace, for pj_dump and ViTE", false, write_paje},
#if RDAM_OTF2
    {"otf2", "an OTF2 archive, which is a directory, for Vampir, otf2-print and others", false, nullptr,
     nullptr, write_otf2, check_only_otf2},
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

}  // namespace rdam::formats
