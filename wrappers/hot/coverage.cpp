#include "wrappers/hot/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "tools/base/child_process.h"
#include "tools/base/text_lines.h"
#include "wrappers/object/object_file.h"

namespace rdam {
namespace {

double listed_percent(const HotFunctions& hot) {
    double percent = 0;
    for (const HotFunction& function : hot.functions)
        percent += function.percent;
    return percent;
}

/// What a child prints; empty: it cannot be run or says no.
std::string answer_of(const std::vector<std::string>& command) {
    constexpr std::size_t kMost = std::size_t{1} << 22U;
    const auto ran = run_child(command, {"LC_ALL=C", "LD_PRELOAD"}, kMost);
    return ran && ran->exit_code == 0 ? ran->out : std::string{};
}

/// The value of a line `NAME=value` of /etc/os-release.
std::string release_fact(std::string_view name) {
    std::ifstream file{"/etc/os-release"};
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(name) || line.substr(name.size(), 1) != "=") continue;
        std::string value = line.substr(name.size() + 1);
        std::erase_if(value, [](char c) { return c == '"' || c == '\''; });
        return value;
    }
    return {};
}

/// Where a distribution keeps the automatic packages with debug symbols, which its usual archive does not have, and who
/// answers debuginfod for it. Sources: wiki.debian.org/AutomaticDebugPackages, ubuntu.com/server/docs/debug-symbol-packages.
struct Distribution {
    std::string_view id;
    const char* archive;  ///< with the codename
    const char* suite_suffix;
    const char* components;
    const char* servers;
};
constexpr Distribution kDistributions[]{
    {"debian", "http://deb.debian.org/debian-debug", "-debug", "main", "https://debuginfod.debian.net"},
    {"ubuntu", "http://ddebs.ubuntu.com", "", "main universe", "https://debuginfod.ubuntu.com"},
};

/// Under /usr, where dpkg may know it without that or the other way round.
std::vector<std::string> names_of_file(const std::string& path) {
    constexpr std::string_view kUsr = "/usr";
    return {path, path.starts_with("/usr/") ? path.substr(kUsr.size()) : std::string{kUsr} + path};
}

void ask_dpkg(const std::string& path, SymbolSources& sources) {
    // It takes these for patterns.
    if (path.find_first_of("*?[\\") != std::string::npos) return;
    for (const std::string& name : names_of_file(path)) {
        constexpr std::size_t kMost = std::size_t{1} << 20U;
        const auto ran = run_child({"dpkg-query", "--search", name}, {"LC_ALL=C", "LD_PRELOAD"}, kMost);
        if (!ran) return;
        sources.has_packages = true;
        if (ran->exit_code == 0) sources.package = owning_package(ran->out, name);
        if (!sources.package.empty()) return;
    }
}

void ask_apt(SymbolSources& sources) {
    if (sources.package.empty()) return;
    // Older packages of symbols are made by hand, glibc's among them.
    const std::vector<std::string> names{sources.package + "-dbgsym", sources.package + "-dbg"};
    for (const std::string& name : names) {
        sources.installed =
            answer_of({"dpkg-query", "--show", "--showformat=${db:Status-Status}", name}) == "installed";
        sources.installable = sources.installed || !answer_of({"apt-cache", "show", name}).empty();
        if (!sources.installable) continue;
        sources.symbols = name;
        return;
    }
    const bool by_hand = sources.package == "libc6";
    sources.symbols = names[by_hand ? 1 : 0];
    sources.installable = by_hand;
}

std::string file_advice(const std::string& path, const SymbolSources& sources) {
    if (!sources.is_stripped) return fmt::format("its symbol table does not name them");
    if (sources.symbols.empty())
        return sources.has_packages
                   ? fmt::format(
                         "it has no symbols, and no package has it: build it with -g, and do not strip it")
                   : fmt::format("it has no symbols: install those of {}", path);
    if (sources.installed)
        return fmt::format("{} is installed, but not for this version of {}: update both", sources.symbols,
                           sources.package);
    if (sources.installable) return fmt::format("apt-get install {}", sources.symbols);
    return sources.archive.empty()
               ? fmt::format("install {}, the package with its debug symbols", sources.symbols)
               : fmt::format("apt-get install {}, which needs the line '{}' in /etc/apt/sources.list",
                             sources.symbols, sources.archive);
}

}  // namespace

