// Profiles as they are written for speedscope.app and by the Firefox Profiler, versions 26 and 61 of its format.
#include "analyzer/inputs/chrome/profiles.h"

#include <string>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/contains.h"
#include "tests/unit/inputs/read_back.h"
#include "tests/unit/inputs/text_file.h"

using namespace rdam;
using rdam::test::contains;
using rdam::test::has_remark;
using rdam::test::read_back;

namespace {

Result<trace::TraceReader> read_profile(std::string_view text) {
    const test::TextFile file{text};
    return inputs::profiles::read(file.path(), {});
}

std::string error_of_profile(std::string_view text) {
    const auto reader = read_profile(text);
    return reader ? std::string{"read"} : reader.error().message;
}

/// "THREAD: EVENTS" of each thread.
std::vector<std::string> threads_of_profile(std::string_view text) {
    const auto reader = read_profile(text);
    if (!reader) return {reader.error().message};
    std::vector<std::string> all;
    for (std::uint32_t thread = 0; thread < reader->info().threads.size(); ++thread)
        all.push_back(fmt::format("{}: {}", reader->info().threads[thread].name,
                                  fmt::join(read_back(*reader, thread), "; ")));
    return all;
}

constexpr const char* kSchema = R"("$schema":"https://www.speedscope.app/file-format-schema.json")";

std::string speedscope(const std::string& unit, const std::string& events) {
    return fmt::format(
        R"({{"exporter":"me 1",{},"profiles":[{{"type":"evented","name":"main","unit":"{}","events":[{}]}}],"shared":{{"frames":[{{"name":"f","file":"a/b.c"}},{{"name":"g"}}]}}}})",
        kSchema, unit, events);
}

constexpr const char* kTwo =
    R"({"type":"O","frame":0,"at":1},{"type":"O","frame":1,"at":2.5},{"type":"C","frame":1,"at":4},{"type":"C","frame":0,"at":9})";

std::string firefox(const std::string& threads, const std::string& more = "") {
    return R"({"meta":{"preprocessedProfileVersion":61,"product":"Firefox"},"threads":[)" + threads + "]" +
           more + "}";
}

}  // namespace

TEST_CASE("an evented profile of speedscope is the calls of a thread, in each unit of time") {
    using Calls = std::vector<std::string>;
    CHECK(threads_of_profile(speedscope("nanoseconds", kTwo)) ==
          Calls{"main: 1000 f(); 2500 g(); 4000 /g; 9000 /f"});
    CHECK(threads_of_profile(speedscope("microseconds", kTwo)) ==
          Calls{"main: 1000 f(); 2500 g(); 4000 /g; 9000 /f"});
    CHECK(threads_of_profile(speedscope("seconds", kTwo)) ==
          Calls{"main: 1000000000 f(); 2500000000 g(); 4000000000 /g; 9000000000 /f"});
    const auto reader = read_profile(speedscope("milliseconds", kTwo));
    REQUIRE(reader);
    CHECK(reader->info().process.recorder == "me 1");
    CHECK(reader->info().functions[0].module == "b.c");
    CHECK(reader->info().functions[0].any_name);
    CHECK(!reader->info().process.shortest_missing);
    std::string sampled = speedscope("seconds", kTwo);
    const auto sampler = read_profile(sampled.replace(sampled.find("me 1"), 4, "pyinstrument"));
    REQUIRE(sampler);
    CHECK(sampler->info().process.shortest_missing);
}

TEST_CASE("profiles of samples, of bytes and of nothing have no calls, and say so") {
    CHECK(contains(error_of_profile(speedscope("bytes", kTwo)), "not of time"));
    const std::string samples =
        std::string{"{"} + kSchema +
        R"(,"profiles":[{"type":"sampled","name":"x","unit":"none","samples":[[0]],"weights":[1]}],"shared":{"frames":[{"name":"f"}]}})";
    CHECK(inputs::profiles::recognizes(samples));
    CHECK(contains(error_of_profile(samples), "samples, no calls"));
    CHECK(contains(error_of_profile(firefox(R"({"samples":{"stack":[1]}})")), "samples, no calls"));
    CHECK(
        contains(error_of_profile(speedscope("seconds", kTwo).substr(0, 200)), "not sound as JSON, or cut"));
    CHECK(contains(error_of_profile("{}"), "samples, no calls"));
}

