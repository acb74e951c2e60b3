// rdam-microbench NAME: programs whose interference is known and can be dialled.
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "microbench/interference/registry.h"
#include "microbench/interference/sweep.h"
#include "microbench/numa/numa.h"
#include "tools/base/printable.h"

namespace rdam::microbench {
namespace {

// Exit codes: docs/design.md §3.
constexpr int kDone = 0;
constexpr int kBadInput = 1;
constexpr int kUsage = 2;

// Signed: CLI11 would take -1 for the greatest number there is.
constexpr int kMaxThreads = 4096;
constexpr std::int64_t kMaxIterations = std::int64_t{1} << 40;

int complain(std::string_view message, int code) {
    fmt::print(stderr, "rdam-microbench: {}\n", printable(message));
    return code;
}

/// A benchmark's subcommand: the common options, and how to run it.
struct Command {
    const Benchmark* benchmark;
    CLI::App* app;
    Runner runner;
    Point point;
    std::string delay;
};

void add_command(CLI::App& root, const Benchmark& benchmark, Command& command) {
    CLI::App& app = *root.add_subcommand(std::string{benchmark.name}, std::string{benchmark.summary});
    command.benchmark = &benchmark;
    command.app = &app;
    command.delay = benchmark.delay;
    command.point = {.threads = benchmark.threads, .iterations = benchmark.iterations};
    app.add_option("--threads", command.point.threads, "Threads that call the measured operation")
        ->check(CLI::Range(1, kMaxThreads))
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--iterations", command.point.iterations,
                   "Calls of the measured operation, for each thread")
        ->check(CLI::Range(std::int64_t{1}, kMaxIterations))
        ->type_name("N")
        ->capture_default_str();
    app.add_option(
           "--delay", command.delay,
           "Time between two calls (250ns, 1.5us, 2ms), or a sweep, LOW..HIGH/COUNT, of COUNT log-spaced "
           "times one after the other")
        ->type_name("TIME")
        ->capture_default_str();
    app.add_flag("--pin", command.point.pin, "Bind each thread to a processor");
    app.add_flag(
        "--self-timed", command.point.self_timed,
        "Read the clock before and after each call, and print the mean (not together with a recorder)");
    app.add_flag("--together", command.point.together,
                 "End when the first thread has made its calls: nobody goes on alone");
    command.runner = benchmark.add(app);
}

void print_point(const Command& command, const Point& point, const Outcome& outcome) {
    nlohmann::ordered_json line{
        {"benchmark", command.benchmark->name},
        {"delay_ns", std::round(point.delay_ns * 1e3) / 1e3},
        {"threads", point.threads},
        {"iterations", point.iterations},
        {"operation", command.runner.operation()},
        {"calls", outcome.calls},
        {"seconds", outcome.seconds},
    };
    if (outcome.mean_ns) line["mean_ns"] = *outcome.mean_ns;
    fmt::print("{}\n", line.dump());
    std::fflush(stdout);
}

int run(const Command& command) {
    const Result<std::vector<double>> delays = parse_delays(command.delay);
    if (!delays) return complain("--delay: " + delays.error().message, kUsage);
    for (const double delay : *delays) {
        Point point = command.point;
        point.delay_ns = delay;
        const Result<Outcome> outcome = command.runner.run(point);
        if (!outcome)
            return complain(fmt::format("{}: {}", command.benchmark->name, outcome.error().message),
                            kBadInput);
        print_point(command, point, *outcome);
    }
    if (std::ferror(stdout) == 0) return kDone;
    return complain("cannot write to standard output: free space there or send it elsewhere", kBadInput);
}

int run(const NumaOptions& options) {
    if (const Result<void> done = run_numa(options); !done)
        return complain("numa: " + done.error().message, kBadInput);
    if (std::ferror(stdout) == 0) return kDone;
    return complain("cannot write to standard output: free space there or send it elsewhere", kBadInput);
}

int list(const CLI::App& root) {
    for (const CLI::App* command : root.get_subcommands({}))
        fmt::print("{:<14} {}\n", command->get_name(), command->get_description());
    return kDone;
}

std::string one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    while (!text.empty() && text.back() == ' ')
        text.pop_back();
    return text;
}

int run(int argc, char** argv) {
    CLI::App root{"Programs whose threads slow each other down, by as much as is asked for.",
                  "rdam-microbench"};
    bool only_list = false;
    root.add_flag("--list", only_list, "Print the names, with one line each, and exit");
    root.require_subcommand(0, 1);
    std::vector<Command> commands(benchmarks().size());
    for (std::size_t i = 0; i < commands.size(); ++i)
        add_command(root, *benchmarks()[i], commands[i]);
    NumaOptions numa_options;
    const CLI::App& numa = add_numa(root, numa_options);
    try {
        root.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return root.exit(error);
        return complain(one_line(error.what()) + "; see 'rdam-microbench --help'", kUsage);
    }
    if (only_list) return list(root);
    if (numa.parsed()) return run(numa_options);
    for (const Command& command : commands) {
        if (command.app->parsed()) return run(command);
    }
    return complain("no benchmark given; see 'rdam-microbench --list'", kUsage);
}

}  // namespace
}  // namespace rdam::microbench

int main(int argc, char** argv) {
    try {
        return rdam::microbench::run(argc, argv);
    } catch (const std::exception& error) {  // out of memory, a stream that broke: what libraries throw
        return rdam::microbench::complain(error.what(), rdam::microbench::kBadInput);
    }
}
