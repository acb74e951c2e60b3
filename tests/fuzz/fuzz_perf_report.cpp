// Any bytes as the text of a perf report, and as the samples of a perf.data: no crash, no endless loop, and
// every line of the list reads back.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "wrappers/find/function_list.h"
#include "wrappers/hot/hot_functions.h"
#include "wrappers/perf/perf_samples.h"
#include "wrappers/perf/report_text.h"

namespace {

bool is_sound(const rdam::HotFunctions& hot) {
    for (const auto& function : hot.functions) {
        const auto text = rdam::list_entry_text(function.module, function.name);
        const auto list = rdam::parse_function_list(text, "fuzz");
        if (!list || list->entries.size() != 1 || list->entries[0].name != function.name) return false;
        if (!(function.percent > 0)) return false;
    }
    return true;
}

void check(const rdam::PerfReport& report) {
    rdam::HotOptions options;
    options.min_percent = 0;
    if (is_sound(rdam::hot_functions(report, options))) return;
    std::fprintf(stderr, "a function of the list cannot be read back\n");
    std::abort();
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto text = rdam::without_colours(bytes);
    rdam::PerfSamples samples;
    samples.add(bytes.substr(0, size / 2));
    samples.add(bytes.substr(size / 2));
    check(samples.report());
    if (const auto report = rdam::parse_perf_text(text, "fuzz")) check(*report);
    return 0;
}