TEST_CASE("intervals among the markers of a Firefox profile are calls with their data") {
    const std::string columns =
        R"("markers":{"length":5,"data":[{"type":"A","n":3,"s":"x","o":{"n":1}},null,null,[1],null],"name":[0,1,1,1,7],)"
        R"("startTime":[1,1.5,0,2,3],"endTime":[3,null,2.25,null,4],"phase":[1,2,3,0,1]})";
    const std::string one = R"({"name":"GeckoMain","processName":"Web","pid":"7","tid":"8",)" + columns;
    for (const std::string& text : {firefox(one + "}", R"(,"shared":{"stringArray":["f","g"]})"),
                                    firefox(one + R"(,"stringArray":["f","g"]})"),
                                    firefox(R"({"stringTable":["f","g"],)" + one.substr(1) + "}")}) {
        CHECK(inputs::profiles::recognizes(text));
        const auto reader = read_profile(text);
        REQUIRE(reader);
        const auto lines = read_back(*reader, 0);
        CHECK(std::vector<std::string>(lines.begin() + 1, lines.end()) ==
              std::vector<std::string>{"1500000 g()", "2250000 /g", "3000000 /f"});
        CHECK(contains(lines.front(), "1000000 f(3,"));
        CHECK(reader->info().functions[0].parameters.size() == 2);
        CHECK(reader->info().process.recorder == "Firefox");
        CHECK(reader->info().process.pid == 7);
        CHECK(has_remark(*reader, "One event is no call of a thread"));
        CHECK(has_remark(*reader, "One event has no name"));
    }
}

TEST_CASE("what is no profile is not taken for one") {
    CHECK(!inputs::profiles::recognizes(R"({"traceEvents":[],"shared":{"frames":[{"name":1}]}})"));
    CHECK(!inputs::profiles::recognizes(R"([{"shared":{"frames":[{"name":1}]}}])"));
    CHECK(!inputs::profiles::recognizes(R"({"meta":{"version":5}})"));
}

TEST_CASE(
    "threads, frames and strings of a profile have a bound, as each takes more memory than in the file") {
    const auto list = [](std::size_t count, std::string_view each) {
        std::string all;
        for (std::size_t number = 0; number < count; ++number) {
            if (number > 0) all += ',';
            all += each;
        }
        return all;
    };
    const auto with_frames = [&](std::size_t count) {
        return fmt::format(R"({{{},"shared":{{"frames":[{}]}}}})", kSchema, list(count, "{}"));
    };
    const auto with_strings = [&](std::size_t count) {
        const std::string half = list(count / 2, "1");
        return firefox(fmt::format(R"({{"stringArray":[{0}]}},{{"stringArray":[{0}]}})", half));
    };
    CHECK(contains(error_of_profile(with_frames(1'000'001)), "more than 1,000,000 frames: no tool"));
    CHECK(contains(error_of_profile(with_strings(1'000'002)), "more than 1,000,000 strings: no tool"));
    CHECK(contains(error_of_profile(firefox(list(65'537, "{}"))), "more than 65,536 threads: no tool"));
    CHECK(contains(error_of_profile(with_frames(1'000'000)), "samples, no calls"));
    CHECK(contains(error_of_profile(with_strings(1'000'000)), "samples, no calls"));
}

TEST_CASE("a profile that means no good is read, or refused in one line") {
    for (
        const std::string& text :
        {speedscope("seconds",
                    R"({"type":"C","frame":0,"at":1},{"type":"O","frame":9999999999,"at":2},{"at":1e300})"),
         speedscope("seconds", std::string(100'000, '[')),
         firefox(
             R"({"markers":{"name":[4294967295,-1,"x",0],"startTime":["a",1e99,-5,1],"endTime":[-1,2,3],"phase":[1,1,1,9]}})"),
         firefox(std::string(50'000, '['))}) {
        const std::string said = error_of_profile(text);
        CHECK(said != "read");
        CHECK(!contains(said, "\n"));
    }
}
