// rdam export: from a trace to columns for pandas, Polars, DuckDB and numpy.
#include "analyzer/columns/export.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "analyzer/columns/folder_check.h"
#include "analyzer/output/units.h"
#include "analyzer/trace/read/reader.h"
#include "tools/rdam/command/command.h"
#include "tools/rdam/command/output_place.h"
#include "tools/rdam/command/progress_line.h"
#include "tools/rdam/command/rules_options.h"
#include "tools/rdam/command/sequence_options.h"
#include "tools/rdam/command/terminal.h"
#include "tools/rdam/parquet.h"
#include "wrappers/support/interruption.h"

namespace rdam {
namespace {

struct Options {
    std::string trace = "trace.bin";
    std::string columns;
    score::Settings settings;
    RulesChoice rules_choice;
    std::string rules;  // the file in force
    bool overwrite = false;
};

/// A folder beside `file`, where there must be room anyway. Gone at the end.
class FolderBeside {
  public:
    static Result<std::unique_ptr<FolderBeside>> create(const std::string& file) {
        std::string path = file + ".XXXXXX";
        if (mkdtemp(path.data()) == nullptr)
            return fail("{}: cannot be written: {}; give a file in a directory that you may write to", file,
                        std::strerror(errno));
        return std::unique_ptr<FolderBeside>{new FolderBeside{path}};
    }
    ~FolderBeside() {
        std::error_code error;
        std::filesystem::remove_all(path_, error);
    }
    FolderBeside(const FolderBeside&) = delete;
    FolderBeside& operator=(const FolderBeside&) = delete;
    FolderBeside(FolderBeside&&) = delete;
    FolderBeside& operator=(FolderBeside&&) = delete;

    const std::string& path() const { return path_; }

  private:
    explicit FolderBeside(std::string path) : path_(std::move(path)) {}
    std::string path_;
};

void say_losses(const trace::TraceReader& reader, const std::string& name) {
    const trace::Damage damage = reader.damage();
    const auto say_of_it = [&](const std::string& what) { say(fmt::format("{}: {}", name, what)); };
    if (damage.no_index) say_of_it("its end is missing: exported what is there");
    if (damage.bad_chunks + damage.missing_chunks > 0)
        say_of_it(fmt::format("{} chunks are damaged and {} missing: their calls are not exported",
                              damage.bad_chunks, damage.missing_chunks));
    if (reader.info().dropped > 0)
        say_of_it(fmt::format("{} events were lost during recording", reader.info().dropped));
}

Result<columns::Exported> write_folder(const trace::TraceReader& reader, const Options& options,
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

Result<columns::Exported> write_file(const trace::TraceReader& reader, const Options& options) {
    const auto folder = FolderBeside::create(options.columns);
    if (!folder) return tl::unexpected{folder.error()};
    if (auto there = check_parquet(options.columns); !there) return tl::unexpected{there.error()};
    auto exported = write_folder(reader, options, (*folder)->path());
    if (!exported) return exported;
    if (auto written = write_parquet((*folder)->path(), options.columns); !written)
        return tl::unexpected{written.error()};
    return exported;
}

bool is_file_wanted(const Options& options) {
    return options.columns.ends_with(".parquet");
}

Result<void> check_place(const Options& options) {
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

/// `fresh` becomes `place`, and the previous content becomes `old`, in a directory of our own. After an error
/// `place` is unchanged.
Result<void> exchange(const std::string& fresh, const std::string& place, const std::string& old) {
    std::error_code error;
    std::filesystem::rename(place, old, error);
    if (!error) {
        std::filesystem::rename(fresh, place, error);
        if (!error) return {};
        std::error_code lost;
        std::filesystem::rename(old, place, lost);
    }
    return fail("{}: cannot be replaced: {}; give another path", place, error.message());
}

Result<columns::Exported> replace_folder(const trace::TraceReader& reader, const Options& options) {
    std::error_code error;
    if (check_unused(options.columns) || !std::filesystem::is_directory(options.columns, error))
        return write_folder(reader, options, options.columns);
    // A link stays one.
    const std::filesystem::path canonical = std::filesystem::canonical(options.columns, error);
    const std::string place = error ? options.columns : canonical.string();
    const auto folder = FolderBeside::create(place);
    if (!folder) return tl::unexpected{folder.error()};
    const std::string columns = (*folder)->path() + "/columns";
    auto exported = write_folder(reader, options, columns);
    if (!exported) return exported;
    // Somebody may have laid something there meanwhile.
    if (auto still = check_place(options); !still) return tl::unexpected{still.error()};
    if (auto done = exchange(columns, place, (*folder)->path() + "/old"); !done)
        return tl::unexpected{done.error()};
    return exported;
}

Result<void> use_rules(Options& options, const trace::TraceInfo& info) {
    const auto loaded = load_rules(options.rules_choice, {options.trace});
    if (!loaded) return tl::unexpected{loaded.error()};
    if (!*loaded) return {};
    options.rules = (*loaded)->file;
    apply_rules((*loaded)->rules, options.settings);
    score::SharedSettings shared{options.settings};
    shared.look_at(info);
    say_unused_rules(*loaded, shared);
    return {};
}

Result<int> run(Options options) {
    if (auto place = check_place(options); !place) return tl::unexpected{place.error()};
    const auto waiting = [&] { say(options.trace + ": waiting for rdam-agent to finish it"); };
    const auto reader = trace::TraceReader::open(options.trace, waiting);
    if (!reader) return tl::unexpected{reader.error()};
    if (auto used = use_rules(options, reader->info()); !used) return tl::unexpected{used.error()};
    const Interruption interruption;
    const auto exported = options.columns.ends_with(".parquet") ? write_file(*reader, options)
                                                                : replace_folder(*reader, options);
    if (!exported) return tl::unexpected{exported.error()};
    say_losses(*reader, options.trace);
    say(fmt::format("{}: {} of {}", options.columns, output::counted(exported->calls, "call", "calls"),
                    output::counted(exported->sequences, "sequence", "sequences")));
    return kExitDone;
}

}  // namespace

Run add_export(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    app.add_option("trace", options->trace, "The trace to read")->option_text("TRACE [trace.bin]");
    app.add_option("--columns", options->columns,
                   "Write one row per call: to a directory of columns that numpy maps into memory, or to a "
                   "Parquet file")
        ->option_text("DIR|FILE.parquet")
        ->required();
    app.add_flag(kOverwriteOption, options->overwrite, kOverwriteText);
    add_sequence_options(app, options->settings);
    add_rules_options(app, options->rules_choice);
    return [options] { return run(*options); };
}

}  // namespace rdam
