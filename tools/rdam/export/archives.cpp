#include <filesystem>
#include <string>

#include "analyzer/views/visit.h"
#include "tools/base/interruption.h"
#include "tools/rdam/command/fresh_file.h"
#include "tools/rdam/command/terminal.h"
#include "tools/rdam/export/export.h"

namespace rdam {

namespace fs = std::filesystem;

Result<void> check_archive_place(const ExportArguments& options, const exports::Format& format) {
    const std::string& place = options.output;
    if (place.empty()) return fail("-o '': is no directory name: give one");
    std::error_code error;
    const fs::file_status status = fs::status(place, error);
    if (fs::exists(status) && !fs::is_directory(status))
        return fail("{}: is not a directory, and {} is one: give another path", place, format.name);
    if (!options.overwrite) return check_unused(place);
    if (check_unused(place)) return {};
    return format.check_only_archive(place);
}

Result<exports::Written> export_archive(const trace::TraceReader& reader, const ExportArguments& options,
                                        const exports::Format& format) {
    const std::string place = place_behind_links(options.output);
    const auto beside = TemporaryFolder::beside(place);
    if (!beside) return tl::unexpected{beside.error()};
    // Baselines and writing.
    ProgressLine progress{"exporting", 2 * reader.events()};
    const auto visit = views::Visit::prepare(reader, options.settings, [&](std::uint64_t events) {
        progress.update(events);
        return !Interruption::came();
    });
    if (!visit) return tl::unexpected{visit.error()};
    const std::string fresh = beside->file("archive");
    auto written = format.write_archive(*visit, {.jobs = options.settings.jobs}, {fresh, options.output});
    if (!written) return written;
    if (Interruption::came()) return fail("interrupted before the output was complete");
    // Somebody may have laid something there meanwhile.
    if (auto still = check_archive_place(options, format); !still) return tl::unexpected{still.error()};
    if (auto done = put_in_place(fresh, place, *beside); !done) return tl::unexpected{done.error()};
    return written;
}

namespace fs = std::filesystem;

std::string place_behind_links(const std::string& path) {
    std::error_code error;
    const fs::path canonical = fs::weakly_canonical(path, error);
    if (error) return path;
    // What does not exist yet keeps its slash at the end.
    return canonical.has_filename() ? canonical.string() : canonical.parent_path().string();
}

Result<void> put_in_place(const std::string& fresh, const std::string& place, const TemporaryFolder& beside) {
    std::error_code error;
    const std::string old = beside.file("old");
    const bool is_there = fs::exists(fs::symlink_status(place, error));
    error.clear();
    if (is_there) fs::rename(place, old, error);
    if (!error) {
        fs::rename(fresh, place, error);
        if (!error) return {};
        std::error_code lost;
        if (is_there) fs::rename(old, place, lost);
    }
    return fail("{}: cannot be {}: {}; give another path", place, is_there ? "replaced" : "written",
                error.message());
}

}  // namespace rdam
