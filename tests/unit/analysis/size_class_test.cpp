// Keys that say how much a call has to do: docs/analyzer.md, point 2.
#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "analyzer/sequences/keys.h"
#include "tests/unit/analysis/recording.h"
#include "tests/unit/catch.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::test {
namespace {

constexpr auto kUnsigned = static_cast<std::uint8_t>(ValueKind::unsigned_integer);
constexpr auto kSigned = static_cast<std::uint8_t>(ValueKind::signed_integer);
constexpr auto kPointer = static_cast<std::uint8_t>(ValueKind::pointer);
constexpr auto kFloating = static_cast<std::uint8_t>(ValueKind::floating);

trace::ParameterInfo parameter(std::uint8_t kind, std::uint8_t size) {
    trace::ParameterInfo info;
    info.name = "n";
    info.kind = kind;
    info.size = size;
    info.key = info.by_size = true;
    return info;
}

std::string text(std::uint8_t kind, std::uint8_t size, std::uint64_t word) {
    return sequences::size_class_text(parameter(kind, size), sequences::size_class(word, kind, size));
}

/// `a(k, n)` takes a tick for each of n, and `disturbed` ticks more in every tenth call.
Recording proportional(std::uint64_t disturbed) {
    Recording recording{1, 2};
    recording.info.functions[kA].parameters[1] = parameter(kUnsigned, 8);
    recording.info.functions[kA].parameters[1].word = 1;
    std::mt19937 random;
    ThreadRecording& thread = recording.thread(1, 40'000'001);
    std::uint64_t now = 1;
    for (int i = 0; i < 10'000; ++i) {
        const std::uint64_t size = 100 + random() % 5000;
        const std::uint64_t duration = size + (i % 10 == 0 ? disturbed : 0);
        thread.call(now, kA, duration, {0, size});
        now += duration;
    }
    return recording;
}

/// `a(s)` goes through as many characters as each call says.
Recording scanning(std::uint8_t kind, std::uint64_t (*result)(std::uint64_t begin, std::uint64_t length)) {
    Recording recording{1, 1};
    recording.info.functions[kA].leave_words = 1;
    recording.info.functions[kA].result = {parameter(kind, 8)};
    ThreadRecording& thread = recording.thread(1, 1'000'001);
    std::uint64_t now = 1;
    for (std::uint64_t i = 0; i < 400; ++i) {
        const std::uint64_t length = i % 2 == 0 ? 40 : 4000, begin = 0x10000 + 64 * i;
        thread.enter(now, kA, {begin}).returns(now + length, kA, result(begin, length));
        now += length;
    }
    return recording;
}

}  // namespace

TEST_CASE("sizes of about the same amount are one, and small ones are what they are", "[sizes]") {
    for (std::uint64_t n = 0; n < 16; ++n)
        CHECK(sequences::size_class(n, kUnsigned, 8) == n);
    for (const std::uint64_t n : {16UL, 100UL, 4095UL, 4096UL, 1UL << 40, UINT64_MAX}) {
        const std::uint64_t low = sequences::size_class(n, kUnsigned, 8);
        CHECK(low <= n);
        CHECK(n - low <= low / 8);
        CHECK(sequences::size_class(low, kUnsigned, 8) == low);
    }
    CHECK(sequences::size_class(4095, kUnsigned, 8) != sequences::size_class(4096, kUnsigned, 8));
    CHECK(text(kUnsigned, 8, 7) == "7");
    CHECK(text(kUnsigned, 8, 4200) == "4096…4607");
    CHECK(text(kUnsigned, 4, 0x100000010) == "16…17");
}

TEST_CASE("a negative number is no large one", "[sizes]") {
    const auto minus = [](std::int32_t n) { return static_cast<std::uint32_t>(-n); };
    CHECK(text(kSigned, 4, minus(1)) == "-1");
    CHECK(text(kSigned, 4, minus(100)) == "-96…-103");
    CHECK(text(kSigned, 4, 100) == "96…103");
}

