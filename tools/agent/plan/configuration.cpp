#include "tools/agent/plan/configuration.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "tools/agent/process/process_facts.h"
#include "tools/trace/trace_name.h"
#include "wrappers/catalogue/known_programs.h"

namespace rdam::agent {
namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string{} : std::string{value};
}

std::string rank() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
        if (std::string value = variable(name); !value.empty()) return value;
    return "0";
}

bool is_shell(std::string_view program) {
    constexpr std::string_view kShells[] = {"sh",   "bash", "dash", "zsh", "ksh",    "ksh93",
                                            "mksh", "fish", "tcsh", "csh", "busybox"};
    return std::ranges::find(kShells, program) != std::end(kShells);
}

/// A program that a recorded one starts is not what the user has named, unless the starter is there for
/// nothing else (a shell, env, mpirun), or is a recording of its own (`rdam record` under another one).
void place_in_tree(std::uint32_t pid, Configuration& configuration) {
    const auto stat = read_stat(pid);
    const bool same_run = stat && is_of_run(stat->parent, configuration.run);
    configuration.top = !same_run;
    const std::string parent = configuration.top ? std::string{} : program_name(stat->parent);
    configuration.first = configuration.top || KnownPrograms::builtin().is_launcher(parent);
    configuration.called = is_shell(parent) && KnownPrograms::builtin().is_utility(program_name(pid));
}

std::string expand(std::string_view pattern, std::uint32_t pid) {
    std::string path;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
        char host[256] = "localhost";
        switch (next) {
            case 'p':
                path += std::to_string(pid);
                ++i;
                break;
            case 'h':
                gethostname(host, sizeof host - 1);
                path += host;
                ++i;
                break;
            case 'r':
                path += rank();
                ++i;
                break;
            case '%':
                path += '%';
                ++i;
                break;
            default:
                path += pattern[i];
        }
    }
    return path;
}

}  // namespace

Configuration read_configuration(std::uint32_t pid, const settings::Values& values, bool forked) {
    using settings::Id;
    Configuration configuration;
    if (const char* functions = std::getenv(kFunctionsVariable); functions != nullptr)
        configuration.functions = functions;
    const std::string output = variable("RDAM_OUTPUT");
    configuration.output = expand(output.empty() ? "trace.bin" : output, pid);
    configuration.output_has_pid = expand(output, 0) != expand(output, 1);
    configuration.whole_run = variable("RDAM_RUN");
    configuration.run = trace::without_secret(configuration.whole_run);
    if (configuration.output != output) configuration.pattern = output;
    configuration.arguments = values[Id::arguments] != 0;
    configuration.all_calls = values[Id::all_calls] != 0;
    configuration.verbose = values[Id::verbose] != 0;
    configuration.children = values[Id::children] != 0;
    configuration.switches = static_cast<settings::Switches>(values[Id::switches]);
    configuration.agent_cpus = variable("RDAM_AGENT_CPUS");
    if (forked)
        configuration.top = configuration.first = false;
    else
        place_in_tree(pid, configuration);
    return configuration;
}

}  // namespace rdam::agent
