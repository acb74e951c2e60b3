#include "tools/rdam/command/generate.h"

namespace rdam {

namespace {

std::string option_names(const std::vector<OptionModel>& options) {
    std::string out;
    for (const OptionModel& option : options)
        out += fmt::format("{}{}", out.empty() ? "" : " ", fmt::join(option.names, " "));
    return out;
}

}  // namespace

std::string generate_bash(const ProgramModel& program) {
    std::string commands;
    std::string launchers;
    std::string options;
    std::string values;
    for (const CommandModel& command : program.commands) {
        commands += command.name + " ";
        if (command.runs_program) launchers += command.name + " ";
        options += fmt::format("        ['rdam {}']='{}'\n", command.name, option_names(command.options));
        for (const OptionModel& option : command.options) {
            if (option.value.empty()) continue;
            const std::string value = option.takes_file() ? "/"
                                      : option.choices.empty()
                                          ? "?"
                                          : fmt::format("{}", fmt::join(option.choices, " "));
            for (const std::string& name : option.names)
                values += fmt::format("        ['{} {}']='{}'\n", command.name, name, value);
        }
    }
    return fmt::format(R"(# bash completion for rdam, made by 'rdam generate bash'.

_rdam() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous='' command='' value i=1
    # What is offered before a command, and the options of each.
    local -A options=(
        ['rdam ']='{}{}'
{}    )
    # The words that an option takes; / for a file, ? for what cannot be listed.
    local -A values=(
{}    )
    ((COMP_CWORD > 0)) && previous=${{COMP_WORDS[COMP_CWORD - 1]}}
    COMPREPLY=()
    if [[ ${{COMP_WORDS[0]##*/}} == rdam-analyze ]]; then
        command=analyze
    elif ((COMP_CWORD > 1)) && [[ -n ${{options["rdam ${{COMP_WORDS[1]}}"]-}} ]]; then
        command=${{COMP_WORDS[1]}}
        i=2
    fi
    # A program's own words are completed as if they stood alone.
    if [[ -n $command && ' {}' == *" $command "* ]]; then
        while ((i < COMP_CWORD)) && [[ ${{COMP_WORDS[i]}} == -* ]]; do
            ((i += 1))
            [[ ${{COMP_WORDS[i - 1]}} == -- ]] && break
            [[ -n ${{values["$command ${{COMP_WORDS[i - 1]}}"]-}} ]] && ((i += 1))
        done
        if ((i < COMP_CWORD)) || [[ ${{COMP_WORDS[i - 1]}} == -- ]]; then
            if declare -F _command_offset >/dev/null; then
                _command_offset "$i"
            else
                mapfile -t COMPREPLY < <(compgen -c -f -- "$current")
            fi
            return
        fi
    fi
    value=${{values["$command $previous"]-}}
    if [[ -z $value && (-z $command || $current == -*) ]]; then
        value=${{options["rdam $command"]}}
    fi
    case $value in
        '' | /)
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            ;;
        '?') ;;
        *)
            mapfile -t COMPREPLY < <(compgen -W "$value" -- "$current")
            ;;
    esac
}}

complete -o filenames -F _rdam rdam rdam-analyze
)",
                       commands, option_names(program.options), options, values, launchers);
}

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
