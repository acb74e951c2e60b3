#include "tools/trace/event.h"

#include <fmt/format.h>

#include <algorithm>

#include "libprobe/format/plan.h"
#include "tools/base/files.h"

namespace rdam::trace {

std::vector<std::uint32_t> waiters(std::span<const FunctionInfo> functions) {
    const auto is_wait = [](const FunctionInfo& function) { return function.wait_of != 0; };
    if (std::ranges::none_of(functions, is_wait)) return {};
    std::vector<std::uint32_t> all(functions.size(), kNoFunction);
    for (std::size_t wait = 0; wait < functions.size(); ++wait) {
        if (!is_wait(functions[wait]) || functions[wait].wakes) continue;
        const auto waiter = std::ranges::find_if(functions, [&](const FunctionInfo& function) {
            return function.object == functions[wait].object && function.address == functions[wait].wait_of &&
                   !is_wait(function);
        });
        if (waiter != functions.end()) all[wait] = static_cast<std::uint32_t>(waiter - functions.begin());
    }
    return all;
}

std::optional<OwnerWords> owner_words(const FunctionInfo& function) {
    const auto& parameters = function.parameters;
    if (function.wait_of == 0 || parameters.empty() ||
        std::ranges::any_of(parameters, [&](const auto& each) { return each.word >= function.enter_words; }))
        return std::nullopt;
    if (function.wakes) {
        OwnerWords words{.mutex = parameters[0].word, .given_back = true, .all = function.partner};
        if (parameters.back().name == plan::kCallerName) words.caller = parameters.back().word;
        return words;
    }
    if (parameters.size() != 2) return std::nullopt;
    const bool joins = parameters[1].name == plan::kJoinedName;
    if (!joins && parameters[1].name != plan::kOwnerName) return std::nullopt;
    return OwnerWords{
        .mutex = parameters[0].word, .owner = parameters[1].word, .joins = joins, .all = function.partner};
}

std::string recorded_with(const ProcessInfo& process) {
    return process.recorder.empty() ? "rdam " + process.rdam_version : process.recorder;
}

bool is_caller(const TraceInfo& info, const FunctionInfo& function, std::uint64_t return_address) {
    if (function.object >= info.objects.size()) return false;
    const std::uint64_t begin = info.objects[function.object].base + function.address;
    return return_address > begin && return_address - begin <= function.size;
}

std::optional<std::uint32_t> node_of(const ProcessInfo& process, std::uint16_t processor) {
    if (processor == kNoCpu) return std::nullopt;
    for (const NodeInfo& node : process.nodes)
        if (std::ranges::find(node.processors, processor) != node.processors.end()) return node.number;
    return std::nullopt;
}

const ObjectInfo* object_at(const TraceInfo& info, std::uint64_t address) {
    const ObjectInfo* best = nullptr;
    for (const ObjectInfo& object : info.objects) {
        const bool inside = object.base <= address && address < object.end;
        if (inside && (best == nullptr || object.base > best->base)) best = &object;
    }
    return best;
}

Place place_of(const TraceInfo& info, std::uint64_t return_address) {
    const ObjectInfo* object = return_address > 0 ? object_at(info, return_address - 1) : nullptr;
    if (object == nullptr) return {.offset = return_address};
    return {.module = std::string{file_name(object->path)}, .offset = return_address - object->base};
}

std::string place_text(const Place& place) {
    if (!place.module.empty()) return fmt::format("{}+{:#x}", place.module, place.offset);
    return place.offset == 0 ? "unknown" : fmt::format("{:#x}", place.offset);
}

}  // namespace rdam::trace
