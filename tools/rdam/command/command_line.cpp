#include "tools/rdam/command/command_line.h"

#include <unistd.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <cstdio>

#include "tools/base/files.h"
#include "tools/base/similar_names.h"
#include "tools/rdam/command/generate.h"
#include "tools/rdam/command/terminal.h"

namespace rdam {

namespace {

constexpr std::array kSubcommands{
    Subcommand{.name = "run",
               .summary = "Find a program's functions, record them and print their scores",
               .add = add_run,
               .runs_program = true},
    Subcommand{.name = "record",
               .summary = "Run a program and record calls to selected functions",
               .add = add_record,
               .runs_program = true},
    Subcommand{
        .name = "hot", .summary = "Turn a perf profile into a list of functions to record", .add = add_hot},
    Subcommand{.name = "analyze",
               .summary = "Score the functions in a trace by the time they lost",
               .add = add_analyze},
    Subcommand{.name = "explain",
               .summary = "Say what a trace shows in few words, with the commands that print the figures",
               .add = add_explain},
    Subcommand{.name = "report",
               .summary = "Write a page that shows the scores and where and when the time was lost",
               .add = add_report},
    Subcommand{.name = "export",
               .summary = "Write the calls in a trace as columns or for other viewers",
               .add = add_export},
    Subcommand{.name = "check",
               .summary = "Say whether a program got worse, by several recordings before and after a change",
               .add = add_check},
    Subcommand{.name = "study",
               .summary = "Run a program many times in several settings, and test which one is faster",
               .add = add_study,
               .runs_program = true,
               .needs_program = false},
    Subcommand{.name = "affinity",
               .summary = "Show what threads share as a graph, and pin them by it",
               .add = add_affinity},
    Subcommand{.name = "doctor",
               .summary = "Check what rdam can record on this machine, and how to fix the rest",
               .add = add_doctor},
    Subcommand{.name = "generate",
               .summary = "Write manual pages and shell completions",
               .add = add_generate,
               .hidden = true},
};

bool looks_like_option(std::string_view word) {
    return word.size() > 1 && word.front() == '-';
}

/// The full name of a command, as a user types it.
std::string title(const CLI::App& app) {
    const CLI::App* parent = app.get_parent();
    return parent == nullptr ? app.get_name() : title(*parent) + " " + app.get_name();
}

bool takes_value(const CLI::Option* option) {
    return option != nullptr && option->get_items_expected_max() > 0;
}

/// Whether the option word (`--name`, `--name=value`, `-abc`) needs the next word as its value.
bool wants_next_word(const CLI::App& app, std::string_view word) {
    if (word.starts_with("--")) {
        return word.find('=') == std::string_view::npos &&
               takes_value(app.get_option_no_throw(std::string{word}));
    }
    for (std::size_t i = 1; i < word.size(); ++i) {
        if (takes_value(app.get_option_no_throw(std::string{'-', word[i]}))) return i + 1 == word.size();
    }
    return false;
}

/// ", the nearest is 'analyze'"; empty: none is near.
std::string nearest_to(const std::string& word, const std::vector<std::string>& known) {
    SimilarNames similar{word};
    for (const std::string& name : known)
        similar.consider(name, name);
    const std::vector<std::string> names = similar.names();
    return names.empty() ? "" : fmt::format(", the nearest is '{}'", names.front());
}

std::vector<std::string> long_options(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames())
            names.push_back("--" + name);
    return names;
}

std::vector<std::string> commands(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands({}))
        if (!command->get_group().empty()) names.push_back(command->get_name());
    return names;
}

std::string describe_leftover(const CLI::App& app, const std::string& word, bool expects_command) {
    if (looks_like_option(word))
        return fmt::format(
            "unknown option '{}'{}", word,
            word.starts_with("--") ? nearest_to(word.substr(0, word.find('=')), long_options(app)) : "");
    if (expects_command) return fmt::format("unknown command '{}'{}", word, nearest_to(word, commands(app)));
    return fmt::format("unexpected argument '{}'", word);
}

