// A trace in, a folder of columns out: docs/columns.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

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

}  // namespace rdam::columns
