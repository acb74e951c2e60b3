#include "tools/rdam/command/generate.h"

namespace rdam {

namespace {

/// Text inside a single-quoted argument of _arguments: quotes, and what that function gives a meaning to.
std::string spec_text(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\'') {
            out += "'\\''";
        } else if (c == '[' || c == ']' || c == ':' || c == '\\') {
            out += fmt::format("\\{}", c);
        } else {
            out += c;
        }
    }
    return out;
}

std::string action(const OptionModel& option) {
    if (!option.choices.empty()) return fmt::format("({})", fmt::join(option.choices, " "));
    return option.takes_file() ? "_files" : " ";
}

std::string option_spec(const OptionModel& option) {
    const std::string value =
        option.value.empty() ? "" : fmt::format(":{}:{}", spec_text(option.value), action(option));
    const std::string rest = fmt::format("'[{}]{}'", spec_text(option.description), value);
    if (option.names.size() == 1) return fmt::format("'*'{}{}", option.names.front(), rest);
    return fmt::format("'*'{{{}}}{}", fmt::join(option.names, ","), rest);
}

std::string specs(const std::vector<OptionModel>& options) {
    std::string out;
    for (const OptionModel& option : options)
        out += fmt::format("                {} \\\n", option_spec(option));
    return out;
}

std::string command_arm(const CommandModel& command) {
    const std::string_view operands =
        command.runs_program ? "'(-)1:program:_command_names -e' '*::arguments:_normal'" : "'*:file:_files'";
    return fmt::format("        {})\n            _arguments -s -S \\\n{}                {}\n            ;;\n",
                       command.name, specs(command.options), operands);
}

}  // namespace

std::string generate_zsh(const ProgramModel& program) {
    std::string commands;
    std::string arms;
    std::string options;
    for (const CommandModel& command : program.commands) {
        commands += fmt::format("        '{}:{}'\n", command.name, spec_text(command.summary));
        arms += command_arm(command);
    }
    for (const OptionModel& option : program.options)
        options += fmt::format("        {} \\\n", option_spec(option));
    return fmt::format(R"(#compdef rdam rdam-analyze
# zsh completion for rdam, made by 'rdam generate zsh'.

_rdam_command() {{
    case $1 in
{}    esac
}}

_rdam() {{
    local -a commands
    local line state
    commands=(
{}    )
    if [[ $service == rdam-analyze ]]; then
        _rdam_command analyze
        return
    fi
    _arguments -C \
{}        '1:command:->command' \
        '*::argument:->argument'
    case $state in
        command)
            _describe command commands
            ;;
        argument)
            _rdam_command $line[1]
            ;;
    esac
}}

_rdam "$@"
)",
                       arms, commands, options);
}

}  // namespace rdam
