// The command line: the table of subcommands, and what turns arguments into a run of one of them.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/rdam/command/command.h"

namespace rdam {

struct Subcommand {
    std::string_view name;
    std::string_view summary;  ///< one line, without a full stop
    Run (*add)(CLI::App& app);
    bool hidden = false;        ///< neither in --help nor in what `generate` writes
    bool runs_program = false;  ///< its first argument that is no option is a program; it and all behind it,
                                ///< options or not, are app.remaining(), as typed
    bool needs_program = true;  ///< one of those without a program is a usage error
};

/// Every subcommand there is.
std::span<const Subcommand> subcommands();

class CommandLine {
  public:
    /// `invoked_as` is argv[0]: under the name rdam-analyze the program is `rdam analyze`.
    explicit CommandLine(std::string_view invoked_as, std::span<const Subcommand> table = subcommands());

    /// Parses `arguments` (without argv[0]) and runs the subcommand. Results go to stdout, one line for an
    /// error to stderr. Returns the exit code. To be called once.
    int run(std::vector<std::string> arguments);

    /// The definition that parsing, help, manual pages and completions have in common.
    const CLI::App& definition();

  private:
    struct Entry {
        const Subcommand* subcommand;
        CLI::App* app;
        Run run;  ///< empty: its options have not been added
    };

    static void add_options(Entry& entry);
    void add_options_for(const std::vector<std::string>& arguments);

    /// The exit code when there is nothing left to run.
    std::optional<int> parse(std::vector<std::string> arguments);
    void check_program() const;
    int usage_error(const CLI::ParseError& error) const;
    const Entry* chosen() const;
    std::string help(const Entry* entry) const;

    CLI::App root_;
    bool is_analyze_ = false;
    std::vector<Entry> entries_;
};

/// Where the words of `arguments` stop being options of `app`: the index of the first one that is none, or of
/// the
/// `--` before it.
std::size_t options_end(const CLI::App& app, std::span<const std::string> arguments);

}  // namespace rdam
