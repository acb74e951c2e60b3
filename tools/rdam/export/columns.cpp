// From a trace to columns for pandas, Polars, DuckDB and numpy.
#include <filesystem>
#include <string>

#include "analyzer/columns/export.h"
#include "tools/base/interruption.h"
#include "tools/base/units.h"
#include "tools/rdam/command/command.h"
#include "tools/rdam/command/fresh_file.h"
#include "tools/rdam/command/terminal.h"
#include "tools/rdam/export/export.h"
#include "tools/trace/reader.h"

namespace rdam {
namespace {

Result<columns::Exported> write_folder(const trace::TraceReader& reader, const ExportArguments& options,
                                       const std::string& folder) {
    ProgressLine progress{"exporting", reader.events()};
    return columns::export_columns(reader, folder,
                                   {.settings = options.settings,
                                    .trace = absolute(options.trace),
                                    .rules = options.rules.empty() ? "" : absolute(options.rules),
                                    .progress = [&](std::uint64_t events) {
                                        progress.update(events);
                                        return !Interruption::came();
                                    }});
}

Result<columns::Exported> write_file(const trace::TraceReader& reader, const ExportArguments& options) {
    const auto folder = TemporaryFolder::beside(options.columns);
    if (!folder) return tl::unexpected{folder.error()};
    if (auto there = check_parquet(options.columns); !there) return tl::unexpected{there.error()};
    auto exported = write_folder(reader, options, folder->path());
    if (!exported) return exported;
    if (auto written = write_parquet(folder->path(), options.columns); !written)
        return tl::unexpected{written.error()};
    return exported;
}

bool is_file_wanted(const ExportArguments& options) {
    return options.columns.ends_with(".parquet");
}

Result<void> check_place(const ExportArguments& options) {
    std::error_code error;
    const bool is_folder = std::filesystem::is_directory(options.columns, error);
    if (is_file_wanted(options) && is_folder)
        return fail("{}: is a directory: give a file, or a directory name without .parquet", options.columns);
    // If a file is where the directory should be, creating it reports the error.
    if (!is_folder && !is_file_wanted(options)) return {};
    // A reader may wait at a pipe that would be gone.
    if (is_file_wanted(options) && std::filesystem::exists(options.columns, error) && !is_folder &&
        !std::filesystem::is_regular_file(options.columns, error))
        return fail("{}: is not a regular file, and is not replaced; give another path", options.columns);
    if (!options.overwrite) return check_unused(options.columns);
    if (!is_folder || check_unused(options.columns)) return {};
    return columns::check_only_columns(options.columns);
}

Result<columns::Exported> replace_folder(const trace::TraceReader& reader, const ExportArguments& options) {
    std::error_code error;
    if (check_unused(options.columns) || !std::filesystem::is_directory(options.columns, error))
        return write_folder(reader, options, options.columns);
    const std::string place = place_behind_links(options.columns);
    const auto folder = TemporaryFolder::beside(place);
    if (!folder) return tl::unexpected{folder.error()};
    const std::string columns = folder->file("columns");
    auto exported = write_folder(reader, options, columns);
    if (!exported) return exported;
    // Somebody may have laid something there meanwhile.
    if (auto still = check_place(options); !still) return tl::unexpected{still.error()};
    if (auto done = put_in_place(columns, place, *folder); !done) return tl::unexpected{done.error()};
    return exported;
}

}  // namespace

Result<void> check_columns_place(const ExportArguments& options) {
    return check_place(options);
}

Result<int> export_columns(const trace::TraceReader& reader, const ExportArguments& options) {
    const Interruption interruption{Interruption::Told::here};
    const auto exported =
        is_file_wanted(options) ? write_file(reader, options) : replace_folder(reader, options);
    if (!exported) return tl::unexpected{exported.error()};
    say_losses(reader, options.trace, "calls have no end");
    say(fmt::format("{}: {} of {}", options.columns, output::counted(exported->calls, "call", "calls"),
                    output::counted(exported->sequences, "sequence", "sequences")));
    return kExitDone;
}

}  // namespace rdam
