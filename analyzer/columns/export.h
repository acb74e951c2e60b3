// A trace in, a folder of columns out: docs/columns.md.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/columns/thread_writer.h"
#include "analyzer/settings/settings.h"
#include "tools/base/result.h"
#include "tools/trace/reader.h"

namespace rdam::columns {

struct ExportOptions {
    /// Which calls are the same sequence, which functions are left out, and the selection: which calls have
    /// rows. `jobs` is not looked at.
    score::Settings settings;
    std::string trace;  ///< its path, for later readers of the columns
    std::string rules;  ///< the path of the rules file that `settings` come from; empty: none
    /// Called now and then with the number of events read so far. False: stop, with an error.
    std::function<bool(std::uint64_t events)> progress;
};

struct Exported {
    std::uint64_t calls = 0;
    std::uint64_t sequences = 0;
};

/// Writes `folder`, which must not exist or be empty; after an error nothing of it is left. Memory grows with
/// the distinct sequences of one thread and the functions, not with the calls. Errors: settings that the
/// trace does not know, a place that cannot be written, `progress`.
Result<Exported> export_columns(const trace::TraceReader& reader, const std::string& folder,
                                const ExportOptions& options);

// columns.json: what the directory of an export contains, and small data that needs no columns.

inline constexpr const char* kContentsFile = "columns.json";
inline constexpr const char* kFormat = "rdam columns";  ///< its `format`

/// The folders in the folder of an export. The last is only there where context switches were recorded.
inline constexpr std::array<std::string_view, 4> kFolders{"calls", "sequences", "values", "off_cpu"};

struct Contents {
    Tables& tables;
    trace::TimeScale time;
    std::vector<std::uint64_t> first_call;  ///< row of each thread's first call
};

/// Writes it into the tables' folder.
Result<void> write_contents(const Contents& contents, const trace::TraceReader& reader,
                            const ExportOptions& options);

// Checks that a directory holds an export and nothing else; only then may it be replaced.

/// Error: `folder` is not one that export_columns() has made, or something else lies in it, which is named.
Result<void> check_only_columns(const std::string& folder);

}  // namespace rdam::columns
