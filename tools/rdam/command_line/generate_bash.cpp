#include "tools/rdam/command_line/generate.h"

namespace rdam {

namespace {

std::string join(const std::vector<std::string>& words, std::string_view separator) {
    return fmt::format("{}", fmt::join(words, separator));
}

std::string option_names(const std::vector<OptionModel>& options) {
    std::string out;
    for (const OptionModel& option : options)
        out += (out.empty() ? "" : " ") + join(option.names, " ");
    return out;
}

std::string candidates(const OptionModel& option) {
    if (!option.choices.empty())
        return fmt::format("compgen -W '{}' -- \"$current\"", join(option.choices, " "));
    if (option.takes_file()) return "compgen -f -- \"$current\"";
    return ":";
}

/// Arms of `case "$command $previous"`: what may follow an option that takes a value.
std::string value_arms(const CommandModel& command) {
    std::string out;
    for (const OptionModel& option : command.options) {
        if (option.value.empty()) continue;
        std::vector<std::string> patterns;
        for (const std::string& name : option.names)
            patterns.push_back(fmt::format("'{} {}'", command.name, name));
        out += fmt::format(
            "        {})\n            mapfile -t COMPREPLY < <({})\n            return\n            ;;\n",
            join(patterns, " | "), candidates(option));
    }
    return out;
}

/// Names of the options of `command` that take a value, as a case pattern.
std::string value_pattern(const CommandModel& command) {
    std::vector<std::string> names;
    for (const OptionModel& option : command.options) {
        if (!option.value.empty()) names.insert(names.end(), option.names.begin(), option.names.end());
    }
    return names.empty() ? "''" : join(names, " | ");
}

constexpr std::string_view kTail = R"(
complete -o filenames -F _rdam rdam rdam-analyze
)";

/// A program's own words are completed as if they stood alone.
std::string program_loop(const CommandModel& command) {
    return fmt::format(R"(    if [[ $command == {} ]]; then
        while ((i < COMP_CWORD)); do
            case ${{COMP_WORDS[i]}} in
                {})
                    ((i += 2))
                    ;;
                --)
                    ((i += 1))
                    break
                    ;;
                -*)
                    ((i += 1))
                    ;;
                *)
                    break
                    ;;
            esac
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
)",
                       command.name, value_pattern(command));
}

}  // namespace

std::string generate_bash(const ProgramModel& program) {
    std::string commands;
    std::string command_pattern;
    std::string program_loops;
    std::string arms;
    std::string options;
    for (const CommandModel& command : program.commands) {
        commands += (commands.empty() ? "" : " ") + command.name;
        command_pattern += (command_pattern.empty() ? "" : " | ") + command.name;
        if (command.runs_program) program_loops += program_loop(command);
        arms += value_arms(command);
        options += fmt::format("        {})\n            options='{}'\n            ;;\n", command.name,
                               option_names(command.options));
    }
    return fmt::format(R"(# bash completion for rdam, made by 'rdam generate bash'.

_rdam() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous='' command='' options='{}' i=1
    ((COMP_CWORD > 0)) && previous=${{COMP_WORDS[COMP_CWORD - 1]}}
    COMPREPLY=()
    if [[ ${{COMP_WORDS[0]##*/}} == rdam-analyze ]]; then
        command=analyze
    elif ((COMP_CWORD > 1)); then
        case ${{COMP_WORDS[1]}} in
            {})
                command=${{COMP_WORDS[1]}}
                i=2
                ;;
        esac
    fi
{}    case "$command $previous" in
{}    esac
    case $command in
        '')
            mapfile -t COMPREPLY < <(compgen -W "{} $options" -- "$current")
            return
            ;;
{}    esac
    if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
}}
{})",
                       option_names(program.options), command_pattern, program_loops, arms, commands, options,
                       kTail);
}

}  // namespace rdam
