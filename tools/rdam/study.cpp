// `rdam study`: a program in several settings, many times. The work is the Python module's
// (tools/python/rdam/study), the options are those of this command line.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tools/base/units.h"
#include "tools/rdam/command/command.h"
#include "tools/rdam/command/option_values.h"
#include "tools/rdam/command/python_module.h"

namespace rdam {
namespace {

using Json = nlohmann::json;

constexpr int kMaxRuns = 100'000;

/// A factor or another option that may be given more than once; the module knows what its values mean, and knows
/// it by its first name.
struct Repeated {
    std::string_view option;
    std::string_view takes;
    std::string_view help;
};

constexpr std::array kFactors{
    Repeated{"--threads", "N,N", "Numbers of threads: OMP_NUM_THREADS, and {threads} in the command"},
    Repeated{"--values", "NAME=V,V", "Values of {NAME} in the command"},
    Repeated{"--env", "NAME=V,V", "Values of an environment variable"},
    Repeated{"--pin", "STRATEGY,...",
             "Where threads run: none, random (drawn for each run), compact, scatter, file:FILE (a processor "
             "for each thread)"},
    Repeated{"--smt", "use,spare", "Use the second hardware threads of cores, or spare them"},
    Repeated{"--spare", "N,N", "Leave this many cores to the system"},
    Repeated{"--co-runners", "NxKIND,...",
             "Other programs that run on each processor: 0, 1xbusy, 2xsleep:10us, 1xarray:196608, "
             "1x'COMMAND'; with @free at the end they are not bound"},
    Repeated{"--env-size", "BYTES,...",
             "Empty the environment except for this many bytes; 0..4095/63 is a range"},
    Repeated{"--randomize", "on,off", "Let the kernel randomize addresses, or not"},
    Repeated{"--pages", "small,large", "Size of the pages that malloc uses (glibc 2.35 or later)"},
    Repeated{
        "--memory,--mem", "POLICY,...",
        "Where memory lies: local, first-touch, interleave, bind:NODE; by a library that places large "
        "allocations and static variables: bind_block, cyclic, skew_mapp, prime_mapp, random, or rules such "
        "as 'u=cyclic,rhs=bind_block,64M..=interleave'"},
    Repeated{"--prefetcher", "on,off",
             "Switch the processors' hardware prefetchers on or off, by model-specific registers (root, no "
             "virtual machine)"},
    Repeated{"--setting", "NAME=COMMAND",
             "A whole command as a setting, instead of PROGRAM; give the option for each"},
    Repeated{"--program", "NAME=COMMAND",
             "One of several programs, instead of PROGRAM; give the option for each. Settings are compared "
             "within each program"},
};
constexpr Repeated kMetric{
    "--metric", "NAME=WHERE",
    "A value that the program prints: a regular expression with a group, or .path.in.json"};

struct StudyArguments {
    const CLI::App* app = nullptr;
    std::array<std::vector<std::string>, kFactors.size()> factors;
    std::vector<std::string> metrics;
    int runs = 0;
    int record_every = 1;
    int warm_ups = 1;
    unsigned seed = 0;
    double risk = 0.05;
    bool quick = false, duet = false, json = false, osnoise = false, frequencies = false, regions = false;
    std::string time_limit, frequencies_every, check = "same", output, beside;
    std::string resume, show, csv, html, parquet, record, config;
};

std::string key_of(std::string_view option) {
    return std::string{option.substr(2, option.find(',') - 2)};
}

/// What the module gets: the options that were given, by their names.
Result<Json> request_of(const StudyArguments& arguments) {
    Json request = Json::object();
    for (std::size_t i = 0; i < kFactors.size(); ++i)
        if (!arguments.factors[i].empty()) request[key_of(kFactors[i].option)] = arguments.factors[i];
    if (!arguments.metrics.empty()) request[key_of(kMetric.option)] = arguments.metrics;
    const auto given = [&](const char* option) { return arguments.app->count(option) > 0; };
    if (given("--runs")) request["runs"] = arguments.runs;
    if (given("--record-every")) request["record-every"] = arguments.record_every;
    if (given("--seed")) request["seed"] = arguments.seed;
    if (given("--warmups")) request["warmups"] = arguments.warm_ups;
    if (given("--risk")) request["risk"] = arguments.risk;
    if (arguments.quick) request["quick"] = true;
    if (arguments.duet) request["duet"] = true;
    if (arguments.json) request["json"] = true;
    if (arguments.regions) request["regions"] = true;
    if (arguments.osnoise) request["osnoise"] = true;
    if (arguments.frequencies) request["frequencies"] = true;
    for (const auto& [option, value] : {std::pair{"--time-limit", &arguments.time_limit},
                                        {"--frequencies-every", &arguments.frequencies_every}}) {
        if (!given(option)) continue;
        const auto time = parse_time(*value);
        if (!time) return fail("{}: {}", option, time.error().message);
        request[key_of(option)] = *time / 1e9;
    }
    for (const auto& [option, value] : {std::pair{"--output", &arguments.output},
                                        {"--resume", &arguments.resume},
                                        {"--show", &arguments.show},
                                        {"--csv", &arguments.csv},
                                        {"--record", &arguments.record},
                                        {"--check", &arguments.check},
                                        {"--config", &arguments.config},
                                        {"--html", &arguments.html},
                                        {"--beside", &arguments.beside},
                                        {"--parquet", &arguments.parquet}})
        if (given(option)) request[key_of(option)] = *value;
    return request;
}

/// Does not return if all is well: this process becomes the study, and its exit code is the study's.
Result<int> run_study(const StudyArguments& arguments) {
    const auto request = request_of(arguments);
    if (!request) return tl::unexpected{request.error()};
    return become_python_module("rdam.study", "study", *request, arguments.app->remaining());
}

}  // namespace

Run add_study(CLI::App& app) {
    auto arguments = std::make_shared<StudyArguments>();
    arguments->app = &app;
    const auto add_repeated = [&](const Repeated& each, std::vector<std::string>& values) {
        app.add_option(std::string{each.option}, values, std::string{each.help})
            ->option_text(std::string{each.takes})
            ->type_size(1)
            ->allow_extra_args(false);
    };
    for (std::size_t i = 0; i < kFactors.size(); ++i)
        add_repeated(kFactors[i], arguments->factors[i]);
    app.add_option("--config", arguments->config,
                   "Read options, without their dashes, and the command from a TOML file; the command line "
                   "overrides them")
        ->option_text("FILE");
    app.add_option("--runs", arguments->runs, "Runs of each setting [31]")
        ->option_text("N")
        ->check(whole_number(3, kMaxRuns));
    app.add_flag("--quick", arguments->quick, "11 runs of each setting, unless --runs says how many");
    app.add_option("--warmups", arguments->warm_ups, "Warm-up runs of each setting, which do not count")
        ->option_text("N")
        ->check(whole_number(0, kMaxRuns))
        ->capture_default_str();
    app.add_option("--seed", arguments->seed, "Seed of the random order of runs [random]")->option_text("N");
    app.add_flag("--duet", arguments->duet,
                 "Run two settings at once, each on a half of the processors that is drawn for each round");
    app.add_option("--time-limit", arguments->time_limit, "End the study when a run takes longer")
        ->option_text("TIME");
    app.add_option(
           "--check", arguments->check,
           "Compare each run's output with the first one's (same), do not (none), or give it to COMMAND")
        ->option_text("same|none|COMMAND")
        ->capture_default_str();
    add_repeated(kMetric, arguments->metrics);
    app.add_flag("--regions", arguments->regions,
                 "Count OpenMP's parallel regions in which a thread had moved to another processor");
    app.add_option(
           "--record", arguments->record,
           "Also make runs that rdam records, with the functions in LIST, and say what the spread comes from")
        ->option_text("LIST");
    app.add_option("--record-every", arguments->record_every, "Record in every Nth round [1]")
        ->option_text("N")
        ->check(whole_number(1, kMaxRuns));
    app.add_flag(
        "--frequencies", arguments->frequencies,
        "Log the frequencies of each run's processors while it runs, from a processor that it leaves free");
    app.add_option("--frequencies-every", arguments->frequencies_every,
                   "Read the frequencies at this interval [10ms]")
        ->option_text("TIME");
    app.add_flag("--osnoise", arguments->osnoise,
                 "Let the kernel's osnoise tracer measure what disturbs each run, by source (root)");
    app.add_option("--risk", arguments->risk,
                   "The probability of declaring any difference that does not exist")
        ->option_text("SHARE")
        ->check(number(0.0001, 0.5))
        ->capture_default_str();
    app.add_option(
           "--beside", arguments->beside,
           "Compare with this setting, or each with the one that differs only in this level (pin none), "
           "or all with one another [the first]")
        ->option_text("SETTING|LEVEL|all");
    app.add_option("-o,--output", arguments->output, "Write each run to FILE when it ends [study.jsonl]")
        ->option_text("FILE");
    auto* const resume =
        app.add_option("--resume", arguments->resume, "Continue the study in FILE")->option_text("FILE");
    app.add_option("--show", arguments->show, "Print the results that the study in FILE has so far")
        ->option_text("FILE")
        ->excludes(resume);
    app.add_flag("--json", arguments->json, "Print JSON");
    app.add_option("--csv", arguments->csv, "Write a line for each run to FILE; - for standard output")
        ->option_text("FILE");
    app.add_option("--html", arguments->html, "Write a page with pictures of all runs to FILE")
        ->option_text("FILE");
    app.add_option("--parquet", arguments->parquet,
                   "Write a row for each run to a Parquet FILE (needs pyarrow)")
        ->option_text("FILE");
    return [arguments] { return run_study(*arguments); };
}

}  // namespace rdam
