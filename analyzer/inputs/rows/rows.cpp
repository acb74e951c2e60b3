#include "analyzer/inputs/rows/rows.h"

#include <unistd.h>

#include "analyzer/calls/crowding.h"
#include "analyzer/inputs/rows/division.h"
#include "analyzer/inputs/rows/survey.h"
#include "tools/trace/windows.h"
#include "tools/trace/writer.h"

namespace rdam::inputs {
namespace {

Result<void> write_windows(const trace::TraceInfo& info, trace::TraceWriter& writer) {
    trace::WindowsEncoder encoder;
    for (const trace::Window& window : info.windows) {
        encoder.add(window);
        if (!encoder.full()) continue;
        if (auto done = writer.append_windows(encoder); !done) return done;
    }
    return writer.append_windows(encoder);
}

Result<void> write_rows(const trace::TraceReader& reader, trace::TraceWriter& writer,
                        const Progress& progress) {
    const auto off_cpu = calls::Absences::of(reader);
    if (!off_cpu) return tl::unexpected{off_cpu.error()};
    const auto survey = survey_stacks(reader);
    if (!survey) return tl::unexpected{survey.error()};
    Division division{reader, *off_cpu, *survey, writer, progress};
    if (auto done = division.run(); !done) return done;
    if (auto done = write_windows(reader.info(), writer); !done) return done;
    return writer.finish(division.describe());
}

}  // namespace

bool switches_stacks(const trace::TraceReader& reader) {
    for (std::uint32_t thread = 0; thread < reader.info().threads.size(); ++thread)
        if (reader.switches_stacks(thread)) return true;
    return false;
}

Result<trace::TraceReader> divide_into_rows(const trace::TraceReader& reader, const std::string& name,
                                            const Progress& progress) {
    const auto file = TemporaryTrace::create(name);
    if (!file) return tl::unexpected{file.error()};
    auto writer = trace::TraceWriter::create(file->to_write, "the temporary copy of " + name, 0,
                                             trace::Purpose::temporary_copy);
    auto written = writer ? write_rows(reader, *writer, progress) : tl::unexpected{writer.error()};
    if (!written) {
        close(file->to_read);
        return tl::unexpected{written.error()};
    }
    auto rows = trace::TraceReader::read_descriptor(file->to_read, name);
    if (rows) rows->add_damage(reader.damage());
    return rows;
}

}  // namespace rdam::inputs
