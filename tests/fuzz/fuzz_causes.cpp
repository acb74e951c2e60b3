// Any bytes as what another tool printed: no crash, no endless loop; shares within 0…1, and an error of one
// line.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "analyzer/causes/formats.h"
#include "analyzer/causes/function_names.h"

namespace {

bool is_share(double value) {
    return value >= 0 && value <= 1;
}

bool is_sound(const rdam::causes::CauseReport& report, const rdam::causes::FunctionNames& names) {
    for (const auto& row : report.rows) {
        if (!is_share(row.share) || !is_share(row.with_callees) || row.with_callees < row.share) return false;
        if (row.function.empty() && row.file.empty()) return false;
        if (names.find(row.function, row.module).size() > 1) return false;
    }
    return true;
}

void complain(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::vector<rdam::trace::FunctionInfo> kFunctions = [] {
        std::vector<rdam::trace::FunctionInfo> functions(2);
        functions[0].name = functions[0].linkage_name = "update";
        functions[1].name = "ns::f(int)";
        functions[1].linkage_name = "_ZN2ns1fEi";
        return functions;
    }();
    static const rdam::causes::FunctionNames kNames{kFunctions};

    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto reports = rdam::causes::parse_causes(text, "fuzz");
    if (!reports) {
        if (reports.error().message.find('\n') != std::string::npos) complain("an error of several lines");
        return 0;
    }
    if (reports->empty()) complain("neither a report nor an error");
    for (const auto& report : *reports)
        if (!is_sound(report, kNames)) complain("a row that cannot be");
    return 0;
}
