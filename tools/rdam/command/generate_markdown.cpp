#include "tools/rdam/command/generate.h"

namespace rdam {

namespace {

std::string replaced(std::string text, std::string_view what, std::string_view by) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
    return text;
}

/// A cell of a table: a bar would end it.
std::string cell(const std::string& text) {
    return replaced(text, "|", "\\|");
}

std::string chapter(const std::string& command, const std::vector<OptionModel>& options) {
    const Manual manual = manual_for(command);
    std::string out = manual.description + "\n\n| option | meaning |\n|---|---|\n";
    for (const OptionModel& option : options) {
        out += fmt::format(
            "| `{}{}{}` | {}{} |\n", fmt::join(option.names, "`, `"), option.value.empty() ? "" : " ",
            cell(option.value), cell(option.description),
            option.default_value.empty() ? "" : fmt::format(" (default: {})", cell(option.default_value)));
    }
    return out + replaced("\n" + manual.sections, "\n## ", "\n### ");
}

}  // namespace

std::string generate_markdown(const ProgramModel& program) {
    std::string out = fmt::format("# {}\n\n{}\n\n{}", program.name, program.summary,
                                  chapter(program.name, program.options));
    for (const CommandModel& command : program.commands) {
        out += fmt::format("\n## {} {}\n\n{}.\n\n{}", program.name, command.name, command.summary,
                           chapter(command.name, command.options));
    }
    return out;
}

}  // namespace rdam