/// `help` and `help COMMAND` are other ways to ask for --help. A command that does not exist is left to the
/// parser, which says so.
void understand_help(const CLI::App& root, std::vector<std::string>& arguments) {
    if (arguments.empty() || arguments.front() != "help") return;
    arguments.erase(arguments.begin());
    const auto is_meant = [&](const CLI::App* app) { return app->get_name() == arguments.front(); };
    if (arguments.empty() || arguments.front() == "help") {
        arguments = {"--help"};
    } else if (std::ranges::any_of(root.get_subcommands({}), is_meant)) {
        arguments.insert(arguments.begin() + 1, "--help");
    }
}

/// CLI11's messages may span lines.
std::string one_line(std::string text) {
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

/// What the parser says of an option with too few values, too many, or one where there is none, in the words
/// of the other errors. `what` begins with the option's name.
std::string describe_values(const std::string& what) {
    const std::string name = what.substr(0, what.find(':'));
    if (what.find("At Most") != std::string::npos)
        return name.starts_with('-') ? name + ": is given more than once; give it once"
                                     : name + ": more are given than can be used; leave some out";
    return name + ": needs a value; give one";
}

/// As the parser says it: `Could not convert: --json = foo`.
std::string describe_conversion(const std::string& what) {
    const std::size_t name = what.find("--");
    const std::size_t equals = what.find(" = ");
    if (name == std::string::npos || equals == std::string::npos || equals < name) return what;
    return fmt::format("{}: does not take the value '{}'; leave it out", what.substr(name, equals - name),
                       what.substr(equals + 3));
}

/// `--a excludes --b`.
std::string describe_exclusion(const std::string& what) {
    constexpr std::string_view kExcludes = " excludes ";
    const std::size_t middle = what.find(kExcludes);
    if (middle == std::string::npos) return what;
    return fmt::format("{}: cannot be combined with {}; leave one of them out", what.substr(0, middle),
                       what.substr(middle + kExcludes.size()));
}

std::string describe(const CLI::ParseError& error) {
    std::string what = one_line(error.what());
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) return describe_values(what);
    if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) return describe_conversion(what);
    if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) return describe_exclusion(what);
    return what;
}

/// Results count only once they are where they belong: a full disk behind stdout must not look like success.
int flush_results(int code) {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    say("cannot write to standard output: free space there or send it elsewhere");
    return kExitBadInput;
}

}  // namespace

std::span<const Subcommand> subcommands() {
    return kSubcommands;
}

std::size_t options_end(const CLI::App& app, std::span<const std::string> arguments) {
    std::size_t i = 0;
    while (i < arguments.size() && looks_like_option(arguments[i]) && arguments[i] != "--") {
        i += wants_next_word(app, arguments[i]) ? 2 : 1;
    }
    return std::min(i, arguments.size());
}

CommandLine::CommandLine(std::string_view invoked_as, std::span<const Subcommand> table)
    : root_{"Find where the threads of a program slow each other down, and by how much.", "rdam"} {
    root_.set_version_flag("--version", "rdam " RDAM_VERSION, "Print the version and exit");
    root_.set_help_flag("-h,--help", "Print this help and exit");
    root_.require_subcommand(1);
    for (const Subcommand& subcommand : table) {
        CLI::App* app = root_.add_subcommand(std::string{subcommand.name}, std::string{subcommand.summary});
        if (subcommand.hidden) app->group("");
        if (subcommand.runs_program) app->prefix_command();
        entries_.push_back({&subcommand, app, {}});
    }
    is_analyze_ = file_name(invoked_as) == "rdam-analyze";
}

void CommandLine::add_options(Entry& entry) {
    if (entry.run) return;
    entry.run = entry.subcommand->add(*entry.app);
    // An option that may be repeated takes one value each time: what follows is an argument.
    for (CLI::Option* option :
         entry.app->get_options([](CLI::Option* each) { return each->nonpositional(); }))
        option->allow_extra_args(false);
}

