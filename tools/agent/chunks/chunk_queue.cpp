#include "tools/agent/chunks/chunk_queue.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <thread>
#include <tuple>

#include "libprobe/format/free_list.h"

namespace rdam::agent {

namespace {

constexpr std::chrono::seconds kPatience{1};
constexpr std::size_t kMaxHeld = 32;      ///< chunks of a thread that wait for one record to be written
constexpr std::uint32_t kShareSpent = 8;  ///< of the chunks, at most, are kept for records that were given up
constexpr std::size_t kMaxAtOnce = 16;    ///< entries of the ring, before the caller looks around

}  // namespace

ChunkQueue::ChunkQueue(const SharedMemory& shared, ThreadTable& table, EventTranslator& translator)
    : shared_(shared),
      table_(table),
      translator_(translator),
      ring_(shared.control()),
      here_(shared.start().chunks),
      left_(shared.start().chunks) {}

void ChunkQueue::tell_again() const {
    ring_.tell_again();
    shared_.control().held.store(held_);
    shared_.control().threads_done.store(threads_done_);
}

void ChunkQueue::take_entry(std::uint32_t raw) {
    const auto entry = read_entry(raw, shared_.start().chunks);
    if (!entry)
        note_damage();
    else if (entry->ended_thread)
        take_thread(entry->index);
    else
        take_full(entry->index);
}

bool ChunkQueue::take_ring() {
    bool any = false;
    for (std::size_t i = 0; i < kMaxAtOnce; ++i) {
        const std::uint32_t entry = ring_.next();
        if (entry == 0) break;
        any = true;
        take_entry(entry);
        ring_.done();
    }
    return any;
}

void ChunkQueue::take_told() {
    for (std::uint32_t left = ring_.announced(); left > 0 && ring_.announced() > 0 && take_ring();)
        left -= std::min<std::uint32_t>(left, kMaxAtOnce);
}

template <class Look>
void ChunkQueue::look_at_chunks(Look look) const {
    const std::uint32_t used = used_chunks(shared_.control(), shared_.start().chunks);
    for (std::uint32_t chunk = 0; chunk < used; ++chunk) {
        const auto state = shared_.chunk_header(chunk).state.load();
        if (here_[chunk] || (!is_free(state) && state != shm::ChunkState::spent))
            look(std::span<const std::uint8_t>(shared_.chunk(chunk), shm::kChunkSize));
    }
}

/// Threads may pack their records and hand over chunks meanwhile. An event goes one way only, and is looked
/// for in the order in which it goes.
FunctionsLeft ChunkQueue::functions_left() {
    FunctionsLeft left;
    take_told();
    look_at_chunks([&](std::span<const std::uint8_t> chunk) { left.look_at_records(chunk); });
    look_at_chunks([&](std::span<const std::uint8_t> chunk) { left.look_at_packs(chunk); });
    take_told();
    // What was handed over and could not be taken.
    look_at_chunks([&](std::span<const std::uint8_t> chunk) {
        left.look_at_records(chunk);
        left.look_at_packs(chunk);
    });
    return left;
}

/// Takes the chunks whose entry has come after all.
void ChunkQueue::take_late() {
    for (const std::uint32_t entry : ring_.take_late())
        take_entry(entry);
}

bool ChunkQueue::look_again() {
    shm::Control& control = shared_.control();
    take_late();
    // A thread that waits for a chunk cannot wait for a probe that may never continue.
    if (held_ > 0) take_all_held(control.waiters.load() > 0 ? Unwritten::give_up : Unwritten::wait);
    if (control.reopened.load() > 0) take_gone_threads();
    return held_ > 0;
}

void ChunkQueue::take_rest(std::uint64_t end, bool lives) {
    if (lives) await_packing();
    while (take_ring()) {
    }
    take_late();
    take_all_held(Unwritten::give_up);
    for (const std::uint32_t chunk : chunks_left(true))
        take_chunk(chunk);
    take_all_held(Unwritten::give_up);
    take_threads_left(end);
}

/// The chunks that no thread has handed over, in order; of each filling, packed chunks come first. `count`:
/// chunks that cannot be identified count as damage.
std::vector<std::uint32_t> ChunkQueue::chunks_left(bool count) {
    using Key = std::tuple<std::uint32_t, std::uint32_t, bool, std::uint32_t>;
    std::vector<Key> keys;  // a copy: threads that live may change what they are made of
    const std::uint32_t used = used_chunks(shared_.control(), shared_.start().chunks);
    for (std::uint32_t chunk = 0; chunk < used; ++chunk) {
        const auto state = shared_.chunk_header(chunk).state.load();
        if (here_[chunk] || is_free(state) || state == shm::ChunkState::spent) continue;
        if (const auto facts = look_at_chunk(shared_, chunk); facts && is_possible(facts->thread))
            keys.emplace_back(facts->thread, facts->sequence, facts->kind != shm::ChunkKind::packed, chunk);
        else if (count)
            note_damage();
    }
    std::ranges::sort(keys);
    std::vector<std::uint32_t> left;
    for (const Key& key : keys)
        left.push_back(std::get<3>(key));
    return left;
}

/// Threads that live finish what they have begun, if they get a processor.
void ChunkQueue::await_packing() {
    constexpr int kMaxLooks = 200;
    constexpr std::chrono::milliseconds kBetween{1};
    int looks = 0;
    for (const std::uint32_t chunk : chunks_left(false))
        for (; looks < kMaxLooks && shared_.chunk_header(chunk).state.load() == shm::ChunkState::packing;
             ++looks)
            std::this_thread::sleep_for(kBetween);
}

/// There are no more threads than places besides those that have ended.
bool ChunkQueue::is_possible(std::uint32_t thread) const {
    return thread < threads_done_ + shm::kMaxThreads;
}

bool ChunkQueue::is_of(std::uint32_t chunk, std::uint32_t thread) const {
    if (chunk >= shared_.start().chunks || here_[chunk]) return false;
    const auto facts = look_at_chunk(shared_, chunk);
    return facts && facts->thread == thread;
}

/// An entry may name another chunk than it did.
void ChunkQueue::take_full(std::uint32_t chunk) {
    const shm::ChunkState state = shared_.chunk_header(chunk).state.load();
    if (here_[chunk] || (is_state(state) && state != shm::ChunkState::full)) return note_damage();
    take_chunk(chunk);
}

void ChunkQueue::take_chunk(std::uint32_t chunk) {
    translator_.note_regions();
    const auto facts = look_at_chunk(shared_, chunk);
    if (!facts || !is_possible(facts->thread)) {
        note_damage();
        return give_back(chunk);
    }
    if (!facts->intact) note_damage();
    table_.note_begin(*facts);
    if (facts->thread >= threads_.size()) threads_.resize(facts->thread + 1);
    auto& held = threads_[facts->thread].held;
    here_[chunk] = true;
    const bool full = shared_.chunk_header(chunk).state.load() == shm::ChunkState::full;
    held.push_back({.chunk = chunk,
                    .open = {.bytes = {shared_.chunk(chunk), shm::kChunkSize}, .facts = *facts, .full = full},
                    .since = std::chrono::steady_clock::now()});
    shared_.control().held.store(++held_);
    take_held(facts->thread, patience(held));
}

/// A handler that has made so many calls may as well have jumped out of the probe.
EventTranslator::Unwritten ChunkQueue::patience(const std::deque<HeldChunk>& held) {
    const bool long_ago = std::chrono::steady_clock::now() - held.front().since > kPatience;
    return held.size() > kMaxHeld && long_ago ? Unwritten::give_up : Unwritten::wait;
}

/// Takes the thread's chunks in their order, up to one with a record that is not written yet.
void ChunkQueue::take_held(std::uint32_t thread, Unwritten unwritten) {
    auto& held = threads_[thread].held;
    while (!held.empty()) {
        if (!translate(held.front(), unwritten)) return;
        held.pop_front();
        shared_.control().held.store(--held_);
    }
}

void ChunkQueue::take_all_held(Unwritten unwritten) {
    for (std::uint32_t thread = 0; thread < threads_.size(); ++thread)
        take_held(thread, unwritten);
}

/// False: a record may be written yet.
bool ChunkQueue::translate(HeldChunk& held, Unwritten unwritten) {
    switch (translator_.translate(held.open, unwritten)) {
        case EventTranslator::Outcome::waits:
            return false;
        case EventTranslator::Outcome::gaps:
            spend(held.chunk, held.open.facts.thread);
            return true;
        case EventTranslator::Outcome::done:
            give_back(held.chunk);
            return true;
    }
    return true;
}

/// A chunk in which a record was given up is not used again while its thread lives: what is written there
/// late must not look like another thread's event.
void ChunkQueue::spend(std::uint32_t chunk, std::uint32_t thread) {
    shared_.chunk_header(chunk).state.store(shm::ChunkState::spent);
    threads_[thread].spent.push_back(chunk);
    if (++spent_ <= shared_.start().chunks / kShareSpent) return;
    for (ThreadChunks& each : threads_)
        free_spent(each);
}

void ChunkQueue::free_spent(ThreadChunks& thread) {
    for (const std::uint32_t chunk : thread.spent)
        give_back(chunk);
    spent_ -= static_cast<std::uint32_t>(thread.spent.size());
    thread.spent.clear();
}

/// The thread that takes it zeroes its content.
void ChunkQueue::give_back(std::uint32_t chunk) {
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

void ChunkQueue::take_gone_threads() {
    shm::Control& control = shared_.control();
    for (std::uint32_t i = 0; i < shm::kMaxThreads; ++i) {
        shm::ThreadSlot& slot = control.threads[i];
        if (slot.state.load() != shm::ThreadSlotState::live) continue;
        const auto facts = look_at_thread(slot);
        if (!facts || !facts->reopened) continue;
        if (!table_.is_gone(facts->tid)) continue;
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

void ChunkQueue::take_thread(std::uint32_t slot) {
    shm::ThreadSlot& thread = shared_.control().threads[slot];
    const auto facts = look_at_thread(thread);
    const shm::ThreadSlotState state = thread.state.load();
    const bool gone = state == shm::ThreadSlotState::ended || (facts && facts->reopened);
    if (!gone || !facts || !is_possible(facts->index)) {
        note_damage();
        if (state == shm::ThreadSlotState::ended)
            thread.state.store(shm::ThreadSlotState::free, std::memory_order_release);
        return;
    }
    if (const std::uint32_t index = facts->index; index < threads_.size()) {
        take_held(index, Unwritten::give_up);
        free_spent(threads_[index]);
        translator_.thread_ended(index);
    }
    if (facts->end != 0) translator_.note_last_number(facts->index, facts->numbers);
    if (!table_.note_end(thread, *facts, 0)) note_damage();
    if (state == shm::ThreadSlotState::ended) shared_.control().threads_done.store(++threads_done_);
    thread.state.store(
        state == shm::ThreadSlotState::ended ? shm::ThreadSlotState::free : shm::ThreadSlotState::left,
        std::memory_order_release);
}

/// Takes the threads that have not reported their end.
void ChunkQueue::take_threads_left(std::uint64_t end) {
    for (const std::uint32_t index : shared_.slots_with_memory()) {
        const shm::ThreadSlot& slot = shared_.control().threads[index];
        const shm::ThreadSlotState state = slot.state.load();
        if (state == shm::ThreadSlotState::free || state == shm::ThreadSlotState::left ||
            state == shm::ThreadSlotState::claimed)
            continue;
        const auto facts = look_at_thread(slot);
        const bool known = state == shm::ThreadSlotState::live || state == shm::ThreadSlotState::ended;
        const bool possible = facts && is_possible(facts->index);
        if (!known || !possible) note_damage();
        if (possible && !table_.note_end(slot, *facts, end)) note_damage();
    }
    // Whose places could not be read.
    table_.end_rest(end);
}

namespace {

/// Between the announcement and the entry are two instructions of a thread, which may be stopped in between.
constexpr std::chrono::seconds kRingPatience{1};

}  // namespace

std::uint32_t RingReader::announced() const {
    const auto tail = control_.ring_tail.load();
    const std::uint32_t left = tail.value - head_;
    return tail.intact && left <= shm::kRingSize ? left : 0;
}

std::uint32_t RingReader::next() {
    const auto tail = control_.ring_tail.load();
    if (tail.intact && tail.value == head_) return 0;
    const std::uint32_t entry = control_.ring[head_ % shm::kRingSize].exchange(0);
    const auto now = Clock::now();
    if (entry != 0 || announced() == 0 || awaited_ != head_) {
        awaited_ = head_;
        since_ = now;
        return entry;
    }
    if (now - since_ <= kRingPatience) return 0;
    skipped_.push_back(head_ % shm::kRingSize);
    done();
    return 0;
}

void RingReader::done() {
    control_.ring_head.store(++head_);
}

std::vector<std::uint32_t> RingReader::take_late() {
    std::vector<std::uint32_t> entries;
    for (std::uint32_t& place : skipped_)
        if (const std::uint32_t entry = control_.ring[place].exchange(0); entry != 0) {
            place = shm::kNone;
            entries.push_back(entry);
        }
    std::erase(skipped_, shm::kNone);
    return entries;
}

}  // namespace rdam::agent