TEST_CASE("numbers of one magnitude are one", "[sizes]") {
    const auto of = [](double x) {
        return sequences::size_class(std::bit_cast<std::uint64_t>(x), kFloating, 8);
    };
    CHECK(of(1.0) == of(1.999));
    CHECK(of(1.0) != of(2.0));
    CHECK(of(1.0) != of(-1.0));
    CHECK(of(1e300) != of(INFINITY));
    CHECK(text(kFloating, 8, std::bit_cast<std::uint64_t>(5.0)) == "4…8");
    CHECK(text(kFloating, 4, std::bit_cast<std::uint32_t>(0.75F)) == "0.5…1");
}

TEST_CASE("work that is proportional to a size is not interference, and a disturbance of it is", "[sizes]") {
    const Recording quiet = proportional(0);
    const score::FunctionRow without = row(analyze(quiet), "a");
    CHECK(without.rdam < 0.03);
    CHECK(!without.lower_bound);
    CHECK(without.scored_sequences > 30);
    const std::vector<std::string> n{"a:n"};
    CHECK(row(analyze(quiet, {.rules = {.no_keys = n}}), "a").rdam > 0.5);
    const score::FunctionRow disturbed = row(analyze(proportional(10'000)), "a");
    CHECK(disturbed.rdam == Approx(10'000.0 * 1000 / 40e6).margin(0.03));
}

TEST_CASE("a length that is returned is a size", "[sizes]") {
    const Recording lengths = scanning(kUnsigned, [](std::uint64_t, std::uint64_t length) { return length; });
    const score::Report report = analyze(lengths);
    CHECK(row(report, "a").rdam == 0);
    std::vector<std::string> names;
    for (const score::SequenceRow& sequence : row(report, "a").sequences)
        names.push_back(sequence.name);
    std::ranges::sort(names);
    CHECK(names == std::vector<std::string>{"a(return=3840…4095)", "a(return=40…43)"});
    const std::vector<std::string> result{"a:return"};
    const score::Report flat = analyze(lengths, {.rules = {.no_keys = result}});
    CHECK(row(flat, "a").rdam > 0.5);
    CHECK(row(flat, "a").scored_sequences == 1);
}

TEST_CASE("a pointer that is returned says how far the call went", "[sizes]") {
    const Recording found =
        scanning(kPointer, [](std::uint64_t begin, std::uint64_t length) { return begin + length; });
    const score::Report report = analyze(found);
    CHECK(row(report, "a").rdam == 0);
    CHECK(row(report, "a").sequences[0].name.starts_with("a(return-k="));
    const Recording half = scanning(kPointer, [](std::uint64_t begin, std::uint64_t length) {
        return length == 40 ? std::uint64_t{0} : begin + length;
    });
    CHECK(row(analyze(half), "a").rdam == 0);
    CHECK(row(analyze(half), "a").scored_sequences == 2);
}

TEST_CASE("a call that is left by an exception has no result, and is compared with such calls", "[sizes]") {
    Recording recording{1};
    recording.info.functions[kA].leave_words = 1;
    recording.info.functions[kA].result = {parameter(kUnsigned, 8)};
    ThreadRecording& thread = recording.thread(1, 100'001);
    for (std::uint64_t i = 0; i < 100; ++i) {
        thread.enter(1 + 1000 * i, kA);
        if (i % 2 == 0)
            thread.returns(11 + 1000 * i, kA, 5);
        else
            thread.unwind(501 + 1000 * i, kA);
    }
    const score::Report report = analyze(recording);
    CHECK(row(report, "a").rdam == 0);
    CHECK(row(report, "a").scored_sequences == 2);
    CHECK(std::ranges::any_of(row(report, "a").sequences,
                              [](const auto& each) { return each.name == "a(return: none)"; }));
}

TEST_CASE("any recorded result may be made a key, and only a recorded one", "[sizes]") {
    Recording recording = scanning(kUnsigned, [](std::uint64_t, std::uint64_t length) { return length; });
    recording.info.functions[kA].result[0].key = false;
    recording.info.functions[kA].result[0].by_size = false;
    const std::vector<std::string> result{"a:return"};
    CHECK(row(analyze(recording), "a").rdam > 0.5);
    const score::Report by_result = analyze(recording, {.rules = {.keys = result}});
    CHECK(row(by_result, "a").rdam == 0);
    CHECK(row(by_result, "a").sequences[0].name.starts_with("a(return=40"));
    recording.info.functions[kA].leave_words = 0;
    CHECK_FALSE(sequences::make_keys(recording.info, {{.add = result}}).has_value());
}

}  // namespace rdam::test
