#include "tests/unit/analysis/recording_file.h"

#include <fcntl.h>

#include "analyzer/trace/write/writer.h"
#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

void encode(trace::ChunkEncoder& encoder, const trace::Event& event) {
    switch (event.kind) {
        case trace::EventKind::enter:
        case trace::EventKind::tail_enter:
            encoder.enter(event.tsc, event.function, event.cpu, event.caller,
                          event.kind == trace::EventKind::tail_enter, event.stack, event.words);
            break;
        case trace::EventKind::leave:
            encoder.leave(event.tsc, event.function, event.cpu, event.unwound, event.words);
            break;
        case trace::EventKind::pause:
            encoder.pause(event.tsc, event.until, event.reason);
            break;
    }
}

}  // namespace

void write_file(const Recording& recording, const std::string& path) {
    auto writer = trace::TraceWriter::create(open(path.c_str(), O_RDWR | O_CLOEXEC), "memory");
    REQUIRE(writer);
    trace::ChunkEncoder encoder;
    for (std::uint32_t t = 0; t < recording.threads.size(); ++t) {
        for (const ThreadRecording::Piece& piece : recording.threads[t].pieces()) {
            for (const trace::Event& event : piece.events) {
                encode(encoder, event);
                if (encoder.events() == 500) REQUIRE(writer->append(t, encoder));
            }
        }
        if (encoder.events() > 0) REQUIRE(writer->append(t, encoder));
        trace::OffCpuEncoder off;
        for (const trace::OffCpu& each : recording.threads[t].times_off())
            off.add(each);
        if (off.intervals() > 0) REQUIRE(writer->append_off_cpu(recording.info.threads[t].tid, off));
    }
    REQUIRE(writer->finish(recording.info));
}

}  // namespace rdam::test
