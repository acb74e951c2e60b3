// Any bytes as the text of a perf report: no crash, no endless loop, and every line of the list reads back.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "wrappers/list/function_list.h"
#include "wrappers/list/hot_functions.h"
#include "wrappers/list/perf_text.h"
#include "wrappers/list/sample_places.h"

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

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto text = rdam::without_colours(bytes);
    (void)rdam::parse_sample_places(bytes);
    const auto report = rdam::parse_perf_text(text, "fuzz");
    if (!report) return 0;
    rdam::HotOptions options;
    options.min_percent = 0;
    const auto hot = rdam::hot_functions(*report, nullptr, rdam::Catalogue::builtin(), options);
    if (is_sound(hot)) return 0;
    std::fprintf(stderr, "a function of the list cannot be read back\n");
    std::abort();
}
