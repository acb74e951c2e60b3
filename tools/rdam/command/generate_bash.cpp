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

}  // namespace rdam
