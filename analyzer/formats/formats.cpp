#include "analyzer/formats/format.h"

namespace rdam::formats {
namespace {

/// Slices that Perfetto shows without trouble.
constexpr std::uint64_t kUsualPerfetto = 5'000'000;
/// The Firefox Profiler makes an object of each marker and sorts them, several times over: with some hundred
/// thousand it takes seconds. It reads a profile as one string, which ends at 512 MiB in Chromium and at 1
/// GiB in Firefox: these are 2 to 4 million markers.
constexpr std::uint64_t kUsualFirefox = 200'000, kMostFirefox = 2'000'000;

constexpr Format kFormats[] = {
    {"csv", "one line for each call, for spreadsheets and scripts", 0, write_csv},
    {"json", "Chrome's trace events, for chrome://tracing, Perfetto and others", kUsualPerfetto, write_json},
    {"perfetto", "Perfetto's own format, for ui.perfetto.dev and trace_processor", kUsualPerfetto,
     write_perfetto},
    {"folded", "one line for each call path, for flamegraph.pl, inferno and others", 0, nullptr,
     write_folded},
    {"speedscope", "call paths for speedscope.app", 0, nullptr, write_speedscope},
    {"firefox", "a profile for profiler.firefox.com", kUsualFirefox, write_firefox, nullptr, kMostFirefox,
     true},
    {"paje", "a Pajé trace, for pj_dump and ViTE", 0, write_paje},
};

}  // namespace

std::span<const Format> all_formats() {
    return kFormats;
}

}  // namespace rdam::formats
