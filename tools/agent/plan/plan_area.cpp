#include "tools/agent/plan/plan_area.h"

#include <algorithm>
#include <cstring>

namespace rdam::agent {
namespace {

/// Appends to the plan area; what does not fit makes `full` true.
class Area {
  public:
    explicit Area(std::span<std::uint8_t> bytes) : bytes_(bytes), used_(sizeof(shm::PlanReply)) {}

    shm::Text add(const void* data, std::size_t size) {
        const std::size_t at = (used_ + 7) & ~std::size_t{7};
        if (at > bytes_.size() || size > bytes_.size() - at) {
            full_ = true;
            return {};
        }
        if (size > 0) std::memcpy(bytes_.data() + at, data, size);
        used_ = at + size;
        return {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(size)};
    }
    bool full() const { return full_; }

    /// Writes the reply to the area's begin, with its check.
    void publish(shm::PlanReply reply) {
        reply.bytes = static_cast<std::uint32_t>((used_ + 7) & ~std::size_t{7});
        std::memcpy(bytes_.data(), &reply, sizeof reply);
        reply.check = shm::check_of_plan(bytes_.data(), reply.bytes);
        std::memcpy(bytes_.data(), &reply, sizeof reply);
    }

  private:
    std::span<std::uint8_t> bytes_;
    std::size_t used_;
    bool full_ = false;
};

shm::PlannedFunction encode(const NumberedFunction& numbered, const ProcessDescription& process, Area& area) {
    const FunctionPlan& function = *numbered.function;
    shm::PlannedFunction out;
    out.number = numbered.number;
    out.base = process.objects[function.object].base;
    out.address = out.base + function.address;
    out.object = static_cast<std::uint32_t>(function.object);
    out.stack_bytes = function.stack_bytes;
    out.recording = function.recording;
    out.frame = function.frame;
    out.sampled = function.sampled ? 1 : 0;
    out.takes_flags = function.takes_flags ? 1 : 0;
    out.waiters_mask = function.waiters.mask;
    out.waiters_offset = function.waiters.offset;
    out.waits = function.waits || function.busy_waits || function.wait_of != 0 ? 1 : 0;
    out.anew = numbered.anew ? 1 : 0;
    const auto& prologue = function.prologue;
    out.jump_before = prologue.jump_before;
    out.call = prologue.call ? 1 : 0;
    out.description = prologue.description;
    out.original_size =
        static_cast<std::uint8_t>(std::min<std::size_t>(prologue.original.size(), sizeof out.original));
    std::copy_n(prologue.original.begin(), out.original_size, out.original);
    out.code = area.add(prologue.code.data(), prologue.code.size());
    out.fixups = area.add(prologue.fixups.data(), prologue.fixups.size() * sizeof(plan::Fixup));
    return out;
}

}  // namespace

bool write_plan(const SharedMemory& shared, const ProcessDescription& process,
                const std::vector<NumberedFunction>& plan, const PlanTexts& texts, std::uint32_t serial) {
    Area area(shared.plan_area());
    std::vector<shm::PlannedFunction> functions;
    functions.reserve(plan.size());
    for (const NumberedFunction& function : plan)
        functions.push_back(encode(function, process, area));
    shm::PlanReply reply;
    reply.functions = area.add(functions.data(), functions.size() * sizeof(shm::PlannedFunction));
    reply.message = area.add(texts.message.data(), texts.message.size());
    reply.wrapped = area.add(texts.wrapped.data(), texts.wrapped.size());
    reply.list = area.add(texts.list.data(), texts.list.size());
    reply.inherited = area.add(texts.known.data(), texts.known.size());
    reply.inherits_anew = texts.anew ? 1 : 0;
    reply.serial = serial;
    area.publish(reply);
    return !area.full();
}

void refuse(const SharedMemory& shared, const std::string& text, const std::string& list) {
    Area area(shared.plan_area());
    shm::PlanReply reply;
    reply.message = area.add(text.data(), text.size());
    reply.list = area.add(list.data(), list.size());
    area.publish(reply);
    shared.announce(shm::AgentState::refused);
}

}  // namespace rdam::agent
