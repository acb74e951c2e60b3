// rdam analyze --interactive: what the screen is to know of the command line.
#include <filesystem>
#include <string>

#include "analyzer/report/shared_settings.h"
#include "tools/rdam/analyze/analyze.h"
#include "tools/rdam/command/command.h"
#include "tools/rdam/screen/screen.h"

namespace rdam {
namespace {

screen::RulesPlace rules_place(const AnalyzeArguments& arguments) {
    if (arguments.rules)
        return {.file = arguments.rules->file, .in_force = true, .rules = arguments.rules->rules};
    const std::filesystem::path trace{arguments.traces.front()};
    return {.file = std::filesystem::path{trace}.replace_filename(rules::kFileName).string()};
}

}  // namespace

Result<int> analyze_interactively(const AnalyzeArguments& arguments) {
    const auto reader = open_trace(arguments.traces.front());
    if (!reader) return tl::unexpected{reader.error()};
    score::SharedSettings shared{arguments.settings};
    shared.look_at(reader->info());
    say_unused_rules(arguments.rules, shared);
    if (auto seen = check_window(*reader, arguments.settings.selection); !seen)
        return tl::unexpected{seen.error()};
    auto done = screen::run(*reader, arguments.settings, rules_place(arguments), wants_color(arguments));
    if (!done) return tl::unexpected{done.error()};
    return kExitDone;
}

}  // namespace rdam
