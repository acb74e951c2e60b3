// Manual pages and shell completions, written from the one definition of the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/rdam/command/command.h"
#include "tools/rdam/command/command_line.h"

namespace rdam {

struct Described {
    std::string description;
    std::string default_value;  ///< empty: none
};

struct OptionModel : Described {
    std::vector<std::string> names;    ///< with their dashes, the short ones first
    std::string value;                 ///< what --help calls its value; empty: it takes none
    std::vector<std::string> choices;  ///< the values it takes, if they can be listed

    bool takes_file() const;
};

struct PositionalModel : Described {
    std::string name;
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

/// The words of a manual page that no definition contains, in Markdown: tools/rdam/manual/<command>.md.
struct Manual {
    std::string description;  ///< what is before the first heading
    std::string sections;     ///< the rest; with the program's exit status where the page has none of its own
};
Manual manual_for(std::string_view command);
/// The file's text; empty: there is none for this command.
std::string_view manual_of(std::string_view command);

std::string upper(std::string_view text);

/// What --help prints.
std::string generate_help(const ProgramModel& program);
std::string generate_help(const ProgramModel& program, const CommandModel& command);
/// The page rdam.1, or rdam-<command>.1.
std::string generate_man(const ProgramModel& program);
std::string generate_man(const ProgramModel& program, const CommandModel& command);
std::string generate_markdown(const ProgramModel& program);
std::string generate_bash(const ProgramModel& program);
std::string generate_zsh(const ProgramModel& program);
std::string generate_fish(const ProgramModel& program);

/// The hidden subcommand that prints one of them; the build runs it.
Run add_generate(CLI::App& app);

}  // namespace rdam
