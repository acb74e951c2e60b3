#include "tools/agent/drain.h"

#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "tools/agent/output_file.h"
#include "tools/agent/regions.h"
#include "wrappers/support/printable.h"

namespace rdam::agent {
namespace {

constexpr std::uint16_t kNoCpuInSlot = 0xfff;
constexpr double kDescribeSeconds = 1.0;
constexpr std::uint16_t kNoFunction = 0xffff;
constexpr std::chrono::seconds kPatience{1};
constexpr std::size_t kMostHeld = 32;     ///< chunks of a thread that wait for one slot to be written
constexpr std::uint32_t kShareSpent = 8;  ///< of the chunks, at most, are kept for holes that were given up
constexpr std::size_t kMostPending = 64;

/// As trace::Event has it.
std::uint8_t sampling_of(const Slot& slot) {
    const bool tree = (slot.rate & RDAM_RATE_TREE) != 0;
    return tree ? static_cast<std::uint8_t>(1 + (slot.rate & RDAM_MOST_RATE)) : std::uint8_t{0};
}

std::uint16_t cpu_of(const Slot& slot) {
    return slot.cpu == kNoCpuInSlot ? trace::kNoCpu : slot.cpu;
}

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
      rate_(rate),
      windows_(windows),
      wanted_(std::move(wanted)),
      unwinder_(process) {
    read_rules();
    budget_ = make_budget(shared_.control(), rate.result());
}

void Drain::read_rules() {
    rules_ = {};
    for (const trace::FunctionInfo& function : info_.functions) {
        rules_.enter_words.push_back(function.enter_words);
        rules_.leave_words.push_back(function.leave_words);
    }
    if (regions_.empty()) return;
    // Numbers in between stand for nothing.
    rules_.enter_words.resize(shm::kFirstRegion, kNoFunction);
    rules_.leave_words.resize(shm::kFirstRegion, kNoFunction);
    for (const std::uint32_t index : regions_) {
        rules_.enter_words.push_back(info_.functions[index].enter_words);
        rules_.leave_words.push_back(0);
    }
}

/// Regions are known to the process before it writes their first event, and to us before we read it.
void Drain::note_regions() {
    const shm::Control& control = shared_.control();
    const std::uint32_t count = std::min(control.region_count.load(), shm::kMaxRegions);
    if (count == regions_.size()) return;
    for (std::size_t i = regions_.size(); i < count; ++i) {
        regions_.push_back(static_cast<std::uint32_t>(info_.functions.size()));
        info_.functions.push_back(describe_region(control.regions[i]));
    }
    read_rules();
}

std::uint32_t Drain::index_of(std::uint32_t function) const {
    const std::uint32_t region = function - shm::kFirstRegion;
    return function >= shm::kFirstRegion && region < regions_.size() ? regions_[region] : function;
}

void Drain::note_objects(const std::vector<ProcessObject>& added) {
    read_rules();
    for (const ProcessObject& object : added)
        unwinder_.add(object);
}

void Drain::note_events() {
    shm::Control& control = shared_.control();
    if (control.has_events.load() == 0 || control.file_futex.load() != 0) return;
    open_file();
    control.file_futex.store(1);
    futex_wake(&control.file_futex, INT_MAX);
}

bool Drain::take_ring() {
    shm::Control& control = shared_.control();
    bool any = false;
    for (;;) {
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
    if (any) describe();
    return any;
}

void Drain::take_rest(std::uint64_t end) {
    while (take_ring()) {
    }
    for (std::uint32_t thread = 0; thread < threads_.size(); ++thread)
        take_held(thread, Holes::give_up);
    const shm::Control& control = shared_.control();
    std::vector<std::uint32_t> left;
    const std::uint32_t used = std::min(control.fresh_chunks.load(), control.chunks);
    for (std::uint32_t chunk = 0; chunk < used; ++chunk)
        if (const auto state = shared_.chunk_header(chunk).state.load();
            state == shm::ChunkState::owned || state == shm::ChunkState::full)
            left.push_back(chunk);
    std::ranges::sort(left, {}, [&](std::uint32_t chunk) {
        const shm::ChunkHeader& header = shared_.chunk_header(chunk);
        return std::pair{header.thread, header.sequence};
    });
    for (const std::uint32_t chunk : left)
        take_chunk(chunk);
    for (std::uint32_t thread = 0; thread < threads_.size(); ++thread)
        take_held(thread, Holes::give_up);
    for (const shm::ThreadSlot& slot : control.threads) {
        const shm::ThreadState state = slot.state.load();
        if (state == shm::ThreadState::live || state == shm::ThreadState::ended) note_thread(slot, end);
    }
}

void Drain::take_chunk(std::uint32_t chunk) {
    note_regions();
    const std::uint32_t thread = shared_.chunk_header(chunk).thread;
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

/// False: there is a hole that may be filled yet. A chunk with a hole that was given up is not used again
/// while its thread lives: what is written there late must not look like another thread's event.
bool Drain::read_chunk(HeldChunk& held, std::uint32_t thread, Holes holes) {
    const shm::ChunkHeader& header = shared_.chunk_header(held.chunk);
    const bool full = header.state.load() == shm::ChunkState::full;
    ChunkParser parser({shared_.chunk(held.chunk), shm::kChunkSize}, rules_, full ? header.used : 0,
                       held.from);
    Slot slot;
    std::uint64_t last = 0;
    auto step = parser.next(slot);
    for (; step != ChunkParser::Step::end; step = parser.next(slot)) {
        if (step == ChunkParser::Step::hole) {
            if (holes == Holes::wait) break;
            parser.skip_hole();
            continue;
        }
        if (budget_) watch_cost(thread, slot);
        if (slot.kind != shm::SlotKind::pause) slot.function = index_of(slot.function);
        add_slot(slot, thread);
        last = std::max(last, slot.tsc);
    }
    if (encoder_.events() > 0) append(thread);
    if (budget_ && last != 0 && budget_->seen(thread, last)) set_rates();
    held.from = parser.at();
    if (step == ChunkParser::Step::hole) return false;
    thread_info(thread).holes += parser.holes();
    if (parser.holes() > 0)
        spend(held.chunk, thread);
    else
        give_back(held.chunk);
    return true;
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

/// Regions have no rate: the program's author has chosen how often they are.
void Drain::watch_cost(std::uint32_t thread, const Slot& slot) {
    switch (slot.kind) {
        case shm::SlotKind::enter:
        case shm::SlotKind::tail_enter:
            if (slot.function >= shm::kFirstRegion) return budget_->region(thread, slot.function);
            budget_->call(thread, slot.function, (slot.rate & RDAM_RATE_TREE) != 0,
                          slot.rate & RDAM_MOST_RATE);
            break;
        case shm::SlotKind::pause:
            budget_->paused(thread, slot.until - slot.tsc);
            break;
        case shm::SlotKind::stack:
            budget_->paused(thread, slot.stack->end - slot.tsc);
            break;
        default:
            break;
    }
}

void Drain::set_rates() {
    shm::Control& control = shared_.control();
    const std::size_t functions = std::min<std::size_t>(rules_.enter_words.size(), shm::kFirstRegion);
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
        const std::uint32_t chunk = slot.chunk.load();
        if (chunk < control.chunks) take_chunk(chunk);
        slot.chunk.store(shm::kNone);
        control.reopened.fetch_sub(1);
        take_thread(i);
    }
}

void Drain::give_back(std::uint32_t chunk) {
    shm::Control& control = shared_.control();
    shm::ChunkHeader& header = shared_.chunk_header(chunk);
    std::memset(shared_.chunk(chunk) + shm::kChunkHeader, 0, shm::kChunkLimit + 1024 - shm::kChunkHeader);
    header.used = 0;
    header.state.store(shm::ChunkState::free, std::memory_order_release);
    std::uint64_t top = control.free_chunks.load();
    for (;;) {
        header.next_free.store(static_cast<std::uint32_t>(top));
        const std::uint64_t next = ((top >> 32) + 1) << 32 | (chunk + 1);
        if (control.free_chunks.compare_exchange_weak(top, next)) break;
    }
    control.free_futex.fetch_add(1);
    if (control.waiters.load() > 0) futex_wake(&control.free_futex, INT_MAX);
}

void Drain::take_thread(std::uint32_t slot) {
    if (slot >= shm::kMaxThreads) return;
    shm::ThreadSlot& thread = shared_.control().threads[slot];
    if (thread.index < threads_.size()) {
        take_held(thread.index, Holes::give_up);
        free_spent(threads_[thread.index]);
        if (budget_) budget_->ended(thread.index);
    }
    note_thread(thread, thread.end);
    thread.state.store(shm::ThreadState::free, std::memory_order_release);
}

void Drain::note_thread(const shm::ThreadSlot& slot, std::uint64_t end) {
    trace::ThreadInfo& info = thread_info(slot.index);
    info.tid = slot.tid;
    info.start = slot.start;
    info.end = slot.end != 0 ? slot.end : end;
    info.dropped += slot.dropped;
    const std::string name = slot.end == 0 ? thread_name(process_.pid, slot.tid) : std::string{};
    info.name = !name.empty() ? name : std::string{slot.name, strnlen(slot.name, sizeof slot.name)};
}

trace::ThreadInfo& Drain::thread_info(std::uint32_t index) {
    if (index >= info_.threads.size()) info_.threads.resize(index + 1);
    if (index >= threads_.size()) threads_.resize(index + 1);
    return info_.threads[index];
}

/// The function of the frame that is left: `function`, or the innermost one. Frames inside it were abandoned.
std::uint32_t Drain::close_frame(ThreadData& thread, std::uint32_t function) {
    auto& open = thread.open;
    if (function == shm::kInnermostFunction) {
        if (open.empty()) return function;
        function = open.back();
    }
    for (std::size_t i = open.size(); i > 0; --i)
        if (open[i - 1] == function) {
            open.resize(i - 1);
            break;
        }
    return function;
}

void Drain::add_slot(const Slot& slot, std::uint32_t thread) {
    thread_info(thread);
    ThreadData& data = threads_[thread];
    switch (slot.kind) {
        case shm::SlotKind::enter:
        case shm::SlotKind::tail_enter: {
            const bool tail = slot.kind == shm::SlotKind::tail_enter;
            encoder_.enter(slot.tsc, slot.function, cpu_of(slot), slot.caller, tail,
                           take_pending_stack(data, slot), slot.words, sampling_of(slot), slot.instructions);
            if (!tail) data.open.push_back(slot.function);
            ++calls_;
            count_call(slot.function);
            break;
        }
        case shm::SlotKind::leave:
        case shm::SlotKind::unwound: {
            const bool unwound = slot.kind == shm::SlotKind::unwound;
            const std::uint32_t function = close_frame(data, slot.function);
            if (function == shm::kInnermostFunction) break;
            static constexpr std::uint64_t kNothing[1] = {0};
            const std::span<const std::uint64_t> none{kNothing, info_.functions[function].leave_words};
            encoder_.leave(slot.tsc, function, cpu_of(slot), unwound, unwound ? none : slot.words,
                           slot.instructions);
            break;
        }
        case shm::SlotKind::pause:
            encoder_.pause(slot.tsc, slot.until, static_cast<trace::PauseReason>(slot.function));
            break;
        case shm::SlotKind::stack:
            encoder_.pause(slot.tsc, slot.stack->end, trace::PauseReason::stack_copy);
            if (data.stacks.size() == kMostPending) data.stacks.erase(data.stacks.begin());
            data.stacks.push_back({slot.function, slot.stack->caller, add_stack(slot)});
            break;
        case shm::SlotKind::none:
            break;
    }
}

void Drain::count_call(std::uint32_t function) {
    if (function >= shm::kFirstRegion) return;
    auto& calls = shared_.control().calls[function];
    calls.store(calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

std::uint32_t Drain::take_pending_stack(ThreadData& data, const Slot& slot) {
    for (std::size_t i = data.stacks.size(); i > 0; --i) {
        const PendingStack& pending = data.stacks[i - 1];
        if (pending.function != slot.function || pending.caller != slot.caller) continue;
        const std::uint32_t stack = pending.stack;
        // What was taken after it and not used belongs to calls that a handler jumped out of.
        data.stacks.resize(i - 1);
        return stack;
    }
    return 0;
}

std::uint32_t Drain::add_stack(const Slot& slot) {
    const shm::StackCopy& copy = *slot.stack;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&copy + 1);
    const trace::FunctionInfo& function = info_.functions[slot.function];
    const std::uint64_t entry = info_.objects[function.object].base + function.address;
    const UnwoundStack stack =
        unwinder_.unwind(entry, copy, {bytes, copy.side_bytes}, {bytes + copy.side_bytes, copy.stack_bytes});
    std::vector<std::uint64_t> key{slot.function, copy.caller};
    key.insert(key.end(), stack.frames.begin(), stack.frames.end());
    const auto [known, added] =
        stacks_.try_emplace(std::move(key), static_cast<std::uint32_t>(info_.stacks.size()) + 1);
    if (added) info_.stacks.push_back({slot.function, copy.caller, stack.frames, stack.truncated});
    return known->second;
}

void Drain::append(std::uint32_t thread) {
    if (!open_file()) {
        lost_to_file_ += encoder_.events();
        thread_info(thread).dropped += encoder_.events();
        encoder_ = {};
        return;
    }
    const std::uint64_t events = encoder_.events();
    if (const auto done = writer_->append(thread, encoder_); !done) {
        file_error_ = done.error().message;
        lost_to_file_ += events;
    }
}

bool Drain::open_file() {
    if (writer_) return true;
    if (!file_error_.empty()) return false;
    auto file = open_output(wanted_, info_.process);
    if (!file) {
        file_error_ = file.error().message;
        return false;
    }
    path_ = file->path;
    // `rdam record` lists the files of its run itself.
    if (!file->remark.empty() && info_.process.run.empty()) info_.remarks.push_back(file->remark);
    auto writer = trace::TraceWriter::create(file->fd, file->path);
    if (!writer) {
        file_error_ = writer.error().message;
        return false;
    }
    writer_ = std::move(*writer);
    describe();
    return true;
}

void Drain::describe() {
    if (!writer_) return;
    const std::uint64_t now = rate_.now();
    info_.clock.ticks_per_second = rate_.result();
    const bool due = described_ == 0 ||
                     static_cast<double>(now - described_) > kDescribeSeconds * info_.clock.ticks_per_second;
    if (!due) return;
    described_ = now;
    if (const auto done = writer_->describe(info_); !done) file_error_ = done.error().message;
}

std::string Drain::finish(bool clean_end, bool tell_none) {
    info_.process.clean_end = clean_end;
    info_.clock.ticks_per_second = rate_.result();
    info_.dropped = shared_.control().dropped.load();
    for (const trace::ThreadInfo& thread : info_.threads)
        info_.dropped += thread.dropped;
    if (lost_to_file_ > 0)
        info_.remarks.push_back(
            fmt::format("{} events could not be written: {}", lost_to_file_, file_error_));
    if (const std::uint64_t lent = shared_.control().lent.load(); lent > 0)
        info_.remarks.push_back(fmt::format(
            "{} events of threads that share their storage with a process they have made (clone) are not in "
            "the trace",
            lent));
    if (shared_.control().gave_up.load() != 0)
        info_.remarks.emplace_back(
            "the end of the run is not in the trace: system calls that the recorder needs fail in the "
            "program; allow "
            "pidfd_open, poll and futex where they are forbidden (seccomp), or give more with RDAM_BUFFER");
    if (writer_)
        if (const auto done = writer_->finish(info_); !done) file_error_ = done.error().message;
    std::string text;
    for (const std::string& remark : info_.remarks)
        text += "rdam: " + printable(remark) + "\n";
    if (lost_to_file_ == 0 && !file_error_.empty()) text += "rdam: " + printable(file_error_) + "\n";
    if (info_.dropped > 0 && writer_)
        text += fmt::format(
            "rdam: {} events were dropped: {}\n", info_.dropped,
            shared_.control().out_of_memory.load() != 0
                ? "the machine had no memory for more buffers; free some, or record fewer functions"
                : "the buffers were full; give more with RDAM_BUFFER");
    if (calls_ == 0 && tell_none) text += "rdam: no wrapped function was called: no trace was written\n";
    return text;
}

}  // namespace rdam::agent