const CLI::App& CommandLine::definition() {
    std::ranges::for_each(entries_, add_options);
    return root_;
}

/// A start need not wait for the options of other subcommands. Hidden ones are about all of them.
void CommandLine::add_options_for(const std::vector<std::string>& arguments) {
    const auto named = std::ranges::find_if(entries_, [&](const Entry& entry) {
        return !arguments.empty() && arguments.front() == entry.subcommand->name && !entry.subcommand->hidden;
    });
    if (named != entries_.end())
        add_options(*named);
    else
        definition();
    if (is_analyze_) root_.get_subcommand("analyze")->set_version_flag("--version", "rdam " RDAM_VERSION);
}

const CommandLine::Entry* CommandLine::chosen() const {
    const auto it =
        std::find_if(entries_.begin(), entries_.end(), [](const Entry& e) { return e.app->parsed(); });
    return it == entries_.end() ? nullptr : &*it;
}

std::string CommandLine::help(const Entry* entry) const {
    const ProgramModel program = model_of(root_);
    return entry == nullptr ? generate_help(program) : generate_help(program, model_of_command(*entry->app));
}

int CommandLine::usage_error(const CLI::ParseError& error) const {
    const Entry* entry = chosen();
    const CLI::App& app = entry == nullptr ? root_ : *entry->app;
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
        // --help and --version: what they print is a result.
        const bool version = dynamic_cast<const CLI::CallForVersion*>(&error) != nullptr;
        fmt::print("{}", version ? std::string{error.what()} + "\n" : help(entry));
        return flush_results(kExitDone);
    }
    const std::vector<std::string> leftover = app.remaining();
    std::string what = describe(error);
    const bool bad_value = dynamic_cast<const CLI::ValidationError*>(&error) != nullptr ||
                           dynamic_cast<const CLI::ConversionError*>(&error) != nullptr ||
                           dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
    if (!leftover.empty() && !bad_value) {
        what = describe_leftover(app, leftover.front(), entry == nullptr);
    } else if (entry == nullptr && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
        what = "no command given";
    }
    say(fmt::format("{}; see '{} --help'", what, title(app)));
    return kExitUsage;
}

void CommandLine::check_program() const {
    const Entry* entry = chosen();
    if (entry == nullptr || !entry->subcommand->runs_program) return;
    const std::vector<std::string> words = entry->app->remaining();
    if (words.empty() && !entry->subcommand->needs_program) return;
    if (words.empty()) throw CLI::RequiredError("PROGRAM");
    if (looks_like_option(words.front())) throw CLI::ExtrasError(words);
}

std::optional<int> CommandLine::parse(std::vector<std::string> arguments) {
    for (const Entry& entry : entries_) {
        if (!entry.subcommand->runs_program || arguments.empty() ||
            arguments.front() != entry.app->get_name())
            continue;
        const std::size_t end = 1 + options_end(*entry.app, std::span{arguments}.subspan(1));
        // CLI11 would end the subcommand there.
        if (end < arguments.size() && arguments[end] == "--") {
            arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(end));
        }
    }
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    try {
        root_.parse(std::move(arguments));
        check_program();
    } catch (const CLI::ParseError& error) {
        return usage_error(error);
    }
    return std::nullopt;
}

int CommandLine::run(std::vector<std::string> arguments) {
    if (is_analyze_) {
        arguments.insert(arguments.begin(), "analyze");
    } else {
        understand_help(root_, arguments);
    }
    add_options_for(arguments);
    if (const std::optional<int> code = parse(std::move(arguments))) return *code;
    for (const std::string& line : unknown_variables(environ))
        say(line);
    const Result<int> result = chosen()->run();
    if (!result) {
        say(result.error().message);
        return kExitBadInput;
    }
    return flush_results(*result);
}

}  // namespace rdam
