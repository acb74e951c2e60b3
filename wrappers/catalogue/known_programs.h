// Facts about well-known programs: wrappers/catalogue/programs.toml, one readable data file.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/base/result.h"

namespace rdam {

/// Programs are given by file name or path.
class KnownPrograms {
  public:
    /// Parses the text (TOML). `origin` names it in messages. For programs with catalogue_toml_dep.
    static Result<KnownPrograms> parse(std::string_view text, std::string_view origin);
    /// The programs that were compiled in from programs.toml.
    static const KnownPrograms& builtin();

    /// All of them, a line each.
    std::string lines() const;
    /// `text`: of lines().
    static KnownPrograms from_lines(std::string_view text);

    /// Whether a program merely starts the real one: a shell, `env`, `taskset`, `mpirun`, ….
    bool is_launcher(std::string_view program) const;
    /// A program that runs a script, which may start the one that the user means.
    bool is_interpreter(std::string_view program) const;
    /// A program that scripts call on their way (dirname).
    bool is_utility(std::string_view program) const;
    /// What a launcher that starts programs without the recorder does to them; empty: it does not.
    std::string how_it_strips(std::string_view program) const;

    bool operator==(const KnownPrograms&) const = default;

  private:
    std::vector<std::string> launchers_;     // sorted
    std::vector<std::string> interpreters_;  // globs
    std::vector<std::string> utilities_;     // sorted
    std::map<std::string, std::string, std::less<>> strips_;
};

}  // namespace rdam
