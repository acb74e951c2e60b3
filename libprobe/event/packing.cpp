#include "libprobe/event/packing.h"

#include <sys/mman.h>

#include <atomic>

#include "libprobe/base/sys.h"
#include "libprobe/event/budget.h"
#include "libprobe/event/chunk_pool.h"
#include "libprobe/format/packer.h"

namespace rdam::probe {
namespace {

/// A packer, clear while it is free, is needed for some microseconds. There are as many as threads have ever
/// packed at the same time, up to this.
constexpr std::uint32_t kPackers = 64;

struct Place {
    std::atomic<std::uint32_t> taken;
    std::atomic<pack::Packer*> packer;
};
constinit Place places[kPackers] = {};

pack::Packer* make_packer() {
    const long memory = sys::mmap(0, sizeof(pack::Packer), PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (sys::failed(memory)) return nullptr;
    auto* packer = reinterpret_cast<pack::Packer*>(memory);
    packer->prepare(globals.measured.step);
    return packer;
}

class BorrowedPacker {
  public:
    BorrowedPacker() {
        for (Place& place : places) {
            if (place.taken.load(std::memory_order_relaxed) != 0 || place.taken.exchange(1) != 0) continue;
            place_ = &place;
            if (place.packer.load() == nullptr) place.packer.store(make_packer());
            return;
        }
    }
    ~BorrowedPacker() {
        if (place_ != nullptr) place_->taken.store(0, std::memory_order_release);
    }
    BorrowedPacker(const BorrowedPacker&) = delete;
    BorrowedPacker& operator=(const BorrowedPacker&) = delete;

    /// Null: there is none.
    pack::Packer* get() const { return place_ != nullptr ? place_->packer.load() : nullptr; }

  private:
    Place* place_ = nullptr;
};

void count_calls(const pack::Packer& packer) {
    packer.for_each_entered([](std::uint32_t function, std::uint32_t calls) {
        if (function < shm::kMaxFunctions)
            globals.control->calls[function].fetch_add(calls, std::memory_order_relaxed);
    });
}

bool write_pack(ThreadState& thread, const pack::Packer& packer, std::uint32_t end, std::uint64_t& waited) {
    std::uint32_t room = 0;
    shm::PackHeader* header = reserve_pack(thread, packer.size(), room, waited);
    if (header == nullptr) return false;
    packer.write(header + 1);
    publish_pack(thread, header,
                 {.size = static_cast<std::uint32_t>(sizeof *header) + packer.size(),
                  .kind = shm::PackKind::pack,
                  .sequence = thread.own.sequence,
                  .end = end});
    count_calls(packer);
    spend(thread, packer);
    return true;
}

}  // namespace

shm::PackHeader* reserve_pack(ThreadState& thread, std::uint32_t least, std::uint32_t& room,
                              std::uint64_t& waited) {
    const std::uint32_t wanted = static_cast<std::uint32_t>(sizeof(shm::PackHeader)) + least;
    Bookkeeping& own = thread.own;
    if (own.packed != shm::kNone && own.packed_used + wanted > shm::kChunkSize) hand_over_packed(thread);
    if (own.packed == shm::kNone) {
        const std::uint32_t chunk = acquire(thread, shm::ChunkKind::packed, waited);
        if (chunk == shm::kNone) return nullptr;
        own.packed = chunk;
        own.packed_used = shm::kChunkHeader;
        thread.slot->packed.store(chunk, std::memory_order_release);
    }
    room = shm::kChunkSize - own.packed_used - static_cast<std::uint32_t>(sizeof(shm::PackHeader));
    return reinterpret_cast<shm::PackHeader*>(reinterpret_cast<char*>(&header_of(own.packed)) +
                                              own.packed_used);
}

void publish_pack(ThreadState& thread, shm::PackHeader* place, shm::PackHeader header) {
    Bookkeeping& own = thread.own;
    header.number = ++own.number;
    *place = header;
    place->check = shm::check_of_pack(place, header.size);
    own.packed_used += header.size;
    header_of(own.packed).used.store(own.packed_used);
}

void hand_over_packed(ThreadState& thread) {
    const std::uint32_t chunk = thread.own.packed;
    if (chunk == shm::kNone) return;
    thread.own.packed = shm::kNone;
    thread.slot->packed.store(shm::kNone, std::memory_order_relaxed);
    hand_over_chunk(chunk);
}

bool pack_records(ThreadState& thread, std::uint32_t used, std::uint64_t& waited) {
    const BorrowedPacker borrowed;
    pack::Packer* const packer = borrowed.get();
    if (packer == nullptr) return false;
    const auto* const begin = reinterpret_cast<const std::uint64_t*>(&header_of(thread.own.chunk));
    const std::uint64_t* const end = begin + used / sizeof *begin;
    const std::uint64_t* at = begin + shm::kChunkHeader / sizeof *begin;
    const auto place = [&] {
        return static_cast<std::uint32_t>(at - begin) * static_cast<std::uint32_t>(sizeof *at);
    };
    for (;;) {
        const pack::Stop stop = packer->run(at, end, thread.stacks);
        const bool written = packer->events() == 0 || write_pack(thread, *packer, place(), waited);
        packer->clear();
        if (!written) return false;
        // A record that begins behind the limit was given up by its probe, which took one in the next
        // filling.
        if (stop == pack::Stop::end || place() > shm::kChunkLimit) return true;
        if (stop == pack::Stop::unwritten) return false;
    }
}

void make_packers() {
    constexpr std::uint32_t kAhead = 16;
    for (std::uint32_t i = 0; i < kAhead; ++i) {
        Place& place = places[i];
        if (place.taken.exchange(1) != 0) continue;
        if (place.packer.load() == nullptr) place.packer.store(make_packer());
        place.taken.store(0);
    }
}

void forget_packers() {
    for (Place& place : places) {
        if (pack::Packer* packer = place.packer.load(); packer != nullptr) packer->clear();
        place.taken.store(0);
    }
}

}  // namespace rdam::probe
