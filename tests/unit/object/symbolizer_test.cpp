#include "wrappers/object/symbolizer.h"

#include <set>
#include <string>

#include "tests/unit/catch.h"
#include "wrappers/object/object_file.h"

namespace {

const std::string kProgram = std::string{FIXTURE_DIR} + "/lines";

std::string file_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

}  // namespace

TEST_CASE("addresses lead to functions, lines and inlined frames") {
    const auto object = rdam::ObjectFile::open(kProgram);
    REQUIRE(object.has_value());
    const auto& symbol = object->symbols()[object->named("outermost").front()];
    auto symbolizer = rdam::Symbolizer::open(kProgram, object->build_id());
    REQUIRE(symbolizer.has_value());
    bool seen_inlined = false;
    bool seen_own_line = false;
    for (std::uint64_t address = symbol.address; address < symbol.address + symbol.size; ++address) {
        const auto& location = symbolizer->locate(address);
        CHECK(location.outermost.function == "outermost");
        CHECK(location.offset == address - symbol.address);
        CHECK(file_name(location.outermost.file) == "lines.c");
        if (location.inlined.size() == 2) {
            seen_inlined = true;
            CHECK(location.inlined[0].function == "innermost");
            CHECK(location.inlined[0].line == 3);
            CHECK(location.inlined[1].function == "middle");
            CHECK(location.inlined[1].line == 6);
            CHECK(location.outermost.line == 10);
        }
        if (location.inlined.empty() && location.outermost.line == 9) seen_own_line = true;
    }
    CHECK(seen_inlined);
    CHECK(seen_own_line);
    CHECK(&symbolizer->locate(symbol.address) == &symbolizer->locate(symbol.address));
}

TEST_CASE("a function has its own lines and those that were inlined into it, and no others") {
    const auto object = rdam::ObjectFile::open(kProgram);
    REQUIRE(object.has_value());
    auto symbolizer = rdam::Symbolizer::open(kProgram, object->build_id());
    REQUIRE(symbolizer.has_value());
    const auto lines_of = [&](const std::string& name) {
        const auto& symbol = object->symbols()[object->named(name).front()];
        std::set<std::uint32_t> lines;
        for (const auto& line : symbolizer->lines_between(symbol.address, symbol.address + symbol.size)) {
            CHECK(file_name(line.file) == "lines.c");
            lines.insert(line.line);
        }
        return lines;
    };
    const auto outermost = lines_of("outermost");
    for (const std::uint32_t line : {3, 6, 9})
        CHECK(outermost.contains(line));
    const auto main = lines_of("main");
    CHECK_FALSE(main.empty());
    for (const std::uint32_t line : {3, 6, 9})
        CHECK_FALSE(main.contains(line));
    CHECK(symbolizer->lines_between(0, 1).empty());
}

TEST_CASE("addresses outside of all code have no name") {
    auto symbolizer = rdam::Symbolizer::open(kProgram, "");
    REQUIRE(symbolizer.has_value());
    CHECK(symbolizer->locate(0).outermost.function.empty());
    CHECK(symbolizer->locate(~std::uint64_t{0}).outermost.function.empty());
}

TEST_CASE("a stripped library still yields its exported names") {
    const std::string path = std::string{FIXTURE_DIR} + "/libsymbols.bare.so";
    const auto object = rdam::ObjectFile::open(path, "/nonexistent");
    REQUIRE(object.has_value());
    auto symbolizer = rdam::Symbolizer::open(path, "", "/nonexistent");
    REQUIRE(symbolizer.has_value());
    const auto& symbol = object->symbols()[object->named("calls_twin_a").front()];
    const auto& location = symbolizer->locate(symbol.address + 1);
    CHECK(location.outermost.function == "calls_twin_a");
    CHECK(location.outermost.line == 0);
}

TEST_CASE("another build of the file is refused") {
    const auto wrong = rdam::Symbolizer::open(kProgram, "00112233");
    REQUIRE_FALSE(wrong.has_value());
    CHECK(wrong.error().message.find("is not the file that was recorded") != std::string::npos);
    CHECK_FALSE(rdam::Symbolizer::open("/no/such/file", "").has_value());
}
