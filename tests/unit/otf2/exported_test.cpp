// An archive that rdam has exported is read as another tool's: the same calls, and nothing is said that it
// does not say.
#include <algorithm>
#include <array>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "analyzer/export/format.h"
#include "analyzer/inputs/otf2/archive.h"
#include "tests/unit/analysis/random_recording.h"
#include "tests/unit/analysis/recording_file.h"
#include "tests/unit/catch.h"
#include "tests/unit/inputs/read_back.h"
#include "tests/unit/rounds.h"
#include "tests/unit/temporary_folder.h"

namespace rdam::test {
namespace {

using Lines = std::vector<std::string>;

class TextSink final : public exports::Sink {
  public:
    Result<void> write(std::string_view bytes) override {
        text += bytes;
        return {};
    }
    std::string text;
};

/// Function, depth and times of each call, since the first one began; of one that nobody saw end, not when.
Lines calls_of(const trace::TraceReader& reader) {
    const auto visit = views::Visit::prepare(reader, {}, {});
    REQUIRE(visit);
    TextSink sink;
    REQUIRE(exports::write_csv(*visit, {}, sink));
    constexpr std::size_t kFunction = 3, kBegin = 4, kEnd = 5, kDepth = 10, kHow = 13;
    std::vector<std::array<std::string, kHow + 1>> rows;
    std::istringstream text{sink.text};
    std::string line;
    std::getline(text, line);
    std::int64_t first = INT64_MAX;
    while (std::getline(text, line)) {
        std::istringstream fields{line};
        auto& row = rows.emplace_back();
        for (std::string& field : row)
            std::getline(fields, field, ',');
        first = std::min<std::int64_t>(first, std::stoll(row[kBegin]));
    }
    Lines lines;
    for (const auto& row : rows) {
        const bool seen = row[kHow] != "not seen";
        lines.push_back(fmt::format("{} {} {}-{}", row[kDepth], row[kFunction],
                                    std::stoll(row[kBegin]) - first,
                                    seen ? std::to_string(std::stoll(row[kEnd]) - first) : "?"));
    }
    return lines;
}

trace::TraceReader exported(const trace::TraceReader& reader) {
    const auto visit = views::Visit::prepare(reader, {}, {});
    REQUIRE(visit);
    const TemporaryFolder folder;
    REQUIRE(exports::write_otf2(*visit, {}, {folder.file("x"), "x"}));
    auto read = inputs::otf2::read(folder.file("x"), [](std::uint64_t, std::uint64_t) {});
    INFO((read ? "" : read.error().message));
    REQUIRE(read);
    return std::move(*read);
}

TEST_CASE("Whoever has recorded a trace is named, and that it was exported") {
    for (const std::string recorder : {"", "tracer 3"}) {
        Recording recording{1};
        recording.info.process.recorder = recorder;
        recording.info.process.rdam_version = "9";
        recording.thread(1000, 2000).call(1100, kA, 10);
        const trace::TraceReader read = exported(reader_of(recording));
        CHECK(read.info().process.recorder == (recorder.empty() ? "rdam 9" : recorder));
        CHECK(has_remark(read, "rdam exported this file"));
    }
}

TEST_CASE("What rdam has found about a call is no parameter, and times off the processor are no calls") {
    Recording recording{2, 2};
    recording.thread(1000, 2000)
        .enter(1010, kA, {1, 2})
        .call(1020, kB, 10, {3, 4})
        .pause(1035, 1040)
        .leave(1200, kA)
        .enter(1300, kA, {5, 6})
        .gap()
        .call(1500, kB, 50, {7, 8})
        .off({.out = 1050, .in = 1100, .cpu = 3});
    const trace::TraceReader before = reader_of(recording);
    const trace::TraceReader after = exported(before);
    REQUIRE(after.info().threads.size() == 1);
    CHECK(after.info().functions.size() == 2);
    const auto& parameters = before.info().functions[kA].parameters;
    const auto& read = after.info().functions[kA].parameters;
    REQUIRE(read.size() == parameters.size());
    for (std::size_t i = 0; i < read.size(); ++i)
        CHECK(read[i].name == parameters[i].name);
    CHECK(after.info().functions[kA].result.empty());
    CHECK(calls_of(after) == calls_of(before));
    CHECK(has_remark(after, "One call of a region that the recorder has made up"));
    CHECK(after.info().switches.state == trace::SwitchInfo::State::unavailable);
}

TEST_CASE("Calls of random traces come back where they were") {
    std::mt19937_64 random;  // NOLINT(cert-msc51-cpp): the same traces every time
    for (int round = 0; round < rounds(100); ++round) {
        const trace::TraceReader before = reader_of(
            random_recording(random, {.functions = 5, .threads = 3, .events = 200, .accidents = false}));
        REQUIRE(calls_of(exported(before)) == calls_of(before));
    }
}

}  // namespace
}  // namespace rdam::test
