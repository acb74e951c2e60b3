#include "tools/agent/drain.h"

#include <x86intrin.h>

#include <algorithm>
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

std::uint16_t cpu_of(const Slot& slot) {
    return slot.cpu == kNoCpuInSlot ? trace::kNoCpu : slot.cpu;
}

}  // namespace

Drain::Drain(const SharedMemory& shared, const ProcessDescription& process, trace::TraceInfo& info,
             std::string wanted)
    : shared_(shared), process_(process), info_(info), wanted_(std::move(wanted)), unwinder_(process) {
    read_rules();
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
    if (!writer_ && shared_.control().has_events.load() != 0) open_file();
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
    const shm::Control& control = shared_.control();
    std::vector<std::uint32_t> left;
    const std::uint32_t used = std::min(control.fresh_chunks.load(), control.chunks);
    for (std::uint32_t chunk = 0; chunk < used; ++chunk)
        if (shared_.chunk_header(chunk).state.load() != shm::ChunkState::free) left.push_back(chunk);
    std::ranges::sort(left, {}, [&](std::uint32_t chunk) {
        const shm::ChunkHeader& header = shared_.chunk_header(chunk);
        return std::pair{header.thread, header.sequence};
    });
    for (const std::uint32_t chunk : left)
        take_chunk(chunk);
    for (const shm::ThreadSlot& slot : control.threads) {
        const shm::ThreadState state = slot.state.load();
        if (state == shm::ThreadState::live || state == shm::ThreadState::ended) note_thread(slot, end);
    }
}

void Drain::take_chunk(std::uint32_t chunk) {
    note_regions();
    const shm::ChunkHeader& header = shared_.chunk_header(chunk);
    const std::uint32_t thread = header.thread;
    ChunkParser parser({shared_.chunk(chunk), shm::kChunkSize}, rules_);
    for (Slot slot; parser.next(slot);) {
        if (slot.kind != shm::SlotKind::pause) slot.function = index_of(slot.function);
        add_slot(slot, thread);
    }
    thread_info(thread).holes += parser.holes();
    if (encoder_.events() > 0) append(thread);
    give_back(chunk, parser.used());
}

void Drain::give_back(std::uint32_t chunk, std::size_t used) {
    shm::Control& control = shared_.control();
    shm::ChunkHeader& header = shared_.chunk_header(chunk);
    // Behind a hole there may be words of slots that were not understood.
    const std::size_t end =
        std::min<std::size_t>(shm::kChunkSize, std::max<std::size_t>(used, shm::kChunkLimit) + 1024);
    std::memset(shared_.chunk(chunk) + shm::kChunkHeader, 0, end - shm::kChunkHeader);
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
                           std::exchange(data.pending_stack, 0), slot.words);
            if (!tail) data.open.push_back(slot.function);
            ++calls_;
            break;
        }
        case shm::SlotKind::leave:
        case shm::SlotKind::unwound: {
            const bool unwound = slot.kind == shm::SlotKind::unwound;
            const std::uint32_t function = close_frame(data, slot.function);
            if (function == shm::kInnermostFunction) break;
            static constexpr std::uint64_t kNothing[1] = {0};
            const std::span<const std::uint64_t> none{kNothing, info_.functions[function].leave_words};
            encoder_.leave(slot.tsc, function, cpu_of(slot), unwound, unwound ? none : slot.words);
            break;
        }
        case shm::SlotKind::pause:
            encoder_.pause(slot.tsc, slot.until, static_cast<trace::PauseReason>(slot.function));
            break;
        case shm::SlotKind::stack:
            encoder_.pause(slot.tsc, slot.stack->end, trace::PauseReason::stack_copy);
            data.pending_stack = add_stack(slot);
            break;
        case shm::SlotKind::none:
            break;
    }
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
    const std::uint64_t now = __rdtsc();
    const bool due = described_ == 0 ||
                     static_cast<double>(now - described_) > kDescribeSeconds * info_.clock.ticks_per_second;
    if (!due) return;
    described_ = now;
    if (const auto done = writer_->describe(info_); !done) file_error_ = done.error().message;
}

std::string Drain::finish(bool clean_end, bool tell_none, const TickRate& rate) {
    info_.process.clean_end = clean_end;
    info_.clock.ticks_per_second = rate.result();
    info_.dropped = shared_.control().dropped.load();
    for (const trace::ThreadInfo& thread : info_.threads)
        info_.dropped += thread.dropped;
    if (lost_to_file_ > 0)
        info_.remarks.push_back(
            fmt::format("{} events could not be written: {}", lost_to_file_, file_error_));
    const std::uint64_t late = shared_.control().late.load();
    if (late > 0)
        info_.remarks.push_back(fmt::format(
            "{} events of threads that were ending, behind their last destructor, are not in the trace",
            late));
    if (writer_)
        if (const auto done = writer_->finish(info_); !done) file_error_ = done.error().message;
    std::string text;
    // A thread's very last steps are for the trace to mention, not for the terminal.
    for (std::size_t i = 0; i < info_.remarks.size() - (late > 0 ? 1 : 0); ++i)
        text += "rdam: " + printable(info_.remarks[i]) + "\n";
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
