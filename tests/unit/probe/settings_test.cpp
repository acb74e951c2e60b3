#include "libprobe/format/settings.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "tests/unit/catch.h"

using namespace rdam::settings;

namespace {

std::optional<std::uint64_t> value(Id id, std::string_view text) {
    std::uint64_t number = 0;
    if (!parse(setting(id), text, number)) return {};
    return number;
}

/// What holds where the variable is not set, as one writes it; empty: it depends on the machine or the run.
std::string default_text(const Setting& each) {
    if (!each.unset.empty() || each.kind == Kind::text) return std::string{each.unset};
    if (each.kind == Kind::flag) return "0";
    return std::string{choice(each.choices, 0)};
}

/// The table of docs/design.md: the default of each variable, without marks and blanks.
std::map<std::string, std::string> documented_defaults() {
    std::ifstream page{RDAM_SOURCE_ROOT "/docs/design.md"};
    std::map<std::string, std::string> defaults;
    for (std::string line; std::getline(page, line);) {
        if (!line.starts_with("| `RDAM_") || !line.ends_with(" |")) continue;
        const std::size_t begin = line.rfind(" | ", line.size() - 3) + 3;
        std::string value = line.substr(begin, line.size() - 2 - begin);
        std::erase_if(value, [](char each) { return each == '`' || each == ' '; });
        defaults[line.substr(3, line.find('`', 3) - 3)] = value.substr(0, value.find(';'));
    }
    return defaults;
}

}  // namespace

TEST_CASE("docs/design.md has each setting with its default, and no other") {
    std::map<std::string, std::string> documented = documented_defaults();
    for (const Setting& each : kTable) {
        CAPTURE(each.variable);
        const auto row = documented.extract(std::string{each.variable});
        REQUIRE(row);
        if (const std::string expected = default_text(each); !expected.empty())
            CHECK(row.mapped() == expected);
    }
    CHECK(documented.empty());
}

TEST_CASE("the default that --help shows is the one that holds") {
    for (const Setting& each : kTable) {
        CAPTURE(each.variable);
        const std::string expected = default_text(each);
        if (!each.takes.empty() && !expected.empty())
            CHECK_THAT(std::string{each.takes}, Catch::EndsWith(" [" + expected + "]"));
    }
}

TEST_CASE("each setting has a variable of its own") {
    std::set<std::string_view> variables;
    for (const Setting& each : kTable) {
        CHECK(each.variable.substr(0, 5) == "RDAM_");
        CHECK(variables.insert(each.variable).second);
        // Whoever is told that a value is wrong is told what is right.
        CHECK(each.right.empty() == (each.kind == Kind::text));
        CHECK((each.takes.empty() || !each.option.empty()));
        CHECK(each.option.empty() == each.help.empty());
    }
}

TEST_CASE("sizes have units of 1024, and bounds") {
    CHECK(value(Id::buffer, "1048576") == 1U << 20);
    for (const char* text : {"1M", "1m", "1MB", "1MiB", "1mib", "1024k", "1048576B"}) {
        CAPTURE(text);
        CHECK(value(Id::buffer, text) == 1U << 20);
    }
    CHECK(value(Id::buffer, "4G") == std::uint64_t{4} << 30);
    for (const char* text : {"much", "512K", "1048575", "-1M", "1.5M", "M", "1MM", "1T", " 1M",
                             "17179869184G", "99999999999999999999999", "1MBs"}) {
        CAPTURE(text);
        CHECK_FALSE(value(Id::buffer, text).has_value());
    }
}

TEST_CASE("numbers of calls have no unit") {
    CHECK(value(Id::stack_period, "0") == 0);
    CHECK(value(Id::stack_period, "999999999") == 999'999'999);
    for (const char* text : {"10k", "1e3", "1.5", "-1", "5000000000", "0x10", " 1", "1 "}) {
        CAPTURE(text);
        CHECK_FALSE(value(Id::stack_period, text).has_value());
    }
    CHECK(unset_value(setting(Id::stack_period)) == 10000);
}

TEST_CASE("shares are millionths, and beyond 1 they take the sign") {
    CHECK(value(Id::max_overhead, "10%") == 100'000);
    CHECK(value(Id::max_overhead, "10 %") == 100'000);
    CHECK(value(Id::max_overhead, "2.5%") == 25'000);
    CHECK(value(Id::max_overhead, "0.1") == 100'000);
    CHECK(value(Id::max_overhead, ".1") == 100'000);
    CHECK(value(Id::max_overhead, "1") == 1'000'000);
    CHECK(value(Id::max_overhead, "0.01%") == 100);
    CHECK(value(Id::max_overhead, "100000%") == 1'000'000'000);
    for (const char* text : {"much", "10", "1.1", "0", "0.009%", "100001%", "%", ".", "1.2.3", "-1%", "1e1%",
                             "999999999999999999999%"}) {
        CAPTURE(text);
        CHECK_FALSE(value(Id::max_overhead, text).has_value());
    }
}

TEST_CASE("words, flags and lists of processors are taken as they are meant") {
    CHECK(value(Id::switches, "off") == static_cast<std::uint64_t>(Switches::off));
    CHECK(value(Id::when_full, "drop") == static_cast<std::uint64_t>(WhenFull::drop));
    CHECK(value(Id::counters, "instructions") == static_cast<std::uint64_t>(Counters::instructions));
    CHECK_FALSE(value(Id::switches, "au").has_value());
    CHECK_FALSE(value(Id::switches, "on|off").has_value());
    CHECK(value(Id::children, "0") == 0);
    CHECK_FALSE(value(Id::children, "yes").has_value());
    CHECK(unset_value(setting(Id::children)) == 1);
    CHECK(unset_value(setting(Id::verbose)) == 0);
    for (const char* text : {"3", "0,2-3", "0-0"})
        CHECK(value(Id::agent_cpus, text).has_value());
    for (const char* text : {"3-1", "1-x", "1,", ",1", "1-", "100000"})
        CHECK_FALSE(value(Id::agent_cpus, text).has_value());
}
