#include "tools/agent/chunks/thread_table.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "tools/agent/memory/call_counts.h"
#include "tools/agent/process/process_facts.h"

namespace rdam::agent {

void ThreadTable::note_begin(const ChunkFacts& chunk) {
    trace::ThreadInfo& info = thread(chunk.thread);
    if (info.tid != 0) return;
    const auto facts = look_at_thread(shared_.control().threads[chunk.slot]);
    if (!facts || facts->index != chunk.thread) return;
    info.tid = numbers_.here(facts->tid);
    info.start = facts->start;
    info.name = facts->name;
}

bool ThreadTable::note_end(const shm::ThreadSlot& slot, const ThreadFacts& facts, std::uint64_t end) {
    trace::ThreadInfo& info = thread(facts.index);
    info.tid = numbers_.here(facts.tid);
    info.start = facts.start;
    // A thread that goes on behind its last destructor has told its end before; what comes later extends its life.
    if (facts.end != 0 || info.end == 0) info.end = facts.end != 0 ? facts.end : end;
    info.dropped += facts.dropped;
    const bool counted = note_calls(shared_, functions_, slot, info_, info);
    const std::string name = facts.end == 0 ? thread_name(pid_, info.tid) : std::string{};
    info.name = !name.empty() ? name : facts.name;
    return facts.intact && counted;
}

void ThreadTable::end_rest(std::uint64_t end) {
    for (trace::ThreadInfo& info : info_.threads)
        if (info.tid != 0 && info.end == 0) info.end = end;
}

bool ThreadTable::is_gone(std::uint32_t own) {
    return syscall(SYS_tgkill, pid_, numbers_.here(own), 0) != 0 && errno == ESRCH;
}

trace::ThreadInfo& ThreadTable::thread(std::uint32_t index) {
    if (index >= info_.threads.size()) info_.threads.resize(index + 1);
    return info_.threads[index];
}

}  // namespace rdam::agent
