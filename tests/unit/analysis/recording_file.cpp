#include "tests/unit/analysis/recording_file.h"

#include <fcntl.h>

#include <utility>

#include "tests/unit/catch.h"
#include "tools/trace/writer.h"

namespace rdam::test {
namespace {

void encode(trace::ChunkEncoder& encoder, const trace::Event& event) {
    switch (event.kind) {
        case trace::EventKind::enter:
        case trace::EventKind::tail_enter:
            encoder.enter(event.tsc, event.function, event.cpu, event.caller,
                          event.kind == trace::EventKind::tail_enter, event.stack, event.words,
                          event.sampling, event.instructions);
            break;
        case trace::EventKind::leave:
            encoder.leave(event.tsc, event.function, event.cpu, event.unwound, event.words,
                          event.instructions);
            break;
        case trace::EventKind::pause:
            encoder.pause(event.tsc, event.until, event.reason);
            break;
        case trace::EventKind::stack_switch:
            encoder.stack_switch(event.tsc, event.until);
            break;
    }
}

}  // namespace

void write_file(const Recording& recording, const std::string& path, std::size_t events) {
    auto writer = trace::TraceWriter::create(open(path.c_str(), O_RDWR | O_CLOEXEC), "memory");
    REQUIRE(writer);
    trace::ChunkEncoder encoder;
    for (std::uint32_t t = 0; t < recording.threads.size(); ++t) {
        for (const ThreadRecording::Piece& piece : recording.threads[t].pieces()) {
            if (piece.gap_before) {
                if (encoder.events() > 0) REQUIRE(writer->append(t, encoder));
                encoder.gap();
            }
            for (const trace::Event& event : piece.events) {
                encode(encoder, event);
                if (encoder.events() == events) REQUIRE(writer->append(t, encoder));
            }
        }
        if (encoder.events() > 0) REQUIRE(writer->append(t, encoder));
        trace::OffCpuEncoder off;
        for (const trace::OffCpu& each : recording.threads[t].times_off())
            off.add(each);
        if (off.intervals() > 0) REQUIRE(writer->append_off_cpu(recording.info.threads[t].tid, off));
    }
    trace::WindowsEncoder windows;
    for (const trace::Window& window : recording.info.windows)
        windows.add(window);
    if (!recording.info.windows.empty()) REQUIRE(writer->append_windows(windows));
    REQUIRE(writer->finish(recording.info));
}

trace::TraceReader reader_of(const Recording& recording, std::size_t events) {
    const MemoryFile file;
    write_file(recording, file.path(), events);
    auto reader = trace::TraceReader::open(file.path());
    if (!reader) FAIL(reader.error().message);
    return std::move(*reader);
}

}  // namespace rdam::test
