#include "analyzer/columns/export.h"

#include <algorithm>
#include <memory>
#include <span>

#include "analyzer/calls/call_stream.h"
#include "analyzer/calls/crowding.h"
#include "analyzer/columns/contents.h"
#include "analyzer/columns/thread_writer.h"
#include "analyzer/report/score_trace.h"
#include "analyzer/report/selection.h"
#include "tools/trace/clock.h"

namespace rdam::columns {
namespace {

bool has_off_cpu(const trace::TraceInfo& info) {
    using State = trace::SwitchInfo::State;
    return info.switches.state == State::recorded || info.switches.state == State::stopped;
}

void write_off_cpu(std::span<const trace::OffCpu> intervals, const trace::TickRange& window,
                   std::uint32_t thread, Contents& contents) {
    if (!contents.tables.off_cpu) return;
    for (const trace::OffCpu& each : intervals) {
        const std::uint64_t out = std::max(each.out, window.begin), in = std::min(each.in, window.end);
        if (out >= in) continue;
        contents.tables.off_cpu->append(thread, contents.time.since_origin(out),
                                        contents.time.since_origin(in),
                                        each.cpu == trace::kNoCpu ? -1 : std::int32_t{each.cpu},
                                        each.preempted, each.by_recorder, each.by_program);
    }
}

Result<void> write_threads(const trace::TraceReader& reader, const score::ResolvedSettings& settings,
                           const score::ResolvedSelection& selection,
                           const std::function<bool(std::uint64_t)>& progress, Contents& contents) {
    const Folder& folder = contents.tables.folder;
    std::uint64_t events = 0;
    const auto times = calls::Absences::of(reader);
    if (!times) return tl::unexpected{times.error()};
    for (std::uint32_t thread = 0; thread < reader.info().threads.size(); ++thread) {
        contents.first_call.push_back(contents.tables.calls.rows());
        if (!std::ranges::binary_search(selection.threads, thread)) continue;
        const auto off_cpu = times->thread(thread);
        if (!off_cpu) return tl::unexpected{off_cpu.error()};
        calls::CallStream stream{
            reader,
            thread,
            *off_cpu,
            {.window = selection.window, .ignored = settings.ignored, .ends = settings.ends}};
        ThreadWriter writer{thread, reader.info(), settings, selection.shown, contents.time, contents.tables};
        auto read = stream.read(writer, [&](std::size_t more) {
            events += more;
            return !folder.error() && (!progress || progress(events));
        });
        if (folder.error()) return tl::unexpected{*folder.error()};
        if (!read) return read;
        writer.finish();
        write_off_cpu(*off_cpu, selection.window.value_or(trace::TickRange{}), thread, contents);
    }
    return {};
}

Result<Exported> fill(const trace::TraceReader& reader, const ExportOptions& options,
                      const score::ResolvedSettings& settings, const score::ResolvedSelection& selection,
                      Folder& folder) {
    const bool with_off_cpu = has_off_cpu(reader.info());
    for (const std::string_view room : std::span{kRooms}.first(kRooms.size() - (with_off_cpu ? 0 : 1))) {
        if (auto made = folder.make_room(room); !made) return tl::unexpected{made.error()};
    }
    Tables tables{folder, reader.info()};
    if (with_off_cpu) tables.off_cpu = std::make_unique<OffCpuTable>(folder);
    Contents contents{.tables = tables, .time = trace::time_scale(reader.info()), .first_call = {}};
    if (auto written = write_threads(reader, settings, selection, options.progress, contents); !written)
        return tl::unexpected{written.error()};
    tables.finish();
    if (folder.error()) return tl::unexpected{*folder.error()};
    // Last, so that a folder without it is known for half an export.
    if (auto written = write_contents(contents, reader, options); !written)
        return tl::unexpected{written.error()};
    return Exported{.calls = tables.calls.rows(), .sequences = tables.sequences.rows()};
}

}  // namespace

Result<Exported> export_columns(const trace::TraceReader& reader, const std::string& folder,
                                const ExportOptions& options) {
    const auto settings = score::resolve(reader.info(), options.settings);
    if (!settings) return tl::unexpected{settings.error()};
    const auto selection = score::resolve_selection(reader.info(), options.settings.selection);
    if (!selection) return tl::unexpected{selection.error()};
    auto place = Folder::create(folder);
    if (!place) return tl::unexpected{place.error()};
    auto exported = fill(reader, options, *settings, *selection, *place);
    if (!exported) place->discard();
    return exported;
}

}  // namespace rdam::columns
