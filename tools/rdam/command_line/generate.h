// Manual pages and shell completions, written from the one definition of the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/rdam/command/command.h"
#include "tools/rdam/command_line/command_line.h"

namespace rdam {

struct OptionModel {
    std::vector<std::string> names;    ///< with their dashes, the short ones first
    std::string value;                 ///< what --help calls its value; empty: it takes none
    std::vector<std::string> choices;  ///< the values it takes, if they can be listed
    std::string description;
    std::string default_value;  ///< empty: none

    bool takes_file() const;
};

struct PositionalModel {
    std::string name;
    std::string description;
    std::string default_value;  ///< empty: none
    bool required = false;
    bool repeats = false;
};

struct CommandModel {
    std::string name;  ///< "record"
    std::string summary;
    bool runs_program = false;
    std::vector<OptionModel> options;
    std::vector<PositionalModel> positionals;
};

struct ProgramModel {
    std::string name;  ///< "rdam"
    std::string summary;
    std::vector<OptionModel> options;
    std::vector<CommandModel> commands;  ///< the hidden ones left out
};

ProgramModel model_of(const CLI::App& root);
CommandModel model_of_command(const CLI::App& app);

/// What follows the options: " TRACE", " [INPUT]", " [--] PROGRAM [ARGUMENT...]".
std::string operands(const CommandModel& command);

/// What a manual page says beyond the definition. Paragraphs and examples are plain text.
struct Prose {
    struct Item {
        std::string_view term;
        std::string_view text;
    };
    std::vector<std::string_view> description;
    std::vector<Item> environment;
    std::vector<Item> exit_status;
    std::vector<Item> examples;  ///< term: the command; text: what it is for
};

/// For "rdam" and the name of each visible subcommand.
Prose prose_for(std::string_view command);

/// What --help prints.
std::string generate_help(const ProgramModel& program);
std::string generate_help(const ProgramModel& program, const CommandModel& command);
/// The page rdam.1, or rdam-<command>.1.
std::string generate_man(const ProgramModel& program);
std::string generate_man(const ProgramModel& program, const CommandModel& command);
/// The page of the list of functions.
std::string generate_list_man();
std::string generate_markdown(const ProgramModel& program);
std::string generate_bash(const ProgramModel& program);
std::string generate_zsh(const ProgramModel& program);
std::string generate_fish(const ProgramModel& program);

/// The hidden subcommand that prints one of them; the build runs it.
Run add_generate(CLI::App& app);

}  // namespace rdam
