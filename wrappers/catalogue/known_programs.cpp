#include "wrappers/catalogue/known_programs.h"

#include <fnmatch.h>

#include <algorithm>

#include "tools/base/files.h"

namespace rdam {
namespace {

constexpr char kBehindName = '\t';

/// The first character of a line: what the program is.
constexpr char kLauncher = 'l';
constexpr char kInterpreter = 'i';
constexpr char kUtility = 'u';
constexpr char kStrips = 's';

}  // namespace

std::string KnownPrograms::lines() const {
    std::string text;
    const auto add = [&](char about, const std::vector<std::string>& names) {
        for (const std::string& name : names)
            text.append(1, about).append(name).append(1, '\n');
    };
    add(kLauncher, launchers_);
    add(kInterpreter, interpreters_);
    add(kUtility, utilities_);
    for (const auto& [name, how] : strips_)
        text.append(1, kStrips).append(name).append(1, kBehindName).append(how).append(1, '\n');
    return text;
}

KnownPrograms KnownPrograms::from_lines(std::string_view text) {
    KnownPrograms programs;
    for (std::size_t end = 0; !text.empty(); text.remove_prefix(end + 1)) {
        end = text.find('\n');
        const std::string_view line = text.substr(1, end - 1);
        const std::size_t between = line.find(kBehindName);
        if (text[0] == kLauncher)
            programs.launchers_.emplace_back(line);
        else if (text[0] == kInterpreter)
            programs.interpreters_.emplace_back(line);
        else if (text[0] == kUtility)
            programs.utilities_.emplace_back(line);
        else
            programs.strips_.emplace(line.substr(0, between), line.substr(between + 1));
    }
    return programs;
}

bool KnownPrograms::is_launcher(std::string_view program) const {
    return std::ranges::binary_search(launchers_, file_name(program));
}

bool KnownPrograms::is_interpreter(std::string_view program) const {
    const std::string name(file_name(program));
    return std::ranges::any_of(
        interpreters_, [&](const std::string& glob) { return fnmatch(glob.c_str(), name.c_str(), 0) == 0; });
}

bool KnownPrograms::is_utility(std::string_view program) const {
    return std::ranges::binary_search(utilities_, file_name(program));
}

std::string KnownPrograms::how_it_strips(std::string_view program) const {
    const auto found = strips_.find(file_name(program));
    return found == strips_.end() ? std::string{} : found->second;
}

}  // namespace rdam
