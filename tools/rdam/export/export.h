// What `rdam export` was asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/export/format.h"
#include "analyzer/settings/settings.h"
#include "tools/base/files.h"
#include "tools/base/result.h"
#include "tools/rdam/command/scoring_options.h"
#include "tools/trace/reader.h"

namespace rdam {

struct ExportArguments {
    std::string trace = "trace.bin";
    std::string columns;                       ///< a directory or a .parquet file; empty: a format
    std::string format;                        ///< of exports::all_formats(); empty: columns
    std::string output = "-";                  ///< of a format
    std::optional<std::uint64_t> budget = {};  ///< slices; 0: all calls; nothing: the format's usual ones
    std::string weight = {};                   ///< kWeights; empty: the first
    bool arrows = false;
    score::Settings settings;
    RulesChoice rules_choice;
    std::string rules;  ///< the file in force
    bool overwrite = false;
};

/// Says on stderr what the trace has lost, and the export therefore has not. `unknown_ends`: what has become
/// of calls of which nobody knows when they ended.
void say_losses(const trace::TraceReader& reader, const std::string& name, const std::string& unknown_ends);

// `rdam export --format`, for formats that are a directory.

/// Whether the directory may go where it is wanted. Error: why not.
Result<void> check_archive_place(const ExportArguments& options, const exports::Format& format);

/// What was written, and is at its place.
Result<exports::Written> export_archive(const trace::TraceReader& reader, const ExportArguments& options,
                                        const exports::Format& format);

// A directory that is there as a whole or not at all: made beside its place, then renamed.

/// Where a link leads, so that it stays one.
std::string place_behind_links(const std::string& path);

/// `fresh`, a directory in `beside`, becomes `place`, where there is nothing or a directory, which `beside`
/// then takes with it. After an error `place` is unchanged.
Result<void> put_in_place(const std::string& fresh, const std::string& place, const TemporaryFolder& beside);

// `rdam export --columns`.

/// Whether the columns may go where they are wanted. Error: why not.
Result<void> check_columns_place(const ExportArguments& options);

/// The exit code.
Result<int> export_columns(const trace::TraceReader& reader, const ExportArguments& options);

// `rdam export --format`.

/// Whether the output may go where it is wanted. Error: why not.
Result<void> check_format_place(const ExportArguments& options);

/// The exit code.
Result<int> export_format(const trace::TraceReader& reader, const ExportArguments& options);

// Columns to a Parquet file: pyarrow writes it, called by the Python module that is installed with rdam.

/// Whether pyarrow is installed; an error says for which Python it must be. `file`: the file that needs it.
Result<void> check_parquet(const std::string& file);

/// The folder of an export (analyzer/columns) as `file`, which is replaced once the new one is whole.
Result<void> write_parquet(const std::string& columns, const std::string& file);

}  // namespace rdam
