// How much of what perf saw is on a list, and what would put more on it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "wrappers/hot/hot_report.h"

namespace rdam {

/// Of the samples that are in no function of the list, the most that have one reason, and what to do about it: `91.4 % are
/// at addresses without a name in povray: apt-get install povray-dbgsym, …`. Empty:
/// no reason is worth a word. Asks the package system of the machine where files lack names; it uses no network.
std::string largest_gap(const HotReport& report, const HotOptions& options);

/// What a user may take for the whole program, and is a part of it: the share of the samples on the list and
/// largest_gap(). Empty: the list has most of the samples.
std::string coverage_text(const HotReport& report, const HotOptions& options);

// Where the names of a file's functions may be had.

/// What the package system and the surroundings tell.
struct SymbolSources {
    std::string package = {};   ///< that owns the file; empty: none does, or that is not known
    std::string symbols = {};   ///< the package of its debug symbols, as far as names tell; empty: likewise
    bool has_packages = false;  ///< dpkg is there: a file without `package` is of none
    bool installable = false;   ///< apt knows `symbols`
    bool installed = false;     ///< `symbols` is installed, perhaps in another version
    std::string archive = {};   ///< the line of sources.list that lets apt know it; empty: not known
    bool has_build_id = false;  ///< debuginfod can be asked for the file
    bool is_stripped = false;   ///< it has no symbol table
    std::string servers = {};  ///< of debuginfod: DEBUGINFOD_URLS, or those of the distribution; may be empty
    bool servers_set = false;  ///< they are those of DEBUGINFOD_URLS
};

SymbolSources symbol_sources(const std::string& path);

/// `apt-get install povray-dbgsym, or debuginfod-find debuginfo /usr/bin/povray`.
std::string symbols_advice(const std::string& path, const SymbolSources& sources);

/// The package in the output of `dpkg-query --search` that owns exactly this file; empty: none.
std::string owning_package(std::string_view dpkg_output, std::string_view path);

}  // namespace rdam
