#include "tools/rdam/command/command_line.h"

#include <array>

#include "tests/unit/catch.h"
#include "tests/unit/cli/capture.h"
#include "tools/base/similar_names.h"
#include "tools/rdam/command/generate.h"

namespace rdam {

namespace {

/// What the subcommands of the table below were given.
struct Seen {
    std::string functions;
    bool verbose = false;
    std::vector<std::string> program;
    std::string trace;
    std::vector<std::string> keys;
};
Seen seen;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

Run add_launch(CLI::App& app) {
    app.add_option("-f,--functions", seen.functions, "The list");
    app.add_flag("-v,--verbose", seen.verbose, "Say more");
    return [&app]() -> Result<int> {
        seen.program = app.remaining();
        return 42;
    };
}

Run add_read(CLI::App& app) {
    app.add_option("TRACE", seen.trace, "A trace")->required();
    app.add_option("--key", seen.keys, "May be repeated");
    return []() -> Result<int> {
        if (seen.trace == "bad") return fail("bad: not a trace:\x1b[31m\nsecond line");
        fmt::print("read {}\n", seen.trace);
        return kExitDone;
    };
}

constexpr std::array kTable{
    Subcommand{.name = "launch", .summary = "Run a program", .add = add_launch, .runs_program = true},
    Subcommand{.name = "analyze", .summary = "Read a trace", .add = add_read},
    Subcommand{.name = "secret", .summary = "Not for all", .add = add_read, .hidden = true},
};

using Words = std::vector<std::string>;

test::Captured run(const Words& arguments, std::string_view invoked_as = "rdam") {
    seen = {};
    return test::capture([&] { return CommandLine{invoked_as, kTable}.run(arguments); });
}

}  // namespace

TEST_CASE("everything behind the program's name belongs to the program") {
    const Words own{"./app", "--its-option", "-f", "x", "--", "[a,b]", "", "--help"};
    const auto words =
        GENERATE(Words{"launch"}, Words{"launch", "-f", "l"}, Words{"launch", "--functions=l", "-v"},
                 Words{"launch", "-vf", "l"}, Words{"launch", "-fl", "--"}, Words{"launch", "--"},
                 Words{"launch", "--functions", "l", "--"});
    Words all = words;
    all.insert(all.end(), own.begin(), own.end());
    CAPTURE(all);
    const test::Captured result = run(all);
    CHECK(result.code == 42);
    CHECK(result.err.empty());
    CHECK(seen.program == own);
    CHECK(seen.functions == (words.size() > 1 && words[1] != "--" ? "l" : ""));
}

TEST_CASE("a program may be called like a subcommand") {
    CHECK(run({"launch", "analyze", "secret"}).code == 42);
    CHECK(seen.program == Words{"analyze", "secret"});
    CHECK(run({"launch", "launch"}).code == 42);
    CHECK(seen.program == Words{"launch"});
}

TEST_CASE("an option's value is not taken for the program") {
    CommandLine line{"rdam", kTable};
    const CLI::App& app = *line.definition().get_subcommand("launch");
    CHECK(options_end(app, Words{}) == 0);
    CHECK(options_end(app, Words{"-f", "--", "--", "./app"}) == 2);
    CHECK(options_end(app, Words{"-f"}) == 1);
    CHECK(options_end(app, Words{"-v", "./app"}) == 1);
    CHECK(options_end(app, Words{"-", "-v"}) == 0);
}

TEST_CASE("an option that may be repeated takes one value each time") {
    CHECK(run({"analyze", "--key", "a", "t", "--key", "b"}).code == kExitDone);
    CHECK(seen.trace == "t");
    CHECK(seen.keys == Words{"a", "b"});
}

TEST_CASE("a wrong command line is one line on stderr and exit code 2") {
    const auto [arguments, message] = GENERATE(table<Words, std::string>({
        {Words{}, "rdam: no command given; see 'rdam --help'\n"},
        {Words{"anlyze"}, "rdam: unknown command 'anlyze', the nearest is 'analyze'; see 'rdam --help'\n"},
        {Words{"paint"}, "rdam: unknown command 'paint'; see 'rdam --help'\n"},
        {Words{"secrt"}, "rdam: unknown command 'secrt'; see 'rdam --help'\n"},
        {Words{"analyze", "--kye=a", "t"},
         "rdam: unknown option '--kye=a', the nearest is '--key'; see 'rdam analyze --help'\n"},
        {Words{"--top"}, "rdam: unknown option '--top'; see 'rdam --help'\n"},
        {Words{"analyze", "--top", "t"}, "rdam: unknown option '--top'; see 'rdam analyze --help'\n"},
        {Words{"analyze", "t", "u"}, "rdam: unexpected argument 'u'; see 'rdam analyze --help'\n"},
        {Words{"analyze"}, "rdam: TRACE is required; see 'rdam analyze --help'\n"},
        {Words{"launch", "-v"}, "rdam: PROGRAM is required; see 'rdam launch --help'\n"},
        {Words{"launch", "--its", "app"}, "rdam: unknown option '--its'; see 'rdam launch --help'\n"},
    }));
    CAPTURE(arguments);
    const test::Captured result = run(arguments);
    CHECK(result.code == kExitUsage);
    CHECK(result.err == message);
    CHECK(result.out.empty());
}

TEST_CASE("an error of a subcommand is one harmless line on stderr and exit code 1") {
    const test::Captured result = run({"analyze", "bad"});
    CHECK(result.code == kExitBadInput);
    CHECK(result.err == "rdam: bad: not a trace:\\x1b[31m\\nsecond line\n");
    CHECK(result.out.empty());
}

TEST_CASE("hostile bytes of the command line do not reach the terminal either") {
    const test::Captured result = run({"analyze", "--a\x1b[2J\xff"});
    CHECK(result.code == kExitUsage);
    CHECK(result.err == "rdam: unknown option '--a\\x1b[2J\\xff'; see 'rdam analyze --help'\n");
}

TEST_CASE("rdam-analyze is rdam analyze") {
    CHECK(run({"t"}, "/opt/bin/rdam-analyze").out == "read t\n");
    CHECK(run({"--version"}, "rdam-analyze").out == "rdam " RDAM_VERSION "\n");
    CHECK(run({"--help"}, "rdam-analyze").code == kExitDone);
    CHECK(run({"t"}, "/opt/rdam-analyze/rdam").code == kExitUsage);
}

TEST_CASE("help and version are results") {
    CHECK(run({"--version"}).out == "rdam " RDAM_VERSION "\n");
    const test::Captured help = run({"--help"});
    CHECK(help.code == kExitDone);
    CHECK(help.err.empty());
    CHECK_THAT(help.out, Catch::Contains("launch") && Catch::Contains("Read a trace"));
    CHECK_THAT(help.out, !Catch::Contains("secret"));
    const test::Captured of_command = run({"launch", "--help"});
    CHECK(of_command.code == kExitDone);
    CHECK_THAT(of_command.out, Catch::Contains("--functions"));
    CHECK(seen.program.empty());
}

TEST_CASE("help may be asked for as a command") {
    CHECK(run({"help"}).out == run({"--help"}).out);
    CHECK(run({"help", "launch"}).out == run({"launch", "--help"}).out);
    CHECK(run({"help", "anlyze"}).err ==
          "rdam: unknown command 'anlyze', the nearest is 'analyze'; see 'rdam --help'\n");
    CHECK(run({"help"}, "rdam-analyze").out == "read help\n");
}

TEST_CASE("variables that nothing reads are told from those of the recorder") {
    const char* environment[] = {"PATH=/bin",      "RDAM_BUFER=\x1b[31m", "RDAM_BUFFER=8M",
                                 "RDAM_VERBOSE=1", "RDAM_RUN=1",          "RDAM_SOMETHING_ELSE=1",
                                 "RDAMX=1",        "RDAM_PYTHON",         nullptr};
    CHECK(unknown_variables(environment) ==
          Words{"RDAM_BUFER: unknown variable, the nearest is RDAM_BUFFER; it has no effect",
                "RDAM_SOMETHING_ELSE: unknown variable: man rdam-record lists them; it has no effect"});
}

}  // namespace rdam
