#include "libprobe/agent/plan_copy.h"

#include <sys/mman.h>

#include "libprobe/agent/inheritance.h"
#include "libprobe/base/runtime.h"
#include "libprobe/base/state.h"
#include "libprobe/base/sys.h"

namespace rdam::probe {

PlanCopy::PlanCopy(std::uint32_t serial) {
    const char* shared = reinterpret_cast<const char*>(globals.control) + shm::kPlanOffset;
    shm::PlanReply reply;
    copy_bytes(&reply, shared, sizeof reply);
    if (reply.serial != serial || reply.bytes < sizeof reply || reply.bytes > shm::kPlanSize ||
        reply.bytes % sizeof(std::uint64_t) != 0)
        return;
    const long memory =
        sys::mmap(0, reply.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (sys::failed(memory)) return;
    area_ = reinterpret_cast<char*>(memory);
    bytes_ = reply.bytes;
    copy_bytes(area_, &reply, sizeof reply);
    copy_bytes(area_ + sizeof reply, shared + sizeof reply, bytes_ - sizeof reply);
    if (shm::check_of_plan(area_, bytes_) == reply.check) return;
    sys::call(SYS_munmap, memory, bytes_);
    area_ = nullptr;
}

PlanCopy::~PlanCopy() {
    if (area_ != nullptr) sys::call(SYS_munmap, sys::word(area_), bytes_);
}

void PlanCopy::print() const {
    say(area_ + reply().message.offset, reply().message.size);
}

void PlanCopy::print_wrapped() const {
    say(area_ + reply().wrapped.offset, reply().wrapped.size);
}

void PlanCopy::keep_knowledge() const {
    const shm::Text said = reply().inherited;
    probe::keep_knowledge(area_ + said.offset, said.size, reply().inherits_anew != 0);
}

}  // namespace rdam::probe
