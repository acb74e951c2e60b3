// rdam analyze: from a trace to scores.
#include "analyzer/score/analyze.h"

#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <string_view>

#include "analyzer/output/json.h"
#include "analyzer/output/symbols.h"
#include "analyzer/output/text.h"
#include "analyzer/trace/reader.h"
#include "tools/rdam/command.h"
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
    std::string baseline = "thread";
};

std::optional<score::Baseline> parse_baseline(const std::string& text) {
    using Kind = score::Baseline::Kind;
    static const std::regex percentile("p([0-9]{1,2}([.][0-9]{1,6})?)");
    if (text == "thread") return score::Baseline{};
    if (text == "process") return score::Baseline{Kind::process};
    std::smatch match;
    if (!std::regex_match(text, match, percentile)) return std::nullopt;
    const double percent = std::stod(match[1]);
    if (percent > 50) return std::nullopt;
    return score::Baseline{Kind::percentile, percent / 100};
}

bool wants_color(const std::string& choice) {
    if (choice != "auto") return choice == "always";
    const char* no_color = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    const bool plain = (no_color != nullptr && *no_color != '\0') ||
                       (terminal != nullptr && std::string_view{terminal} == "dumb");
    return !plain && isatty(STDOUT_FILENO) == 1;
}

/// One line on stderr that is written over, for those who wait longer than two seconds before a terminal.
class ProgressLine {
  public:
    explicit ProgressLine(std::uint64_t total) : total_(total) {}
    ~ProgressLine() {
        if (shown_) fmt::print(stderr, "\r\x1b[K");
    }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ProgressLine(ProgressLine&&) = delete;
    ProgressLine& operator=(ProgressLine&&) = delete;

    void update(std::uint64_t events) {
        if (!terminal_ || std::chrono::steady_clock::now() - start_ < std::chrono::seconds{2}) return;
        const double share = total_ > 0 ? static_cast<double>(events) / static_cast<double>(total_) : 1.0;
        fmt::print(stderr, "\rrdam: analyzing, {:.0f} %\x1b[K", std::min(share, 1.0) * 100);
        std::fflush(stderr);
        shown_ = true;
    }

  private:
    std::uint64_t total_;
    bool terminal_ = isatty(STDERR_FILENO) == 1;
    bool shown_ = false;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

Result<score::Report> make_report(const trace::TraceReader& reader, const Options& options) {
    ProgressLine progress{reader.events()};
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
    app.add_flag("--patterns", settings.patterns,
                 "Find the patterns among the calls of each thread, and score them as well");
    app.add_option("--key", settings.keys, "Compare only calls with the same value of this parameter")
        ->option_text("FUNCTION:PARAMETER")
        ->allow_extra_args(false);
    app.add_option("--no-key", settings.no_keys, "Compare calls whatever the value of this parameter")
        ->option_text("FUNCTION:PARAMETER")
        ->allow_extra_args(false);
    app.add_option("--ignore", settings.ignore, "Leave a function out, as if it had not been recorded")
        ->option_text("FUNCTION")
        ->allow_extra_args(false);
    app.add_flag("--deep-keys", settings.sequences.deep_keys,
                 "Parameters of inner calls tell outer ones apart too");
    app.add_flag("--fold-loops", settings.sequences.fold_loops,
                 "How often a call is repeated makes no difference");
    app.add_option(
           "--baseline", options->baseline,
           "What calls are compared with: the fastest of their thread, the fastest of the process, or a "
           "low percentile of their thread's (p1)")
        ->option_text("thread|process|pN [thread]")
        ->check(CLI::Validator(
            [](const std::string& text) {
                return parse_baseline(text) ? std::string{}
                                            : text +
                                                  " is neither thread nor process nor a percentile like p1 "
                                                  "(p0 to p50)";
            },
            ""));
    app.add_option("--jobs", settings.jobs, "Threads that analyze; 0: as many as there are processors")
        ->option_text("N")
        ->check(CLI::Range(0, 1024));
    app.add_option("--color", options->color, "Use colors: auto, always or never")
        ->option_text("WHEN")
        ->check(CLI::IsMember({"auto", "always", "never"}));
    return [options] {
        options->settings.baseline = *parse_baseline(options->baseline);
        return run(*options);
    };
}

}  // namespace rdam
