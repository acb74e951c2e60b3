#include "tools/agent/write/drain.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <thread>
#include <tuple>
#include <utility>

#include "libprobe/format/free_list.h"
#include "tools/agent/memory/call_counts.h"
#include "tools/agent/memory/chunk_parser.h"
#include "tools/agent/memory/regions.h"
#include "tools/agent/write/remarks.h"

namespace rdam::agent {
namespace {

constexpr std::chrono::seconds kDrainPatience{1};
constexpr std::size_t kMaxHeld = 32;      ///< chunks of a thread that wait for one slot to be written
constexpr std::uint32_t kShareSpent = 8;  ///< of the chunks, at most, are kept for holes that were given up
constexpr std::size_t kMaxAtOnce = 16;    ///< entries of the ring, before the caller looks around

/// And the remedy. `error`: an errno, for which the machine gave no more buffers; 0: it gave what it was
/// asked.
std::string why_dropped(std::uint32_t error) {
    switch (error) {
        case 0:
            return "the buffers were full; make them larger with --buffer (RDAM_BUFFER)";
        case EPERM:
        case EACCES:
        case EINVAL:
        case ENOSYS:
            return fmt::format(
                "the kernel refused memory for more buffers (mprotect or madvise: {}); allow these calls "
                "where they are forbidden (seccomp)",
                std::strerror(static_cast<int>(error)));
        default:
            return "the machine had no memory for more buffers; free some, or record fewer functions";
    }
}

}  // namespace

Drain::Drain(const SharedMemory& shared, const ProcessDescription& process, trace::TraceInfo& info,
             const TickRate& rate, WindowSampler& windows, std::string wanted, trace::NameLock& name)
    : shared_(shared),
      process_(process),
      info_(info),
      windows_(windows),
      ring_(shared.control()),
      finisher_(process, shared.control(), shared.measured().step, info),
      file_(info, rate, std::move(wanted), name),
      budget_(make_budget(shared_, rate.result())),
      first_moments_(info),
      here_(shared.start().chunks),
      left_(shared.start().chunks) {}

void Drain::note_events() {
    shm::Control& control = shared_.control();
    if (control.has_events.load() == 0 || control.file_futex.load() != 0) return;
    file_.open();
    control.file_futex.store(1);
    futex_wake(&control.file_futex, INT_MAX);
}

void Drain::tell_again() const {
    ring_.tell_again();
    shared_.control().held.store(held_);
    shared_.control().threads_done.store(threads_done_);
}

void Drain::take_entry(std::uint32_t raw) {
    const auto entry = read_entry(raw, shared_.start().chunks);
    if (!entry)
        finisher_.note_damage();
    else if (entry->ended_thread)
        take_thread(entry->index);
    else
        take_full(entry->index);
}

bool Drain::take_ring() {
    bool any = false;
    for (std::size_t i = 0; i < kMaxAtOnce; ++i) {
        const std::uint32_t entry = ring_.next();
        if (entry == 0) break;
        any = true;
        take_entry(entry);
        ring_.done();
    }
    if (any) file_.describe();
    return any;
}

void Drain::take_told() {
    for (std::uint32_t left = ring_.announced(); left > 0 && ring_.announced() > 0 && take_ring();)
        left -= std::min<std::uint32_t>(left, kMaxAtOnce);
}

/// Those whose entry has come after all.
void Drain::take_late() {
    for (const std::uint32_t entry : ring_.take_late())
        take_entry(entry);
}

/// Those that no thread has handed over: what was packed comes before what was not. `count` as damage what
/// cannot be told.
std::vector<std::uint32_t> Drain::chunks_left(bool count) {
    using Key = std::tuple<std::uint32_t, std::uint32_t, bool, std::uint32_t>;
    std::vector<Key> keys;  // a copy: threads that live may change what they are made of
    const std::uint32_t used = used_chunks(shared_.control(), shared_.start().chunks);
    for (std::uint32_t chunk = 0; chunk < used; ++chunk) {
        const auto state = shared_.chunk_header(chunk).state.load();
        if (here_[chunk] || is_free(state) || state == shm::ChunkState::spent) continue;
        if (const auto facts = look_at_chunk(shared_, chunk); facts && is_possible(facts->thread))
            keys.emplace_back(facts->thread, facts->sequence, facts->kind != shm::ChunkKind::packed, chunk);
        else if (count)
            finisher_.note_damage();
    }
    std::ranges::sort(keys);
    std::vector<std::uint32_t> left;
    for (const Key& key : keys)
        left.push_back(std::get<3>(key));
    return left;
}

/// Threads that live finish what they have begun, if they get a processor.
void Drain::await_packing() {
    constexpr int kMaxLooks = 200;
    constexpr std::chrono::milliseconds kBetween{1};
    int looks = 0;
    for (const std::uint32_t chunk : chunks_left(false))
        for (; looks < kMaxLooks && shared_.chunk_header(chunk).state.load() == shm::ChunkState::packing;
             ++looks)
            std::this_thread::sleep_for(kBetween);
}

void Drain::take_all_held() {
    for (std::uint32_t thread = 0; thread < threads_.size(); ++thread)
        take_held(thread, Holes::give_up);
}

void Drain::take_rest(std::uint64_t end, bool lives) {
    if (lives) await_packing();
    while (take_ring()) {
    }
    take_late();
    take_all_held();
    for (const std::uint32_t chunk : chunks_left(true))
        take_chunk(chunk);
    take_all_held();
    for (const shm::ThreadSlot& slot : shared_.control().threads) {
        const shm::ThreadState state = slot.state.load();
        if (state == shm::ThreadState::free || state == shm::ThreadState::left ||
            state == shm::ThreadState::claimed)
            continue;
        const auto facts = look_at_thread(slot);
        const bool known = state == shm::ThreadState::live || state == shm::ThreadState::ended;
        if (!known || !facts || !is_possible(facts->index)) finisher_.note_damage();
        if (facts && is_possible(facts->index)) note_thread(slot, *facts, end);
    }
    // Whose slots could not be read.
    for (trace::ThreadInfo& info : info_.threads)
        if (info.tid != 0 && info.end == 0) info.end = end;
}

/// There are no more threads than slots besides those that have ended.
bool Drain::is_possible(std::uint32_t thread) const {
    return thread < threads_done_ + shm::kMaxThreads;
}

/// Of a thread that is heard of for the first time: what it tells may be written over by the time it ends.
void Drain::note_begin(const ChunkFacts& chunk) {
    trace::ThreadInfo& info = thread_info(chunk.thread);
    if (info.tid != 0) return;
    const auto facts = look_at_thread(shared_.control().threads[chunk.slot]);
    if (!facts || facts->index != chunk.thread) return;
    info.tid = facts->tid;
    info.start = facts->start;
    info.name = facts->name;
}

/// An entry may name another chunk than it did.
void Drain::take_full(std::uint32_t chunk) {
    const shm::ChunkState state = shared_.chunk_header(chunk).state.load();
    if (here_[chunk] || (is_state(state) && state != shm::ChunkState::full)) return finisher_.note_damage();
    take_chunk(chunk);
}

void Drain::take_chunk(std::uint32_t chunk) {
    finisher_.note_regions();
    const auto facts = look_at_chunk(shared_, chunk);
    if (!facts || !is_possible(facts->thread)) {
        finisher_.note_damage();
        return give_back(chunk);
    }
    if (!facts->whole) finisher_.note_damage();
    note_begin(*facts);
    auto& held = threads_[facts->thread].held;
    here_[chunk] = true;
    const bool full = shared_.chunk_header(chunk).state.load() == shm::ChunkState::full;
    held.push_back(
        {.chunk = chunk, .facts = *facts, .full = full, .since = std::chrono::steady_clock::now()});
    shared_.control().held.store(++held_);
    take_held(facts->thread, patience(held));
}

/// A handler that has made so many calls may as well have jumped out of the probe.
Drain::Holes Drain::patience(const std::deque<HeldChunk>& held) {
    const bool long_ago = std::chrono::steady_clock::now() - held.front().since > kDrainPatience;
    return held.size() > kMaxHeld && long_ago ? Holes::give_up : Holes::wait;
}

/// Takes the thread's chunks in their order, up to one with a slot that is not written yet.
void Drain::take_held(std::uint32_t thread, Holes holes) {
    auto& held = threads_[thread].held;
    while (!held.empty()) {
        if (!read_chunk(held.front(), thread, holes)) return;
        held.pop_front();
        shared_.control().held.store(--held_);
    }
}

/// False: there is a hole that may be filled yet.
bool Drain::read_chunk(HeldChunk& held, std::uint32_t thread, Holes holes) {
    if (held.facts.kind != shm::ChunkKind::packed) return read_slots(held, thread, holes);
    read_records(held, thread);
    give_back(held.chunk);
    return true;
}

void Drain::read_records(const HeldChunk& held, std::uint32_t thread) {
    if (held.facts.used < shm::kChunkHeader) return;
    const std::span<const std::uint8_t> shared{shared_.chunk(held.chunk), held.facts.used};
    copy_.assign(shared.begin() + shm::kChunkHeader, shared.end());
    for (std::span<const std::uint8_t> left(copy_); !left.empty(); write(thread))
        left = left.subspan(finisher_.add_records(thread, left, packs_));
}

/// A chunk with a hole that was given up is not used again while its thread lives: what is written there late
/// must not look like another thread's event.
bool Drain::read_slots(HeldChunk& held, std::uint32_t thread, Holes holes) {
    const auto packed = finisher_.last_packed(thread);
    if (held.from == 0) {
        held.from = packed.sequence == held.facts.sequence ? packed.end : shm::kChunkHeader;
        const bool late = packed.sequence != shm::kNone && held.facts.sequence < packed.sequence;
        if (late) finisher_.note_damage();
        if (late || (held.facts.number != 0 && !finisher_.note_number(thread, held.facts.number))) {
            give_back(held.chunk);
            return true;
        }
    }
    ChunkParser parser({shared_.chunk(held.chunk), shm::kChunkSize}, finisher_.rules(),
                       held.full ? held.facts.used : 0, held.from);
    Slot slot;
    auto step = parser.next(slot);
    for (; step != ChunkParser::Step::end; step = parser.next(slot)) {
        if (step == ChunkParser::Step::hole) {
            if (holes == Holes::wait) break;
            parser.skip_hole();
            continue;
        }
        finisher_.add_slot(thread, slot.raw, packs_);
    }
    finisher_.flush(thread, packs_);
    write(thread);
    held.from = parser.at();
    if (step == ChunkParser::Step::hole) return false;
    thread_info(thread).holes += parser.holes();
    if (parser.holes() > 0)
        spend(held.chunk, thread);
    else
        give_back(held.chunk);
    return true;
}

void Drain::write(std::uint32_t thread) {
    if (packs_.events == 0) return;
    if (budget_) watch_cost(thread);
    if (!budget_ && first_moments_.wants_next()) look_at_first_moments();
    file_.append(thread, packs_);
    packs_.clear();
}

void Drain::spend(std::uint32_t chunk, std::uint32_t thread) {
    shared_.chunk_header(chunk).state.store(shm::ChunkState::spent);
    threads_[thread].spent.push_back(chunk);
    if (++spent_ <= shared_.start().chunks / kShareSpent) return;
    for (ThreadData& data : threads_)
        free_spent(data);
}

void Drain::free_spent(ThreadData& data) {
    for (const std::uint32_t chunk : data.spent)
        give_back(chunk);
    spent_ -= static_cast<std::uint32_t>(data.spent.size());
    data.spent.clear();
}

bool Drain::look_again() {
    shm::Control& control = shared_.control();
    // Whoever waits for a chunk cannot wait for a probe that may never go on.
    const Holes holes = control.waiters.load() > 0 ? Holes::give_up : Holes::wait;
    take_late();
    if (held_ > 0)
        for (std::uint32_t thread = 0; thread < threads_.size(); ++thread)
            take_held(thread, holes);
    if (control.reopened.load() > 0) take_gone_threads();
    return held_ > 0;
}

void Drain::take_gone_threads() {
    shm::Control& control = shared_.control();
    for (std::uint32_t i = 0; i < shm::kMaxThreads; ++i) {
        shm::ThreadSlot& slot = control.threads[i];
        if (slot.state.load() != shm::ThreadState::live) continue;
        const auto facts = look_at_thread(slot);
        if (!facts || !facts->reopened) continue;
        if (syscall(SYS_tgkill, process_.pid, facts->tid, 0) == 0 || errno != ESRCH) continue;
        // What it has handed over comes before what it was at.
        take_told();
        if (ring_.announced() > 0) continue;
        for (std::atomic<std::uint32_t>* of_thread : {&slot.packed, &slot.chunk})
            if (const std::uint32_t chunk = of_thread->exchange(shm::kNone); is_of(chunk, facts->index)) {
                left_[chunk] = true;
                take_chunk(chunk);
            }
        control.reopened.fetch_sub(1);
        take_thread(i);
    }
}

bool Drain::is_of(std::uint32_t chunk, std::uint32_t thread) const {
    if (chunk >= shared_.start().chunks || here_[chunk]) return false;
    const auto facts = look_at_chunk(shared_, chunk);
    return facts && facts->thread == thread;
}

/// What it holds is zeroed by the thread that takes it.
void Drain::give_back(std::uint32_t chunk) {
    shm::Control& control = shared_.control();
    here_[chunk] = false;
    const auto state = left_[chunk] ? shm::ChunkState::left : shm::ChunkState::free;
    left_[chunk] = false;
    shm::push_free(
        control, chunk, [&](std::uint32_t each) -> shm::ChunkHeader& { return shared_.chunk_header(each); },
        state);
    control.free_futex.fetch_add(1);
    if (control.waiters.load() > 0) futex_wake(&control.free_futex, INT_MAX);
}

void Drain::take_thread(std::uint32_t slot) {
    shm::ThreadSlot& thread = shared_.control().threads[slot];
    const auto facts = look_at_thread(thread);
    const shm::ThreadState state = thread.state.load();
    const bool gone = state == shm::ThreadState::ended || (facts && facts->reopened);
    if (!gone || !facts || !is_possible(facts->index)) {
        finisher_.note_damage();
        if (state == shm::ThreadState::ended)
            thread.state.store(shm::ThreadState::free, std::memory_order_release);
        return;
    }
    if (const std::uint32_t index = facts->index; index < threads_.size()) {
        take_held(index, Holes::give_up);
        free_spent(threads_[index]);
        finisher_.forget(index);
        if (budget_) budget_->ended(index);
    }
    if (facts->end != 0) finisher_.note_end(facts->index, facts->numbers);
    note_thread(thread, *facts, 0);
    if (state == shm::ThreadState::ended) shared_.control().threads_done.store(++threads_done_);
    thread.state.store(state == shm::ThreadState::ended ? shm::ThreadState::free : shm::ThreadState::left,
                       std::memory_order_release);
}

void Drain::note_thread(const shm::ThreadSlot& slot, const ThreadFacts& facts, std::uint64_t end) {
    trace::ThreadInfo& info = thread_info(facts.index);
    info.tid = facts.tid;
    info.start = facts.start;
    info.end = facts.end != 0 ? facts.end : end;
    info.dropped += facts.dropped;
    const bool counted = note_calls(shared_, slot, info_, info);
    if (!facts.whole || !counted) finisher_.note_damage();
    const std::string name = facts.end == 0 ? thread_name(process_.pid, facts.tid) : std::string{};
    info.name = !name.empty() ? name : facts.name;
}

trace::ThreadInfo& Drain::thread_info(std::uint32_t index) {
    if (index >= info_.threads.size()) info_.threads.resize(index + 1);
    if (index >= threads_.size()) threads_.resize(index + 1);
    return info_.threads[index];
}

std::string Drain::finish(bool clean_end, bool tell_none) {
    info_.process.clean_end = clean_end;
    add_remarks(shared_.control(), finisher_.damaged(), info_);
    std::string text = file_.finish();
    if (info_.dropped > 0 && writer() != nullptr)
        text += fmt::format("rdam: {} events were dropped: {}\n", info_.dropped,
                            why_dropped(shared_.control().out_of_memory.load()));
    if (!finisher_.any_calls() && tell_none)
        text += "rdam: no wrapped function was called: no trace was written\n";
    return text;
}

}  // namespace rdam::agent