std::string owning_package(std::string_view dpkg_output, std::string_view path) {
    TextLines lines{dpkg_output};
    for (std::string_view line; lines.next(line);) {
        if (!line.ends_with(path) || line.starts_with("diversion by ")) continue;
        std::string_view packages = line.substr(0, line.size() - path.size());
        if (!packages.ends_with(": ")) continue;
        packages.remove_suffix(2);
        // `libc6:amd64, libc6:i386`
        return std::string{packages.substr(0, packages.find_first_of(",:"))};
    }
    return {};
}

SymbolSources symbol_sources(const std::string& path) {
    SymbolSources sources;
    if (const auto file = ObjectFile::open(path)) {
        sources.has_build_id = !file->build_id().empty();
        sources.is_stripped = file->symbol_source() == SymbolSource::exported_only;
    }
    const std::string distribution = release_fact("ID"), codename = release_fact("VERSION_CODENAME");
    const auto* const known =
        std::ranges::find(kDistributions, std::string_view{distribution}, &Distribution::id);
    if (known != std::ranges::end(kDistributions)) {
        if (!codename.empty())
            sources.archive = fmt::format("deb {} {}{} {}", known->archive, codename, known->suite_suffix,
                                          known->components);
        sources.servers = known->servers;
    }
    if (const char* const servers = std::getenv("DEBUGINFOD_URLS"); servers != nullptr && *servers != '\0') {
        sources.servers = servers;
        sources.servers_set = true;
    }
    ask_dpkg(path, sources);
    ask_apt(sources);
    return sources;
}

std::string symbols_advice(const std::string& path, const SymbolSources& sources) {
    std::string text = file_advice(path, sources);
    const bool of_a_server = !sources.package.empty() || sources.servers_set;
    if (sources.is_stripped && sources.has_build_id && of_a_server && !sources.servers.empty())
        text +=
            fmt::format(", or {}debuginfod-find debuginfo {}",
                        sources.servers_set ? "" : fmt::format("DEBUGINFOD_URLS={} ", sources.servers), path);
    return text;
}

std::string largest_gap(const HotReport& report, const HotOptions& options) {
    constexpr double kWorthSaying = 10;
    const LeftOutLine* largest = nullptr;
    for (const LeftOutLine& line : report.hot.left_out) {
        const bool is_file =
            line.why == LeftOut::unresolved && !line.module.empty() && !is_no_file(line.module);
        if (!is_file && line.why != LeftOut::no_file) continue;
        if (largest == nullptr || line.percent > largest->percent) largest = &line;
    }
    const double most = largest != nullptr ? largest->percent : 0;
    if (std::max(most, report.hot.below_limit_percent) < kWorthSaying) return {};
    if (most < report.hot.below_limit_percent)
        return fmt::format(
            "{:.1f} % are in functions of at most {} % each: a lower rdam hot --min-percent lists them",
            report.hot.below_limit_percent, options.min_percent);
    if (largest->why == LeftOut::no_file)
        return fmt::format("{:.1f} % are in code that is in no file, which cannot be recorded", most);
    const auto changed = report.changed.find(largest->path);
    const std::string advice = changed != report.changed.end() ? changed->second
                               : largest->path.starts_with('/')
                                   ? symbols_advice(largest->path, symbol_sources(largest->path))
                                   : "install its debug symbols";
    return fmt::format("{:.1f} % are at addresses without a name in {}: {}", most, largest->module, advice);
}

std::string coverage_text(const HotReport& report, const HotOptions& options) {
    constexpr double kMost = 50;
    const double percent = listed_percent(report.hot);
    if (percent >= kMost) return {};
    const std::string gap = largest_gap(report, options);
    return fmt::format(
        "the listed functions have {:.1f} % of the samples: what the program does in the rest is not "
        "recorded{}{}",
        percent, gap.empty() ? "" : "; ", gap);
}

}  // namespace rdam
