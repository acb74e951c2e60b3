#include <algorithm>

#include "tools/rdam/command/generate.h"

namespace rdam {

namespace {

constexpr std::size_t kWidth = 96;
constexpr std::size_t kTextColumn = 26;

/// `text` broken between words, so that it fills the columns from kTextColumn to kWidth.
std::string wrapped(std::string_view text) {
    std::string out;
    std::size_t column = kTextColumn;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (column > kTextColumn && column + 1 + word.size() > kWidth) {
            out += "\n" + std::string(kTextColumn, ' ');
            column = kTextColumn;
        }
        if (column > kTextColumn) {
            out += ' ';
            ++column;
        }
        out += word;
        column += word.size();
    }
    return out;
}

std::string entry(std::string_view term, std::string_view text) {
    const bool fits = 2 + term.size() + 2 <= kTextColumn;
    std::string out = fmt::format("  {}", term);
    out += fits ? std::string(kTextColumn - out.size(), ' ') : "\n" + std::string(kTextColumn, ' ');
    return out + wrapped(text) + "\n";
}

std::string with_default(const std::string& description, const std::string& default_value) {
    return default_value.empty() ? description : fmt::format("{} [{}]", description, default_value);
}

std::string option_entries(const std::vector<OptionModel>& options) {
    std::string out = "\nOptions:\n";
    for (const OptionModel& option : options) {
        // Long names stand below each other, whether there is a short one or not.
        const bool long_only = option.names.front().starts_with("--");
        const std::string term =
            fmt::format("{}{}{}{}", long_only ? "    " : "", fmt::join(option.names, ", "),
                        option.value.empty() ? "" : " ", option.value);
        out += entry(term, with_default(option.description, option.default_value));
    }
    return out;
}

}  // namespace

std::string operands(const CommandModel& command) {
    std::string out;
    for (const PositionalModel& positional : command.positionals) {
        const std::string_view dots = positional.repeats ? "..." : "";
        out += positional.required ? fmt::format(" {}{}", positional.name, dots)
                                   : fmt::format(" [{}{}]", positional.name, dots);
    }
    return command.runs_program ? out + " [--] PROGRAM [ARGUMENT...]" : out;
}

std::string generate_help(const ProgramModel& program) {
    std::string out =
        fmt::format("{}\n\nUsage: {} COMMAND [OPTION...]\n\nCommands:\n", program.summary, program.name);
    for (const CommandModel& command : program.commands)
        out += entry(command.name, command.summary);
    out += option_entries(program.options);
    return out + fmt::format("\nMore: {0} COMMAND --help, man {0}, man {0}-COMMAND\n", program.name);
}

std::string generate_help(const ProgramModel& program, const CommandModel& command) {
    std::string out = fmt::format("{}.\n\nUsage: {} {} [OPTION...]{}\n", command.summary, program.name,
                                  command.name, operands(command));
    if (!command.positionals.empty()) out += "\nArguments:\n";
    for (const PositionalModel& positional : command.positionals) {
        out += entry(positional.name, with_default(positional.description, positional.default_value));
    }
    out += option_entries(command.options);
    return out + fmt::format("\nMore: man {}-{}\n", program.name, command.name);
}

}  // namespace rdam
