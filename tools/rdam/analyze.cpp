// rdam analyze: from a trace to scores.
#include "analyzer/score/analyze.h"

#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "analyzer/output/json.h"
#include "analyzer/output/symbols.h"
#include "analyzer/output/text.h"
#include "analyzer/trace/reader.h"
#include "tools/rdam/command.h"
#include "tools/rdam/progress_line.h"
#include "tools/rdam/sequence_options.h"
#include "wrappers/support/printable.h"

namespace rdam {
namespace {

constexpr std::size_t kListedSequences = 1000;
constexpr std::size_t kAllSequences = SIZE_MAX;
constexpr std::size_t kTopOfTable = 20;

struct Options {
    std::string trace = "trace.bin";
    score::Settings settings;
    bool json = false;
    bool threads = false;
    bool sequences = false;
    std::size_t top = 0;
    const CLI::Option* top_given = nullptr;
    std::string color = "auto";
};

bool wants_color(const std::string& choice) {
    if (choice != "auto") return choice == "always";
    const char* no_color = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    const bool plain = (no_color != nullptr && *no_color != '\0') ||
                       (terminal != nullptr && std::string_view{terminal} == "dumb");
    return !plain && isatty(STDOUT_FILENO) == 1;
}

Result<score::Report> make_report(const trace::TraceReader& reader, const Options& options) {
    ProgressLine progress{"analyzing", reader.events()};
    return score::analyze(
        reader, options.settings,
        {.most_sequences = options.sequences && options.json ? kAllSequences : kListedSequences,
         .progress = [&](std::uint64_t events) { progress.update(events); }});
}

std::string format(const score::Report& report, const trace::TraceInfo& info, const Options& options) {
    const auto symbols = output::make_symbols(info);
    const bool top_given = options.top_given->count() > 0;
    if (options.json) return output::to_json(report, *symbols, {.top = options.top});
    return output::to_text(report, *symbols,
                           {.top = top_given ? options.top : kTopOfTable,
                            .threads = options.threads,
                            .sequences = options.sequences,
                            .color = wants_color(options.color)});
}

Result<int> run(const Options& options) {
    const auto waiting = [&] {
        fmt::print(stderr, "rdam: {}: waiting for its recorder to finish\n", printable(options.trace));
    };
    const auto reader = trace::TraceReader::open(options.trace, waiting);
    if (!reader) return tl::unexpected{reader.error()};
    const auto report = make_report(*reader, options);
    if (!report) return tl::unexpected{report.error()};
    const std::string text = format(*report, reader->info(), options);
    const bool written =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!written)
        return fail("standard output: {}; write to a file or a place that has room", std::strerror(errno));
    return kExitDone;
}

}  // namespace

Run add_analyze(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    score::Settings& settings = options->settings;
    app.add_option("trace", options->trace, "The trace to analyze")->option_text("TRACE [trace.bin]");
    app.add_flag("--json", options->json, "Print JSON");
    options->top_given =
        app.add_option("--top", options->top, "Show the N functions with the highest score; 0: all")
            ->option_text("N")
            ->check(CLI::NonNegativeNumber);
    app.add_flag("--threads", options->threads, "Show the scores of each thread as well");
    app.add_flag("--sequences", options->sequences, "Show the sequences of each function as well");
    add_sequence_options(app, settings);
    app.add_option("--jobs", settings.jobs, "Threads that analyze; 0: as many as there are processors")
        ->option_text("N")
        ->check(CLI::Range(0, 1024));
    app.add_option("--color", options->color, "Use colors: auto, always or never")
        ->option_text("WHEN")
        ->check(CLI::IsMember({"auto", "always", "never"}));
    return [options] { return run(*options); };
}

}  // namespace rdam
