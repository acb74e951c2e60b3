#include "tools/agent/recording.h"

#include <fmt/format.h>

#include <climits>
#include <utility>

#include "tools/agent/chunks/trace_file.h"

namespace rdam::agent {

void Recording::WatchedFile::append(std::uint32_t thread, const trace::Packs& packs) {
    cost_.see(thread, packs);
    file_.append(thread, packs);
}

Recording::Recording(const SharedMemory& shared, const ProcessDescription& process, trace::TraceInfo& info,
                     const TickRate& rate, ThreadNumbers& numbers, std::string wanted, trace::NameLock& name)
    : shared_(shared),
      info_(info),
      file_(info, rate, std::move(wanted), name),
      cost_(shared, info),
      sink_(cost_, file_),
      translator_(shared, process, info, sink_),
      threads_(shared, process, numbers, info),
      chunks_(shared, threads_, translator_) {}

void Recording::note_events() {
    shm::Control& control = shared_.control();
    if (control.has_events.load() == 0 || control.file_futex.load() != 0) return;
    file_.open();
    control.file_futex.store(1);
    futex_wake(&control.file_futex, INT_MAX);
}

std::string Recording::finish(bool clean_end, bool tell_none) {
    info_.process.clean_end = clean_end;
    add_remarks(shared_.control(), damaged_ + chunks_.damaged() + translator_.damaged(), info_);
    std::string text = file_.finish();
    if (info_.dropped > 0 && file_.writer() != nullptr)
        text += fmt::format("rdam: {} events were dropped: {}\n", info_.dropped,
                            why_dropped(shared_.control().out_of_memory.load()));
    if (!translator_.any_calls() && tell_none)
        text += "rdam: no wrapped function was called: no trace was written\n";
    return text;
}

}  // namespace rdam::agent
