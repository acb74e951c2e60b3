#include "tools/agent/plan/answers.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "tools/base/printable.h"
#include "tools/base/similar_names.h"
#include "tools/base/text_lines.h"
#include "tools/base/units.h"
#include "tools/trace/event.h"
#include "wrappers/catalogue/known_programs.h"

namespace rdam::agent {
namespace {

/// The remarks on a wrapped function; where all is asked for, why parameters are not recorded.
std::string remarks(const Answer& answer, bool verbose) {
    std::string why = explain(answer);
    if (!verbose || answer.unproven.empty()) return why;
    return fmt::format("{}{}{}", why, why.empty() ? "" : "; ", printable(answer.unproven));
}

std::string line(const Answer& answer, bool verbose) {
    const std::string entry = printable(answer.entry.text);
    const std::string why = remarks(answer, verbose);
    switch (answer.verdict) {
        case ListVerdict::wrapped:
            return fmt::format("rdam: '{}': wrapped {}{}{}\n", entry, printable(answer.function),
                               why.empty() ? "" : ": ", why);
        case ListVerdict::refused: {
            const std::string what =
                answer.function.empty() ? "" : fmt::format(" {}", printable(answer.function));
            return fmt::format("rdam: '{}': skipped{}: {}\n", entry, what, why);
        }
        case ListVerdict::not_found:
            break;
    }
    // A list's name that was mistyped looks like this.
    const bool may_be_file = answer.entry.scope.empty() && answer.entry.name.find('.') != std::string::npos &&
                             answer.entry.origin == kFunctionsVariable;
    return fmt::format("rdam: '{}': not found{}{}{}\n", entry, may_be_file ? ", and no such file" : "",
                       why.empty() ? "" : ": ", why);
}

bool worth_saying(const Answer& answer, const Configuration& configuration) {
    if (configuration.verbose) return true;
    if (answer.entry.added_wait) return false;
    // A script may start hundreds of programs: of those only what is missing.
    return answer.verdict != ListVerdict::wrapped || (configuration.top && !answer.reason.empty());
}

std::string how_to_record_all(const Configuration& configuration) {
    return configuration.run.empty() ? "RDAM_ALL_CALLS=1" : "--all-calls";
}

/// Which functions are sampled by the user's own list: a score that rests on few calls must not come as a
/// surprise. Empty: none.
std::string sampled_text(const Plan& plan, const Configuration& configuration) {
    std::vector<std::string> names;
    for (const FunctionPlan& function : plan.functions)
        if (function.sampled) names.push_back(printable(function.name));
    if (names.empty()) return {};
    return fmt::format(
        "rdam: {} function{} marked ~ {} sampled over the whole run: {} ({} records every call)\n",
        names.size(), plural_ending(names.size()), names.size() == 1 ? "is" : "are", some_names(names),
        how_to_record_all(configuration));
}

/// What is wrapped without being listed, for it says whom a listed function waited for.
std::string partners_text(const Plan& plan, const Configuration& configuration) {
    std::vector<std::string> names;
    for (const FunctionPlan& function : plan.functions)
        if (function.partner && function.wait_of == 0) names.push_back(printable(function.name));
    if (names.empty() || !configuration.verbose) return {};
    return fmt::format("rdam: also wrapped, to know for whom threads wait: {}\n", fmt::join(names, ", "));
}

/// A certain library, or one of a pattern, that may be loaded later.
bool awaits_one(const Answer& answer) {
    return answer.awaits_module && !names_any_module(answer.entry.scope);
}

/// One line for each library that may be loaded later: nothing is wrong with them.
std::string awaited_text(const Plan& plan) {
    std::map<std::string, std::size_t> entries;
    for (const Answer& answer : plan.answers)
        if (awaits_one(answer)) ++entries[answer.entry.scope];
    std::string text;
    for (const auto& [module, count] : entries)
        text += fmt::format("rdam: {} is not loaded yet: {} on the list {} looked up when it is\n",
                            printable(module), count == 1 ? "1 entry" : fmt::format("{} entries", count),
                            count == 1 ? "is" : "are");
    return text;
}

bool is_launcher(const ProcessDescription& process) {
    return KnownPrograms::builtin().is_launcher(process.executable);
}

/// What is wrapped of the list, without the ways into functions' waits.
std::size_t listed_functions(const Plan& plan) {
    return static_cast<std::size_t>(std::ranges::count_if(
        plan.functions, [](const FunctionPlan& each) { return each.wait_of == 0 && !each.partner; }));
}

/// The program, its libraries, or both.
std::string where_wrapped(const Plan& plan, const ProcessDescription& process) {
    const auto is_own = [&](const FunctionPlan& function) {
        return process.objects[function.object].path == process.executable;
    };
    const auto own = std::ranges::count_if(plan.functions, is_own);
    const std::string program = printable(process.executable);
    if (own == 0) return "the libraries of " + program;
    return own == std::ssize(plan.functions) ? program : program + " and its libraries";
}

const char* verbose_option(const Configuration& configuration) {
    return configuration.run.empty() ? "RDAM_VERBOSE=1" : "--verbose";
}

/// What many reasons of a kind have in common: no numbers, nothing in brackets, and nothing behind a colon.
std::string kind_of_reason(std::string_view reason) {
    std::string kind;
    for (const std::string_view word : words_of(reason.substr(0, reason.find(": ")))) {
        const bool number = word.find_first_not_of("0123456789") == std::string_view::npos;
        if (!number) kind.append(kind.empty() ? "" : " ").append(word);
    }
    for (auto begin = kind.find(" ("); begin != std::string::npos; begin = kind.find(" (", begin)) {
        const auto end = kind.find(')', begin);
        if (end == std::string::npos) break;
        kind.erase(begin, end + 1 - begin);
    }
    return kind;
}

/// Entries of the list that get the same remark.
struct Alike {
    std::string lines;
    std::vector<std::string> names;
};

/// A few entries have a line each, and many have one line together.
std::string text_of(const Alike& alike, const std::string& kind, ListVerdict verdict,
                    const Configuration& configuration) {
    constexpr std::size_t kFew = 3;
    if (alike.names.size() <= kFew) return alike.lines;
    const char* const what = verdict == ListVerdict::refused     ? "are skipped"
                             : verdict == ListVerdict::not_found ? "are not found"
                                                                 : "are wrapped with a remark";
    return fmt::format("rdam: {} entries of the list {}{}{}: {} ({} prints all)\n", alike.names.size(), what,
                       kind.empty() ? "" : ": ", kind, some_names(alike.names),
                       verbose_option(configuration));
}

/// One line for each entry of the list and what became of it, and one for many of which the same is to be
/// said; all of them where that is asked for.
std::string lines(const Plan& plan, const Configuration& configuration,
                  const std::function<bool(const Answer&)>& wanted) {
    using Group = std::pair<std::string_view, ListVerdict>;
    std::map<Group, std::size_t> sizes;
    const auto is_said = [&](const Answer& answer) {
        return wanted(answer) && worth_saying(answer, configuration);
    };
    for (const Answer& answer : plan.answers)
        if (is_said(answer)) ++sizes[{answer.entry.text, answer.verdict}];
    std::string text;
    // In the order of the first of each kind.
    std::vector<std::pair<std::string, ListVerdict>> order;
    std::map<std::pair<std::string, ListVerdict>, Alike> kinds;
    for (const Answer& answer : plan.answers) {
        if (!is_said(answer)) continue;
        std::size_t& size = sizes[{answer.entry.text, answer.verdict}];
        if (size == 0) continue;
        const std::size_t others = configuration.verbose ? 0 : std::exchange(size, 0) - 1;
        std::string first = line(answer, configuration.verbose);
        if (others > 0) {
            first.pop_back();
            first += fmt::format("; {} more of that name {} ({} says which)\n", others,
                                 answer.verdict == ListVerdict::refused
                                     ? others == 1 ? "was skipped" : "were skipped"
                                 : others == 1 ? "has such a remark"
                                               : "have such remarks",
                                 verbose_option(configuration));
        }
        if (configuration.verbose) {
            text += first;
            continue;
        }
        const std::pair key{kind_of_reason(printable(answer.reason)), answer.verdict};
        const auto [alike, is_new] = kinds.try_emplace(key);
        if (is_new) order.push_back(key);
        alike->second.names.push_back(printable(answer.entry.text));
        alike->second.lines += first;
    }
    if (configuration.verbose) return text;
    constexpr std::size_t kMaxLines = 100;
    std::size_t said = 0;
    for (const auto& key : order) {
        const std::string more = text_of(kinds[key], key.first, key.second, configuration);
        const auto lines_of_kind = static_cast<std::size_t>(std::ranges::count(more, '\n'));
        said += lines_of_kind;
        if (said <= kMaxLines) text += more;
    }
    if (said > kMaxLines)
        text += fmt::format("rdam: … {} more such line{} ({} prints all)\n", said - kMaxLines,
                            plural_ending(said - kMaxLines), verbose_option(configuration));
    return text;
}

}  // namespace

std::string variables_text(const ProcessDescription& process, const Configuration& configuration) {
    if (!configuration.run.empty() || !configuration.first || is_launcher(process)) return {};
    std::string text;
    for (const std::string& unknown : unknown_variables(environ))
        text += "rdam: " + unknown + "\n";
    return text;
}

std::string explain(const Answer& answer) {
    std::string text = printable(answer.reason);
    if (answer.nearest.empty()) return text;
    if (!text.empty()) text += "; ";
    text += answer.nearest.size() == 1 ? "the nearest name is " : "the nearest names are ";
    for (std::size_t i = 0; i < answer.nearest.size(); ++i)
        text += (i == 0 ? "" : ", ") + printable(answer.nearest[i]);
    return text;
}

std::string answer_text(const Plan& plan, const ProcessDescription& process,
                        const Configuration& configuration) {
    if (!configuration.first && !configuration.verbose) return {};
    // A shell that only starts the program finds nothing of the list, and that is no news. Nor is anything in
    // what a script calls on its way.
    const bool silent = configuration.called || (plan.functions.empty() && is_launcher(process));
    if (silent && !configuration.verbose) return {};
    std::string text = lines(plan, configuration, [](const Answer& answer) { return !awaits_one(answer); });
    text += awaited_text(plan);
    const auto is_wrapped = [](const Answer& answer) { return answer.verdict == ListVerdict::wrapped; };
    if (plan.functions.empty() && std::ranges::any_of(plan.answers, is_wrapped)) {
        if (configuration.verbose || !configuration.run.empty())
            text += fmt::format("rdam: no function wrapped in {}: its regions are recorded\n",
                                printable(process.executable));
    } else if (plan.functions.empty() &&
               std::ranges::none_of(plan.answers, [](const Answer& each) { return each.awaits_module; })) {
        text += fmt::format("rdam: none of the functions on the list can be wrapped in {}: {}\n",
                            printable(process.executable),
                            KnownPrograms::builtin().is_interpreter(process.executable)
                                ? "only what it starts is recorded"
                                : "nothing is recorded");
    }
    return text;
}

std::string wrapped_text(const Plan& plan, const ProcessDescription& process,
                         const Configuration& configuration) {
    if ((!configuration.first && !configuration.verbose) || plan.functions.empty()) return {};
    std::string text;
    if (configuration.verbose || !configuration.run.empty())
        text += fmt::format("rdam: {} function{} wrapped in {}\n", listed_functions(plan),
                            plural_ending(listed_functions(plan)), where_wrapped(plan, process));
    return text + partners_text(plan, configuration) + sampled_text(plan, configuration);
}

std::string late_answer_text(const Plan& plan, const Configuration& configuration) {
    if (!configuration.first && !configuration.verbose) return {};
    return lines(plan, configuration, [](const Answer&) { return true; });
}

std::string late_wrapped_text(const Plan& plan, const ProcessDescription& process,
                              const Configuration& configuration) {
    if (!configuration.first && !configuration.verbose) return {};
    std::string text;
    if (!plan.functions.empty() && (configuration.verbose || !configuration.run.empty()))
        text += fmt::format("rdam: {} function{} wrapped in {}, loaded later\n", listed_functions(plan),
                            plural_ending(listed_functions(plan)),
                            printable(process.objects[plan.functions.front().object].path));
    return text + sampled_text(plan, configuration);
}

std::string further_libraries_text(const Configuration& configuration) {
    return fmt::format(
        "rdam: many libraries are loaded later: rdam does not report what it wraps in further ones ({} "
        "reports it)\n",
        verbose_option(configuration));
}

std::string windowed_text(const trace::TraceInfo& info, const Configuration& configuration) {
    if (!configuration.first) return {};
    std::vector<std::string> names;
    for (const trace::FunctionInfo& function : info.functions)
        if (function.windowed_since != 0 && !function.sampled && !function.partner)
            names.push_back(printable(function.name));
    if (names.empty()) return {};
    constexpr double kPercent = 100;
    std::vector<std::string> locks;
    const std::vector<std::uint32_t> waiters = trace::waiters(info.functions);
    for (std::uint32_t function = 0; function < info.functions.size(); ++function)
        if (info.functions[function].windowed_since != 0 &&
            std::ranges::find(waiters, function) != waiters.end())
            locks.push_back(printable(info.functions[function].name));
    const std::string waits =
        locks.empty() ? "" : fmt::format("; the waits of {} are recorded", some_names(locks));
    return fmt::format(
        "rdam: {} function{} sampled in windows of time, because recording all {} calls would cost more than "
        "{:g} % of a thread's time: {}{} ({} records every call)\n",
        names.size(), names.size() == 1 ? " was" : "s were", names.size() == 1 ? "its" : "their",
        kPercent * info.process.max_overhead, some_names(names), waits, how_to_record_all(configuration));
}

std::string never_loaded_text(const std::map<std::string, std::string>& awaited,
                              const ProcessDescription& process) {
    if (is_launcher(process)) return {};
    std::map<std::string, std::size_t> modules;
    for (const auto& [entry, module] : awaited)
        ++modules[module];
    std::string text;
    for (const auto& [module, count] : modules)
        text += fmt::format("rdam: process {} ({}) never loaded {}: {} on the list {} not looked up\n",
                            process.pid, printable(process.executable), printable(module),
                            count == 1 ? "1 entry" : fmt::format("{} entries", count),
                            count == 1 ? "was" : "were");
    return text;
}

}  // namespace rdam::agent
