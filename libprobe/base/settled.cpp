#include "libprobe/base/settled.h"

#include <sys/mman.h>

#include <atomic>

#include "libprobe/base/state.h"
#include "libprobe/base/sys.h"

namespace rdam::probe {
namespace {

constinit std::atomic<std::uint32_t> open_tables;

bool protect(const void* from, std::uint64_t size, int protection) {
    return sys::call(SYS_mprotect, sys::word(from), static_cast<long>(size), protection) == 0;
}

bool protect_table(int protection) {
    return protect(rdam_functions, RDAM_SETTLED_SIZE, protection);
}

const char* place(const shm::Control& control, std::uint64_t offset) {
    return reinterpret_cast<const char*>(&control) + offset;
}

}  // namespace

OpenTable::OpenTable() {
    while (open_tables.exchange(1) != 0)
        sys::call(SYS_sched_yield);
    writable_ = protect_table(PROT_READ | PROT_WRITE);
}

OpenTable::~OpenTable() {
    if (writable_) protect_table(PROT_READ);
    open_tables.store(0);
}

void forget_open_table() {
    open_tables.store(0);
}

void close_shared_areas(shm::Control& control) {
    protect(place(control, shm::kRequestOffset), shm::kCallsOffset - shm::kRequestOffset, PROT_READ);
}

bool open_request_area(shm::Control& control, bool open) {
    return protect(place(control, shm::kRequestOffset), shm::kRequestSize,
                   open ? PROT_READ | PROT_WRITE : PROT_READ);
}

}  // namespace rdam::probe
