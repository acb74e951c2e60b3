#include <algorithm>
#include <cctype>
#include <utility>

#include "tools/rdam/command_line/generate.h"
#include "tools/rdam/command_line/roff.h"

namespace rdam {

std::string roff(std::string_view text) {
    std::string out;
    bool line_start = true;
    for (const char c : text) {
        if (line_start && (c == '.' || c == '\'')) out += "\\&";
        line_start = c == '\n';
        if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else if (c == '\'') {
            out += "\\(aq";
        } else if (c == '~') {
            out += "\\(ti";
        } else if (c == '^') {
            out += "\\(ha";
        } else {
            out += c;
        }
    }
    return out;
}

namespace {

/// As a sentence: the description of an option may or may not end with a full stop.
std::string sentence(std::string_view text) {
    if (text.ends_with('.')) text.remove_suffix(1);
    return roff(text) + ".";
}

std::string capitals(std::string_view text) {
    std::string out{text};
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return out;
}

std::string header(std::string_view page, std::string_view summary) {
    return fmt::format(".TH {} 1 \"\" \"rdam " RDAM_VERSION "\" \"User Commands\"\n.SH NAME\n{} \\- {}\n",
                       capitals(roff(page)), roff(page), roff(summary));
}

std::string option_synopsis(const OptionModel& option) {
    std::string out;
    for (const std::string& name : option.names) {
        out += fmt::format("{}\\fB{}\\fR", out.empty() ? "" : ", ", roff(name));
    }
    if (!option.value.empty()) out += fmt::format(" \\fI{}\\fR", roff(option.value));
    return out;
}

std::string default_sentence(const std::string& default_value) {
    return default_value.empty() ? "" : fmt::format("Default: {}.\n", roff(default_value));
}

std::string options_section(const std::vector<OptionModel>& options) {
    std::string out = ".SH OPTIONS\n";
    for (const OptionModel& option : options) {
        out += fmt::format(".TP\n{}\n{}\n{}", option_synopsis(option), sentence(option.description),
                           default_sentence(option.default_value));
    }
    return out;
}

std::string arguments_section(const CommandModel& command) {
    if (command.positionals.empty()) return "";
    std::string out = ".SH ARGUMENTS\n";
    for (const PositionalModel& positional : command.positionals) {
        out += fmt::format(".TP\n\\fI{}\\fR\n{}\n{}", roff(positional.name), sentence(positional.description),
                           default_sentence(positional.default_value));
    }
    return out;
}

std::string items_section(std::string_view title, const std::vector<Prose::Item>& items) {
    if (items.empty()) return "";
    std::string out = fmt::format(".SH {}\n", title);
    for (const Prose::Item& item : items) {
        out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(item.term), roff(item.text));
    }
    return out;
}

std::string examples_section(const std::vector<Prose::Item>& examples) {
    if (examples.empty()) return "";
    std::string out = ".SH EXAMPLES\n";
    bool first = true;
    for (const Prose::Item& example : examples) {
        out += fmt::format("{}{}\n.PP\n.nf\n.RS\n{}\n.RE\n.fi\n", std::exchange(first, false) ? "" : ".PP\n",
                           roff(example.text), roff(example.term));
    }
    return out;
}

std::string description_section(const Prose& prose) {
    std::string out = ".SH DESCRIPTION\n";
    bool first = true;
    for (const std::string_view paragraph : prose.description) {
        out += fmt::format("{}{}\n", std::exchange(first, false) ? "" : ".PP\n", roff(paragraph));
    }
    return out;
}

std::string see_also(const ProgramModel& program, std::string_view but) {
    std::string out = ".SH SEE ALSO\n";
    std::vector<std::string> pages;
    if (but != program.name) pages.push_back(program.name);
    for (const CommandModel& command : program.commands) {
        if (command.name != but) pages.push_back(program.name + "-" + command.name);
    }
    pages.emplace_back("perf-report");
    if (but == "record" || but == "hot") out += ".BR rdam\\-list (5),\n";
    for (std::size_t i = 0; i < pages.size(); ++i) {
        out += fmt::format(".BR {} (1){}\n", roff(pages[i]), i + 1 < pages.size() ? "," : "");
    }
    return out;
}

}  // namespace

std::string generate_man(const ProgramModel& program) {
    const Prose prose = prose_for(program.name);
    std::string out = header(program.name, "find where threads slow each other down, and by how much");
    out +=
        fmt::format(".SH SYNOPSIS\n\\fB{0}\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n",
                    roff(program.name));
    out += description_section(prose) + ".SH COMMANDS\n";
    for (const CommandModel& command : program.commands) {
        out += fmt::format(".TP\n\\fB{0} {1}\\fR\n{2}.\nSee\n.BR {0}\\-{1} (1).\n", roff(program.name),
                           roff(command.name), roff(command.summary));
    }
    return out + options_section(program.options) + items_section("EXIT STATUS", prose.exit_status) +
           items_section("ENVIRONMENT", prose.environment) + examples_section(prose.examples) +
           see_also(program, program.name);
}

std::string generate_man(const ProgramModel& program, const CommandModel& command) {
    const Prose prose = prose_for(command.name);
    std::string out = header(program.name + "-" + command.name, command.summary);
    out += fmt::format(".SH SYNOPSIS\n\\fB{} {}\\fR [\\fIOPTION\\fR...]{}\n", roff(program.name),
                       roff(command.name), roff(operands(command)));
    return out + description_section(prose) + arguments_section(command) + options_section(command.options) +
           items_section("EXIT STATUS", prose.exit_status) + items_section("ENVIRONMENT", prose.environment) +
           examples_section(prose.examples) + see_also(program, command.name);
}

}  // namespace rdam
