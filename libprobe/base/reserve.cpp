#include "libprobe/base/reserve.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>

#include "libprobe/base/runtime.h"
#include "libprobe/base/sys.h"

namespace rdam::probe {
namespace {

constexpr std::size_t kReserve = 16 << 20;

/// At the start of memory that has been given back.
struct Kept {
    Kept* next;
    std::size_t size;
};

constinit std::uint64_t begin = 0;
constinit std::size_t used = 0;
constinit Kept* kept = nullptr;
constinit std::atomic<std::uint32_t> lock;

/// A handler may have interrupted the thread that has it: nobody waits for long.
class Lock {
  public:
    Lock() {
        constexpr int kTries = 1000;
        for (int i = 0; i < kTries && !has_; ++i)
            has_ = lock.exchange(1) == 0;
    }
    ~Lock() {
        if (has_) lock.store(0);
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

    bool has() const { return has_; }

  private:
    bool has_ = false;
};

/// Takes a kept piece of at least `size` bytes and about twice as many at most.
void* take_kept(std::size_t size) {
    for (Kept** at = &kept; *at != nullptr; at = &(*at)->next) {
        Kept* const found = *at;
        if (found->size < size || found->size / 2 > size) continue;
        *at = found->next;
        zero_bytes(found, size);
        return found;
    }
    return nullptr;
}

}  // namespace

void reserve_memory() {
    if (begin != 0) return;
    // Not accessible at first: a program that locks what it maps (mlockall) would be given all of it.
    const long memory = sys::mmap(0, kReserve, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (sys::failed(memory)) return;
    sys::call(SYS_munlock, memory, kReserve);
    if (sys::call(SYS_mprotect, memory, kReserve, PROT_READ | PROT_WRITE) == 0)
        begin = static_cast<std::uint64_t>(memory);
}

void* take_reserved(std::size_t size) {
    const Lock own;
    if (!own.has()) return nullptr;
    if (void* const again = take_kept(size); again != nullptr) return again;
    const std::size_t whole = (size + sys::kPage - 1) & ~(sys::kPage - 1);
    if (begin == 0 || kReserve - used < whole) return nullptr;
    used += whole;
    return reinterpret_cast<void*>(begin + used - whole);
}

void keep_reserved(void* memory, std::size_t size) {
    const Lock own;
    if (!own.has()) return;
    auto* const block = static_cast<Kept*>(memory);
    *block = {.next = kept, .size = size};
    kept = block;
}

bool is_reserved(const void* memory) {
    const auto address = reinterpret_cast<std::uint64_t>(memory);
    return begin != 0 && address >= begin && address < begin + kReserve;
}

}  // namespace rdam::probe
