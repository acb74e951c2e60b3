#include "tools/rdam/export/formats.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/formats/format.h"
#include "analyzer/output/units.h"
#include "analyzer/views/visit.h"
#include "tools/rdam/command/command.h"
#include "tools/rdam/command/fresh_file.h"
#include "tools/rdam/command/progress_line.h"
#include "tools/rdam/command/terminal.h"
#include "wrappers/support/interruption.h"

namespace rdam {
namespace {

class FileSink final : public formats::Sink {
  public:
    explicit FileSink(FreshFile& file) : file_(file) {}
    Result<void> write(std::string_view bytes) override {
        if (Interruption::came()) return fail("interrupted before the output was complete");
        return file_.write(bytes);
    }

  private:
    FreshFile& file_;
};

/// The name is one of the table's: the command line has been checked.
const formats::Format& format_of(const ExportArguments& options) {
    return *std::ranges::find(formats::all_formats(), options.format, &formats::Format::name);
}

void say_written(const ExportArguments& options, const formats::Written& written) {
    std::string text = output::counted(written.calls, "call", "calls");
    if (written.merged > 0)
        text +=
            fmt::format("; {} more are merged by time (--budget all: none)", output::grouped(written.merged));
    say(fmt::format("{}: {}", options.output == "-" ? options.trace : options.output, text));
}

}  // namespace

Result<void> check_format_place(const ExportArguments& options) {
    return check_output(options.output, {options.trace}, options.overwrite);
}

Result<int> export_format(const trace::TraceReader& reader, const ExportArguments& options) {
    const formats::Format& format = format_of(options);
    const std::uint64_t budget = format.budget ? options.budget.value_or(kUsualBudget) : 0;
    const Interruption interruption;
    auto file = FreshFile::create(options.output);
    if (!file) return tl::unexpected{file.error()};
    // Baselines, choice and writing.
    const std::uint64_t passes = budget > 0 ? 3 : 2;
    ProgressLine progress{"exporting", passes * reader.events()};
    const auto visit = views::Visit::prepare(reader, options.settings, [&](std::uint64_t events) {
        progress.update(events);
        return !Interruption::came();
    });
    if (!visit) return tl::unexpected{visit.error()};
    FileSink sink{*file};
    const auto written = format.write(*visit, {.budget = budget, .jobs = options.settings.jobs}, sink);
    if (!written) return tl::unexpected{written.error()};
    if (auto finished = file->finish(); !finished) return tl::unexpected{finished.error()};
    say_losses(reader, options.trace);
    say_written(options, *written);
    return kExitDone;
}

}  // namespace rdam
