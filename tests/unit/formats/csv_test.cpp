// The table of calls, read back by the rules of RFC 4180.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/export/format.h"
#include "tests/unit/formats/collected.h"

namespace rdam::test {
namespace {

using CsvRow = std::map<std::string, std::string>;

/// Lines end with CR LF; a quoted field may hold anything, `"` doubled.
std::vector<std::vector<std::string>> csv_fields(const std::string& text) {
    std::vector<std::vector<std::string>> lines;
    std::vector<std::string> line(1);
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (quoted) {
            const bool quote = text[i] == '"';
            if (quote && i + 1 < text.size() && text[i + 1] == '"')
                line.back() += text[++i];
            else if (quote)
                quoted = false;
            else
                line.back() += text[i];
        } else if (text[i] == '"') {
            REQUIRE(line.back().empty());
            quoted = true;
        } else if (text[i] == ',') {
            line.emplace_back();
        } else if (text[i] == '\r') {
            REQUIRE(text.substr(i, 2) == "\r\n");
            ++i;
            lines.push_back(std::exchange(line, std::vector<std::string>(1)));
        } else {
            REQUIRE(text[i] != '\n');
            line.back() += text[i];
        }
    }
    REQUIRE_FALSE(quoted);
    REQUIRE(line == std::vector<std::string>(1));
    return lines;
}

std::vector<CsvRow> csv_of(const Recording& recording) {
    const trace::TraceReader reader = reader_of(recording);
    const views::Visit visit = visit_of(reader);
    TextSink sink;
    const auto written = exports::write_csv(visit, {}, sink);
    REQUIRE(written);
    const auto lines = csv_fields(sink.text);
    REQUIRE_FALSE(lines.empty());
    CHECK(written->calls == lines.size() - 1);
    CHECK(written->merged == 0);
    std::vector<CsvRow> rows;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        REQUIRE(lines[i].size() == lines[0].size());
        CsvRow& row = rows.emplace_back();
        for (std::size_t column = 0; column < lines[0].size(); ++column)
            row[lines[0][column]] = lines[i][column];
    }
    return rows;
}

class FullSink final : public exports::Sink {
  public:
    Result<void> write(std::string_view /*bytes*/) override { return fail("the disk is full"); }
};

}  // namespace

TEST_CASE("each call is a line of the table", "[csv]") {
    Recording recording{2, 2};
    ThreadRecording& thread = recording.thread(1000, 5000);
    thread.enter(1100, kA, {7, 8}).call(1150, kB, 20, {1, 2}).leave(1200, kA);
    thread.enter(1300, kA, {7, 9}).call(1310, kB, 25, {1, 2}).leave(1420, kA);
    thread.enter(1500, kA, {0, 0}).enter(1510, kA, {0, 0}).leave(1520, kA).enter(1530, kB, {3, 4});
    const auto rows = csv_of(recording);
    REQUIRE(rows.size() == 7);
    const CsvRow first = rows[3];
    CHECK(first == CsvRow{{"thread", "100"},
                          {"thread_name", "thread-0"},
                          {"module", "app"},
                          {"function", "a"},
                          {"begin_ns", "300"},
                          {"end_ns", "420"},
                          {"duration_ns", "120.000"},
                          {"self_ns", "95.000"},
                          {"lost_ns", "20.000"},
                          {"baseline_ns", "100.000"},
                          {"depth", "0"},
                          {"processor", first.at("processor")},
                          {"calls", "1"},
                          {"end", "returned"},
                          {"sequence", first.at("sequence")},
                          {"parameters", "k=7, n=9"},
                          {"result", ""}});
    CHECK(rows[0].at("function") == "b");
    CHECK(rows[0].at("depth") == "1");
    CHECK(rows[0].at("lost_ns") == "0.000");
    CHECK(rows[1].at("sequence") == rows[3].at("sequence"));
    CHECK(rows[0].at("sequence") != rows[3].at("sequence"));
    // One that was not seen to end has no times at all, and one inside of it is as any other.
    CHECK(rows[4].at("duration_ns") == "10.000");
    CHECK(rows[4].at("lost_ns") == "0.000");
    CHECK(rows[5].at("end") == "not seen");
    CHECK(rows[5].at("duration_ns").empty());
    CHECK(rows[5].at("sequence").empty());
    CHECK(rows[5].at("end_ns") == "4000");
}

TEST_CASE("a recursive call has no loss of its own in the table", "[csv]") {
    Recording recording{1, 1};
    recording.thread(1000, 5000).enter(1100, kA, {7}).enter(1110, kA, {7}).leave(1120, kA).leave(1130, kA);
    const auto rows = csv_of(recording);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].at("duration_ns") == "10.000");
    CHECK(rows[0].at("lost_ns").empty());
    CHECK(rows[1].at("lost_ns") == "0.000");
}

TEST_CASE("no text from a trace breaks the table, or is a formula in it", "[csv]") {
    const std::vector<std::pair<std::string, std::string>> names = {
        {"std::map<int, char>", "std::map<int, char>"},
        {"operator\"\"_x", "operator\"\"_x"},
        {"\"", "\""},
        {"a\r\nb", "a\\r\\nb"},
        {"=cmd|'/c calc'!A0", "'=cmd|'/c calc'!A0"},
        {"+1,2", "'+1,2"},
        {"-x", "'-x"},
        {"@sum", "'@sum"},
        {"\xff\xe2\x80\xae", "\\xff\\u{202e}"},
        {"zeile\xc3\xa4", "zeile\xc3\xa4"},
    };
    Recording recording{names.size(), 0};
    ThreadRecording& thread = recording.thread(1000, 5000);
    for (std::uint32_t f = 0; f < names.size(); ++f) {
        recording.info.functions[f].name = names[f].first;
        recording.info.functions[f].module = names[f].first;
        thread.call(1100 + 10 * f, f, 5);
    }
    recording.info.threads[0].name = "a,\"b\"";
    const auto rows = csv_of(recording);
    REQUIRE(rows.size() == names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
        CHECK(rows[i].at("function") == names[i].second);
        CHECK(rows[i].at("module") == names[i].second);
        CHECK(rows[i].at("thread_name") == "a,\"b\"");
    }
}

TEST_CASE("parameters of the open calls stay with their calls", "[csv]") {
    Recording recording{1, 1};
    ThreadRecording& thread = recording.thread(1000, 90'000);
    constexpr std::uint64_t kDeep = 3000;
    for (std::uint64_t i = 0; i < kDeep; ++i)
        thread.enter(1100 + i, kA, {i});
    for (std::uint64_t i = kDeep; i-- > 0;)
        thread.leave(20'000 - i, kA);
    const auto rows = csv_of(recording);
    REQUIRE(rows.size() == kDeep);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::string depth = std::to_string(kDeep - 1 - i);
        if (rows[i].at("parameters") != "k=" + depth || rows[i].at("depth") != depth) ++wrong;
    }
    CHECK(wrong == 0);
}

TEST_CASE("a place that takes no more bytes is an error, with its own words", "[csv]") {
    Recording recording{1};
    recording.thread(1000, 5000).call(1100, kA, 5);
    const trace::TraceReader reader = reader_of(recording);
    const views::Visit visit = visit_of(reader);
    for (const exports::Format& format : exports::all_formats()) {
        if (format.write == nullptr) continue;
        FullSink sink;
        INFO(format.name);
        const auto written = format.write(visit, {}, sink);
        REQUIRE_FALSE(written);
        CHECK(written.error().message == "the disk is full");
    }
}

}  // namespace rdam::test
