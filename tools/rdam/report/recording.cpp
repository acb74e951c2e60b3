#include "tools/rdam/report/recording.h"

#include <utility>

#include "tools/rdam/command/terminal.h"

namespace rdam {
namespace {

constexpr std::size_t kSequencesOnPage = 100;

}  // namespace

Result<Recording> analyze_recording(trace::TraceReader reader, const score::Settings& settings) {
    Recording recording{.reader = std::move(reader), .symbols = {}, .analysis = {}, .around = {}};
    recording.symbols = output::make_symbols(recording.reader.info());
    ProgressLine progress{"analyzing", recording.reader.events()};
    auto analysis =
        hints::analyze(recording.reader, settings,
                       {.most_sequences = kSequencesOnPage,
                        .progress = [&](std::uint64_t events) { progress.update_or_stop(events); }});
    if (!analysis) return tl::unexpected{analysis.error()};
    recording.analysis = std::move(*analysis);
    auto around = around::surroundings(recording.reader, recording.analysis.report, {.jobs = settings.jobs});
    if (!around) return tl::unexpected{around.error()};
    recording.around = std::move(*around);
    return recording;
}

output::PageRun page_run(const std::string& file, const Recording& recording) {
    return {file, recording.analysis, recording.reader.info(), *recording.symbols, recording.around};
}

}  // namespace rdam
