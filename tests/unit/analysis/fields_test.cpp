// The tables of figures: what they promise of every output.
#include "analyzer/output/fields.h"

#include <nlohmann/json.hpp>

#include "analyzer/output/json.h"
#include "analyzer/output/symbols.h"
#include "analyzer/output/text.h"
#include "tests/unit/analysis/recording.h"
#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

Recording recorded() {
    Recording recording{2};
    ThreadRecording& thread = recording.thread(1000, 2000);
    for (std::uint64_t i = 0; i < 40; ++i)
        thread.call(1000 + 20 * i, kA, i == 7 ? 15 : 10);
    return recording;
}

}  // namespace

TEST_CASE("every field of a function is in the JSON, and every title above a column of the text",
          "[fields]") {
    const Recording recording = recorded();
    const score::Report made = analyze(recording);
    output::TraceSymbols symbols{recording.info};
    const auto json = nlohmann::json::parse(output::to_json({made}, symbols, {}));
    const std::string text = output::to_text({made}, symbols, {});
    for (const output::Field<score::FunctionRow>& field : output::function_fields()) {
        INFO(field.key << " " << field.title);
        if (!field.key.empty()) CHECK(json.at("functions").at(0).contains(std::string{field.key}));
        if (!field.title.empty()) CHECK(text.find(" " + std::string{field.title}) != std::string::npos);
    }
}

TEST_CASE("a figure that is not known is a dash in tables", "[fields]") {
    score::FunctionRow row;
    row.rdam = 0.25;
    row.occurrences = 1234567;
    row.min_ns = 40;
    const auto cell = [&](std::string_view title) {
        for (const output::Field<score::FunctionRow>& field : output::function_fields())
            if (field.title == title) return output::cell(field, row);
        return std::string{"no such column"};
    };
    CHECK(cell("score") == "0.250");
    CHECK(cell("calls") == "1,234,567");
    CHECK(cell("min") == "-");  // no call was scored
    row.outermost = 1;
    CHECK(cell("min") == "40.0 ns");
    row.sampled = true;
    CHECK(cell("calls") == "~1,234,567");
    row.few_windows = true;
    CHECK(cell("score") == "-");
    CHECK(cell("95 %") == "-");
    CHECK(cell("min") == "-");
    CHECK(cell("calls") == "~1,234,567");
}

}  // namespace rdam::test
