#include <algorithm>
#include <utility>

#include "tools/rdam/command/generate.h"
#include "tools/rdam/screen/keys.h"

namespace rdam {

namespace {

/// Text as roff input: nothing in it is taken for a request, a hyphen stays the ASCII one that can be copied.
std::string roff(std::string_view text) {
    static constexpr std::pair<char, std::string_view> kEscapes[] = {
        {'\\', "\\e"}, {'-', "\\-"}, {'\'', "\\(aq"}, {'~', "\\(ti"}, {'^', "\\(ha"}};
    std::string out;
    bool line_start = true;
    for (const char c : text) {
        if (line_start && (c == '.' || c == '\'')) out += "\\&";
        line_start = c == '\n';
        const auto* escape = std::ranges::find(kEscapes, c, &std::pair<char, std::string_view>::first);
        if (escape != std::end(kEscapes))
            out += escape->second;
        else
            out += c;
    }
    return out;
}

/// As a sentence: the description of an option may or may not end with a full stop.
std::string sentence(std::string_view text) {
    if (text.ends_with('.')) text.remove_suffix(1);
    return roff(text) + ".";
}

/// The lines of a paragraph, or of an indented block, with `between` in the place of line ends and of the
/// blanks behind them.
std::string joined(std::string_view lines, std::string_view between) {
    std::string out;
    while (!lines.empty()) {
        const std::size_t end = std::min(lines.find('\n'), lines.size());
        const std::size_t begin = std::min(lines.find_first_not_of(' '), end);
        out += fmt::format("{}{}", out.empty() ? "" : between, lines.substr(begin, end - begin));
        lines.remove_prefix(std::min(end + 1, lines.size()));
    }
    return out;
}

/// A page's words: headings, paragraphs, definitions (the second line begins with a colon) and indented
/// commands, each with an empty line before it.
std::string sections(std::string_view markdown) {
    constexpr std::string_view kHeading = "## ", kDefinition = "\n: ", kCommand = "    ";
    std::string out;
    bool first = true;
    while (!markdown.empty()) {
        const std::size_t end = std::min(markdown.find("\n\n"), markdown.size());
        const std::string_view block = markdown.substr(0, end);
        markdown.remove_prefix(std::min(end + 2, markdown.size()));
        if (const std::size_t term = block.find(kDefinition); term != std::string_view::npos) {
            out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(block.substr(0, term)),
                               roff(joined(block.substr(term + kDefinition.size()), " ")));
        } else if (block.starts_with(kHeading)) {
            out += fmt::format(".SH {}\n", upper(block.substr(kHeading.size())));
        } else if (block.starts_with(kCommand)) {
            out += fmt::format(".PP\n.nf\n.RS\n{}\n.RE\n.fi\n", roff(joined(block, "\n")));
        } else {
            out += fmt::format("{}{}\n", first ? "" : ".PP\n", roff(joined(block, " ")));
        }
        first = block.starts_with(kHeading);
    }
    return out;
}

std::string header(std::string_view page, std::string_view summary) {
    return fmt::format(".TH {} 1 \"\" \"rdam " RDAM_VERSION "\" \"User Commands\"\n.SH NAME\n{} \\- {}\n",
                       upper(roff(page)), roff(page), roff(summary));
}

std::string man_entry(std::string_view term, const Described& described) {
    std::string out = fmt::format(".TP\n{}\n{}\n", term, sentence(described.description));
    if (!described.default_value.empty()) out += fmt::format("Default: {}.\n", roff(described.default_value));
    return out;
}

std::string options_section(const std::vector<OptionModel>& options) {
    std::string out = ".SH OPTIONS\n";
    for (const OptionModel& option : options) {
        std::string term;
        for (const std::string& name : option.names)
            term += fmt::format("{}\\fB{}\\fR", term.empty() ? "" : ", ", roff(name));
        if (!option.value.empty()) term += fmt::format(" \\fI{}\\fR", roff(option.value));
        out += man_entry(term, option);
    }
    return out;
}

std::string arguments_section(const CommandModel& command) {
    std::string out = command.positionals.empty() ? "" : ".SH ARGUMENTS\n";
    for (const PositionalModel& positional : command.positionals)
        out += man_entry(fmt::format("\\fI{}\\fR", roff(positional.name)), positional);
    return out;
}

std::string see_also(const ProgramModel& program, std::string_view but) {
    std::string out = ".SH SEE ALSO\n";
    if (but == "record" || but == "hot") out += ".BR rdam\\-list (5),\n";
    if (but != program.name) out += fmt::format(".BR {} (1),\n", program.name);
    for (const CommandModel& command : program.commands)
        if (command.name != but) out += fmt::format(".BR {}\\-{} (1),\n", program.name, command.name);
    return out + ".BR perf\\-report (1)\n";
}

}  // namespace

Manual manual_for(std::string_view command) {
    constexpr std::string_view kKeys = "@KEYS@", kSections = "\n\n## ", kExit = "## Exit status\n";
    std::string text{manual_of(command)};
    if (const std::size_t keys = text.find(kKeys); keys != std::string::npos)
        text.replace(keys, kKeys.size(), screen::keys_in_words());
    const std::size_t end = std::min(text.find(kSections), text.size());
    Manual manual{text.substr(0, end), text.substr(std::min(end + 2, text.size()))};
    if (manual.sections.find(kExit) == std::string::npos) {
        const std::string_view common = manual_of("rdam");
        const std::size_t exit = common.find(kExit);
        manual.sections.insert(0, common.substr(exit, common.find(kSections, exit) + 2 - exit));
    }
    return manual;
}

std::string generate_man(const ProgramModel& program) {
    const Manual manual = manual_for(program.name);
    std::string out = header(program.name, "find where threads slow each other down, and by how much");
    out += fmt::format(
        ".SH SYNOPSIS\n\\fB{0}\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n.SH "
        "DESCRIPTION\n"
        "{1}.SH COMMANDS\n",
        roff(program.name), sections(manual.description));
    for (const CommandModel& command : program.commands) {
        out += fmt::format(".TP\n\\fB{0} {1}\\fR\n{2}.\nSee\n.BR {0}\\-{1} (1).\n", roff(program.name),
                           roff(command.name), roff(command.summary));
    }
    return out + options_section(program.options) + sections(manual.sections) +
           see_also(program, program.name);
}

std::string generate_man(const ProgramModel& program, const CommandModel& command) {
    const Manual manual = manual_for(command.name);
    return header(program.name + "-" + command.name, command.summary) +
           fmt::format(".SH SYNOPSIS\n\\fB{} {}\\fR [\\fIOPTION\\fR...]{}\n.SH DESCRIPTION\n",
                       roff(program.name), roff(command.name), roff(operands(command))) +
           sections(manual.description) + arguments_section(command) + options_section(command.options) +
           sections(manual.sections) + see_also(program, command.name);
}

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
