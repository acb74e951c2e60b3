#include "tools/rdam/command/generate.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>
#include <tuple>
#include <utility>

#include "tools/rdam/command/option_values.h"

namespace rdam {

namespace {

/// "TEXT:{rdtscp,rdtsc}" is how CLI11 shows an option that takes one of a set.
std::vector<std::string> choices_in(const std::string& type_name) {
    const std::size_t open = type_name.find('{');
    const std::size_t close = type_name.find('}');
    std::vector<std::string> choices;
    if (open == std::string::npos || close == std::string::npos || close < open) return choices;
    for (std::size_t begin = open + 1; begin < close;) {
        const std::size_t end = std::min(type_name.find(',', begin), close);
        choices.push_back(type_name.substr(begin, end - begin));
        begin = end + 1;
    }
    return choices;
}

/// "N [10000]" is a name and a default.
std::pair<std::string, std::string> name_and_default(const std::string& text) {
    const std::size_t open = text.find(" [");
    if (open == std::string::npos || !text.ends_with(']')) return {text, ""};
    return {text.substr(0, open), text.substr(open + 2, text.size() - open - 3)};
}

/// The name of a value in --help if none was chosen: from its set, its type or its option.
std::string value_name(const CLI::Option& option, const std::vector<std::string>& choices) {
    if (!choices.empty()) return fmt::format("{}", fmt::join(choices, "|"));
    std::string type = option.get_type_name().substr(0, option.get_type_name().find(':'));
    if (type == "INT" || type == "UINT" || type == "FLOAT") return "N";
    if (type != "TEXT" || option.get_lnames().empty()) return type;
    const std::string& name = option.get_lnames().back();
    return upper(name.substr(name.rfind('-') + 1));
}

OptionModel model_of(const CLI::Option& option) {
    OptionModel model;
    for (const std::string& name : option.get_snames())
        model.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames())
        model.names.push_back("--" + name);
    model.description = option.get_description();
    if (option.get_items_expected_max() == 0) return model;
    std::tie(model.value, model.default_value) = name_and_default(option.get_option_text());
    model.choices = choices_in(option.get_type_name());
    if (model.value.empty()) model.value = value_name(option, model.choices);
    if (model.default_value.empty()) model.default_value = option.get_default_str();
    return model;
}

PositionalModel positional_model_of(const CLI::Option& option) {
    const auto [name, default_value] = name_and_default(option.get_option_text());
    return {{option.get_description(), default_value.empty() ? option.get_default_str() : default_value},
            name.empty() ? upper(option.get_name(true)) : name,
            option.get_required(),
            option.get_expected_max() > 1};
}

void add_options(const CLI::App& app, std::vector<OptionModel>& options,
                 std::vector<PositionalModel>* positionals) {
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_group().empty()) continue;
        if (!option->get_positional()) {
            options.push_back(model_of(*option));
        } else if (positionals != nullptr) {
            positionals->push_back(positional_model_of(*option));
        }
    }
}

struct Request {
    std::string kind;
    std::string command;
};

Result<std::string> generate(const ProgramModel& program, const Request& request) {
    if (request.kind == "bash") return generate_bash(program);
    if (request.kind == "zsh") return generate_zsh(program);
    if (request.kind == "fish") return generate_fish(program);
    if (request.kind == "markdown") return generate_markdown(program);
    if (request.command.empty() || request.command == program.name) return generate_man(program);
    for (const CommandModel& command : program.commands) {
        if (command.name == request.command) return generate_man(program, command);
    }
    return fail("unknown command '{}' to write a manual page for; 'rdam --help' lists them", request.command);
}

}  // namespace

std::string upper(std::string_view text) {
    std::string out{text};
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return out;
}

bool OptionModel::takes_file() const {
    static constexpr std::string_view kFileWords[] = {"FILE", "PATH", "TRACE", "LIST", "PERF_DATA", "OUTPUT"};
    return choices.empty() &&
           std::any_of(std::begin(kFileWords), std::end(kFileWords),
                       [this](std::string_view word) { return value.find(word) != std::string::npos; });
}

CommandModel model_of_command(const CLI::App& app) {
    CommandModel model{app.get_name(), app.get_description(), app.get_prefix_command(), {}, {}};
    add_options(app, model.options, &model.positionals);
    return model;
}

ProgramModel model_of(const CLI::App& root) {
    ProgramModel program{root.get_name(), root.get_description(), {}, {}};
    add_options(root, program.options, nullptr);
    for (const CLI::App* app : root.get_subcommands({})) {
        if (!app->get_group().empty()) program.commands.push_back(model_of_command(*app));
    }
    return program;
}

Run add_generate(CLI::App& app) {
    auto request = std::make_shared<Request>();
    app.add_option("KIND", request->kind, "What to write")
        ->required()
        ->check(one_of({"man", "bash", "zsh", "fish", "markdown"}));
    app.add_option("COMMAND", request->command, "For man: the subcommand to describe (default: rdam itself)");
    return [request, &app]() -> Result<int> {
        const Result<std::string> text = generate(model_of(*app.get_parent()), *request);
        if (!text) return tl::unexpected{text.error()};
        std::fwrite(text->data(), 1, text->size(), stdout);
        return kExitDone;
    };
}

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
