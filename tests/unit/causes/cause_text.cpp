#include "tests/unit/causes/cause_text.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "analyzer/causes/formats.h"
#include "tests/unit/catch.h"

namespace rdam::test {

std::string sample(const std::string& name) {
    std::ifstream file{std::string{CAUSE_SAMPLES} + "/" + name, std::ios::binary};
    REQUIRE(file);
    return {std::istreambuf_iterator<char>{file}, {}};
}

std::vector<causes::CauseReport> sample_reports(const std::string& name) {
    auto reports = causes::parse_causes(sample(name), name);
    INFO((reports ? std::string{} : reports.error().message));
    REQUIRE(reports.has_value());
    return std::move(*reports);
}

std::string text_of(const causes::CauseReport& report) {
    std::string text = fmt::format("{}, {}: {:.6g} {}{}\n", report.tool, report.label, report.total,
                                   report.unit, report.disturbs ? "" : " (work)");
    for (const causes::CauseRow& row : report.rows) {
        text += fmt::format("{:.2f}% {:.2f}% {:.6g} ", 100 * row.share, 100 * row.with_callees, row.absolute);
        if (!row.function.empty())
            text += fmt::format(" {}{}{}", row.module, row.module.empty() ? "" : ":", row.function);
        if (!row.file.empty()) text += fmt::format(" {}:{}", row.file, row.line);
        text += "\n";
    }
    return text;
}

std::string text_of(const std::vector<causes::CauseReport>& reports) {
    std::string text;
    for (const causes::CauseReport& report : reports)
        text += text_of(report);
    return text;
}

std::string error_of(const std::string& text) {
    const auto reports = causes::parse_causes(text, "tool.txt");
    INFO(text);
    REQUIRE_FALSE(reports.has_value());
    return reports.error().message;
}

}  // namespace rdam::test
