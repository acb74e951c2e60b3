#include "tools/agent/drain.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <thread>
#include <tuple>
#include <utility>

#include "libprobe/format/free_list.h"
#include "tools/agent/call_counts.h"
#include "tools/agent/chunk_parser.h"
#include "tools/agent/regions.h"
#include "wrappers/plan/planner.h"

namespace rdam::agent {
namespace {

constexpr std::chrono::seconds kPatience{1};
constexpr std::size_t kMostHeld = 32;     ///< chunks of a thread that wait for one slot to be written
constexpr std::uint32_t kShareSpent = 8;  ///< of the chunks, at most, are kept for holes that were given up
/// No process has had so many threads; what says more is damaged.
constexpr std::uint32_t kMostThreads = 1 << 24;
constexpr std::size_t kMostAtOnce = 16;  ///< entries of the ring, before the caller looks around

std::optional<Budget> make_budget(const shm::Control& control, double ticks_per_second) {
    constexpr double kWindowSeconds = 2e-3;
    if (control.max_overhead_ppm == 0) return {};
    const auto ticks = [](std::uint64_t x16) { return static_cast<double>(x16) / 16; };
    return Budget(control.max_overhead_ppm * 1e-6,
                  {.recorded = ticks(control.probe_ticks_x16),
                   .unrecorded = ticks(control.unrecorded_ticks_x16),
                   .inside = ticks(control.inside_ticks_x16)},
                  kWindowSeconds * ticks_per_second);
}

}  // namespace

Drain::Drain(const SharedMemory& shared, const ProcessDescription& process, trace::TraceInfo& info,
             const TickRate& rate, WindowSampler& windows, std::string wanted)
    : shared_(shared),
      process_(process),
      info_(info),
      windows_(windows),
      finisher_(process, shared.control(), info),
      file_(info, rate, std::move(wanted)),
      budget_(make_budget(shared_.control(), rate.result())),
      first_moments_(info) {}

void Drain::note_events() {
    shm::Control& control = shared_.control();
    if (control.has_events.load() == 0 || control.file_futex.load() != 0) return;
    file_.open();
    control.file_futex.store(1);
    futex_wake(&control.file_futex, INT_MAX);
}

bool Drain::take_ring() {
    shm::Control& control = shared_.control();
    bool any = false;
    for (std::size_t i = 0; i < kMostAtOnce; ++i) {
        const std::uint32_t head = control.ring_head.load(std::memory_order_relaxed);
        const std::uint32_t entry = control.ring[head % shm::kRingSize].exchange(0);
        if (entry == 0) break;
        any = true;
        if ((entry & shm::kEndedThread) != 0)
            take_thread(entry & ~shm::kEndedThread);
        else if (entry - 1 < control.chunks)
            take_chunk(entry - 1);
        control.ring_head.store(head + 1);
    }
    if (any) file_.describe();
    return any;
}

/// Those that no thread has handed over: what was packed comes before what was not.
std::vector<std::uint32_t> Drain::chunks_left() const {
    const shm::Control& control = shared_.control();
    using Key = std::tuple<std::uint32_t, std::uint32_t, bool, std::uint32_t>;
    std::vector<Key> keys;  // a copy: threads that live may change what they are made of
    const std::uint32_t used = std::min(control.fresh_chunks.load(), control.chunks);
    for (std::uint32_t chunk = 0; chunk < used; ++chunk) {
        const shm::ChunkHeader& header = shared_.chunk_header(chunk);
        const auto state = header.state.load();
        if (state == shm::ChunkState::owned || state == shm::ChunkState::packing ||
            state == shm::ChunkState::full)
            keys.emplace_back(header.thread, header.sequence.load(), header.kind != shm::ChunkKind::packed,
                              chunk);
    }
    std::ranges::sort(keys);
    std::vector<std::uint32_t> left;
    for (const Key& key : keys)
        left.push_back(std::get<3>(key));
    return left;
}

/// A thread that lives finishes what it has begun, if it gets a processor.
void Drain::await_packing(std::uint32_t chunk) const {
    constexpr int kMostLooks = 200;
    constexpr std::chrono::milliseconds kBetween{1};
    const shm::ChunkHeader& header = shared_.chunk_header(chunk);
    for (int i = 0; i < kMostLooks && header.state.load() == shm::ChunkState::packing; ++i)
        std::this_thread::sleep_for(kBetween);
}

void Drain::take_rest(std::uint64_t end, bool lives) {
    const shm::Control& control = shared_.control();
    if (lives)
        for (const std::uint32_t chunk : chunks_left())
            await_packing(chunk);
    while (take_ring()) {
    }
    for (std::uint32_t thread = 0; thread < threads_.size(); ++thread)
        take_held(thread, Holes::give_up);
    for (const std::uint32_t chunk : chunks_left())
        take_chunk(chunk);
    for (std::uint32_t thread = 0; thread < threads_.size(); ++thread)
        take_held(thread, Holes::give_up);
    for (const shm::ThreadSlot& slot : control.threads) {
        const shm::ThreadState state = slot.state.load();
        if (state == shm::ThreadState::live || state == shm::ThreadState::ended) note_thread(slot, end);
    }
}

void Drain::take_chunk(std::uint32_t chunk) {
    finisher_.note_regions();
    const std::uint32_t thread = shared_.chunk_header(chunk).thread;
    if (thread >= kMostThreads) return give_back(chunk);
    thread_info(thread);
    auto& held = threads_[thread].held;
    held.push_back({.chunk = chunk, .since = std::chrono::steady_clock::now()});
    shared_.control().held.fetch_add(1);
    take_held(thread, patience(held));
}

/// A handler that has made so many calls may as well have jumped out of the probe.
Drain::Holes Drain::patience(const std::deque<HeldChunk>& held) {
    const bool long_ago = std::chrono::steady_clock::now() - held.front().since > kPatience;
    return held.size() > kMostHeld && long_ago ? Holes::give_up : Holes::wait;
}

/// Takes the thread's chunks in their order, up to one with a slot that is not written yet.
void Drain::take_held(std::uint32_t thread, Holes holes) {
    auto& held = threads_[thread].held;
    while (!held.empty()) {
        if (!read_chunk(held.front(), thread, holes)) return;
        held.pop_front();
        shared_.control().held.fetch_sub(1);
    }
}

/// False: there is a hole that may be filled yet.
bool Drain::read_chunk(HeldChunk& held, std::uint32_t thread, Holes holes) {
    if (shared_.chunk_header(held.chunk).kind != shm::ChunkKind::packed)
        return read_slots(held, thread, holes);
    read_records(held.chunk, thread);
    give_back(held.chunk);
    return true;
}

void Drain::read_records(std::uint32_t chunk, std::uint32_t thread) {
    const std::uint32_t used = shared_.chunk_header(chunk).used.load();
    if (used < shm::kChunkHeader || used > shm::kChunkSize) return;
    const std::span<const std::uint8_t> bytes{shared_.chunk(chunk), used};
    finisher_.add_records(thread, bytes.subspan(shm::kChunkHeader), packs_);
    write(thread);
}

/// A chunk with a hole that was given up is not used again while its thread lives: what is written there late
/// must not look like another thread's event.
bool Drain::read_slots(HeldChunk& held, std::uint32_t thread, Holes holes) {
    const shm::ChunkHeader& header = shared_.chunk_header(held.chunk);
    if (held.from == 0) {
        const auto packed = finisher_.last_packed(thread);
        held.from = packed.sequence == header.sequence.load() ? packed.end : shm::kChunkHeader;
    }
    const bool full = header.state.load() == shm::ChunkState::full;
    ChunkParser parser({shared_.chunk(held.chunk), shm::kChunkSize}, finisher_.rules(),
                       full ? header.used.load() : 0, held.from);
    Slot slot;
    std::size_t at = parser.at();
    auto step = parser.next(slot);
    for (; step != ChunkParser::Step::end; at = parser.at(), step = parser.next(slot)) {
        if (step == ChunkParser::Step::hole) {
            if (holes == Holes::wait) break;
            parser.skip_hole();
            continue;
        }
        const auto* words = reinterpret_cast<const std::uint64_t*>(shared_.chunk(held.chunk) + at);
        finisher_.add_slot(thread, {words, (parser.at() - at) / sizeof *words}, packs_);
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
    if (!budget_ && !first_moments_.over()) look_at_first_moments();
    file_.append(thread, packs_);
    packs_.clear();
}

void Drain::spend(std::uint32_t chunk, std::uint32_t thread) {
    shared_.chunk_header(chunk).state.store(shm::ChunkState::spent);
    threads_[thread].spent.push_back(chunk);
    if (++spent_ <= shared_.control().chunks / kShareSpent) return;
    for (ThreadData& data : threads_)
        free_spent(data);
}

void Drain::free_spent(ThreadData& data) {
    for (const std::uint32_t chunk : data.spent)
        give_back(chunk);
    spent_ -= static_cast<std::uint32_t>(data.spent.size());
    data.spent.clear();
}

/// Under a budget nothing needs to be said: what is too hot is sampled.
void Drain::look_at_first_moments() {
    if (!decoder_.decode(packs_, info_)) return;
    first_moments_.see(std::as_const(decoder_).events());
    shm::Control& control = shared_.control();
    if (control.notice_size.load() != 0) return;  // the last one is not printed yet
    std::string text;
    for (const std::string& notice : first_moments_.take_notices())
        text += "rdam: " + notice + "\n";
    control.notice_size.store(static_cast<std::uint32_t>(text.copy(control.notice, sizeof control.notice)),
                              std::memory_order_release);
}

/// Regions have no rate: the program's author has chosen how often they are.
void Drain::watch_cost(std::uint32_t thread) {
    if (!decoder_.decode(packs_, info_)) return;
    std::uint64_t last = 0;
    for (const trace::Event& event : std::as_const(decoder_).events()) {
        last = std::max(last, event.tsc);
        if (event.kind == trace::EventKind::pause) {
            budget_->paused(thread, event.until - event.tsc);
        } else if (event.kind != trace::EventKind::leave) {
            const bool region = info_.functions[event.function].module == kRegionModule;
            if (region)
                budget_->region(thread, event.function);
            else
                budget_->call(thread, event.function, event.sampling != 0,
                              event.sampling != 0 ? event.sampling - 1 : 0);
        }
    }
    if (last != 0 && budget_->seen(thread, last)) set_rates();
}

void Drain::set_rates() {
    shm::Control& control = shared_.control();
    const std::size_t functions = std::min<std::size_t>(info_.functions.size(), shm::kFirstRegion);
    for (std::uint32_t i = 0; i < functions; ++i) {
        const std::uint8_t rate = budget_->rate(i);
        control.rates[i].store(rate, std::memory_order_relaxed);
        trace::FunctionInfo& function = info_.functions[i];
        function.most_rate = std::max(function.most_rate, rate);
        if (budget_->windowed(i) && function.windowed_since == 0) function.windowed_since = windows_.add(i);
    }
    control.rates_changed.fetch_add(1);
}

bool Drain::look_again() {
    shm::Control& control = shared_.control();
    // Whoever waits for a chunk cannot wait for a probe that may never go on.
    const Holes holes = control.waiters.load() > 0 ? Holes::give_up : Holes::wait;
    if (control.held.load() > 0)
        for (std::uint32_t thread = 0; thread < threads_.size(); ++thread)
            take_held(thread, holes);
    if (control.reopened.load() > 0) take_gone_threads();
    return control.held.load() > 0;
}

void Drain::take_gone_threads() {
    shm::Control& control = shared_.control();
    for (std::uint32_t i = 0; i < shm::kMaxThreads; ++i) {
        shm::ThreadSlot& slot = control.threads[i];
        if (slot.state.load() != shm::ThreadState::live || slot.reopened == 0) continue;
        if (syscall(SYS_tgkill, process_.pid, slot.tid, 0) == 0 || errno != ESRCH) continue;
        for (std::atomic<std::uint32_t>* of_thread : {&slot.packed, &slot.chunk})
            if (const std::uint32_t chunk = of_thread->exchange(shm::kNone); chunk < control.chunks)
                take_chunk(chunk);
        control.reopened.fetch_sub(1);
        take_thread(i);
    }
}

/// What it holds is zeroed by the thread that takes it.
void Drain::give_back(std::uint32_t chunk) {
    shm::Control& control = shared_.control();
    shm::push_free(control, chunk,
                   [&](std::uint32_t each) -> shm::ChunkHeader& { return shared_.chunk_header(each); });
    control.free_futex.fetch_add(1);
    if (control.waiters.load() > 0) futex_wake(&control.free_futex, INT_MAX);
}

void Drain::take_thread(std::uint32_t slot) {
    if (slot >= shm::kMaxThreads) return;
    shm::ThreadSlot& thread = shared_.control().threads[slot];
    // Read once: the program can write to it.
    if (const std::uint32_t index = thread.index; index < threads_.size()) {
        take_held(index, Holes::give_up);
        free_spent(threads_[index]);
        finisher_.forget(index);
        if (budget_) budget_->ended(index);
    }
    note_thread(thread, thread.end);
    if (thread.state.load() == shm::ThreadState::ended) shared_.control().threads_done.fetch_add(1);
    thread.state.store(shm::ThreadState::free, std::memory_order_release);
}

void Drain::note_thread(const shm::ThreadSlot& slot, std::uint64_t end) {
    const std::uint32_t index = slot.index;
    if (index >= kMostThreads) return;
    trace::ThreadInfo& info = thread_info(index);
    info.tid = slot.tid;
    info.start = slot.start;
    info.end = slot.end != 0 ? slot.end : end;
    info.dropped += slot.dropped;
    note_calls(shared_, slot, info_, info);
    const std::string name = slot.end == 0 ? thread_name(process_.pid, slot.tid) : std::string{};
    info.name = !name.empty() ? name : std::string{slot.name, strnlen(slot.name, sizeof slot.name)};
}

trace::ThreadInfo& Drain::thread_info(std::uint32_t index) {
    if (index >= info_.threads.size()) info_.threads.resize(index + 1);
    if (index >= threads_.size()) threads_.resize(index + 1);
    return info_.threads[index];
}

void Drain::add_remarks(bool clean_end) {
    const shm::Control& control = shared_.control();
    info_.process.clean_end = clean_end;
    info_.dropped = control.dropped.load();
    for (const trace::ThreadInfo& thread : info_.threads)
        info_.dropped += thread.dropped;
    if (finisher_.damaged() > 0)
        info_.remarks.push_back(
            fmt::format("{} of the recorder's buffers made no sense: the program has written into them, and "
                        "events are missing",
                        finisher_.damaged()));
    if (const std::uint64_t lent = control.lent.load(); lent > 0)
        info_.remarks.push_back(fmt::format(
            "{} events of threads that share their storage with a process they have made (clone) are not in "
            "the trace",
            lent));
    if (control.gave_up.load() != 0)
        info_.remarks.emplace_back(
            "the end of the run is not in the trace: system calls that the recorder needs fail in the "
            "program; allow "
            "pidfd_open, poll and futex where they are forbidden (seccomp), or give more with RDAM_BUFFER");
}

std::string Drain::finish(bool clean_end, bool tell_none) {
    add_remarks(clean_end);
    std::string text = file_.finish();
    if (info_.dropped > 0 && writer() != nullptr)
        text += fmt::format(
            "rdam: {} events were dropped: {}\n", info_.dropped,
            shared_.control().out_of_memory.load() != 0
                ? "the machine had no memory for more buffers; free some, or record fewer functions"
                : "the buffers were full; give more with RDAM_BUFFER");
    if (!finisher_.any_calls() && tell_none)
        text += "rdam: no wrapped function was called: no trace was written\n";
    return text;
}

}  // namespace rdam::agent
