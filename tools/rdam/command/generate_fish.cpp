#include "tools/rdam/command/generate.h"

namespace rdam {

namespace {

std::string fish_word(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') out += '\\';
        out += c;
    }
    return out + "'";
}

std::string option_line(std::string_view program, const OptionModel& option, std::string_view condition) {
    std::string out = fmt::format("complete -c {}", program);
    if (!condition.empty()) out += fmt::format(" -n {}", fish_word(condition));
    for (const std::string& name : option.names) {
        const bool is_long = name.starts_with("--");
        out += fmt::format(" -{} {}", is_long ? 'l' : 's', name.substr(is_long ? 2 : 1));
    }
    if (!option.choices.empty()) {
        out += fmt::format(" -x -a {}", fish_word(fmt::format("{}", fmt::join(option.choices, " "))));
    } else if (!option.value.empty()) {
        out += option.takes_file() ? " -r -F" : " -x";
    }
    return out + fmt::format(" -d {}\n", fish_word(option.description));
}

}  // namespace

std::string generate_fish(const ProgramModel& program) {
    constexpr std::string_view kNoCommand = "__fish_use_subcommand";
    std::string out =
        fmt::format("# fish completion for {0}, made by '{0} generate fish'.\n\n", program.name);
    for (const OptionModel& option : program.options)
        out += option_line(program.name, option, kNoCommand);
    for (const CommandModel& command : program.commands) {
        out += fmt::format("\ncomplete -c {} -n {} -f -a {} -d {}\n", program.name, kNoCommand, command.name,
                           fish_word(command.summary));
        const std::string condition = fmt::format("__fish_seen_subcommand_from {}", command.name);
        for (const OptionModel& option : command.options)
            out += option_line(program.name, option, condition);
        if (command.runs_program) {
            out += fmt::format("complete -c {} -n {} -x -a '(__fish_complete_subcommand --fcs-skip=2)'\n",
                               program.name, fish_word(condition));
        }
        if (command.name != "analyze") continue;
        for (const OptionModel& option : command.options)
            out += option_line("rdam-analyze", option, "");
    }
    return out;
}

}  // namespace rdam
