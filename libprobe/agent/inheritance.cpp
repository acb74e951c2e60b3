#include "libprobe/agent/inheritance.h"

#include <sys/mman.h>

#include <string_view>

#include "libprobe/base/runtime.h"
#include "libprobe/base/state.h"
#include "libprobe/base/sys.h"
#include "libprobe/format/starter.h"

namespace rdam::probe {

namespace {

bool is_for_agent(std::string_view variable) {
    for (const std::string_view begin : agent_process::kVariables)
        if (variable.starts_with(begin)) return true;
    return false;
}

/// The variables for the agent, one after the other.
template <typename Function>
void for_each_variable(const char* const* environment, const char* output, const Function& take) {
    if (output != nullptr) take(output);
    for (const char* const* entry = environment; *entry != nullptr; ++entry) {
        const std::string_view variable{*entry, text_size(*entry)};
        if (is_for_agent(variable) && (output == nullptr || !variable.starts_with(kOutputVariable)))
            take(*entry);
    }
}

constexpr std::size_t whole_pages(std::size_t bytes) {
    return (bytes + sys::kPage - 1) & ~(sys::kPage - 1);
}

/// Where all of the last one is used, twice as much.
bool make_room(Knowledge& kept, std::size_t size) {
    if (size <= kept.room) return true;
    if (size > shm::kPlanSize) return false;
    std::size_t room = whole_pages(size + kept.size);
    if (room > shm::kPlanSize) room = shm::kPlanSize;
    const long memory =
        sys::mmap(0, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (sys::failed(memory)) return false;
    copy_bytes(reinterpret_cast<void*>(memory), kept.bytes, kept.size);
    if (kept.bytes != nullptr) sys::call(SYS_munmap, sys::word(kept.bytes), static_cast<long>(kept.room));
    kept.bytes = reinterpret_cast<char*>(memory);
    kept.room = static_cast<std::uint32_t>(room);
    return true;
}

/// Read-only but for the moments in which something is added: a stray write is to find nothing here.
void protect(const Knowledge& kept, int how) {
    if (kept.bytes != nullptr)
        sys::call(SYS_mprotect, sys::word(kept.bytes), static_cast<long>(kept.room), how);
}

}  // namespace

bool keep_environment(const char* const* environment, const char* output) {
    std::size_t count = 1;
    std::size_t bytes = 0;
    for_each_variable(environment, output, [&](const char* variable) {
        ++count;
        bytes += text_size(variable) + 1;
    });
    const std::size_t size = whole_pages(count * sizeof(char*) + bytes);
    auto* const list = static_cast<const char**>(map_private(size));
    if (list == nullptr) return false;
    char* text = reinterpret_cast<char*>(list + count);
    std::size_t at = 0;
    for_each_variable(environment, output, [&](const char* variable) {
        const std::size_t length = text_size(variable) + 1;
        copy_bytes(text, variable, length);
        list[at++] = text;
        text += length;
    });
    list[at] = nullptr;
    sys::call(SYS_mprotect, sys::word(list), static_cast<long>(size), PROT_READ);
    globals.inherited.environment = list;
    return true;
}

void keep_knowledge(const char* bytes, std::uint32_t size, bool anew) {
    Knowledge& kept = globals.inherited.knowledge;
    if (size == 0) return;
    protect(kept, PROT_READ | PROT_WRITE);
    const std::uint32_t before = anew ? 0 : kept.size;
    if (make_room(kept, std::size_t{before} + size)) {
        copy_bytes(kept.bytes + before, bytes, size);
        kept.size = before + size;
    }
    protect(kept, PROT_READ);
}

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
