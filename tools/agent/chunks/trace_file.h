// The file that a process's events go to, from the moment there is something to write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "libprobe/format/shared.h"
#include "tools/agent/process/process_facts.h"
#include "tools/trace/event.h"
#include "tools/trace/pack_decoder.h"
#include "tools/trace/trace_name.h"
#include "tools/trace/writer.h"

namespace rdam::agent {

/// Not thread-safe.
class TraceFile {
  public:
    /// `info` has all that is known before the first event, and is completed later; its remarks have been
    /// printed. `wanted` is the output path; `name` is the run's lock on it, to which errors are reported.
    TraceFile(trace::TraceInfo& info, const TickRate& rate, std::string wanted, trace::NameLock& name)
        : info_(info), rate_(rate), wanted_(std::move(wanted)), name_(name), printed_(info.remarks.size()) {}

    /// False: it cannot be opened; finish() says why.
    bool open();

    /// Null while there is no file.
    trace::TraceWriter* writer() { return writer_ ? &*writer_ : nullptr; }

    /// Writes the packs as the next chunk of the thread. What cannot be written is counted.
    void append(std::uint32_t thread, const trace::Packs& packs);

    /// Writes what is new in `info`, at most once a second.
    void describe();

    /// Closes the file. Returns what is to be said on stderr, lines of "rdam: …\n".
    std::string finish();

  private:
    std::string displaced() const;

    trace::TraceInfo& info_;
    const TickRate& rate_;
    std::string wanted_;
    trace::NameLock& name_;
    const std::size_t printed_;  ///< of the remarks, from the first on
    std::string path_;
    bool replaced_ = false;
    int fd_ = -1;  ///< the writer's
    std::optional<trace::TraceWriter> writer_;
    std::string error_;
    std::uint64_t lost_ = 0;       ///< events
    std::uint64_t described_ = 0;  ///< ticks of the last description
};

// What a trace says of the recording as a whole, once that is over.

/// Adds to `info` what was lost and why. `damaged`: in how many places the process's memory made no sense so
/// far.
void add_remarks(const shm::Control& control, std::uint64_t damaged, trace::TraceInfo& info);

/// Why events were dropped, and the remedy. `error`: an errno, for which the machine gave no more buffers; 0:
/// it gave what it was asked.
std::string why_dropped(std::uint32_t error);

}  // namespace rdam::agent
