// rdam export: from a trace to what other tools read.
#include "tools/rdam/export/export.h"

#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>
#include <vector>

#include "analyzer/report/shared_settings.h"
#include "tools/rdam/analyze/analyze.h"
#include "tools/rdam/command/command.h"
#include "tools/rdam/command/fresh_file.h"
#include "tools/rdam/command/option_values.h"
#include "tools/rdam/command/terminal.h"

namespace rdam {
namespace {

Result<void> use_rules(ExportArguments& options, const trace::TraceInfo& info) {
    const auto loaded = load_rules(options.rules_choice, {options.trace});
    if (!loaded) return tl::unexpected{loaded.error()};
    if (!*loaded) return {};
    options.rules = (*loaded)->file;
    apply_rules(**loaded, options.settings);
    score::SharedSettings shared{options.settings};
    shared.look_at(info);
    say_unused_rules(*loaded, shared);
    return {};
}

/// A number of slices, `k` and `M` for thousands and millions, or `all`.
std::optional<std::uint64_t> budget_of(const std::string& text) {
    if (text == "all") return 0;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string unit{end, text.data() + text.size()};
    const std::uint64_t factor = unit == "k" ? 1000 : unit == "M" ? 1'000'000 : unit.empty() ? 1 : 0;
    constexpr std::uint64_t kLeast = 1000, kMost = 1'000'000'000;
    if (error != std::errc{} || factor == 0 || number > kMost / factor) return {};
    number *= factor;
    if (number < kLeast) return {};
    return number;
}

std::vector<std::string> format_names() {
    std::vector<std::string> names;
    for (const exports::Format& format : exports::all_formats())
        names.emplace_back(format.name);
    return names;
}

/// "json, perfetto and firefox": those of which a member of Format is true.
template <class Member>
std::string formats_with(Member member) {
    std::vector<std::string_view> names;
    for (const exports::Format& format : exports::all_formats())
        if (std::invoke(member, format)) names.push_back(format.name);
    const std::string_view last = names.back();
    names.pop_back();
    return fmt::format("{}{}{}", fmt::join(names, ", "), names.empty() ? "" : " and ", last);
}

std::string format_help() {
    std::string text = "Write all calls in a format that other tools read:";
    for (const exports::Format& format : exports::all_formats())
        text += fmt::format("{} {} ({})", text.back() == ':' ? "" : ",", format.name, format.help);
    return text;
}

/// One of the table's; of one that this rdam could have, what it needs.
CLI::Validator known_format() {
    const CLI::Validator known = one_of(format_names());
    return {[known](std::string& text) {
                const std::string_view needs = exports::why_left_out(text);
                if (needs.empty()) return known(text);
                return fmt::format("{} is left out of this rdam: install {} and build rdam again", text,
                                   needs);
            },
            known.get_description()};
}

Result<int> run(ExportArguments options) {
    const bool columns = options.format.empty();
    if (auto place = columns ? check_columns_place(options) : check_format_place(options); !place)
        return tl::unexpected{place.error()};
    const auto reader = open_trace(options.trace);
    if (!reader) return tl::unexpected{reader.error()};
    if (auto used = use_rules(options, reader->info()); !used) return tl::unexpected{used.error()};
    if (auto seen = check_window(*reader, options.settings.selection); !seen)
        return tl::unexpected{seen.error()};
    return columns ? export_columns(*reader, options) : export_format(*reader, options);
}

/// `format`: null if there is none.
void check_budget(std::uint64_t budget, const exports::Format* format) {
    if (format == nullptr || format->usual_budget == 0)
        throw CLI::ValidationError(
            "--budget", "is for formats with a timeline: " + formats_with(&exports::Format::usual_budget));
    if (format->max_budget > 0 && (budget == 0 || budget > format->max_budget))
        throw CLI::ValidationError("--budget",
                                   fmt::format("is more than what reads {} can open: give {} or fewer, or "
                                               "use --format perfetto",
                                               format->name, format->max_budget));
}

/// Checks that involve several options.
void check_usage(const ExportArguments& options) {
    if (options.columns.empty() == options.format.empty())
        throw CLI::RequiredError(options.columns.empty() ? "--columns or --format"
                                                         : "one of --columns and --format, not both,");
    const auto& formats = exports::all_formats();
    const auto format = std::ranges::find(formats, options.format, &exports::Format::name);
    if (options.budget) check_budget(*options.budget, format != formats.end() ? &*format : nullptr);
    if (!options.weight.empty() && (format == formats.end() || !format->has_weight()))
        throw CLI::ValidationError(
            "--weight", "is for formats of call paths: " + formats_with(&exports::Format::has_weight));
    if (options.arrows && (format == formats.end() || !format->draws_arrows))
        throw CLI::ValidationError(
            "--arrows", "is for formats with arrows: " + formats_with(&exports::Format::draws_arrows));
    if (format != formats.end() && format->write_archive != nullptr && options.output == "-")
        throw CLI::ValidationError("--output", options.format + " is a directory: name it with -o DIR");
    if (format != formats.end() && format->binary && options.output == "-" && isatty(STDOUT_FILENO) == 1)
        throw CLI::ValidationError("--output",
                                   options.format + " is not for a terminal: name a file with -o FILE");
    if (!options.columns.empty() && options.output != "-")
        throw CLI::ValidationError("--output", "is for --format: --columns names its own place");
    check_selection(options.settings.selection);
}

}  // namespace

void say_losses(const trace::TraceReader& reader, const std::string& name, const std::string& unknown_ends) {
    const trace::Damage damage = reader.damage();
    const auto say_of_it = [&](const std::string& what) { say(fmt::format("{}: {}", name, what)); };
    if (damage.no_index) say_of_it("its end is missing; rdam exports the part that is there");
    if (damage.bad_chunks + damage.missing_chunks > 0)
        say_of_it(fmt::format("{} chunks are damaged and {} missing: their calls are not exported",
                              damage.bad_chunks, damage.missing_chunks));
    if (reader.info().dropped > 0)
        say_of_it(fmt::format("{} events were lost during recording", reader.info().dropped));
    if (const std::string& library = reader.info().process.copied_stacks; !library.empty())
        say_of_it(
            fmt::format("stacks of this program are copied away ({}), so which end belongs to which call is "
                        "not known: {}, except for functions of libc that wait",
                        library, unknown_ends));
}

Run add_export(CLI::App& app) {
    const auto options = std::make_shared<ExportArguments>();
    app.add_option("trace", options->trace, "The trace to read")->option_text("TRACE [trace.bin]");
    app.add_option("--columns", options->columns,
                   "Write one row per call: to a directory of columns that numpy maps into memory, or to a "
                   "Parquet file")
        ->option_text("DIR|FILE.parquet");
    app.add_option("--format", options->format, format_help())->option_text("FORMAT")->check(known_format());
    app.add_option("-o,--output", options->output, "Write the format to FILE; -: to standard output")
        ->option_text("FILE [-]");
    app.add_option_function<std::string>(
           "--budget",
           [options](const std::string& text) {
               options->budget = budget_of(text);
               if (!options->budget)
                   throw CLI::ValidationError(
                       "--budget", "'" + text + "' is not all, or a number from 1000 on like 500k or 5M");
           },
           fmt::format("Write about this many slices at most to {}: the calls that lost most, and the others "
                       "merged by time; all: every call, which is too much for {}",
                       formats_with(&exports::Format::usual_budget),
                       formats_with(&exports::Format::max_budget)))
        ->option_text("SLICES|all [5M; firefox: 200k]");
    app.add_option(
           "--weight", options->weight,
           fmt::format(
               "Let the width of call paths in {} stand for lost time, for time, or for the number of calls",
               formats_with(&exports::Format::has_weight)))
        ->option_text("lost|time|calls [lost]")
        ->check(one_of({"lost", "time", "calls"}));
    app.add_flag("--arrows", options->arrows,
                 fmt::format("Draw in {} which waits ended by another thread's doing, and arrows from there "
                             "to their ends; rdam analyzes the trace first",
                             formats_with(&exports::Format::draws_arrows)));
    app.add_flag(kOverwriteOption, options->overwrite, kOverwriteText);
    add_sequence_options(app, options->settings);
    add_rules_options(app, options->rules_choice);
    add_selection_options(app, options->settings.selection);
    app.callback([options] { check_usage(*options); });
    return [options] { return run(*options); };
}

}  // namespace rdam
