#include "tools/rdam/command/generate.h"

#include <CLI/Validators.hpp>
#include <algorithm>
#include <array>
#include <regex>
#include <set>
#include <string>
#include <string_view>

#include "libprobe/format/settings.h"
#include "tests/unit/catch.h"
#include "tools/base/similar_names.h"

namespace rdam {

namespace {

Result<int> done() {
    return kExitDone;
}

Run add_shown_launch(CLI::App& app) {
    app.add_option("-f,--functions", "The user's list: a \\ file, or [names]")->type_name("LIST");
    app.add_option("--clock", "Which clock")->check(CLI::IsMember({"rdtscp", "rdtsc"}));
    app.add_flag("-v")->description("Say more");
    app.add_flag("--dark")->description("Nobody knows")->group("");
    return done;
}

Run add_shown_read(CLI::App& app) {
    app.add_option("TRACE", ".A trace")->required();
    return done;
}

constexpr std::array kShownTable{
    Subcommand{.name = "launch", .summary = "Run a program", .add = add_shown_launch, .runs_program = true},
    Subcommand{.name = "analyze", .summary = "Read a trace", .add = add_shown_read},
    Subcommand{.name = "secret", .summary = "Not for all", .add = add_shown_read, .hidden = true},
};

ProgramModel sample() {
    return model_of(CommandLine{"rdam", kShownTable}.definition());
}

const OptionModel* find(const CommandModel& command, const std::string& name) {
    for (const OptionModel& option : command.options) {
        for (const std::string& candidate : option.names) {
            if (candidate == name) return &option;
        }
    }
    return nullptr;
}

/// The recorder's or rdam's own that the manual page of a command defines.
std::multiset<std::string_view> explained_variables(std::string_view command) {
    std::multiset<std::string_view> found;
    const std::string_view manual = manual_of(command);
    for (std::size_t at = 0; (at = manual.find("\nRDAM_", at)) != std::string_view::npos; ++at)
        if (const std::size_t end = manual.find('\n', at + 1); manual.substr(end, 3) == "\n: ")
            found.insert(manual.substr(at + 1, end - at - 1));
    return found;
}

}  // namespace

TEST_CASE("the model holds what the definition shows, and nothing hidden") {
    const ProgramModel program = sample();
    REQUIRE(program.commands.size() == 2);
    const CommandModel& launch = program.commands[0];
    CHECK(launch.name == "launch");
    CHECK(launch.runs_program);
    CHECK(find(launch, "--dark") == nullptr);

    const OptionModel* functions = find(launch, "-f");
    REQUIRE(functions != nullptr);
    CHECK(functions->names == std::vector<std::string>{"-f", "--functions"});
    CHECK(functions->value == "LIST");
    CHECK(functions->takes_file());

    const OptionModel* clock = find(launch, "--clock");
    REQUIRE(clock != nullptr);
    CHECK(clock->choices == std::vector<std::string>{"rdtscp", "rdtsc"});
    CHECK_FALSE(clock->takes_file());

    const OptionModel* verbose = find(launch, "-v");
    REQUIRE(verbose != nullptr);
    CHECK(verbose->value.empty());

    REQUIRE(program.commands[1].positionals.size() == 1);
    CHECK(program.commands[1].positionals[0].name == "TRACE");
    CHECK(program.commands[1].positionals[0].required);
}

TEST_CASE("descriptions cannot break out of the format they are written into") {
    const ProgramModel program = sample();
    CHECK_THAT(generate_man(program, program.commands[0]),
               Catch::Contains("The user\\(aqs list: a \\e file"));
    CHECK_THAT(generate_man(program, program.commands[1]), Catch::Contains("\n\\&.A trace"));
    CHECK_THAT(generate_zsh(program),
               Catch::Contains("[The user'\\''s list\\: a \\\\ file, or \\[names\\]]"));
    CHECK_THAT(generate_fish(program), Catch::Contains("'The user\\'s list: a \\\\ file, or [names]'"));
}

TEST_CASE("the manual explains every variable of the recorder in one place, and all others that are known") {
    std::multiset<std::string_view> of_recorder, known;
    for (const settings::Setting& each : settings::kTable)
        of_recorder.insert(each.variable);
    CHECK(explained_variables("record") == of_recorder);
    for (const std::string_view variable : documented_variables())
        known.insert(variable);
    std::multiset<std::string_view> explained;
    for (const Subcommand& subcommand : subcommands())
        explained.merge(explained_variables(subcommand.name));
    CHECK(std::set(explained.begin(), explained.end()) == std::set(known.begin(), known.end()));
}

TEST_CASE("the manual names every format of rdam export, and no other") {
    const ProgramModel program = model_of(CommandLine{"rdam"}.definition());
    const auto command = std::ranges::find(program.commands, "export", &CommandModel::name);
    REQUIRE(command != program.commands.end());
    const OptionModel* option = find(*command, "--format");
    REQUIRE(option != nullptr);
    const std::set<std::string> formats(option->choices.begin(), option->choices.end());
    CHECK(formats.contains("csv"));
    const std::string manual{manual_of("export")};
    for (const std::string& format : formats)
        CHECK(std::regex_search(manual, std::regex("\\b" + format + "\\b")));
    const std::regex use{"--format (\\w+) (?=-|trace)"};
    for (std::sregex_iterator at{manual.begin(), manual.end(), use}; at != std::sregex_iterator{}; ++at)
        CHECK(formats.contains((*at)[1]));
}

}  // namespace rdam
