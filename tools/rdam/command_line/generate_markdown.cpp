#include "tools/rdam/command_line/generate.h"

namespace rdam {

namespace {

/// A cell of a table: a bar would end it.
std::string cell(std::string_view text) {
    std::string out;
    for (const char c : text)
        out += c == '|' ? std::string{"\\|"} : std::string{c};
    return out;
}

std::string option_table(const std::vector<OptionModel>& options) {
    std::string out = "| option | meaning |\n|---|---|\n";
    for (const OptionModel& option : options) {
        out += fmt::format(
            "| `{}{}{}` | {}{} |\n", fmt::join(option.names, "`, `"), option.value.empty() ? "" : " ",
            cell(option.value), cell(option.description),
            option.default_value.empty() ? "" : fmt::format(" (default: {})", cell(option.default_value)));
    }
    return out;
}

}  // namespace

std::string generate_markdown(const ProgramModel& program) {
    std::string out =
        fmt::format("# {}\n\n{}\n\n{}", program.name, program.summary, option_table(program.options));
    for (const CommandModel& command : program.commands) {
        out += fmt::format("\n## {} {}\n\n{}.\n\n", program.name, command.name, command.summary);
        for (const std::string_view paragraph : prose_for(command.name).description) {
            out += fmt::format("{}\n\n", paragraph);
        }
        out += option_table(command.options);
    }
    return out;
}

}  // namespace rdam
